//! The file of settings that `castellan run` rendered for the agent below it. It keeps hooks on as long as the run lives: no
//! agent can change castellan's folders, and the run removes the file at its own end. This module must not know the
//! other settings.

use std::path::Path;

use crate::sight::read_text;
use castellan_agents::{self as agents, AgentId, SETTINGS_BYTES_MAX};

use super::own::Own;
use crate::ancestors::Ancestors;
use crate::layout::{RUN_SETTINGS, run_folder};
use crate::peers::AgentProcess;

impl Own {
    /// Reports whether a file belongs to a run above the agent's process, by its exact path, and switches hooks on.
    pub(crate) fn has_rendered(&self, agent: AgentId, file: &str, process: AgentProcess) -> bool {
        // Most files are none of castellan's, and ancestors take some system calls.
        let is_below = |path: &String| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        if !self.paths.iter().any(is_below) {
            return false;
        }
        let runs = Ancestors::of(process).chain;
        let names = |path: &String, run: &AgentProcess| {
            let folder = Path::new(path).join(RUN_SETTINGS).join(run_folder(run.pid, run.started));
            agents::native_paths(agent).iter().any(|path| folder.join(path).as_os_str() == file)
        };
        self.paths.iter().any(|path| runs.iter().any(|run| names(path, run)))
            && read_text(Path::new(file), SETTINGS_BYTES_MAX as u64)
                .is_ok_and(|text| agents::switches_on(agent, &text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_of_a_run_above_keeps_hooks_on() {
        let state = tempfile::tempdir().unwrap();
        let own = Own::of(&[state.path().display().to_string()]);
        // The test is a process below its parent, which takes the place of the run.
        let process = AgentProcess::of(std::process::id());
        let run = AgentProcess::of(std::os::unix::process::parent_id());
        let write = |folder: &str, text: &str| {
            let file = state.path().join(folder).join(".claude/settings.json");
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text).unwrap();
            file.display().to_string()
        };
        let on = r#"{"disableAllHooks": false}"#;
        let of_run = run_folder(run.pid, run.started);
        let file = write(&format!("run/settings/{of_run}"), on);
        let check = |file: &str, expected: bool| {
            assert_eq!(own.has_rendered(AgentId::CLAUDE, file, process), expected, "{file}");
        };
        check(&file, true);
        check(&write(&format!("run/settings/{}", run_folder(run.pid, run.started + 1)), on), false);
        check(&write("run/settings/1-x", on), false);
        check(&write(&of_run, on), false);
        check(&write(&format!("other/run/settings/{of_run}"), on), false);
        check(&file.replace("run/settings", "./run/settings"), false);
        check(&file.replace("settings.json", "settings.local.json"), false);
        check("x.json", false);
        assert!(!own.has_rendered(AgentId::CODEX, &file, process));
        assert!(!Own::of(&["/elsewhere".to_owned()]).has_rendered(AgentId::CLAUDE, &file, process));
        for other in [r#"{"disableAllHooks": true}"#, "{}", "", r#"{"disableAllHooks": false"#] {
            write(&format!("run/settings/{of_run}"), other);
            check(&file, false);
        }
        std::fs::remove_file(&file).unwrap();
        check(&file, false);
    }
}
