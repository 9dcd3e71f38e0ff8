//! The files from which an agent reads hooks, and their contents: castellan's hooks, a switch that switches hooks off,
//! and foreign hooks for the same calls. This module must not know where the user's files are.
//!
//! Hooks also come from plugins, skills and the command line (`plugins.rs`, `command_line.rs`). This module reads their
//! files too, but the tables of `agents/*.toml` do not list them. `hook_files/forms.rs` reads each form.

mod forms;

use crate::agent::{AgentId, machine_settings_path};
use crate::dotenv::set_in;
use crate::family::HookCommand;
use crate::rewrite::own_rules;
use crate::settings::Foreign;
use crate::spec::{EventKind, Form, HookFile, MachineFamily, Place, SwitchFamily};
use crate::switches::{off_profiles, requires_hooks, switches_off};
use forms::{read_front_matter, read_plugin_hooks, read_settings, read_toml};

/// Hooks of a plugin: `hooks/hooks.json`, or hooks in its `plugin.json`.
pub const PLUGIN_HOOKS: HookFile =
    HookFile { place: Place::Plugin, path: "hooks/hooks.json", form: Form::Hooks };
/// Hooks of a skill, a command or a sub-agent, active while it is used.
pub const FRONT_MATTER: HookFile =
    HookFile { place: Place::Plugin, path: "SKILL.md", form: Form::FrontMatter };
/// The hooks in a file. Empty for a file that the agent cannot read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookFileReport {
    /// castellan's question hooks that are exactly as castellan writes them.
    pub ours: Vec<HookCommand>,
    /// Hooks with castellan's name that run before calls, changed or not. The caller decides whether they are
    /// castellan's.
    pub named: Vec<NamedHook>,
    /// The file's hooks run regardless of the user's and a repository's settings.
    pub is_binding: bool,
    /// The switch in the file that switches hooks off.
    pub off: Option<&'static str>,
    /// Foreign hooks that run before calls: they can change or allow a call that castellan has judged.
    pub foreign: Vec<Foreign>,
    /// Plugins that the file enables or disables.
    pub plugins: Vec<(String, bool)>,
    /// Profiles of the configuration that switch hooks off when chosen.
    pub off_profiles: Vec<String>,
    /// The agent's own rules that deny calls or ask about them, as [`crate::may_match_own_rule`] reads them.
    pub own_rules: Vec<String>,
    /// Why the agent may find hooks in the file that castellan does not find.
    pub unread: Option<String>,
}

/// A hook with castellan's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedHook {
    /// The hook's command.
    pub hook: HookCommand,
    /// The report of the hook if it is not castellan's.
    pub shown: Foreign,
}

/// Codex's configuration, below its own directory.
pub const TRUST_FILE: &str = "config.toml";

impl HookFile {
    /// True if the file's hooks override the switches of the user and a repository (measured). Of Codex's machine files
    /// only the requirements do, and only if they set `features.hooks`.
    fn is_binding(&self, agent: AgentId, text: &str) -> bool {
        let is_machines = self.place == Place::Machine;
        match agent.spec().families.machine {
            None => false,
            Some(MachineFamily::OwnJson) => is_machines,
            Some(MachineFamily::SharedToml) => {
                is_machines && Some(self.path) == machine_settings_path(agent) && requires_hooks(text)
            }
        }
    }

    /// True if the file can switch hooks off.
    fn can_switch(&self, agent: AgentId) -> bool {
        match agent.spec().families.switch {
            SwitchFamily::DisableAllHooks | SwitchFamily::HooksConfig => self.form == Form::Settings,
            SwitchFamily::Feature => self.form == Form::Toml,
        }
    }
}

/// Reports whether a running agent reads its settings again when they change.
pub fn rereads_settings(agent: AgentId) -> bool {
    agent.spec().rereads_settings
}

/// Returns the files from which an agent reads hooks.
pub fn hook_files(agent: AgentId) -> &'static [HookFile] {
    agent.spec().hook_files
}

/// Returns a repository's files that register no hooks but may set a variable to switch an agent's hooks off.
pub fn variable_files(agent: AgentId) -> &'static [HookFile] {
    agent.spec().variable_files
}

/// The folder of Claude Code's machine settings, whose files may have any name.
pub const MANAGED_FOLDER: &str = "/etc/claude-code/managed-settings.d";
/// A file in [`MANAGED_FOLDER`].
pub const MANAGED_SETTINGS: HookFile = settings(Place::Machine, "");
/// The folder of the machine's own skills, commands and sub-agents, laid out like the user's agent directory.
pub const MANAGED_TEXTS: &str = "/etc/claude-code/.claude";

/// Returns the form of settings on the command line.
pub fn given_settings(agent: AgentId) -> HookFile {
    match agent.spec().families.switch {
        SwitchFamily::DisableAllHooks | SwitchFamily::HooksConfig => settings(Place::CommandLine, ""),
        SwitchFamily::Feature => toml(Place::CommandLine, ""),
    }
}

/// Returns the file of a profile on the command line, below the agent's own directory.
pub fn given_config(agent: AgentId, profile: &str) -> Option<(HookFile, String)> {
    let is_name = !profile.is_empty() && !profile.contains('/');
    match agent.spec().families.switch {
        SwitchFamily::Feature if is_name => Some((toml(Place::User, ""), format!("{profile}.config.toml"))),
        SwitchFamily::Feature | SwitchFamily::DisableAllHooks | SwitchFamily::HooksConfig => None,
    }
}

/// Reads the hooks of a file.
pub fn read_hook_file(agent: AgentId, file: &HookFile, text: &str) -> HookFileReport {
    let mut report = match file.form {
        Form::Settings => read_settings(agent, text),
        Form::Toml => read_toml(agent, text),
        Form::Hooks => read_plugin_hooks(agent, text),
        Form::FrontMatter => read_front_matter(agent, text),
        Form::Variables => {
            HookFileReport { off: set_in(text, agent.spec().off_variables), ..HookFileReport::default() }
        }
    };
    if file.form == Form::Settings {
        report.own_rules = own_rules(agent, text);
    }
    report.is_binding = file.is_binding(agent, text);
    if file.can_switch(agent) {
        report.off = switches_off(agent, text);
        report.off_profiles = off_profiles(agent, text);
    }
    report.foreign.retain(|foreign| is_question(agent, &foreign.event));
    report.named.retain(|named| is_question(agent, &named.shown.event));
    report
}

/// True for events at which another hook can undo castellan's answer: a question, and the agent's own prompt.
fn is_question(agent: AgentId, event: &str) -> bool {
    matches!(agent.event_kind(event), Some(EventKind::Question | EventKind::Permission))
}

const fn settings(place: Place, path: &'static str) -> HookFile {
    HookFile { place, path, form: Form::Settings }
}

const fn toml(place: Place, path: &'static str) -> HookFile {
    HookFile { place, path, form: Form::Toml }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::managed::register_managed_toml;
    use crate::settings::register;

    fn file(agent: AgentId, path: &str) -> &'static HookFile {
        hook_files(agent).iter().find(|file| file.path == path).unwrap()
    }

    fn check(agent: AgentId, path: &str, text: &str, registers: bool, off: Option<&str>, foreign: &[&str]) {
        let report = read_hook_file(agent, file(agent, path), text);
        let commands: Vec<_> =
            report.foreign.iter().map(|foreign| format!("{} {}", foreign.event, foreign.command)).collect();
        assert_eq!(
            (!report.ours.is_empty(), report.off, commands),
            (registers, off, foreign.iter().map(|s| (*s).to_owned()).collect()),
            "{path}: {text}"
        );
    }

    #[test]
    fn plugins_and_front_matter_bring_hooks_and_switch_none_off() {
        let check = |file: &HookFile, text: &str, foreign: &[&str]| {
            let report = read_hook_file(AgentId::CLAUDE, file, text);
            let commands: Vec<_> = report.foreign.iter().map(|foreign| foreign.command.as_str()).collect();
            assert_eq!((commands.as_slice(), report.off), (foreign, None), "{text}");
        };
        let hook = r#""hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/x.sh"}]}]}"#;
        check(&PLUGIN_HOOKS, &format!("{{{hook}}}"), &["${CLAUDE_PLUGIN_ROOT}/x.sh"]);
        check(
            &PLUGIN_HOOKS,
            &format!("{{\"name\":\"x\",\"disableAllHooks\":true,{hook}}}"),
            &["${CLAUDE_PLUGIN_ROOT}/x.sh"],
        );
        check(&PLUGIN_HOOKS, r#"{"name":"x","hooks":"./h.json"}"#, &[]);
        let listed = r#"{"hooks":["a.json",{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]}]}"#;
        check(&PLUGIN_HOOKS, listed, &["x"]);
        let front = "---\nname: x\nhooks:\n  PreToolUse:\n    - hooks:\n      - type: command\n        command: ./x.sh\n---\ntext\n";
        check(&FRONT_MATTER, front, &["./x.sh"]);
        check(&FRONT_MATTER, &front.replace("PreToolUse", "Stop"), &[]);
        let escaped =
            "---\n\"ho\\u006fks\": {\"\\x50reToolUse\": [{hooks: [{type: command, command: x}]}]}\n---\n";
        check(&FRONT_MATTER, escaped, &["x"]);
        check(&FRONT_MATTER, "---\nname: x\n---\nhooks: PreToolUse\n---\n", &[]);
        for text in ["", "---", "---\n---", "hooks: PreToolUse", "\u{0}"] {
            check(&FRONT_MATTER, text, &[]);
        }
        let reported = read_hook_file(
            AgentId::CLAUDE,
            file(AgentId::CLAUDE, "settings.json"),
            r#"{"enabledPlugins":{"a@b":true,"c@d":false}}"#,
        );
        assert_eq!(reported.plugins, [("a@b".to_owned(), true), ("c@d".to_owned(), false)]);
    }

    #[test]
    fn what_the_agent_may_read_otherwise_is_not_nothing() {
        let check = |agent, file: &HookFile, text: &str, expected: Option<&str>| {
            let unread = read_hook_file(agent, file, text).unread;
            let is_as_expected = match (&unread, expected) {
                (Some(why), Some(part)) => why.contains(part),
                (None, None) => true,
                _ => false,
            };
            assert!(is_as_expected, "{text}: {unread:?}");
        };
        let (claude, codex) = (AgentId::CLAUDE, AgentId::CODEX);
        let user = file(claude, "settings.json");
        let hooks = r#""hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/x"}]}]}"#;
        check(claude, user, &format!("{{{hooks}}}"), None);
        // JavaScript takes the last of two equal keys.
        check(claude, user, &format!(r#"{{"hooks":{{}},{hooks}}}"#), Some("a key that stands once"));
        // Not representable in Rust: a lone surrogate, a huge number, too many levels.
        check(claude, user, &format!(r#"{{"x":"\ud800",{hooks}}}"#), Some("escape"));
        check(claude, user, &format!(r#"{{"x":1e999,{hooks}}}"#), Some("number"));
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        check(claude, user, &format!(r#"{{"x":{deep},{hooks}}}"#), Some(""));
        check(claude, user, r#"{"hooks":[]}"#, Some("`hooks` must be an object"));
        check(claude, &PLUGIN_HOOKS, &format!(r#"{{"x":"\ud800",{hooks}}}"#), Some("escape"));
        check(claude, &PLUGIN_HOOKS, r#"{"hooks":1}"#, Some("must be"));
        check(claude, &FRONT_MATTER, "---\nx: !y {hooks: 1}\n---\n", Some("a tag of YAML"));
        check(claude, &FRONT_MATTER, "---\nhooks: {PreToolUse: 1}\n---\n", Some("must be a list"));
        check(claude, &FRONT_MATTER, "---\nhooks: 1\n---\n", Some("must be an object"));
        check(claude, &FRONT_MATTER, "---\nname: x\nhooks:\n---\n", None);
        // Neither agent reads these.
        for text in ["{", "{} // c", r#"{"a":1,}"#, ""] {
            check(claude, user, text, None);
            check(codex, file(codex, "hooks.json"), text, None);
        }
        check(codex, file(codex, "hooks.json"), r#"{"x":"\ud800"}"#, None);
        check(codex, file(codex, "hooks.json"), r#"{"hooks":{},"hooks":{}}"#, Some("stands once"));
    }

    #[test]
    fn a_hook_with_castellans_name_is_told_apart() {
        let check = |text: &str, ours: usize, named: &[&str], foreign: &[&str]| {
            let report = read_hook_file(AgentId::CLAUDE, file(AgentId::CLAUDE, "settings.json"), text);
            let programs: Vec<_> = report.named.iter().map(|named| named.hook.program.as_str()).collect();
            let commands: Vec<_> = report.foreign.iter().map(|foreign| foreign.command.as_str()).collect();
            assert_eq!((report.ours.len(), programs.as_slice(), commands.as_slice()), (ours, named, foreign));
        };
        let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() };
        let ours = register(AgentId::CLAUDE, "", &hook).unwrap();
        check(&ours, 1, &["/b/castellan-hook"; 2], &[]);
        // Changed, but present.
        check(&ours.replace("600", "1"), 0, &["/b/castellan-hook"; 2], &[]);
        // A hook of another type starts something else.
        let entry =
            r#"{"type":"http","url":"http://x","command":"/b/castellan-hook","args":["--agent","claude"]}"#;
        let http = format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{entry}]}}]}}}}"#);
        let shown: serde_json::Value = serde_json::from_str(entry).unwrap();
        check(&http, 0, &[], &[&shown.to_string()]);
        let shell = r#"{"type":"command","command":"/trusted","shell":"powershell"}"#;
        check(&format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{shell}]}}]}}}}"#), 0, &[], &[shell]);
    }

    #[test]
    fn settings_with_comments_switch_hooks_off() {
        let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() };
        let gemini = AgentId::GEMINI;
        let (users, projects) = ("settings.json", ".gemini/settings.json");
        let ours_there = register(gemini, "", &hook).unwrap();
        check(gemini, users, &format!("// mine\n{ours_there}"), true, None, &[]);
        check(gemini, users, &ours_there.replace("600000", "600"), false, None, &[]);
        let qwen = AgentId::QWEN;
        let disabled = "{ // mine\n\"disableAllHooks\": true }";
        check(qwen, ".qwen/settings.json", disabled, false, Some("disableAllHooks: true"), &[]);
        check(qwen, "settings.json", disabled, false, Some("disableAllHooks: true"), &[]);
        check(qwen, "settings.json", &register(qwen, "", &hook).unwrap(), true, None, &[]);
        let off = |config: &str, expected: Option<&str>| {
            check(gemini, projects, &format!(r#"{{"hooksConfig":{config} /* c */}}"#), false, expected, &[]);
        };
        off(r#"{"enabled":false}"#, Some("hooksConfig.enabled: false"));
        off(r#"{"enabled":true,"disabled":["lint"]}"#, None);
        let named = Some("hooksConfig.disabled: [castellan's hook]");
        off(
            r#"{"disabled":["lint","/b/castellan-hook --agent gemini --event BeforeTool --home /h"]}"#,
            named,
        );
        off(r#"{"disabled":["$HOOK"]}"#, named);
        off(r#"{"disabled":"castellan-hook"}"#, named);
        off(r#"{"enabled":"true"}"#, Some("hooksConfig.enabled: false"));
        for hooks in ["null", "1", "[]", r#""x""#] {
            let text = format!(r#"{{"hooks":{hooks}}}"#);
            check(gemini, projects, &text, false, Some("hooks: no object"), &[]);
            check(qwen, ".qwen/settings.json", &text, false, None, &[]);
        }
        for value in ["1", r#""false""#, "[]"] {
            let text = format!(r#"{{"disableAllHooks":{value}}}"#);
            check(qwen, ".qwen/settings.json", &text, false, Some("disableAllHooks: true"), &[]);
        }
        for (value, expected) in
            [(r#""1""#, Some("QWEN_CODE_SIMPLE")), ("true", Some("QWEN_CODE_SIMPLE")), (r#""0""#, None)]
        {
            let text = format!(r#"{{"env":{{"QWEN_CODE_SIMPLE":{value}}}}}"#);
            check(qwen, ".qwen/settings.json", &text, false, expected, &[]);
        }
        let variable = r#"{"env":{"CLAUDE_CODE_SIMPLE":"1"}}"#;
        check(AgentId::CLAUDE, ".claude/settings.json", variable, false, None, &[]);
        for value in ["0", r#""""#, "null"] {
            let text = format!(r#"{{"disableAllHooks":{value}}}"#);
            check(qwen, ".qwen/settings.json", &text, false, None, &[]);
        }
        check(gemini, projects, r#"{"disableAllHooks":true}"#, false, None, &[]);
        assert!(
            !read_hook_file(gemini, file(gemini, "/etc/gemini-cli/settings.json"), &ours_there).is_binding
        );
    }

    #[test]
    fn variables_switch_hooks_off() {
        for file in variable_files(AgentId::QWEN) {
            let off = |text| read_hook_file(AgentId::QWEN, file, text).off;
            assert_eq!(off("A=b\nQWEN_CODE_SAFE_MODE=1\n"), Some("QWEN_CODE_SAFE_MODE"), "{}", file.path);
            assert_eq!(off("QWEN_HOME=/x\n"), None, "{}", file.path);
        }
        assert!(variable_files(AgentId::CLAUDE).is_empty());
    }

    #[test]
    fn each_file_says_what_it_does_to_hooks() {
        let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() };
        let (claude, codex) = (AgentId::CLAUDE, AgentId::CODEX);
        let other = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/x","args":["y"]}]}],"Stop":[{"hooks":[{"type":"command","command":"z"}]}]}}"#;
        let local = ".claude/settings.local.json";
        let ours = register(claude, "", &hook).unwrap();
        check(claude, "settings.json", &ours, true, None, &[]);
        check(
            claude,
            "settings.json",
            &register(claude, other, &hook).unwrap(),
            true,
            None,
            &["PreToolUse /x [\"y\"]"],
        );
        check(claude, "settings.json", &ours.replace("600", "1"), false, None, &[]);
        check(claude, local, other, false, None, &["PreToolUse /x [\"y\"]"]);
        check(claude, local, r#"{"disableAllHooks":true}"#, false, Some("disableAllHooks: true"), &[]);
        // Claude Code does not read this file at all.
        check(claude, local, &format!("{other} // c"), false, None, &[]);
        for text in ["", "{", "[]", r#"{"hooks":1}"#, "\u{0}"] {
            check(claude, local, text, false, None, &[]);
            check(codex, "hooks.json", text, false, None, &[]);
            check(codex, "config.toml", text, false, None, &[]);
        }
        let prompt = r#"{"hooks":{"PermissionRequest":[{"hooks":[{"type":"http","url":"http://x"}]}]}}"#;
        check(claude, local, prompt, false, None, &[r#"PermissionRequest {"type":"http","url":"http://x"}"#]);

        // Hooks that ask a model are foreign hooks too.
        for kind in ["prompt", "agent"] {
            let entry = format!(r#"{{"type":"{kind}","prompt":"fine?"}}"#);
            let both = format!(r#"[{{"hooks":[{entry}]}}]"#);
            let text = format!(r#"{{"hooks":{{"PreToolUse":{both},"PermissionRequest":{both}}}}}"#);
            let found = [format!("PreToolUse {entry}"), format!("PermissionRequest {entry}")];
            check(claude, local, &text, false, None, &[&found[0], &found[1]]);
        }

        check(codex, "hooks.json", &register(codex, "", &hook).unwrap(), true, None, &[]);
        check(
            codex,
            "config.toml",
            "[features]\nhooks = false\n",
            false,
            Some("features.hooks = false"),
            &[],
        );
        check(codex, "hooks.json", "[features]\nhooks = false\n", false, None, &[]);
        let managed = register_managed_toml("", &hook).unwrap();
        check(codex, "/etc/codex/requirements.toml", &managed, true, None, &[]);
        let binds = |agent, path: &str, text: &str| read_hook_file(agent, file(agent, path), text).is_binding;
        assert!(binds(codex, "/etc/codex/requirements.toml", &managed));
        assert!(!binds(codex, "/etc/codex/requirements.toml", &managed.replace("hooks = true", "")));
        assert!(!binds(codex, "/etc/codex/config.toml", &managed));
        assert!(!binds(codex, "/etc/codex/hooks.json", &register(codex, "", &hook).unwrap()));
        assert!(
            binds(claude, "/etc/claude-code/managed-settings.json", &ours) && !binds(claude, local, &ours)
        );
        check(codex, "/etc/codex/requirements.toml", &managed.replace("\"*\"", "\"x\""), false, None, &[]);
        let profiles = "[profiles.a.features]\nhooks = false\n[profiles.b.features]\nhooks = true\n";
        check(codex, "config.toml", profiles, false, None, &[]);
        let report = read_hook_file(codex, file(codex, "config.toml"), profiles);
        assert_eq!(report.off_profiles, ["a"]);
        let chosen = format!("profile = \"a\"\n{profiles}");
        check(codex, "config.toml", &chosen, false, Some("features.hooks = false"), &[]);
        let tables =
            "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"x y\"\n";
        check(codex, ".codex/config.toml", tables, false, None, &["PreToolUse x y"]);
        let inline = "hooks.PreToolUse = [{ hooks = [{ type = \"mcp_tool\" }] }]\nhooks.Stop = [{ hooks = [{ command = \"x\" }] }]\n";
        check(codex, ".codex/config.toml", inline, false, None, &["PreToolUse mcp_tool"]);
    }
}
