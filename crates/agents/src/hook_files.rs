//! The files from which an agent takes its hooks, and what one of them says: castellan's hooks, a switch that switches hooks off,
//! hooks of others that are asked about the same calls. It must not know where the user's files lie.
//!
//! Hooks also come from plugins, skills and the command line (`plugins.rs`): their files are read here too, but are not in this table.

use serde_json::json;
use toml_edit::{DocumentMut, Item, TableLike, Value};

use crate::agent::{AgentId, EventKind, question_event};

use crate::settings::{Foreign, HookCommand, inspect, our_argv};
use crate::switches::switches_off;

/// A file from which an agent takes hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookFile {
    /// Whose it is.
    pub place: Place,
    /// Its path: absolute, or below the directory that [`Place`] says.
    pub path: &'static str,
    form: Form,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// The machine's; the path is absolute.
    Machine,
    /// The user's, below the agent's own directory.
    User,
    /// A repository's, below the working directory or one above it.
    Workspace,
    /// What the agent's command line names.
    CommandLine,
    /// A plugin's or a skill's: it brings hooks, and switches none off.
    Plugin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The shape that [`inspect`] reads.
    Settings,
    /// Codex's `config.toml` and `requirements.toml`.
    Toml,
    /// The same shape as `Settings`, of which only the hooks count.
    Hooks,
    /// The front matter of a Markdown file.
    FrontMatter,
}

/// Hooks of a plugin: `hooks/hooks.json`, or those in its `plugin.json`.
pub const PLUGIN_HOOKS: HookFile =
    HookFile { place: Place::Plugin, path: "hooks/hooks.json", form: Form::Hooks };
/// Hooks that a skill, a command or a sub-agent brings when it is used.
pub const FRONT_MATTER: HookFile =
    HookFile { place: Place::Plugin, path: "SKILL.md", form: Form::FrontMatter };
/// Settings that the command line names.
pub const GIVEN_SETTINGS: HookFile = settings(Place::CommandLine, "");

/// What a file says of hooks. One that the agent cannot read says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookFileReport {
    /// castellan's hooks for questions that it registers as castellan writes them.
    pub ours: Vec<HookCommand>,
    /// The switch in it that switches hooks off.
    pub off: Option<&'static str>,
    /// Hooks of others that the agent asks about calls before they run: they can change or allow what castellan has judged.
    pub foreign: Vec<Foreign>,
    /// Plugins that it switches on, or off.
    pub plugins: Vec<(String, bool)>,
}

const CLAUDE: &[HookFile] = &[
    settings(Place::Machine, "/etc/claude-code/managed-settings.json"),
    settings(Place::Machine, "/etc/claude-code/managed-settings.d/50-castellan.json"),
    settings(Place::User, "settings.json"),
    settings(Place::Workspace, ".claude/settings.json"),
    settings(Place::Workspace, ".claude/settings.local.json"),
];

const CODEX: &[HookFile] = &[
    toml(Place::Machine, "/etc/codex/requirements.toml"),
    settings(Place::Machine, "/etc/codex/hooks.json"),
    toml(Place::Machine, "/etc/codex/config.toml"),
    settings(Place::User, "hooks.json"),
    toml(Place::User, "config.toml"),
    settings(Place::Workspace, ".codex/hooks.json"),
    toml(Place::Workspace, ".codex/config.toml"),
];

impl HookFile {
    /// Whether it can switch hooks off.
    fn can_switch(&self, agent: AgentId) -> bool {
        match agent {
            AgentId::Claude => self.form == Form::Settings,
            AgentId::Codex => self.form == Form::Toml,
        }
    }
}

/// Returns the files from which an agent takes hooks.
pub fn hook_files(agent: AgentId) -> &'static [HookFile] {
    match agent {
        AgentId::Claude => CLAUDE,
        AgentId::Codex => CODEX,
    }
}

/// Reads what one of them says.
pub fn read_hook_file(agent: AgentId, file: &HookFile, text: &str) -> HookFileReport {
    let mut report = match file.form {
        Form::Settings => read_settings(agent, text),
        Form::Toml => read_toml(agent, text),
        Form::Hooks => HookFileReport { plugins: Vec::new(), ..read_settings(agent, text) },
        Form::FrontMatter => read_front_matter(text),
    };
    report.off = file.can_switch(agent).then(|| switches_off(agent, text)).flatten();
    report.foreign.retain(|foreign| is_question(agent, &foreign.event));
    report
}

fn read_settings(agent: AgentId, text: &str) -> HookFileReport {
    let Some(found) = inspect(agent, text).ok().filter(|found| found.ignored.is_none()) else {
        return HookFileReport::default();
    };
    let intact = found.ours.iter().filter(|ours| ours.intact && ours.event == question_event(agent));
    let ours = intact.filter_map(|ours| HookCommand::of_argv(&ours.argv)).collect();
    HookFileReport { ours, off: None, foreign: found.foreign, plugins: plugins(text) }
}

/// `{"enabledPlugins": {NAME: true}}`
fn plugins(text: &str) -> Vec<(String, bool)> {
    let json: serde_json::Value =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let enabled = json.get("enabledPlugins").and_then(|enabled| enabled.as_object()).into_iter().flatten();
    enabled.map(|(name, value)| (name.clone(), value != &json!(false))).collect()
}

/// Not read as YAML, of which agents differ in what they take: where both words stand there may be a hook.
fn read_front_matter(text: &str) -> HookFileReport {
    let body = text.trim_start_matches('\u{feff}').trim_start();
    let front =
        body.strip_prefix("---").and_then(|rest| rest.split_once("\n---")).map_or("", |(front, _)| front);
    let said = front.find("hooks").and_then(|at| front.get(at..)).unwrap_or_default();
    let event = ["PreToolUse", "PermissionRequest"].into_iter().find(|event| said.contains(event));
    let command = || said.split_whitespace().collect::<Vec<_>>().join(" ");
    let foreign = event.map(|event| Foreign { event: event.to_owned(), command: command() });
    HookFileReport { foreign: foreign.into_iter().collect(), ..HookFileReport::default() }
}

/// `[[hooks.EVENT]]` with `[[hooks.EVENT.hooks]]`, also written as inline tables.
fn read_toml(agent: AgentId, text: &str) -> HookFileReport {
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    let mut report = HookFileReport::default();
    let events = document.get("hooks").and_then(Item::as_table_like);
    for (event, groups) in events.iter().flat_map(|events| events.iter()) {
        let handlers = tables(groups).into_iter().filter_map(|group| group.get("hooks")).flat_map(tables);
        for handler in handlers {
            let command = handler.get("command").and_then(Item::as_str);
            let argv = our_argv(agent, &json!({ "command": command }));
            if let Some(argv) = argv {
                let hook = HookCommand::of_argv(&argv).filter(|_| event == question_event(agent));
                report.ours.extend(hook);
            } else {
                let kind = handler.get("type").and_then(Item::as_str);
                let shown = command.or(kind).unwrap_or("a hook of an unknown kind");
                report.foreign.push(Foreign { event: event.to_owned(), command: shown.to_owned() });
            }
        }
    }
    report
}

fn tables(list: &Item) -> Vec<&dyn TableLike> {
    let tables = list.as_array_of_tables().into_iter().flat_map(|tables| tables.iter());
    let inline =
        list.as_array().into_iter().flat_map(|array| array.iter()).filter_map(Value::as_inline_table);
    tables.map(|table| table as &dyn TableLike).chain(inline.map(|table| table as &dyn TableLike)).collect()
}

/// Whether castellan's answer to such an event can be undone by another hook's: at a question, and at the agent's own prompt.
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
    use crate::managed::register_managed_codex;
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
            let report = read_hook_file(AgentId::Claude, file, text);
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
        let front = "---\nname: x\nhooks:\n  PreToolUse:\n    - hooks:\n      - type: command\n        command: ./x.sh\n---\ntext\n";
        check(&FRONT_MATTER, front, &["hooks: PreToolUse: - hooks: - type: command command: ./x.sh"]);
        check(&FRONT_MATTER, &front.replace("PreToolUse", "Stop"), &[]);
        check(&FRONT_MATTER, "---\nname: x\n---\nhooks: PreToolUse\n---\n", &[]);
        for text in ["", "---", "---\n---", "hooks: PreToolUse", "\u{0}"] {
            check(&FRONT_MATTER, text, &[]);
        }
        let told = read_hook_file(
            AgentId::Claude,
            file(AgentId::Claude, "settings.json"),
            r#"{"enabledPlugins":{"a@b":true,"c@d":false}}"#,
        );
        assert_eq!(told.plugins, [("a@b".to_owned(), true), ("c@d".to_owned(), false)]);
    }

    #[test]
    fn each_file_says_what_it_does_to_hooks() {
        let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() };
        let (claude, codex) = (AgentId::Claude, AgentId::Codex);
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
        // Claude Code does not read it at all.
        check(claude, local, &format!("{other} // c"), false, None, &[]);
        for text in ["", "{", "[]", r#"{"hooks":1}"#, "\u{0}"] {
            check(claude, local, text, false, None, &[]);
            check(codex, "hooks.json", text, false, None, &[]);
            check(codex, "config.toml", text, false, None, &[]);
        }
        let prompt = r#"{"hooks":{"PermissionRequest":[{"hooks":[{"type":"http","url":"http://x"}]}]}}"#;
        check(claude, local, prompt, false, None, &[r#"PermissionRequest {"type":"http","url":"http://x"}"#]);

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
        let managed = register_managed_codex("", &hook).unwrap();
        check(codex, "/etc/codex/requirements.toml", &managed, true, None, &[]);
        let tables =
            "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"x y\"\n";
        check(codex, ".codex/config.toml", tables, false, None, &["PreToolUse x y"]);
        let inline = "hooks.PreToolUse = [{ hooks = [{ type = \"mcp_tool\" }] }]\nhooks.Stop = [{ hooks = [{ command = \"x\" }] }]\n";
        check(codex, ".codex/config.toml", inline, false, None, &["PreToolUse mcp_tool"]);
    }
}
