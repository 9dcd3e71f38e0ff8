//! [`State`]: what a service manager says about a service.

use super::manager::{Manager, domain, launchctl, succeeded, systemctl};
use super::{Service, background, launchd};

/// The state of an installed service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// It starts at login.
    pub(crate) is_enabled: bool,
    /// The manager keeps the daemon running now.
    pub(crate) is_active: bool,
    /// The manager's own word for that.
    pub(crate) word: String,
    /// Files of others that change the service, and other doubts.
    pub(crate) doubts: Vec<String>,
}

impl Service {
    /// Asks the manager.
    pub(crate) fn state(&self) -> anyhow::Result<State> {
        match self.manager {
            Manager::Systemd => {
                let unit = self.name();
                let properties = [
                    "show",
                    "--property=ActiveState,SubState,UnitFileState,FragmentPath,DropInPaths,NeedDaemonReload",
                    &unit,
                ];
                let ran = systemctl(&properties)?;
                succeeded("systemctl --user show", &ran)?;
                Ok(of_properties(&ran.stdout, &self.dir.join(&unit).display().to_string()))
            }
            Manager::Launchd => {
                let (domain, label) = (domain()?, launchd::label(&self.definition));
                let print = launchctl(&["print", &format!("{domain}/{label}")])?;
                let disabled = launchctl(&["print-disabled", &domain])?;
                Ok(of_launchd(print.is_success.then_some(&print.stdout), &disabled.stdout, &label))
            }
            Manager::Background => {
                let is_active = background::is_running(&self.definition.home);
                let word = if is_active { "running" } else { "not running" }.to_owned();
                Ok(State { is_active, word, ..State::default() })
            }
        }
    }
}

/// Reads the output of `systemctl show`. `file`: the file of the service that castellan wrote.
fn of_properties(text: &str, file: &str) -> State {
    let value = |name: &str| {
        let mut values = text.lines().filter_map(|line| line.split_once('='));
        values.find(|(key, _)| *key == name).map(|(_, value)| value).unwrap_or_default()
    };
    let mut doubts = Vec::new();
    let fragment = value("FragmentPath");
    if fragment != file {
        doubts.push(match fragment {
            "" => "systemd does not know it: castellan service install".to_owned(),
            other => format!("systemd uses another file for it: {other}"),
        });
    }
    if !value("DropInPaths").is_empty() {
        doubts.push(format!("other files change it: {}", value("DropInPaths")));
    }
    if value("NeedDaemonReload") == "yes" {
        doubts.push("its file changed since systemd read it: castellan service install".to_owned());
    }
    let (active, sub) = (value("ActiveState"), value("SubState"));
    State {
        is_enabled: value("UnitFileState") == "enabled",
        is_active: matches!(active, "active" | "reloading") || (active, sub) == ("activating", "start"),
        word: format!("{active} ({sub})"),
        doubts,
    }
}

/// Reads the output of `launchctl print` (`None`: it knows no such service) and of `launchctl print-disabled`.
fn of_launchd(print: Option<&String>, disabled: &str, label: &str) -> State {
    let field = |name: &str| {
        let mut lines = print.into_iter().flat_map(|text| text.lines());
        lines.find_map(|line| line.trim().strip_prefix(name)).map(str::to_owned)
    };
    let quoted = format!("\"{label}\"");
    let is_disabled = |line: &str| {
        let value = line.trim().strip_prefix(&quoted).and_then(|rest| rest.split("=>").nth(1));
        value.is_some_and(|value| matches!(value.trim(), "disabled" | "true"))
    };
    let word =
        field("state = ").unwrap_or_else(|| if print.is_some() { "loaded" } else { "not loaded" }.to_owned());
    State {
        is_enabled: !disabled.lines().any(is_disabled),
        is_active: word == "running",
        word,
        doubts: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/home/ada/.config/systemd/user/castellan.service";

    #[test]
    fn the_properties_of_a_unit() {
        let check = |text: &str, is: (bool, bool), doubts: &[&str]| {
            let state = of_properties(text, FILE);
            assert_eq!((state.is_enabled, state.is_active), is, "{text}");
            assert_eq!(state.doubts.len(), doubts.len(), "{text}: {:?}", state.doubts);
            for (doubt, part) in state.doubts.iter().zip(doubts) {
                assert!(doubt.contains(part), "{doubt} lacks {part}");
            }
        };
        let good = format!(
            "ActiveState=active\nSubState=running\nUnitFileState=enabled\nFragmentPath={FILE}\nDropInPaths=\nNeedDaemonReload=no\n"
        );
        check(&good, (true, true), &[]);
        check(&good.replace("active\n", "inactive\n").replace("enabled", "disabled"), (false, false), &[]);
        check(&good.replace("=active", "=activating").replace("running", "auto-restart"), (true, false), &[]);
        check(
            &good.replace("DropInPaths=", "DropInPaths=/x/castellan.service.d/override.conf"),
            (true, true),
            &["override.conf"],
        );
        check(
            &good.replace(FILE, "/run/user/1/systemd/transient/castellan.service"),
            (true, true),
            &["another file"],
        );
        check(&good.replace("Reload=no", "Reload=yes"), (true, true), &["changed since"]);
        check("", (false, false), &["does not know it"]);
    }

    #[test]
    fn what_launchctl_prints() {
        let label = "dev.castellan.daemon";
        let print = "gui/501/dev.castellan.daemon = {\n\tactive count = 1\n\tstate = running\n}\n".to_owned();
        let check = |print: Option<&String>, disabled: &str, expected: (bool, bool, &str)| {
            let state = of_launchd(print, disabled, label);
            assert_eq!((state.is_enabled, state.is_active, state.word.as_str()), expected, "{disabled}");
        };
        check(Some(&print), "", (true, true, "running"));
        check(Some(&print.replace("running", "not running")), "", (true, false, "not running"));
        check(None, "\t\"dev.castellan.daemon\" => disabled\n", (false, false, "not loaded"));
        check(None, "\t\"dev.castellan.daemon\" => true\n", (false, false, "not loaded"));
        check(
            None,
            "\t\"dev.castellan.daemon\" => enabled\n\t\"dev.castellan.daemon.x\" => disabled\n",
            (true, false, "not loaded"),
        );
    }
}
