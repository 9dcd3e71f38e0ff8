//! [`KEYS`]: every key of `config.toml` in one table. The parser, the merging of layers, the suggestions, the JSON
//! schema and docs/configuration.md use it. It must not know the effect of a value.

/// A key.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name as it is written, with its table: `level.session`.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// The merge rule if several layers set it.
    pub merge: Merge,
    /// The layers whose files may set it.
    pub place: Place,
    /// The value if it is absent, in TOML. Empty for a key that a profile presets.
    pub default: &'static str,
    /// Description in a sentence or two.
    pub about: &'static str,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The format's version: 1.
    Version,
    /// A word from a list, the mildest first.
    Word(&'static [&'static str]),
    /// A text.
    Text,
    /// True or false.
    Flag,
    /// A whole number with a minimum.
    Count(u32),
    /// A list of short rules.
    Patterns,
    /// A list of texts.
    Texts,
    /// A list of names of keys.
    Names,
    /// A list of tables that enable and disable rules.
    Selections,
    /// A list of tables that add to outputs.
    Outputs,
}

/// The merge rule of a key that several layers set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// Concerns only its own file.
    Own,
    /// The strictest value applies; the user's default takes part.
    Strictest,
    /// All values apply.
    United,
    /// All values apply, each to the findings of its own layer.
    Lifting,
    /// The value of the highest layer that sets it applies.
    Highest,
}

/// The layers whose files may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Every layer.
    Every,
    /// The organisation only.
    Organisation,
    /// The organisation and the user: a project's file could loosen with it.
    AboveProject,
    /// No file: a profile presets it.
    Profile,
}

/// The keys, in the order of the documentation.
pub const KEYS: &[Key] = &[
    Key {
        name: "version",
        kind: Kind::Version,
        merge: Merge::Own,
        place: Place::Every,
        default: "",
        about: "The version of this format: 1. Every file says it.",
    },
    Key {
        name: "locked",
        kind: Kind::Names,
        merge: Merge::Own,
        place: Place::Organisation,
        default: "[]",
        about: "Keys that the layers below cannot loosen: where the organisation's file does not say one, its default counts \
                as said there.",
    },
    Key {
        name: "mode",
        kind: Kind::Word(&["passthrough", "monitor", "enforce"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"enforce\"",
        about: "How decisions are carried out. `enforce`: they are. `monitor`: calls are judged and recorded, and left to the \
                agent. `passthrough`: calls are recorded only.",
    },
    Key {
        name: "profile",
        kind: Kind::Word(&["kit", "standard", "autonomous", "strict", "observer"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"standard\"",
        about: "Presets the keys that decide. Each layer's profile presets what its own file leaves out, and those values are \
                merged one by one.",
    },
    Key {
        name: "default",
        kind: Kind::Word(&["allow", "defer"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "What is answered when nothing has anything to say: `defer` leaves the call to the agent's own permissions, \
                `allow` runs it without the agent's prompt.",
    },
    Key {
        name: "opaque",
        kind: Kind::Word(&["defer", "ask", "deny"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "What is answered to a program, target or code that was not understood.",
    },
    Key {
        name: "own_opaque",
        kind: Kind::Word(&["defer", "ask"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "What is answered to such a part where it stands in a file of the project that the session has neither put there nor \
                changed, a person sits at the agent's prompt, and `opaque` does not deny: `ask` is as `opaque`.",
    },
    Key {
        name: "deny",
        kind: Kind::Patterns,
        merge: Merge::United,
        place: Place::Every,
        default: "[]",
        about: "Short rules that deny. Nothing lifts them.",
    },
    Key {
        name: "ask",
        kind: Kind::Patterns,
        merge: Merge::United,
        place: Place::Every,
        default: "[]",
        about: "Short rules that ask. Nothing lifts the organisation's.",
    },
    Key {
        name: "allow",
        kind: Kind::Patterns,
        merge: Merge::Lifting,
        place: Place::Every,
        default: "[]",
        about: "Short rules that allow, where they cover a whole call. They lift what their own layer's rules ask; a project's, where \
                you trust the workspace, what the user's does too.",
    },
    Key {
        name: "presence_check",
        kind: Kind::Word(&["terminal", "pin", "password"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"terminal\"",
        about: "What proves that a person is there when something is to be loosened (approve, mode, apply, stop, ...). \
                `terminal`: a terminal that a person has opened, with no agent above it; code of your own user can imitate one. \
                `pin`: that, and a PIN (`castellan presence set-pin`, before this is applied). `password`: that, and the password \
                of your account, which PAM's `unix_chkpwd` checks (Linux, accounts in `/etc/passwd`).",
    },
    Key {
        name: "ask_wait",
        kind: Kind::Count(0),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "0",
        about: "For how many seconds a call that is asked about waits for `castellan approve` or `refuse` before its agent is \
                told: up to 580.",
    },
    Key {
        name: "notify",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "true",
        about: "Whether calls that wait are shown on the desktop, where there is one (`notify-send`).",
    },
    Key {
        name: "on_ungoverned",
        kind: Kind::Word(&["record", "notify", "stop"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "What is done when a call ran without a decision, against one, or with another input than the one judged. `record`: \
                it is recorded. `notify`: you are told as well. `stop`: the session may do nothing more as well.",
    },
    Key {
        name: "hooks.trusted",
        kind: Kind::Texts,
        merge: Merge::Lifting,
        place: Place::AboveProject,
        default: "[]",
        about: "Hooks of others that are trusted, by their commands as `castellan doctor` shows them. In `strict`, nothing runs \
                while another one is registered that could change a call after it was judged. Where the organisation's file says \
                so, only those count that it names.",
    },
    Key {
        name: "level.session",
        kind: Kind::Word(&["off", "full-access", "workspace-write", "read-only"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "The access level that sessions have. `off`: levels do not count.",
    },
    Key {
        name: "level.on_insufficient",
        kind: Kind::Word(&["ask", "deny"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "What a call is answered that needs a higher level.",
    },
    Key {
        name: "new_mcp_server",
        kind: Kind::Word(&["defer", "ask", "deny"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "What is answered to a tool of an MCP server that was not configured before castellan, until you have agreed: at the \
                agent's prompt for the session, by `castellan approve --always` for good.",
    },
    preset("headless_default", &["allow", "defer", "deny"], "`default` where nobody is there to be asked."),
    preset("headless_opaque", &["defer", "ask", "deny"], "`opaque` where nobody is there to be asked."),
    preset(
        "unknown_workspace",
        &["off", "full-access", "workspace-write", "read-only"],
        "The access level that sessions have at most in a workspace that nobody has trusted.",
    ),
    preset("unknown_tool", &["defer", "deny"], "What is answered to a tool that castellan does not know."),
    preset(
        "probing",
        &["defer", "ask"],
        "What is answered to every call of a session that was denied the same three times (mark `probing`).",
    ),
    preset(
        "allow_understood",
        &["true", "false"],
        "A call that was understood whole and is safe runs without a prompt.",
    ),
    preset("tools", &["true", "false"], "Sessions may use tools."),
    preset(
        "ungoverned_level",
        &["off", "full-access", "workspace-write", "read-only"],
        "The access level that a session has after a call ran as nobody decided.",
    ),
    preset(
        "blocks_foreign_hooks",
        &["false", "true"],
        "Nothing runs while a hook of somebody else's could change it that is not trusted.",
    ),
    tier("tiers.ask", "The rules of shipped packs that ask: `off`, `observe` or `enforce`, as a pack."),
    tier(
        "tiers.review",
        "The rules of shipped packs that ask unless the user wanted the call: `off`, `observe` or `enforce`, as a pack.",
    ),
    pack(
        "packs.secrets",
        "The shipped pack `secrets`: keys, passwords and tokens. `off`: as if it were not there. `observe`: what its rules \
         find is recorded with the verdict that it would have, and decides nothing. `enforce`: it counts.",
    ),
    pack("packs.filesystem", "The shipped pack `filesystem`: deleting, overwriting, permissions, devices."),
    pack("packs.git", "The shipped pack `git`: what git loses or publishes."),
    pack("packs.exfiltration", "The shipped pack `exfiltration`: data that leaves the machine."),
    pack("packs.execution", "The shipped pack `execution`: code from elsewhere that runs."),
    pack("packs.network", "The shipped pack `network`: metadata services, tunnels, listeners."),
    pack("packs.persistence", "The shipped pack `persistence`: what runs again later."),
    pack("packs.privilege", "The shipped pack `privilege`: root, namespaces, the kernel."),
    pack("packs.supply-chain", "The shipped pack `supply-chain`: packages and registries."),
    pack("packs.containers", "The shipped pack `containers`: containers."),
    pack("packs.kubernetes", "The shipped pack `kubernetes`: clusters."),
    pack("packs.infrastructure", "The shipped pack `infrastructure`: infrastructure as code."),
    pack("packs.cloud", "The shipped pack `cloud`: cloud providers' programs."),
    pack("packs.databases", "The shipped pack `databases`: databases."),
    pack("packs.agents", "The shipped pack `agents`: agents' settings, hooks and instructions."),
    pack("packs.mcp", "The shipped pack `mcp`: tools of MCP servers."),
    pack("packs.web", "The shipped pack `web`: web requests."),
    pack("packs.audit", "The shipped pack `audit`: logs and histories."),
    Key {
        name: "rules.reload",
        kind: Kind::Word(&["watch", "apply"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"apply\"",
        about: "When edited rule files of the user come into force. `apply`: when a person has run `castellan apply`. `watch`: \
                at once, whoever has edited them.",
    },
    Key {
        name: "rules.regex_compat",
        kind: Kind::Word(&["falco", "strict"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"strict\"",
        about: "`strict` refuses a rule file with a regex that Falco would load and never match; `falco` loads it, as Falco does.",
    },
    Key {
        name: "rules.engine",
        kind: Kind::Word(&["0.43", "0.44"]),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "\"0.43\"",
        about: "The Falco whose rule language the user's files are in.",
    },
    Key {
        name: "rules.matching",
        kind: Kind::Word(&["first", "all"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"all\"",
        about: "Which of the user's rules that match count: all, or the first alone in the order of the files.",
    },
    Key {
        name: "rules.priority",
        kind: Kind::Word(&["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"debug\"",
        about: "The user's rules that are less severe than this are left out.",
    },
    Key {
        name: "rules.select",
        kind: Kind::Selections,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "[]",
        about: "Switches the user's rules off and on after loading, in this order: `{disable = {rule = \"Ask *\"}}`, \
                `{enable = {tag = \"x\"}}`.",
    },
    Key {
        name: "rules.append_output",
        kind: Kind::Outputs,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "[]",
        about: "Adds to what the user's rules say, to those that `match` names or to all.",
    },
    tag("tags.deny", "\"coding_agent_deny\"", "The tag of the user's rules that deny."),
    tag("tags.ask", "\"coding_agent_ask\"", "The tag of the user's rules that ask."),
    tag(
        "tags.review",
        "\"coding_agent_review\"",
        "The tag of the user's rules that ask unless the user wanted the call.",
    ),
    tag("tags.allow", "\"coding_agent_allow\"", "The tag of the user's rules that allow."),
    tag("tags.seen", "\"coding_agent_seen\"", "The tag of the kit's rule for its books, which says nothing."),
    tag(
        "tags.mark",
        "\"coding_agent_mark:\"",
        "The beginning of the tags of the user's rules that mark a session.",
    ),
    size("log.routine_segment_mib", 1, "50", "MiB of one file of allowed and deferred calls."),
    size("log.routine_segments", 0, "3", "Closed files of allowed and deferred calls that are kept."),
    size(
        "log.notable_days",
        0,
        "90",
        "Days that denied and asked calls, control requests and failures are kept.",
    ),
    size("log.notable_mib", 1, "512", "MiB that they may reach."),
    Key {
        name: "log.fsync",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "false",
        about: "Waits for the disk at every record: a power cut loses none, and every call takes milliseconds more.",
    },
];

/// The states of rules, the mildest first.
const STATES: &[&str] = &["off", "observe", "enforce"];

/// The state of a shipped pack. Its rules only tighten, so a lower layer may enforce it.
const fn pack(name: &'static str, about: &'static str) -> Key {
    let (kind, merge) = (Kind::Word(STATES), Merge::Strictest);
    Key { name, kind, merge, place: Place::Every, default: "\"enforce\"", about }
}

/// The state of all shipped rules with a certain verdict.
const fn tier(name: &'static str, about: &'static str) -> Key {
    Key { name, kind: Kind::Word(STATES), merge: Merge::Strictest, place: Place::Every, default: "", about }
}

/// A key that only a profile sets.
const fn preset(name: &'static str, words: &'static [&'static str], about: &'static str) -> Key {
    Key { name, kind: Kind::Word(words), merge: Merge::Strictest, place: Place::Profile, default: "", about }
}

/// A tag of the user's rules.
const fn tag(name: &'static str, default: &'static str, about: &'static str) -> Key {
    Key { name, kind: Kind::Text, merge: Merge::Highest, place: Place::AboveProject, default, about }
}

/// A size of the log.
const fn size(name: &'static str, least: u32, default: &'static str, about: &'static str) -> Key {
    Key { name, kind: Kind::Count(least), merge: Merge::Highest, place: Place::AboveProject, default, about }
}

/// Returns the key with a name.
pub(crate) fn key(name: &str) -> Option<&'static Key> {
    let name = present_name(name);
    KEYS.iter().find(|key| key.name == name)
}

/// Keys that had another name in an earlier version, and their present names.
const FORMER_NAMES: &[(&str, &str)] = &[("presence", "presence_check")];

/// Returns the present name of a key.
pub(crate) fn present_name(name: &str) -> &str {
    FORMER_NAMES.iter().find(|(former, _)| *former == name).map_or(name, |(_, present)| present)
}

/// Returns the names of all keys that a file can set.
pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
    KEYS.iter().filter(|key| key.place != Place::Profile).map(|key| key.name)
}
