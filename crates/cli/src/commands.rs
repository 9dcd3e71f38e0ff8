//! The subcommands, one file each, and their dispatch.

pub(crate) mod agents;
pub(crate) mod allow;
pub(crate) mod apply;
pub(crate) mod approve;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod ci;
pub(crate) mod completions;
pub(crate) mod config;
mod contained;
pub(crate) mod daemon;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod engine;
pub(crate) mod explain;
pub(crate) mod file;
pub(crate) mod halt;
pub(crate) mod import;
pub(crate) mod install;
pub(crate) mod keep;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mode;
pub(crate) mod packs;
pub(crate) mod pause;
pub(crate) mod pending;
pub(crate) mod plan;
pub(crate) mod presence;
pub(crate) mod profile;
pub(crate) mod refuse;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod request_ids;
pub(crate) mod restart;
pub(crate) mod resume;
pub(crate) mod review;
pub(crate) mod rules;
pub(crate) mod run;
mod sandbox;
pub(crate) mod service;
pub(crate) mod settings;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod suggest;
pub(crate) mod support;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod uninstall;
pub(crate) mod why;

use crate::exit::Exit;
use crate::global::Global;

/// Subcommands of `castellan`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Register the hooks of agents, write the default files and start the daemon
    Install(install::Options),
    /// Take over the installation of another guard
    #[command(subcommand)]
    Import(import::Command),
    /// Undo an install
    Uninstall(uninstall::Options),
    /// Start the daemon
    Start,
    /// Stop the daemon; calls of guarded agents are denied until it starts again
    Stop,
    /// Replace the daemon by this version of it; no call waits for long
    Restart,
    /// Keep the daemon running as a service: install, start, stop, show it
    #[command(subcommand)]
    Service(service::Command),
    /// Deny every further call of all agents, of one agent or of one session, until `castellan resume`
    Halt(halt::Options),
    /// Record calls and leave them to the agents for a limited time, such as 10m
    Pause(pause::Options),
    /// End a halt or a pause
    Resume(resume::Options),
    /// Show the state of the daemon and of each agent
    Status(status::Options),
    /// Show or change the mode
    Mode(mode::Options),
    /// Show the profile and its settings, or change the profile
    Profile(profile::Options),
    /// Show the shipped rule packs, or set one to off, observe or enforce
    Packs(packs::Options),
    /// Show the engine that tests the rules, or change it: castellan itself, or a Falco
    Engine(engine::Options),
    /// Apply edited configuration and rule files, after showing the changes
    Apply(apply::Options),
    /// Add a short rule to your allow list, or remove one
    Allow(allow::Options),
    /// List the calls that are waiting for your approval
    Pending(pending::Options),
    /// Approve a pending call, after showing it in full
    Approve(approve::Options),
    /// Refuse a pending call, or revoke its approval
    Refuse(refuse::Options),
    /// Put the files back that a call changed; without an id, list the calls
    Undo(undo::Options),
    /// Show how files changed since before a call
    Diff(diff::Options),
    /// Keep the changes of a call, which can then not be undone
    Keep(keep::Options),
    /// Start an agent under a profile and budgets, and end all that it leaves behind
    Run(run::Options),
    /// Start an agent on a machine without a person: an ask is a denial, and the log becomes a file
    Ci(ci::Options),
    /// Run a command in a sandbox, and show what this machine enforces
    Sandbox(sandbox::Options),
    /// Run the command of a ticket in a sandbox; castellan puts this into calls of agents
    #[command(hide = true)]
    Contained(contained::Options),
    /// Put a plan in force, propose one, approve its scope, show the departures
    #[command(subcommand)]
    Plan(plan::Command),
    /// Trust a workspace, or deny all calls in it; list the decisions
    Trust(trust::Options),
    /// Configure the user presence check
    #[command(subcommand)]
    Presence(presence::Command),
    /// Judge one call without an agent and show the reasons
    Check(check::Options),
    /// Show the commands and effects of one call, with the rules that fire on each
    Explain(explain::Options),
    /// Show where a path really is, and what the boundary of the workspace answers
    #[command(subcommand)]
    File(file::Command),
    /// Show the log
    Log(log::Options),
    /// Show why a call was asked about or denied, and how to allow it
    Why(why::Options),
    /// Show the decisions of a week, and proposed changes
    Report(report::Options),
    /// Propose rule changes from the log
    Suggest(suggest::Options),
    /// Judge recorded calls again with other rules and show the differences
    Replay(replay::Options),
    /// Render an agent's own settings as a second line of defence
    #[command(subcommand)]
    Settings(settings::Command),
    /// List the supported agents, and which answers of castellan each supports
    Agents(agents::Options),
    /// Check the whole installation, with a live call through the hook of each agent
    Doctor(doctor::Options),
    /// Write a redacted bundle for a bug report, after showing it
    Support(support::Options),
    /// Show the configuration and its sources, check it, and change a key
    #[command(subcommand)]
    Config(config::Command),
    /// Inspect, test and create rules
    #[command(subcommand)]
    Rules(rules::Command),
    /// Try the reviewer of the settings
    #[command(subcommand)]
    Review(review::Command),
    /// Measure the quality of rules and settings
    #[command(subcommand)]
    Bench(bench::Command),
    /// Run the daemon of a home in the foreground
    Daemon(daemon::Options),
    /// Print shell completions
    Completions(completions::Options),
    /// Print request ids for shell completion
    #[command(hide = true)]
    RequestIds(request_ids::Options),
    /// Write man pages
    Man(man::Options),
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Install(options) => install::run(global, options),
        Command::Import(command) => import::run(global, command),
        Command::Uninstall(options) => uninstall::run(global, options),
        Command::Start => start::run(global),
        Command::Stop => stop::run(global),
        Command::Restart => restart::run(global),
        Command::Service(command) => service::run(global, command),
        Command::Halt(options) => halt::run(global, options),
        Command::Pause(options) => pause::run(global, options),
        Command::Resume(options) => resume::run(global, options),
        Command::Status(options) => status::run(global, options),
        Command::Mode(options) => mode::run(global, options),
        Command::Profile(options) => profile::run(global, options),
        Command::Packs(options) => packs::run(global, options),
        Command::Engine(options) => engine::run(global, options),
        Command::Apply(options) => apply::run(global, options),
        Command::Allow(options) => allow::run(global, options),
        Command::Pending(options) => pending::run(global, options),
        Command::Approve(options) => approve::run(global, options),
        Command::Refuse(options) => refuse::run(global, options),
        Command::Undo(options) => undo::run(global, options),
        Command::Diff(options) => diff::run(global, options),
        Command::Keep(options) => keep::run(global, options),
        Command::Run(options) => run::run(global, options),
        Command::Ci(options) => ci::run(global, options),
        Command::Sandbox(options) => sandbox::run(global, options),
        Command::Contained(options) => contained::run(global, options),
        Command::Plan(command) => plan::run(global, command),
        Command::Trust(options) => trust::run(global, options),
        Command::Presence(command) => presence::run(global, command),
        Command::Check(options) => check::run(global, options),
        Command::Explain(options) => explain::run(global, options),
        Command::File(command) => file::run(global, command),
        Command::Log(options) => log::run(global, options),
        Command::Why(options) => why::run(global, options),
        Command::Report(options) => report::run(global, options),
        Command::Suggest(options) => suggest::run(global, options),
        Command::Replay(options) => replay::run(global, options),
        Command::Settings(command) => settings::run(global, command),
        Command::Agents(options) => agents::run(global, options),
        Command::Doctor(options) => doctor::run(global, options),
        Command::Support(options) => support::run(global, options),
        Command::Config(command) => config::run(global, command),
        Command::Rules(command) => rules::run(global, command),
        Command::Review(command) => review::run(global, command),
        Command::Bench(command) => bench::run(global, command),
        Command::Daemon(options) => daemon::run(global, options),
        Command::Completions(options) => completions::run(options),
        Command::RequestIds(options) => request_ids::run(global, options),
        Command::Man(options) => man::run(global, options),
    }
}
