//! The subcommands, one file each, and which is which.

pub(crate) mod agents;
pub(crate) mod apply;
pub(crate) mod approve;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod daemon;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod install;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mode;
pub(crate) mod packs;
pub(crate) mod pending;
pub(crate) mod presence;
pub(crate) mod profile;
pub(crate) mod refuse;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod restart;
pub(crate) mod rules;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod suggest;
pub(crate) mod trust;
pub(crate) mod uninstall;

use crate::exit::Exit;
use crate::global::Global;

/// What `castellan` can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Guard agents: register the hooks, write the defaults, start the daemon
    Install(install::Options),
    /// Undo an install
    Uninstall(uninstall::Options),
    /// Start the daemon
    Start,
    /// Stop the daemon; guarded agents' calls are denied until it is started
    Stop,
    /// End the daemon and start the one of this version
    Restart,
    /// Show how the daemon is
    Status(status::Options),
    /// Show the mode or change it
    Mode(mode::Options),
    /// Show the profile and what it chooses, or switch to another one
    Profile(profile::Options),
    /// Show the shipped packs of rules, or switch one off, to observe or to enforce
    Packs(packs::Options),
    /// Put edited configuration and rule files in force, after showing what they change
    Apply(apply::Options),
    /// Show the calls that wait for your consent
    Pending(pending::Options),
    /// Let a call happen that waits, after showing all of it
    Approve(approve::Options),
    /// Do not let a call happen that waits, or was granted
    Refuse(refuse::Options),
    /// Let agents work in a workspace, or not; show which may
    Trust(trust::Options),
    /// Choose what proves that a person is there
    #[command(subcommand)]
    Presence(presence::Command),
    /// Judge one call without an agent, and show why
    Check(check::Options),
    /// Show what one call would do: its commands and their effects, and which rules look at them
    Explain(explain::Options),
    /// Show the log
    Log(log::Options),
    /// Show what was decided in a week, and what to change
    Report(report::Options),
    /// Propose what to change of the rules, by the log
    Suggest(suggest::Options),
    /// Judge the recorded calls again with other rules, and show what would change
    Replay(replay::Options),
    /// List the agents that castellan can guard, and how much of its answers each carries out
    Agents(agents::Options),
    /// Find out whether everything works, with a live call through every hook
    Doctor(doctor::Options),
    /// Look at the configuration: what counts, and who says so
    #[command(subcommand)]
    Config(config::Command),
    /// Look at rules
    #[command(subcommand)]
    Rules(rules::Command),
    /// Measure rules and settings
    #[command(subcommand)]
    Bench(bench::Command),
    /// Serve a home in the foreground
    Daemon,
    /// Print shell completions
    Completions(completions::Options),
    /// Write man pages
    Man(man::Options),
}

/// Runs a subcommand.
pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Install(options) => install::run(global, options),
        Command::Uninstall(options) => uninstall::run(global, options),
        Command::Start => start::run(global),
        Command::Stop => stop::run(global),
        Command::Restart => restart::run(global),
        Command::Status(options) => status::run(global, options),
        Command::Mode(options) => mode::run(global, options),
        Command::Profile(options) => profile::run(global, options),
        Command::Packs(options) => packs::run(global, options),
        Command::Apply(options) => apply::run(global, options),
        Command::Pending(options) => pending::run(global, options),
        Command::Approve(options) => approve::run(global, options),
        Command::Refuse(options) => refuse::run(global, options),
        Command::Trust(options) => trust::run(global, options),
        Command::Presence(command) => presence::run(global, command),
        Command::Check(options) => check::run(global, options),
        Command::Explain(options) => explain::run(global, options),
        Command::Log(options) => log::run(global, options),
        Command::Report(options) => report::run(global, options),
        Command::Suggest(options) => suggest::run(global, options),
        Command::Replay(options) => replay::run(global, options),
        Command::Agents(options) => agents::run(global, options),
        Command::Doctor(options) => doctor::run(global, options),
        Command::Config(command) => config::run(global, command),
        Command::Rules(command) => rules::run(global, command),
        Command::Bench(command) => bench::run(global, command),
        Command::Daemon => daemon::run(global),
        Command::Completions(options) => completions::run(options),
        Command::Man(options) => man::run(global, options),
    }
}
