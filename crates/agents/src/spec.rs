//! Types of the agents' data. `build.rs` fills them from `agents/*.toml`, one file for each agent. This module must not
//! know how the rest of the crate uses them.
//!
//! If agents differ by more than data, a family selects the code: [`Families`].

mod run;

use castellan_event::ToolKind;

pub use run::TranscriptPlace;
pub(crate) use run::{Needs, Observer, ObserverConfig, Run, Variables};

/// The data of one agent.
#[derive(Debug)]
pub(crate) struct Spec {
    /// The word of the command line.
    pub(crate) word: &'static str,
    /// The value of field `agent.name`.
    pub(crate) name: &'static str,
    /// The name for people.
    pub(crate) title: &'static str,
    /// The name of its package.
    pub(crate) package: &'static str,
    /// The first and the last measured version.
    pub(crate) tested: (Version, Version),
    /// The places of its settings.
    pub(crate) settings: Settings,
    /// Every event that is decoded; a user may register more events than castellan does.
    pub(crate) events: &'static [Event],
    /// The registered events, in the order of writing.
    pub(crate) hook_events: &'static [HookEvent],
    /// Signs of a command line without a person to ask.
    pub(crate) headless: Headless,
    /// Permission modes in which the agent must not change anything.
    pub(crate) read_only_modes: &'static [&'static str],
    /// Arguments that override a repository's switch: the option and its value.
    pub(crate) hooks_on: &'static [&'static str],
    /// Environment variables that switch hooks off if set.
    pub(crate) off_variables: &'static [&'static str],
    /// Files of a repository that set variables, relative to the working directory or a directory above it.
    pub(crate) variable_files: &'static [HookFile],
    pub(crate) options: Options,
    /// The asks that the agent holds.
    pub(crate) asks: Asks,
    /// The agent's own judge of intent.
    pub(crate) judge: IntentJudge,
    /// Every known tool, its shell first.
    pub(crate) tools: &'static [ToolSpec],
    /// The key of a tool's input that lets the call continue after the turn. Only `false` means no.
    pub(crate) background_key: Option<&'static str>,
    /// True if the text of a shell tool may be a patch.
    pub(crate) patches_in_shell: bool,
    /// The place of the user's shell definitions, which the agent's shell reads before each command.
    pub(crate) shell_snapshots: Option<Snapshots>,
    /// Environment variables that name the agent's shell, the first one that is set; none for an agent that starts bash.
    pub(crate) shell_variables: &'static [&'static str],
    /// True if its shell is a POSIX shell on Windows, too.
    pub(crate) posix_on_windows: bool,
    /// The files from which the agent reads hooks.
    pub(crate) hook_files: &'static [HookFile],
    /// True if the agent reads its settings again when they change.
    pub(crate) rereads_settings: bool,
    /// True if the agent runs a call with a hook's changed input (measured).
    pub(crate) rewrites_input: bool,
    /// True if the agent runs a user's hook only after the user has trusted it.
    pub(crate) needs_trust: bool,
    /// The file of the user's own MCP servers, below the home directory.
    pub(crate) server_file: &'static str,
    /// The path of a plugin's manifest, relative to the plugin.
    pub(crate) plugin_manifest: &'static str,
    /// castellan's own plugin; `None` if castellan has none for this agent.
    pub(crate) plugin: Option<Plugin>,
    pub(crate) transcript: Transcript,
    /// Its start by `castellan run`.
    pub(crate) run: Run,
    /// What beats its rendered settings.
    pub(crate) native: Native,
    /// The agent's own files.
    pub(crate) paths: &'static [AgentPaths],
    /// The code for all other differences.
    pub(crate) families: Families,
}

/// castellan's own plugin for an agent.
#[derive(Debug)]
pub(crate) struct Plugin {
    /// The text that the agent replaces by the plugin's folder, in the commands of its hooks.
    pub(crate) root: &'static str,
    /// The command by which a person removes it.
    pub(crate) uninstall: &'static str,
}

/// A released version of an agent: `2.1.330`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u32, pub u32, pub u32);

/// The places of an agent's settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// The user's file that holds the hooks, relative to the home directory.
    pub(crate) file: &'static str,
    /// The environment variable that moves the directory of `file`.
    pub(crate) variable: &'static str,
    /// The variable replaces the user's home; otherwise it replaces the agent's own directory.
    pub(crate) variable_is_home: bool,
    /// The absolute path of the machine-wide file with castellan's hooks; `None` if castellan registers only for users.
    pub(crate) machine: Option<&'static str>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    /// The agent's own name.
    pub(crate) name: &'static str,
    pub(crate) kind: EventKind,
    /// Seconds after which the hook answers by itself: fewer than the agent waits.
    pub(crate) hook_deadline_s: u32,
}

/// The subject of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A question about a call before it runs.
    Question,
    /// The agent is about to prompt the user about this call.
    Permission,
    /// A call has run; `failed` if the event itself means a failure.
    Done { failed: bool },
    /// An event of a session that is not about a tool call; `text_key` is the key of its text, if any.
    Session { moment: Moment, text_key: Option<&'static str> },
}

/// A moment of a session outside tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A prompt begins a turn.
    Prompt,
    /// The session starts or continues.
    Start,
    /// The session ends.
    End,
    /// A sub-agent has ended.
    SubagentEnd,
    /// An event without consequences.
    Notice,
}

/// An event that castellan registers its hook for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEvent {
    /// The agent's name of the event.
    pub name: &'static str,
    /// Seconds after which the agent gives up on the hook. The hook's own deadline is shorter.
    pub timeout_s: u64,
    /// The `matcher` for every tool; `None` if the registration omits it.
    pub matcher: Option<&'static str>,
    /// True if the registration sets `"onFailure":"block"`, so that a hook that cannot start stops the call.
    pub blocks_on_failure: bool,
}

/// Parts of an agent's command line that mean that no person can be asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Headless {
    /// Words, also with a value after `=`.
    pub(crate) words: &'static [&'static str],
    /// A letter in a cluster of short options: the `p` of `-cp`. A letter in a value that is joined to its option also
    /// matches.
    pub(crate) letter: Option<u8>,
}

/// The options of an agent.
#[derive(Debug)]
pub(crate) struct Options {
    /// Options without a value, or with a value that does not begin with `-`.
    pub(crate) flags: &'static [&'static str],
    /// Options that always take the next word as their value.
    pub(crate) valued: &'static [&'static str],
    /// Options of `valued` that also take the words after that, up to the next option, and that concern hooks.
    pub(crate) lists: &'static [&'static str],
    /// Switches that apply at any position before `--`, also as another option's value.
    pub(crate) anywhere: &'static [&'static str],
    /// True if a value may be joined to a short option: `-nvalue`, `-n=value`.
    pub(crate) joined_values: bool,
    /// True if a repeated option adds a second setting, instead of replacing the first value.
    pub(crate) adds_up: bool,
    /// The meaning of options for hooks.
    pub(crate) meanings: &'static [(&'static str, Meaning)],
}

/// Arguments that beat castellan's rendered settings of an agent.
#[derive(Debug)]
pub(crate) struct Native {
    /// An option with any value, or an option with this value.
    pub(crate) beaten_by: &'static [&'static [&'static str]],
    /// First parts of keys of the configuration, for options that set one.
    pub(crate) beaten_by_keys: &'static [&'static str],
    /// A short option without a value, also in a cluster.
    pub(crate) beaten_by_letter: Option<u8>,
}

/// The meaning of an option for hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Switches hooks off.
    Off,
    /// Names the kinds of settings files that the agent reads.
    SettingKinds,
    /// Brings settings, as a text or as a file.
    Settings,
    /// Brings a policy, which may allow only its own hooks.
    Policy,
    /// Names another place for a repository's settings.
    Elsewhere,
    /// Names a plugin, or a folder of plugins.
    Plugin,
    /// Names a plugin that is not a folder.
    FarPlugin,
    /// Names a folder whose skills are read, too.
    Folder,
    /// Brings sub-agents, as a text.
    Subagents,
    /// Sets one key of the configuration.
    Key,
    /// Switches a feature off.
    FeatureOff,
    /// Names a profile of the configuration.
    Profile,
    /// Allows untrusted hooks to run.
    TrustsAll,
}

/// The asks of an agent, in the measured versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asks {
    /// The held asks at a question, by mode. A missing mode holds nothing.
    pub(crate) modes: &'static [Mode],
    /// The event of the agent's own prompt. The prompt is open already, so an ask only leaves it open.
    pub(crate) prompt: Option<&'static str>,
    /// The agent turns an ask into a deny if nobody is there.
    pub(crate) denies_unattended: bool,
    /// The objections of the agent's own check.
    pub(crate) objections: Objections,
}

/// A permission mode, by the agent's own name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    pub(crate) holds: Holds,
    /// In a terminal every ask that the mode holds reaches a person. Otherwise the agent itself rejects some asks.
    pub(crate) is_attended: bool,
    /// The agent itself asks a person before each shell command that the user's own rules do not allow.
    pub(crate) prompts: bool,
    /// The agent decides as if a hook had not answered where the hook allows.
    pub(crate) ignores_allow: bool,
}

/// The agent's own judge of intent: a model that the agent asks whether a call is meant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntentJudge {
    /// The permission modes in which the agent asks it.
    pub(crate) modes: &'static [&'static str],
    /// The words of a command line that switch it on.
    pub(crate) options: &'static [&'static str],
    /// The key of the agent's configuration that switches it on, and the value that does.
    pub(crate) setting: Option<(&'static str, &'static str)>,
    /// The event, after a call, and the key of the hook's answer whose text the judge reads (measured).
    pub(crate) context: Option<(&'static str, &'static str)>,
}

/// The calls for which a mode holds an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// All calls, in every version.
    All,
    /// The mode skips prompts. Measured versions hold asks for calls to which the agent's own check does not object.
    Unobjected,
}

/// The objections of the agent's own check. A call of a known tool certainly passes if none applies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Objections {
    /// The measured tools, by the agent's own names.
    pub(crate) known_tools: &'static [&'static str],
    /// Prefixes, in lower case, of the agent's own MCP servers, which have separate checks.
    pub(crate) own_servers: &'static [&'static str],
    /// Keys of a tool's input that start a separate check if present.
    pub(crate) keys: &'static [&'static str],
}

/// A tool of an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolSpec {
    /// The agent's own name.
    pub(crate) raw: &'static str,
    /// The canonical name for rules.
    pub(crate) name: &'static str,
    pub(crate) kind: ToolKind,
    /// The key of the shell text, or of the patch.
    pub(crate) command: Key,
    /// The key of a path.
    pub(crate) path: Key,
    /// The key of the directory for the shell text.
    pub(crate) directory: Key,
    /// The key of a plan that the agent presents to its user.
    pub(crate) plan: Option<&'static str>,
}

/// A key of a tool's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// The tool has no such key.
    No,
    /// It must be a non-empty string.
    Required(&'static str),
    /// The key is optional.
    Optional(&'static str),
    /// The first key is optional if the second key is present.
    Unless(&'static str, &'static str),
}

/// Files with the definitions of a user's shell. The newest file applies.
#[derive(Debug, Clone, Copy)]
pub struct Snapshots {
    /// Their folder, below the agent's directory.
    pub folder: &'static str,
    /// The beginning of their names.
    pub prefix: &'static str,
    /// The end of their names.
    pub suffix: &'static str,
}

/// An agent's own files of one kind.
#[derive(Debug, Clone, Copy)]
pub struct AgentPaths {
    /// The kind.
    pub kind: PathKind,
    /// The kind, for people.
    pub about: &'static str,
    /// Patterns that begin with `~/` (below any home), `/` (below the root) or `**/` (anywhere).
    pub paths: &'static [&'static str],
    /// Patterns of paths that are excluded.
    pub except: &'static [&'static str],
}

/// A kind of an agent's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// Files with the user's login.
    Login,
    /// Files that set the agent's behaviour and permissions.
    Configuration,
    /// Files that the agent's shell runs before each command.
    Snapshot,
}

/// A file from which an agent reads hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HookFile {
    /// The owner.
    pub place: Place,
    /// The path: absolute, or relative to the directory of [`Place`].
    pub path: &'static str,
    pub(crate) form: Form,
}

/// The owner of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The machine; the path is absolute.
    Machine,
    /// The user; below the agent's own directory.
    User,
    /// A repository; below the working directory or a directory above it.
    Workspace,
    /// The agent's command line names the file.
    CommandLine,
    /// A plugin or a skill: it brings hooks and switches none off.
    Plugin,
}

/// The format of a file with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// The shape that `inspect` reads.
    Settings,
    /// Codex's `config.toml` and `requirements.toml`.
    Toml,
    /// The shape of `Settings`; only its hooks are used.
    Hooks,
    /// The front matter of a Markdown file.
    FrontMatter,
    /// Variables, as in `.env`.
    Variables,
}

/// The properties of an agent's transcript.
#[derive(Debug)]
pub(crate) struct Transcript {
    /// Every line about a call contains one of these words.
    pub(crate) words: &'static [&'static str],
    /// Tools without a hook.
    pub(crate) hookless: &'static [Hookless],
    /// The folder of the sub-agents' transcripts, below one with the session transcript's name. `None`: separate
    /// sessions.
    pub(crate) subagents: Option<&'static str>,
}

/// A tool without a hook.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hookless {
    /// The agent's own name.
    pub(crate) tool: &'static str,
    /// When the tool acts anyway.
    pub(crate) acts: Acts,
}

/// When a tool without a hook does something that needs a hook's answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Acts {
    /// Never by itself.
    Never,
    /// If this key of its input is not an empty text.
    Given(&'static str),
    /// If its text contains the name of this function.
    Naming(&'static str),
}

/// The code for differences that data cannot express. Agents with the same behaviour share a family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Families {
    /// The format of a verdict.
    pub(crate) reply: ReplyFamily,
    /// The form of the hook in the user's settings, and so its start.
    pub(crate) registration: RegistrationFamily,
    /// The registration for the machine; `None` if there is none.
    pub(crate) machine: Option<MachineFamily>,
    /// The settings texts that the agent reads.
    pub(crate) reader: ReaderFamily,
    /// The switch for hooks.
    pub(crate) switch: SwitchFamily,
    /// The configuration of MCP servers.
    pub(crate) servers: ServerFamily,
    /// The places of plugins.
    pub(crate) plugins: PluginFamily,
    /// The format of a transcript.
    pub(crate) transcript: TranscriptFamily,
    /// The mark of an MCP server's tool in a payload.
    pub(crate) mcp: McpFamily,
    /// The agent's own settings; `None` if castellan renders none.
    pub(crate) native: Option<NativeFamily>,
}

/// The agent's own settings that limit its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NativeFamily {
    /// Permission rules and a sandbox in `settings.json`: `native/claude.rs`.
    Permissions,
    /// A permission profile in `config.toml`, and rule files: `native/codex.rs`.
    Profile,
    /// A policy beside `settings.json`: `native/gemini.rs`.
    Policy,
}

/// The format of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyFamily {
    /// Every verdict at a question, a deny at a prompt: `claude.rs`.
    Claude,
    /// A deny at a question, every verdict at a prompt: `codex.rs`.
    Codex,
    /// A deny at every event: `gemini.rs`.
    Gemini,
}

/// The form of the hook in the user's settings, and so its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistrationFamily {
    /// Program and arguments, which the agent itself starts: `claude.rs`.
    ExecForm,
    /// A line for the user's login shell: `codex.rs`.
    ShellLine,
    /// A line for `bash`, with a time limit in milliseconds: `gemini.rs`.
    BashLine,
}

/// The registration of the hook for the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineFamily {
    /// A JSON file with castellan's hooks only.
    OwnJson,
    /// A TOML file that an administrator also writes.
    SharedToml,
}

/// The settings texts that an agent reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReaderFamily {
    /// Everything that JavaScript parses.
    JavaScript,
    /// Everything that JavaScript parses, with comments.
    Commented,
    /// Everything that `serde_json` parses, without unknown keys.
    Serde,
}

/// The switch for hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchFamily {
    /// `disableAllHooks` in settings.
    DisableAllHooks,
    /// `hooksConfig` in settings: for all hooks, or for some by their names.
    HooksConfig,
    /// A feature of a TOML configuration, and of its profiles.
    Feature,
}

/// The configuration of MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerFamily {
    /// `mcpServers` of the user and of each project, in JSON.
    Json,
    /// `[mcp_servers.NAME]`, in TOML.
    Toml,
}

/// The places of plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginFamily {
    /// The places in a list of installed plugins and in marketplaces; skills may bring hooks.
    Marketplaces,
    /// Below one folder.
    Cache,
    /// A folder for each, below a common folder.
    Extensions,
}

/// The format of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TranscriptFamily {
    /// Blocks in the `content` of messages.
    Messages,
    /// `response_item`s and `event_msg`s.
    Items,
    /// The transcript is not read.
    Unread,
}

/// The mark of an MCP server's tool in a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpFamily {
    /// In the tool's name: `mcp__server__tool`.
    Name,
    /// In `mcp_context`, beside a name that cannot be split: `mcp_server_tool`.
    Context,
}
