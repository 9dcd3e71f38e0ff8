//! Effects of a call on this machine, found by the analysis of `castellan_facts`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use castellan_agents::{AgentId, OWN_MARKETPLACES, OWN_PLUGIN_PROGRAMS, plugin_manifest};
use castellan_event::{Call, Facts, Recorder};
use castellan_facts::{Setting, analyse};
use castellan_policy::EngineSettings;

use crate::layout::{Layout, OrganisationPlace};
use crate::memory::{Changed, Workspace};
use crate::workspace::workspace_of;

/// Analyses a call as the first of its session. `own` are castellan's own files, see [`own_paths`].
pub fn facts_of(call: &Call, own: &[String], world: &mut Recorder<'_>) -> Facts {
    let workspace = workspace_of(&call.agent.cwd, call.agent.pid, world);
    let inside = workspace.as_ref().map_or("", Workspace::inside);
    facts_after(call, own, inside, None, world)
}

/// Analyses a call with its session's workspace and the files that earlier calls wrote.
pub(crate) fn facts_after(
    call: &Call,
    own: &[String],
    workspace: &str,
    changed: Option<Changed>,
    world: &mut Recorder<'_>,
) -> Facts {
    let changed = changed.unwrap_or_default();
    let setting = Setting {
        workspace: workspace.to_owned(),
        own: own.to_vec(),
        changing: changed.changing,
        written: changed.written,
        downloaded: changed.origins.downloaded,
        secret_copies: changed.origins.secret_copies,
        has_tunnel: changed.has_tunnel,
        contained: changed.contained,
        written_is_full: changed.is_full,
    };
    analyse(call, &setting, world)
}

/// Moves the project's files that another session wrote to the files of sessions. Files with text of the network or of
/// unread code are nobody's.
pub(crate) fn leave_to_sessions(
    facts: &mut Facts,
    has_written: impl Fn(&str) -> bool,
    is_foreign: impl Fn(&str) -> bool,
) {
    let (written, own): (BTreeSet<String>, _) =
        std::mem::take(&mut facts.own_scripts).into_iter().partition(|path| has_written(path));
    facts.own_scripts = own;
    facts.session_scripts.extend(written);
    facts.session_scripts.retain(|path| !is_foreign(path));
}

/// The programs beside this one.
const OWN_PROGRAMS: [&str; 4] = ["castellan", "castellan-hook", "castellan-sandbox", "castellan-reader"];

/// The name of the plugin by which a Falco judges.
const FALCO_PLUGIN: &str = "libcoding_agent.so";

/// The folder of a package for that plugin, beside the folder of the programs.
const FALCO_PLUGIN_FOLDER: &str = "lib/castellan";

/// Returns the places of Falco's plugin for a castellan at this path, the first choice first.
pub fn falco_plugins(castellan: &Path) -> Vec<PathBuf> {
    let folder = castellan.parent();
    let packed = folder.and_then(Path::parent).map(|above| above.join(FALCO_PLUGIN_FOLDER));
    folder.map(Path::to_owned).into_iter().chain(packed).map(|folder| folder.join(FALCO_PLUGIN)).collect()
}

/// Returns castellan's own paths: its home, configuration and state, the organisation's files, the programs, and the places of
/// Falco's plugin. Each path is included as written and, if it differs, as resolved.
pub fn own_paths(layout: &Layout) -> Vec<String> {
    let organisation = OrganisationPlace::default().dir;
    let home = layout.home().dir().to_owned();
    let sockets = layout.home().system_user().map(|_| layout.home().run());
    let folders = [home, layout.config().to_owned(), layout.state().to_owned(), organisation];
    let folders = folders.into_iter().chain(sockets);
    let executable = std::env::current_exe().ok();
    let programs = executable
        .as_deref()
        .and_then(Path::parent)
        .into_iter()
        .flat_map(|folder| OWN_PROGRAMS.map(|name| folder.join(name)));
    let plugin = executable.as_deref().map(plugin_paths).unwrap_or_default();
    let of_falco = executable.as_deref().map(falco_plugins).unwrap_or_default();
    let all = folders.chain(programs).chain(plugin).chain(of_falco);
    let both = all.flat_map(|path| {
        let real = std::fs::canonicalize(&path).ok().filter(|real| *real != path);
        [Some(path), real].into_iter().flatten()
    });
    both.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Returns the files of an engine beside castellan: who changes them judges. As written and, if different, as resolved.
pub(crate) fn own_files_of(engine: &EngineSettings) -> Vec<String> {
    let both = engine.deciding_files().flat_map(|path| {
        let real = std::fs::canonicalize(path).ok().map(|real| real.to_string_lossy().into_owned());
        [Some(path.to_owned()), real.filter(|real| real != path)].into_iter().flatten()
    });
    both.collect()
}

/// Returns the folder of the plugin that this program belongs to, and the list of plugins that names the folder. The
/// agent reads its hooks there. Empty for a program that belongs to no plugin.
fn plugin_paths(executable: &Path) -> Vec<PathBuf> {
    let root =
        executable.parent().filter(|folder| folder.ends_with(OWN_PLUGIN_PROGRAMS)).and_then(Path::parent);
    let is_plugin =
        |root: &&Path| AgentId::ALL.iter().any(|agent| root.join(plugin_manifest(*agent)).is_file());
    let Some(root) = root.filter(is_plugin) else { return Vec::new() };
    let lists = root.parent().into_iter().flat_map(|above| OWN_MARKETPLACES.map(|list| above.join(list)));
    std::iter::once(root.to_owned()).chain(lists.filter(|list| list.is_file())).collect()
}

#[cfg(test)]
mod plugin_tests {
    use super::*;

    #[test]
    fn a_program_in_a_plugin_guards_the_whole_plugin() {
        let dir = tempfile::tempdir().unwrap();
        let write = |file: &str| {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{}").unwrap();
        };
        let check = |program: &str, expected: &[&str]| {
            let expected: Vec<PathBuf> = expected.iter().map(|path| dir.path().join(path)).collect();
            assert_eq!(plugin_paths(&dir.path().join(program)), expected, "{program}");
        };
        check("m/castellan/bin/castellan", &[]);
        write("m/castellan/.claude-plugin/plugin.json");
        check("m/castellan/bin/castellan", &["m/castellan"]);
        write("m/.claude-plugin/marketplace.json");
        check("m/castellan/bin/castellan", &["m/castellan", "m/.claude-plugin/marketplace.json"]);
        check("m/castellan/castellan", &[]);
        check("m/castellan/more/bin/castellan", &[]);
    }
}
