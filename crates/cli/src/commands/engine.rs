//! `castellan engine`: shows the program that tests the rules, or changes it. Each change requires a person, because the
//! programs decide about calls. Before a change to Falco, Falco itself loads the rules.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, bail};
use castellan_daemon::{ControlClient, EngineState, EngineStatus, KeyEdit, StatusReport, falco_plugins};
use castellan_policy::{EngineKind, EngineSettings};
use serde_json::{Value as Json, json};

use crate::agent_files::is_executable;
use crate::commands::apply::key_edit::{self, Changed};
use crate::commands::profile::in_force;
use crate::exit::Exit;
use crate::global::Global;
use crate::limits::{ENGINE_LOOK, ENGINE_START_TIME};
use crate::output::{self, WARNING, printable};
use crate::protection::without_falco;
use crate::{presence, times, values};

/// Options of `castellan engine`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// native: castellan tests the rules; falco: a Falco that castellan starts and looks after tests them, and without it
    /// every call is denied
    #[arg(value_parser = values::engine())]
    engine: Option<EngineKind>,

    /// Program of Falco, 0.43 or later; default: that of the configuration, else root's in PATH
    #[arg(long, value_name = "PATH", requires = "engine")]
    falco: Option<PathBuf>,

    /// Library of castellan's plugin; default: that of the configuration, else the one beside castellan
    #[arg(long, value_name = "PATH", requires = "engine")]
    plugin: Option<PathBuf>,

    /// Skip the question; a person must still be present
    #[arg(long, short, requires = "engine")]
    yes: bool,

    /// Print JSON
    #[arg(long, conflicts_with = "engine")]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    match options.engine {
        None => show(global, options.json),
        Some(EngineKind::Native) if options.falco.is_some() || options.plugin.is_some() => {
            bail!("`--falco` and `--plugin` are of the engine `falco`: leave them out")
        }
        Some(EngineKind::Native) => to_native(global, options),
        Some(EngineKind::Falco) => to_falco(global, options),
    }
}

const KIND: &str = "engine.kind";

fn show(global: &Global, as_json: bool) -> anyhow::Result<Exit> {
    let status = global.client()?.status()?;
    let engine = &status.engine;
    let mut out = anstream::stdout();
    if as_json {
        output::write_json(&mut out, &json_of(engine)?)?;
    } else {
        writeln!(out, "{}", printable(&line(engine)))?;
        if engine.state != EngineState::Judging {
            let fate = without_falco(&status);
            global.message(
                WARNING,
                &format!("{fate} until Falco judges; `castellan engine native` ends that"),
            )?;
        }
        if !engine.log.is_empty() {
            global.note(&format!("Falco's messages: {}", engine.log))?;
        }
    }
    Ok(if engine.state == EngineState::Judging { Exit::Done } else { Exit::No })
}

/// Returns the engine and its state in one line.
pub(super) fn line(engine: &EngineStatus) -> String {
    let EngineStatus { kind, state, version, pid, since_s, restarts, problem, .. } = engine;
    if kind != EngineKind::Falco.as_str() {
        return EngineKind::Native.as_str().to_owned();
    }
    let named = if version.is_empty() { String::new() } else { format!(" {version}") };
    let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(*since_s));
    let since = since.filter(|_| *since_s > 0).map(times::local_minute).unwrap_or_default();
    let again = match restarts {
        0 => String::new(),
        count => format!(", {} after a failure", output::counted(*count, "start")),
    };
    let why = if problem.is_empty() { String::new() } else { format!(": {problem}") };
    match state {
        EngineState::Judging => format!("falco{named}, process {pid}, judges since {since}{again}{why}"),
        EngineState::Starting => format!("falco{named} starts{again}{why}"),
        EngineState::Pausing => format!("falco{named} does not run{again}{why}"),
        EngineState::Refused => format!("falco cannot judge here{why}"),
    }
}

fn json_of(engine: &EngineStatus) -> anyhow::Result<Json> {
    let mut shown = serde_json::to_value(engine)?;
    if let Json::Object(members) = &mut shown {
        let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(engine.since_s));
        let since = since.filter(|_| engine.since_s > 0).map(times::utc);
        members.insert("since".to_owned(), since.into());
        members.insert("judges".to_owned(), json!(engine.state == EngineState::Judging));
    }
    Ok(shown)
}

fn to_native(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let edit = (KIND, KeyEdit::word(EngineKind::Native.as_str()));
    match key_edit::change_all(global, &[edit], options.yes, |_| Ok(()))? {
        Changed::Now(_) => {
            key_edit::report(global, "castellan tests the rules itself now", &["engine", "falco"])
        }
        Changed::Before => {
            global.note("castellan tests the rules itself already")?;
            Ok(Exit::Done)
        }
        Changed::No => Ok(Exit::No),
    }
}

fn to_falco(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let before = in_force(global)?.settings.engine;
    let falco = match &options.falco {
        Some(path) => absolute(path)?,
        None => found_falco(&before)?,
    };
    let plugin = match &options.plugin {
        Some(path) => absolute(path)?,
        None => found_plugin(&before)?,
    };
    let mut edits = vec![(KIND, KeyEdit::word(EngineKind::Falco.as_str()))];
    for (key, now, then) in
        [("engine.falco", falco, &before.falco), ("engine.plugin", plugin, &before.plugin)]
    {
        if now != *then {
            edits.push((key, KeyEdit::word(&now)));
        }
    }
    // Before a program runs that only a person may choose.
    let attempt = || edits.iter().map(|(key, edit)| ((*key).to_owned(), edit.clone())).collect();
    presence::require_before(|| global.client()?.edits(attempt(), "").map_err(anyhow::Error::from))?;
    let layout = global.layout()?;
    let mut checked = None;
    let changed = key_edit::change_all(global, &edits, options.yes, |after| {
        checked = after.check_engine(&layout)?;
        Ok(())
    })?;
    match changed {
        Changed::No => return Ok(Exit::No),
        Changed::Before => global.note("Falco is the engine already")?,
        Changed::Now(_) => {
            if let Some(checked) = checked {
                let rules = output::counted(checked.rules as u64, "rule");
                global.note(&format!("Falco {} has loaded {rules}", checked.version))?;
            }
        }
    }
    let status = await_start(&global.client()?)?;
    let engine = &status.engine;
    if engine.state != EngineState::Judging {
        let fate = without_falco(&status);
        let why = format!("Falco is the engine and does not judge, so {fate}: {}", line(engine));
        global.message(WARNING, &printable(&why))?;
        global.note(&format!("undo: {}", global.command(&["engine", "native"])))?;
        return Ok(Exit::Incomplete);
    }
    key_edit::report(global, &format!("Falco {} tests the rules now", engine.version), &["engine", "native"])
}

/// Waits until Falco judges, or cannot.
fn await_start(client: &ControlClient) -> anyhow::Result<StatusReport> {
    let until = Instant::now() + ENGINE_START_TIME;
    loop {
        let status = client.status()?;
        if status.engine.state != EngineState::Starting || Instant::now() >= until {
            return Ok(status);
        }
        std::thread::sleep(ENGINE_LOOK);
    }
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    let absolute = std::path::absolute(path).with_context(|| format!("`{}`", path.display()))?;
    text(absolute)
}

fn text(path: PathBuf) -> anyhow::Result<String> {
    let path = path.into_os_string().into_string();
    path.map_err(|path| anyhow::anyhow!("the path `{}` is not UTF-8", path.display()))
}

/// Returns the program of the configuration, else the first of that name in `PATH` that is root's: an agent may have put
/// another one there. A person's shell has `PATH`; the daemon does not read it. The path has no symbolic link, so nobody
/// else chooses another program later.
fn found_falco(configured: &EngineSettings) -> anyhow::Result<String> {
    if is_executable(Path::new(&configured.falco)) {
        return Ok(configured.falco.clone());
    }
    let path = std::env::var_os("PATH");
    let dirs = path.iter().flat_map(std::env::split_paths).filter(|dir| dir.is_absolute());
    let found = first_falco(dirs, is_of_root);
    let found = found.with_context(|| {
        format!(
            "no Falco of root is at `{}` or in PATH: install Falco 0.43 or later, or name yours with `--falco PATH`",
            configured.falco
        )
    })?;
    text(found)
}

/// Returns the first `falco` in these folders that can run and is allowed, without symbolic links.
fn first_falco(dirs: impl Iterator<Item = PathBuf>, is_allowed: fn(&Path) -> bool) -> Option<PathBuf> {
    let mut files = dirs.filter_map(|dir| std::fs::canonicalize(dir.join("falco")).ok());
    files.find(|file| is_executable(file) && is_allowed(file))
}

fn is_of_root(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.uid() == 0)
}

/// Returns the plugin that the configuration names, else the one of castellan's package.
fn found_plugin(configured: &EngineSettings) -> anyhow::Result<String> {
    let own = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    let found = first_plugin(own.as_deref(), configured);
    let found = found.with_context(|| {
        format!(
            "castellan's plugin for Falco is neither at `{}` nor beside castellan: install it, or name it with `--plugin PATH`",
            configured.plugin
        )
    })?;
    text(found)
}

/// Returns the first plugin that is there. The default place comes last: a copy there is for an existing Falco, and may be of
/// an earlier version.
fn first_plugin(castellan: Option<&Path>, configured: &EngineSettings) -> Option<PathBuf> {
    let configured_place = PathBuf::from(&configured.plugin);
    let is_chosen = configured.plugin != EngineSettings::native().plugin;
    let chosen = is_chosen.then(|| configured_place.clone());
    let beside = castellan.into_iter().flat_map(falco_plugins);
    chosen.into_iter().chain(beside).chain([configured_place]).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_found_falco_is_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let [linked, broken] = ["linked", "broken"].map(|name| root.join(name));
        for folder in [&linked, &broken] {
            std::fs::create_dir(folder).unwrap();
        }
        let (real, other) = (root.join("real"), root.join("other"));
        std::os::unix::fs::symlink(&real, linked.join("falco")).unwrap();
        std::os::unix::fs::symlink(&other, broken.join("falco")).unwrap();
        std::os::unix::fs::symlink("/bin/true", &real).unwrap();
        let found = first_falco([broken, linked].into_iter(), |_| true).unwrap();
        assert_eq!(found, std::fs::canonicalize("/bin/true").unwrap());
        assert!(!found.starts_with(&root));
    }

    #[test]
    fn the_plugin_of_the_package_comes_before_a_copy_for_another_falco() {
        let dir = tempfile::tempdir().unwrap();
        let [castellan, packed, beside, chosen] =
            ["bin/castellan", "lib/castellan/libcoding_agent.so", "bin/libcoding_agent.so", "chosen.so"]
                .map(|file| dir.path().join(file));
        let by_default = EngineSettings::native();
        let by_choice = EngineSettings { plugin: chosen.display().to_string(), ..EngineSettings::native() };
        assert_eq!(first_plugin(Some(&castellan), &by_choice), None);
        for (new, configured) in [(&packed, &by_default), (&beside, &by_default), (&chosen, &by_choice)] {
            std::fs::create_dir_all(new.parent().unwrap()).unwrap();
            std::fs::write(new, "").unwrap();
            assert_eq!(first_plugin(Some(&castellan), configured).as_ref(), Some(new));
        }
        // The path has no `..`: it becomes a setting.
        assert!(falco_plugins(&castellan).contains(&packed));
    }

    #[test]
    fn the_line_names_the_state_and_the_reason() {
        let of = |state: EngineState| EngineStatus {
            kind: "falco".to_owned(),
            state,
            version: "0.43.1".to_owned(),
            pid: 7,
            since_s: u64::from(state == EngineState::Judging),
            restarts: 2,
            problem: if state == EngineState::Judging { String::new() } else { "why".to_owned() },
            log: "/l".to_owned(),
        };
        for (state, begin, end) in [
            (
                EngineState::Judging,
                "falco 0.43.1, process 7, judges since 01-01 ",
                ", 2 starts after a failure",
            ),
            (EngineState::Starting, "falco 0.43.1 starts", "after a failure: why"),
            (EngineState::Pausing, "falco 0.43.1 does not run", "after a failure: why"),
            (EngineState::Refused, "falco cannot judge here", ": why"),
        ] {
            let line = line(&of(state));
            assert!(line.starts_with(begin) && line.ends_with(end), "{line}");
            let json = json_of(&of(state)).unwrap();
            assert_eq!(json["judges"], state == EngineState::Judging, "{json}");
            assert_eq!(json["since"].is_null(), state != EngineState::Judging, "{json}");
        }
        // A daemon of an earlier version reports no engine, and has castellan's own.
        assert_eq!(line(&EngineStatus::default()), "native");
    }
}
