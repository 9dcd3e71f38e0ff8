//! Types of what is known about an agent. `build.rs` fills them from `agents/*.toml`, one file an agent. It must not know what the rest of
//! the crate does with them.
//!
//! Where agents differ by more than data, a family names the code that knows how: [`Families`].

use castellan_event::ToolKind;

/// What is known of one agent.
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
    /// The versions that were measured, the first and the last.
    pub(crate) tested: (Version, Version),
    /// Where its settings lie.
    pub(crate) settings: Settings,
    /// Every event that is decoded; a user may register more of them than castellan does.
    pub(crate) events: &'static [Event],
    /// What is registered, in the order in which it is written.
    pub(crate) hook_events: &'static [HookEvent],
    /// Its command lines without anybody to ask.
    pub(crate) headless: Headless,
    /// Permission modes in which it is not to change anything.
    pub(crate) read_only_modes: &'static [&'static str],
    /// Arguments that win over a repository's switch: the option and its value.
    pub(crate) hooks_on: &'static [&'static str],
    /// Variables of its environment that switch hooks off where they are set.
    pub(crate) off_variables: &'static [&'static str],
    /// Files of a repository that set variables, by their paths below the working directory or one above it.
    pub(crate) variable_files: &'static [HookFile],
    /// Its options.
    pub(crate) options: Options,
    /// The asks that it holds.
    pub(crate) asks: Asks,
    /// Every known tool, its shell first.
    pub(crate) tools: &'static [ToolSpec],
    /// The key of a tool's input that lets the call go on after the turn. Only `false` says no.
    pub(crate) background_key: Option<&'static str>,
    /// Whether the text of a shell tool may be a patch.
    pub(crate) patches_in_shell: bool,
    /// Where the definitions of its user's shell are, which its shell reads before each command.
    pub(crate) shell_snapshots: Option<Snapshots>,
    /// Whether its shell is a POSIX one on Windows, too.
    pub(crate) posix_on_windows: bool,
    /// The files from which it takes hooks.
    pub(crate) hook_files: &'static [HookFile],
    /// Whether it reads its settings again when they change.
    pub(crate) rereads_settings: bool,
    /// Whether it runs a call with the input that a hook puts in place of its own (measured).
    pub(crate) rewrites_input: bool,
    /// Whether it runs a hook of the user's only after the user has trusted it.
    pub(crate) needs_trust: bool,
    /// The file of the user's own MCP servers, below the home directory.
    pub(crate) server_file: &'static str,
    /// The path of a plugin's manifest, relative to the plugin.
    pub(crate) plugin_manifest: &'static str,
    /// Its transcript.
    pub(crate) transcript: Transcript,
    /// Where its own files lie.
    pub(crate) paths: &'static [AgentPaths],
    /// The code that knows the rest.
    pub(crate) families: Families,
}

/// A released version of an agent: `2.1.330`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u32, pub u32, pub u32);

/// Where an agent's settings lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// The user's file that holds the hooks, relative to the home directory.
    pub(crate) file: &'static str,
    /// The variable of the environment that moves the directory of `file`.
    pub(crate) variable: &'static str,
    /// The variable names a directory in the place of the user's home; otherwise the agent's own directory.
    pub(crate) variable_is_home: bool,
    /// The absolute path of the machine-wide file that holds castellan's hooks; `None` where they are registered for users only.
    pub(crate) machine: Option<&'static str>,
}

/// An event that is decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    /// The agent's name of it.
    pub(crate) name: &'static str,
    pub(crate) kind: EventKind,
    /// Seconds after which the hook answers by itself: fewer than the agent waits.
    pub(crate) hook_deadline_s: u32,
}

/// The subject of an event: what it asks or tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// May this call run?
    Question,
    /// The agent would prompt the user about this call: may it run?
    Permission,
    /// A call has run; `failed` where the event itself says that it failed.
    Done { failed: bool },
    /// Something in a session that is no tool call; `text_key` names the key of its text, if it has one.
    Session { moment: Moment, text_key: Option<&'static str> },
}

/// A moment of a session that is no tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A prompt begins a turn.
    Prompt,
    /// The session starts, or goes on.
    Start,
    /// The session ends.
    End,
    /// A sub-agent has ended.
    SubagentEnd,
    /// Something from which nothing follows.
    Notice,
}

/// An event that castellan registers its hook for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEvent {
    /// The agent's name of the event.
    pub name: &'static str,
    /// Seconds after which the agent gives up on the hook. The hook's own deadline is shorter.
    pub timeout_s: u64,
    /// The `matcher` that stands for every tool; `None` where it is left out.
    pub matcher: Option<&'static str>,
    /// Whether `"onFailure":"block"` is set, so that a hook that cannot start stops the call.
    pub blocks_on_failure: bool,
}

/// Parts of an agent's command line that say that nobody is there to be asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Headless {
    /// Words, also with a value behind `=`.
    pub(crate) words: &'static [&'static str],
    /// A letter of a cluster of short options: the `p` of `-cp`. A value that is written together with its option may hold it
    /// as well, and counts.
    pub(crate) letter: Option<u8>,
}

/// What is known of an agent's options.
#[derive(Debug)]
pub(crate) struct Options {
    /// Those without a value, or with one that does not begin with `-`.
    pub(crate) flags: &'static [&'static str],
    /// Those that take the next word as their value, whatever it is.
    pub(crate) valued: &'static [&'static str],
    /// Those of them that take the words after that, too, up to the next option, and matter here.
    pub(crate) lists: &'static [&'static str],
    /// Switches that count wherever they stand before `--`, as another option's value, too.
    pub(crate) anywhere: &'static [&'static str],
    /// Whether a value may be written together with a short option: `-nvalue`, `-n=value`.
    pub(crate) joined_values: bool,
    /// Whether an option that stands twice sets two things, so that its last value does not replace the first.
    pub(crate) adds_up: bool,
    /// What an option is to hooks.
    pub(crate) meanings: &'static [(&'static str, Meaning)],
}

/// What an option is to hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It switches them off.
    Off,
    /// It names the kinds of settings files that are read.
    SettingKinds,
    /// It brings settings, as a text or as a file.
    Settings,
    /// It brings a policy, which may let no hooks run but its own.
    Policy,
    /// It names another place for a repository's settings.
    Elsewhere,
    /// It names a plugin, or a folder of plugins.
    Plugin,
    /// It names a plugin that is no folder.
    FarPlugin,
    /// It names a folder whose skills are read, too.
    Folder,
    /// It brings sub-agents, as a text.
    Subagents,
    /// It sets one key of the configuration.
    Key,
    /// It switches a feature off.
    FeatureOff,
    /// It names a profile of the configuration.
    Profile,
    /// It lets hooks run that nobody has trusted.
    TrustsAll,
}

/// What is known of an agent's asks, in the versions that were measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asks {
    /// What it holds at a question in each mode. A mode that is not there holds nothing.
    pub(crate) modes: &'static [Mode],
    /// The event of the agent's own prompt: it is open already, so that an ask needs no more than to leave it open.
    pub(crate) prompt: Option<&'static str>,
    /// Where nobody is there, it makes a deny of an ask.
    pub(crate) denies_unattended: bool,
    /// What its own check objects to.
    pub(crate) objections: Objections,
}

/// A permission mode, by the agent's own name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    pub(crate) holds: Holds,
    /// In a terminal every ask that the mode holds reaches a person. Otherwise the agent refuses some by itself.
    pub(crate) is_attended: bool,
}

/// For which calls a mode holds an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// For all, in every version.
    All,
    /// It skips prompts: in measured versions, for calls to which the agent's own check has no objection.
    Unobjected,
}

/// What the agent's own check of a call objects to. A call is known to pass the check when it has nothing of this, and its tool is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Objections {
    /// Tools, by the agent's own names, that were measured.
    pub(crate) known_tools: &'static [&'static str],
    /// How the names of MCP servers begin that are the agent's own and have checks of their own, in lower case.
    pub(crate) own_servers: &'static [&'static str],
    /// Keys of a tool's input that start a check of their own, when they are there.
    pub(crate) keys: &'static [&'static str],
}

/// One tool of an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolSpec {
    /// The agent's own name.
    pub(crate) raw: &'static str,
    /// The name that rules see.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) kind: ToolKind,
    /// The key that holds shell text, or the patch.
    pub(crate) command: Key,
    /// The key that holds a path.
    pub(crate) path: Key,
    /// The key that holds the directory in which the shell text runs.
    pub(crate) directory: Key,
}

/// A key of a tool's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// The tool has none such.
    No,
    /// It must be a non-empty string.
    Required(&'static str),
    /// It may be left out.
    Optional(&'static str),
    /// It may be left out where the second key is present.
    Unless(&'static str, &'static str),
}

/// Files with the definitions of a user's shell, of which the newest counts.
#[derive(Debug, Clone, Copy)]
pub struct Snapshots {
    /// Their folder, below the agent's directory.
    pub folder: &'static str,
    /// How their names begin.
    pub prefix: &'static str,
    /// How their names end.
    pub suffix: &'static str,
}

/// Paths of an agent's own files that are of one kind.
#[derive(Debug, Clone, Copy)]
pub struct AgentPaths {
    /// What they are.
    pub kind: PathKind,
    /// The same, for people.
    pub about: &'static str,
    /// Patterns that begin with `~/` (below any home), `/` (below the root) or `**/` (anywhere).
    pub paths: &'static [&'static str],
    /// Patterns of paths that are none of them.
    pub except: &'static [&'static str],
}

/// A kind of an agent's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// They hold its user's login.
    Login,
    /// They say what it does, and what it may.
    Configuration,
    /// Its shell runs them before each command.
    Snapshot,
}

/// A file from which an agent takes hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HookFile {
    /// Whose it is.
    pub place: Place,
    /// Its path: absolute, or below the directory that [`Place`] says.
    pub path: &'static str,
    pub(crate) form: Form,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// How a file of hooks is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// The shape that `inspect` reads.
    Settings,
    /// Codex's `config.toml` and `requirements.toml`.
    Toml,
    /// The same shape as `Settings`, of which only the hooks count.
    Hooks,
    /// The front matter of a Markdown file.
    FrontMatter,
    /// Variables, as in `.env`.
    Variables,
}

/// What is known of an agent's transcript.
#[derive(Debug)]
pub(crate) struct Transcript {
    /// One of them stands in every line about a call.
    pub(crate) words: &'static [&'static str],
    /// Tools for which it calls no hook.
    pub(crate) hookless: &'static [Hookless],
    /// The folder of its sub-agents' transcripts, below one that is named as the session's own; `None` where each has a session of its
    /// own.
    pub(crate) subagents: Option<&'static str>,
}

/// A tool for which the agent calls no hook.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hookless {
    /// The agent's own name.
    pub(crate) tool: &'static str,
    /// When it does something all the same.
    pub(crate) acts: Acts,
}

/// When a tool without a hook does something that a hook should have been asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Acts {
    /// Never by itself.
    Never,
    /// When this key of its input is no empty text.
    Given(&'static str),
    /// When its text names this function.
    Naming(&'static str),
}

/// The code that knows how an agent does what data cannot say. Agents that do it alike share a family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Families {
    /// How a verdict is told.
    pub(crate) reply: ReplyFamily,
    /// How the hook is written in the user's settings, and so started.
    pub(crate) registration: RegistrationFamily,
    /// How the hook is registered for the machine; `None` where it is not.
    pub(crate) machine: Option<MachineFamily>,
    /// Which settings texts it reads.
    pub(crate) reader: ReaderFamily,
    /// How hooks are switched off.
    pub(crate) switch: SwitchFamily,
    /// How MCP servers are configured.
    pub(crate) servers: ServerFamily,
    /// Where plugins lie.
    pub(crate) plugins: PluginFamily,
    /// How a transcript tells of calls.
    pub(crate) transcript: TranscriptFamily,
    /// How a payload says that a tool is one of an MCP server.
    pub(crate) mcp: McpFamily,
}

/// How a verdict is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyFamily {
    /// Every verdict at a question, a deny at a prompt: `claude.rs`.
    Claude,
    /// A deny at a question, every verdict at a prompt: `codex.rs`.
    Codex,
    /// A deny, whatever is asked: `gemini.rs`.
    Gemini,
}

/// How the hook is written in the user's settings, and so started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistrationFamily {
    /// Program and arguments, which the agent starts itself: `claude.rs`.
    ExecForm,
    /// A line for the user's login shell: `codex.rs`.
    ShellLine,
    /// A line for `bash`, with a time limit in milliseconds: `gemini.rs`.
    BashLine,
}

/// How the hook is registered for the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineFamily {
    /// In a JSON file that holds nothing but castellan's hooks.
    OwnJson,
    /// In a TOML file that an administrator writes, too.
    SharedToml,
}

/// Which settings texts an agent reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReaderFamily {
    /// All that JavaScript reads.
    JavaScript,
    /// The same, with comments.
    Commented,
    /// What `serde_json` reads, without keys that it does not know.
    Serde,
}

/// How hooks are switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchFamily {
    /// `disableAllHooks` in settings.
    DisableAllHooks,
    /// `hooksConfig` in settings: all of them, or some by their names.
    HooksConfig,
    /// A feature of a configuration in TOML, and of its profiles.
    Feature,
}

/// How MCP servers are configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerFamily {
    /// `mcpServers` of the user and of each project, in JSON.
    Json,
    /// `[mcp_servers.NAME]`, in TOML.
    Toml,
}

/// Where plugins lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginFamily {
    /// Where a list of what is installed and marketplaces say, with skills that may bring hooks.
    Marketplaces,
    /// Below one folder.
    Cache,
    /// Each in a folder of its own, below one for all.
    Extensions,
}

/// How a transcript tells of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TranscriptFamily {
    /// Blocks in the `content` of messages.
    Messages,
    /// `response_item`s and `event_msg`s.
    Items,
    /// It is not read.
    Unread,
}

/// How a payload says that a tool is one of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpFamily {
    /// In the tool's name: `mcp__server__tool`.
    Name,
    /// In `mcp_context`, beside a name that cannot be taken apart: `mcp_server_tool`.
    Context,
}
