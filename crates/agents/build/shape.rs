//! The shape of `agents/*.toml`; `src/spec.rs` describes each value. This module must not know which values belong
//! together.

use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    pub(crate) word: Spanned<String>,
    pub(crate) name: Spanned<String>,
    pub(crate) title: String,
    pub(crate) package: String,
    pub(crate) tested: (Version, Version),
    pub(crate) settings: Settings,
    pub(crate) events: Spanned<Vec<Spanned<Event>>>,
    pub(crate) headless: Headless,
    #[serde(default)]
    pub(crate) read_only_modes: Vec<String>,
    #[serde(default)]
    pub(crate) hooks_on: Vec<String>,
    #[serde(default)]
    pub(crate) off_variables: Vec<String>,
    #[serde(default)]
    pub(crate) variable_files: Vec<String>,
    pub(crate) options: Options,
    pub(crate) asks: Asks,
    #[serde(default)]
    pub(crate) judge: IntentJudge,
    pub(crate) tools: Vec<Spanned<Tool>>,
    pub(crate) background_key: Option<String>,
    #[serde(default)]
    pub(crate) patches_in_shell: bool,
    pub(crate) shell_snapshots: Option<Snapshots>,
    #[serde(default)]
    pub(crate) shell_variables: Vec<String>,
    #[serde(default)]
    pub(crate) posix_on_windows: bool,
    pub(crate) hook_files: Vec<HookFile>,
    pub(crate) rereads_settings: bool,
    pub(crate) rewrites_input: bool,
    #[serde(default)]
    pub(crate) needs_trust: bool,
    pub(crate) server_file: String,
    pub(crate) plugin_manifest: String,
    pub(crate) plugin: Option<Plugin>,
    pub(crate) transcript: Transcript,
    #[serde(default)]
    pub(crate) run: Run,
    #[serde(default)]
    pub(crate) native: Native,
    pub(crate) paths: Paths,
    pub(crate) families: Families,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plugin {
    pub(crate) root: String,
    pub(crate) uninstall: String,
}

/// `"2.1.330"`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Version(pub(crate) [u32; 3]);

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Version, String> {
        let numbers: Vec<u32> = text.split('.').filter_map(|number| number.parse().ok()).collect();
        <[u32; 3]>::try_from(numbers)
            .map(Version)
            .map_err(|_| format!("`{text}` is no version of three numbers"))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) file: String,
    pub(crate) variable: String,
    #[serde(default)]
    pub(crate) variable_is_home: bool,
    pub(crate) machine: Option<Spanned<String>>,
}

/// An event that is decoded. castellan registers for events with a timeout.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) kind: EventKind,
    pub(crate) text_key: Option<String>,
    pub(crate) timeout_s: Option<u64>,
    /// Default: [`Event::hook_deadline_s`].
    pub(crate) hook_deadline_s: Option<u64>,
    pub(crate) matcher: Option<String>,
    #[serde(default)]
    pub(crate) blocks_on_failure: bool,
}

/// The agent's own judge of intent.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IntentJudge {
    pub(crate) modes: Vec<String>,
    pub(crate) options: Vec<String>,
    pub(crate) setting: Option<JudgeSetting>,
    pub(crate) context: Option<Spanned<JudgeContext>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgeSetting {
    pub(crate) key: String,
    pub(crate) value: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgeContext {
    pub(crate) event: String,
    pub(crate) key: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EventKind {
    Question,
    Permission,
    Done,
    Failed,
    Prompt,
    SessionStart,
    SessionEnd,
    SubagentEnd,
    Notice,
}

/// Seconds for a call from the hook's start to its answer, unless the daemon asks to wait longer. Far above a decision
/// (milliseconds) and a start of the daemon (tenths of a second), far below the 600 s after which an agent gives up.
const CALL_S: u64 = 10;

/// The same for events that precede no call; their hooks are registered with 10 s.
const MENTION_S: u64 = 5;

impl Event {
    /// Returns the seconds after which the hook answers by itself.
    pub(crate) fn hook_deadline_s(&self) -> u64 {
        let precedes_call = matches!(self.kind, EventKind::Question | EventKind::Permission);
        self.hook_deadline_s.unwrap_or(if precedes_call { CALL_S } else { MENTION_S })
    }
}

impl EventKind {
    pub(crate) fn is_about_call(self) -> bool {
        use EventKind::{Done, Failed, Permission, Question};
        matches!(self, Question | Permission | Done | Failed)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Headless {
    pub(crate) words: Vec<String>,
    pub(crate) letter: Option<Letter>,
}

/// `"p"`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Letter(pub(crate) u8);

impl TryFrom<String> for Letter {
    type Error = String;

    fn try_from(text: String) -> Result<Letter, String> {
        match text.as_bytes() {
            [letter] if letter.is_ascii_alphabetic() => Ok(Letter(*letter)),
            _ => Err(format!("`{text}` is no letter")),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    #[serde(default)]
    pub(crate) valued: Vec<String>,
    #[serde(default)]
    pub(crate) lists: Vec<String>,
    #[serde(default)]
    pub(crate) anywhere: Vec<String>,
    #[serde(default)]
    pub(crate) joined_values: bool,
    #[serde(default)]
    pub(crate) adds_up: bool,
    #[serde(default)]
    pub(crate) meanings: Vec<OptionMeaning>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionMeaning {
    pub(crate) option: String,
    #[serde(rename = "is")]
    pub(crate) meaning: Meaning,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Meaning {
    Off,
    SettingKinds,
    Settings,
    Policy,
    Elsewhere,
    Plugin,
    FarPlugin,
    Folder,
    Subagents,
    Key,
    FeatureOff,
    Profile,
    TrustsAll,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asks {
    #[serde(default)]
    pub(crate) modes: Vec<Mode>,
    pub(crate) prompt: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) denies_unattended: bool,
    #[serde(default)]
    pub(crate) objections: Objections,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mode {
    pub(crate) name: String,
    pub(crate) holds: Holds,
    pub(crate) attended: bool,
    #[serde(default)]
    pub(crate) prompts: bool,
    #[serde(default)]
    pub(crate) ignores_allow: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Holds {
    All,
    Unobjected,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Objections {
    pub(crate) known_tools: Vec<String>,
    pub(crate) own_servers: Vec<String>,
    pub(crate) keys: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    pub(crate) raw: String,
    /// Default: `raw`.
    pub(crate) name: Option<String>,
    pub(crate) kind: ToolKind,
    pub(crate) command: Option<Key>,
    pub(crate) path: Option<Key>,
    pub(crate) directory: Option<Key>,
    /// The key of a plan that the agent presents to its user.
    pub(crate) plan: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToolKind {
    Shell,
    Read,
    Write,
    Edit,
    Patch,
    Web,
    Subagent,
    Mcp,
    Internal,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Key {
    Required(String),
    Optional(String),
    Unless(String, String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookFile {
    pub(crate) place: Place,
    pub(crate) path: String,
    pub(crate) form: Form,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    Machine,
    User,
    Workspace,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    Settings,
    Toml,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transcript {
    pub(crate) words: Vec<String>,
    #[serde(default)]
    pub(crate) hookless: Vec<Hookless>,
    pub(crate) subagents: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hookless {
    pub(crate) tool: String,
    pub(crate) acts: Acts,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Acts {
    Never,
    Given(String),
    Naming(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Snapshots {
    pub(crate) folder: String,
    pub(crate) prefix: String,
    pub(crate) suffix: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Run {
    pub(crate) new_session: Option<String>,
    pub(crate) selects_session: Vec<String>,
    pub(crate) streams: Vec<Vec<String>>,
    pub(crate) stream_words: Vec<String>,
    pub(crate) unsaved: Vec<String>,
    pub(crate) transcripts: Vec<TranscriptPlace>,
    pub(crate) sandbox: Needs,
    pub(crate) observer: Option<Observer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Needs {
    pub(crate) hosts: Vec<String>,
    pub(crate) address_variables: Vec<String>,
    pub(crate) home_files: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Native {
    pub(crate) beaten_by: Vec<Vec<String>>,
    pub(crate) beaten_by_keys: Vec<String>,
    pub(crate) beaten_by_letter: Option<Letter>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TranscriptPlace {
    pub(crate) folder: String,
    pub(crate) levels: usize,
    #[serde(default)]
    pub(crate) names_parent: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Observer {
    pub(crate) arguments: Vec<String>,
    pub(crate) settings_option: Option<String>,
    #[serde(default)]
    pub(crate) commands: Vec<String>,
    #[serde(default)]
    pub(crate) after_command: Vec<String>,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    #[serde(default)]
    pub(crate) valued: Vec<String>,
    pub(crate) variables: Vec<Variables>,
    pub(crate) home_with: Option<String>,
    pub(crate) config: Option<ObserverConfig>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variables {
    pub(crate) names: Vec<String>,
    pub(crate) with: Option<String>,
    pub(crate) without: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObserverConfig {
    pub(crate) file: String,
    pub(crate) keys: Vec<String>,
    pub(crate) provider_keys: Vec<String>,
    pub(crate) hooks: String,
    pub(crate) login: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paths {
    #[serde(default)]
    pub(crate) logins: Vec<String>,
    pub(crate) configuration: Vec<String>,
    /// Exceptions of `configuration`.
    #[serde(default)]
    pub(crate) work: Vec<String>,
    /// Configuration inside `work`.
    #[serde(default)]
    pub(crate) settings: Vec<String>,
    #[serde(default)]
    pub(crate) snapshots: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Families {
    pub(crate) reply: ReplyFamily,
    pub(crate) registration: RegistrationFamily,
    pub(crate) machine: Option<MachineFamily>,
    pub(crate) reader: ReaderFamily,
    pub(crate) switch: SwitchFamily,
    pub(crate) servers: ServerFamily,
    pub(crate) plugins: PluginFamily,
    pub(crate) transcript: TranscriptFamily,
    pub(crate) mcp: McpFamily,
    pub(crate) native: Option<NativeFamily>,
}

macro_rules! family {
    ($name:ident: $($member:ident),+) => {
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum $name {
            $($member),+
        }
    };
}

family!(ReplyFamily: Claude, Codex, Gemini);
family!(RegistrationFamily: ExecForm, ShellLine, BashLine);
family!(MachineFamily: OwnJson, SharedToml);
family!(ReaderFamily: JavaScript, Commented, Serde);
family!(SwitchFamily: DisableAllHooks, HooksConfig, Feature);
family!(ServerFamily: Json, Toml);
family!(PluginFamily: Marketplaces, Cache, Extensions);
family!(TranscriptFamily: Messages, Items, Unread);
family!(McpFamily: Name, Context);
family!(NativeFamily: Permissions, Profile, Policy);
