//! `castellan import kit`: takes over the user rules, the mode and the hooks of a coding-agents-kit or Prempti, and gives
//! them back with `--undo`. The order leaves no moment without a guard: castellan applies the rules and answers a call, then
//! each settings file changes its hooks in one write. The kit's own files are only read, and its service is left alone.

mod exchange;
mod found;
mod hooks;
mod record;
mod rules;
mod settings;
mod undo;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use castellan_agents::HookCommand;
use castellan_daemon::{Config, ControlClient, FileSet, Layout, StatusReport};
use castellan_wire::HomeArgument;

use self::exchange::Side;
use self::found::Kit;
use self::hooks::Exchange;
use self::record::{Record, Text};
use self::rules::KitRules;
use self::settings::KitSettings;
use crate::agent_files::is_executable;
use crate::commands::apply::{Proposal, changes};
use crate::commands::{doctor, rules as rules_command};
use crate::directories::Directories;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{ERROR, NOTE, WARNING};
use crate::{ask, launch, presence};

/// Options of `castellan import kit`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folder of the installation; default: `~/.coding-agents-kit` or `~/.prempti`
    #[arg(long, value_name = "DIR", conflicts_with = "undo")]
    from: Option<PathBuf>,

    /// Only print the changes
    #[arg(long)]
    dry_run: bool,

    /// Give the hooks back to the kit, and remove the imported rules and settings
    #[arg(long)]
    undo: bool,

    /// Skip the question; a person must still be present
    #[arg(long, short)]
    yes: bool,
}

/// The keys of castellan's configuration that an import sets.
const KEYS: [&str; 3] = ["profile", "mode", "default"];

/// A request, and the daemon that it is about.
struct Import<'o> {
    options: &'o Options,
    directories: Directories,
    layout: Layout,
    client: ControlClient,
    status: StatusReport,
}

/// All changes of an import.
struct Plan {
    kit: Kit,
    exchanges: Vec<Exchange>,
    rules: KitRules,
    settings: KitSettings,
    /// castellan's own files.
    files: Vec<Text>,
    proposal: Proposal,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let client = global.client()?;
    let status = client
        .status()
        .context("castellan must run before it takes over: `castellan install --no-agents`")?;
    let (directories, layout) = (Directories::of_environment()?, global.layout()?);
    let import = Import { options, directories, layout, client, status };
    if !import.status.pending.is_empty() {
        bail!("edited files wait to be applied: run `castellan apply` first");
    }
    if options.undo {
        return undo::run(global, &import);
    }
    if let Some(record) = Record::read(&import.layout)? {
        bail!(
            "`{}` was imported before: `{}` gives it back",
            record.kit.display(),
            global.command(&["import", "kit", "--undo"])
        );
    }
    take_over(global, &import)
}

fn take_over(global: &Global, import: &Import<'_>) -> anyhow::Result<Exit> {
    let hook = hook(&import.layout)?;
    let home = &import.directories.home;
    let kit = Kit::find(import.options.from.as_deref(), home, |dir| hooks::any(home, &found::paths(dir)))?;
    let exchanges = hooks::exchanges(home, &kit.paths(), &hook)?;
    let in_force = FileSet::read(&import.layout)?;
    let rules = KitRules::read(&kit.dir, &Config::of_home(&import.layout)?.rule_options, &in_force.rules)?;
    if !rules.is_sound() {
        write_problems(&rules)?;
        return Ok(Exit::No);
    }
    let settings = KitSettings::read(&kit.dir)?;
    let (files, proposal) = proposed(import, &rules, &settings)?;
    let plan = Plan { kit, exchanges, rules, settings, files, proposal };
    show(global, &plan)?;
    if plan.proposal.has_errors() {
        return Ok(Exit::No);
    }
    if let Some(exit) =
        not_agreed(global, import, &format!("import kit: {}", plan.kit.dir.display()), "take over?")?
    {
        return Ok(exit);
    }
    put_in_force(import, &plan, &hook)?;
    report(global, import, &plan)?;
    Ok(Exit::Done)
}

/// Returns the hook command of this home.
fn hook(layout: &Layout) -> anyhow::Result<HookCommand> {
    let program = launch::beside("castellan-hook")?;
    ensure!(is_executable(&program), "`{}` is missing or not executable", program.display());
    let program =
        program.to_str().context("castellan's path is not UTF-8, which agents' settings need: move it")?;
    Ok(HookCommand { program: program.to_owned(), home: HomeArgument::At(layout.home().clone()).to_string() })
}

/// Returns castellan's own files before and after, and the set of all of them.
fn proposed(
    import: &Import<'_>,
    rules: &KitRules,
    settings: &KitSettings,
) -> anyhow::Result<(Vec<Text>, Proposal)> {
    let layout = &import.layout;
    let mut set = FileSet::read(layout)?;
    let config = settings.put_into(&set.config)?;
    let mut files =
        vec![Text { file: layout.config_file(), before: Some(set.config.clone()), after: config.clone() }];
    set.config = config;
    for target in rules.targets(layout)? {
        files.push(Text { file: PathBuf::from(&target.name), before: None, after: target.text.clone() });
        set.rules.push(target);
    }
    // As the daemon reads them: the shipped files, then the user's, each folder in the order of names.
    let is_users = |name: &str| Path::new(name).starts_with(layout.rules_user());
    set.rules.sort_by(|a, b| (is_users(&a.name), &a.name).cmp(&(is_users(&b.name), &b.name)));
    Ok((files, Proposal::of(set, layout, &import.status)?))
}

fn write_problems(rules: &KitRules) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    rules_command::write_problems(&mut out, &rules.sources, &rules.problems)?;
    crate::output::write_messages(&mut out, ERROR, &rules.faults)?;
    writeln!(out, "{ERROR} these rules do not load as they are: mend them in the kit. Nothing was changed")?;
    Ok(())
}

fn show(global: &Global, plan: &Plan) -> anyhow::Result<()> {
    let out = &mut anstream::stdout();
    writeln!(
        out,
        "{} in {}\n",
        plan.kit.title,
        crate::output::printable(&plan.kit.dir.display().to_string())
    )?;
    for exchange in &plan.exchanges {
        for (event, command) in &exchange.commands {
            let title = exchange.agent.title();
            writeln!(out, "{title}, {event}: castellan replaces `{}`", crate::output::printable(command))?;
        }
        changes::Change::of(&exchange.file, Some(&exchange.before), Some(&exchange.after)).write(out)?;
        writeln!(out)?;
    }
    plan.proposal.write(out, global)?;
    for left in plan.rules.left.iter().chain(&plan.settings.left) {
        global.message(NOTE, &format!("not taken over: {left}"))?;
    }
    if plan.exchanges.is_empty() {
        let how = "no agent has a hook of the kit, so no hook is replaced: `castellan install` registers castellan's";
        global.message(WARNING, how)?;
    }
    Ok(())
}

/// Requires a person, and asks. Returns the exit of a dry run, or of a no.
fn not_agreed(
    global: &Global,
    import: &Import<'_>,
    action: &str,
    question: &str,
) -> anyhow::Result<Option<Exit>> {
    if import.options.dry_run {
        global.note("nothing was changed")?;
        return Ok(Some(Exit::Done));
    }
    presence::require(&[import.layout.home().clone()], action)?;
    if !import.options.yes && !ask::is_agreed(question)? {
        global.note("nothing was changed")?;
        return Ok(Some(Exit::No));
    }
    Ok(None)
}

/// Applies the rules, sees castellan's hook answer, and only then exchanges the hooks. After an error all is as before.
fn put_in_force(import: &Import<'_>, plan: &Plan, hook: &HookCommand) -> anyhow::Result<()> {
    let after: Vec<(&Path, Option<&str>)> =
        plan.files.iter().map(|text| (text.file.as_path(), Some(text.after.as_str()))).collect();
    let record = Record::new(&plan.kit.dir, plan.kit.title, &plan.exchanges, plan.files.clone());
    let before = FileSet::read(&import.layout)?;
    record.write(&import.layout)?;
    let exchanged = exchange::own_files(&import.client, &after, plan.proposal.files()).and_then(|()| {
        let exchanged = answers(plan, hook)
            .and_then(|()| exchange::settings(&record.settings, Side::Before, Side::After));
        exchanged.inspect_err(|_| {
            let old: Vec<(&Path, Option<&str>)> =
                plan.files.iter().map(|text| (text.file.as_path(), text.before.as_deref())).collect();
            // If this fails too, the record stays for `--undo`.
            let _ = exchange::own_files(&import.client, &old, &before);
        })
    });
    if exchanged.is_err() && FileSet::read(&import.layout).is_ok_and(|now| now == before) {
        Record::remove(&import.layout)?;
    }
    exchanged
}

/// Fails unless castellan's hook judges a call of each agent.
fn answers(plan: &Plan, hook: &HookCommand) -> anyhow::Result<()> {
    for exchange in &plan.exchanges {
        doctor::answers(exchange.agent, hook).context("the hooks were left as they were")?;
    }
    Ok(())
}

fn report(global: &Global, import: &Import<'_>, plan: &Plan) -> anyhow::Result<()> {
    let rules = crate::output::counted(plan.rules.sources.len(), "rule file");
    let hooks = crate::output::counted(plan.exchanges.len(), "agent");
    global.note(&format!(
        "imported {rules} in mode {}; castellan's hooks guard {hooks}\nundo: {}",
        plan.settings.mode,
        global.command(&["import", "kit", "--undo"])
    ))?;
    let ways = plan.kit.ways_to_stop(&import.directories);
    if !ways.is_empty() {
        let running = "agents that run may still use its hooks: start them anew before you stop it";
        global.message(NOTE, &format!("the service of {} still runs; {running}", plan.kit.title))?;
        for way in ways {
            global.note(&format!("stop it: {way}"))?;
        }
    }
    Ok(())
}
