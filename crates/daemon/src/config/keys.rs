//! [`KEYS`]: every key of `config.toml` in one table. The parser, the merging of layers, the suggestions, the JSON
//! schema and docs/configuration.md use it. It must not know the effect of a value.

mod boundary;
mod engine;
mod sandbox;
mod service;
mod undo;

use std::sync::LazyLock;

use castellan_policy::{
    AllowOrAsk, AllowOrDefer, AskOrDeny, DeferOrAsk, DeferOrDeny, NotAllow, NotAsk, OwnOpaque, PlanMode,
    ReviewProvider,
};

use crate::shipped::{SHIPPED_PACKS, ShippedPack};

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let packs = SHIPPED_PACKS.iter().map(pack);
    let before = BEFORE_SANDBOX
        .iter()
        .chain(sandbox::KEYS)
        .chain(boundary::KEYS)
        .chain(undo::KEYS)
        .chain(service::KEYS)
        .chain(engine::KEYS)
        .chain(AFTER_SANDBOX)
        .copied();
    before.chain(packs).chain(AFTER_PACKS.iter().copied()).collect()
});

const BEFORE_SANDBOX: &[Key] = &[
    Key {
        name: "version",
        kind: Kind::Version,
        merge: Merge::Own,
        place: Place::Every,
        default: "",
        about: "Version of the format: 1. Required in every file.",
    },
    Key {
        name: "locked",
        kind: Kind::Names,
        merge: Merge::Own,
        place: Place::Organisation,
        default: "[]",
        about: "Keys that lower layers cannot loosen. The default applies to a locked key that the organisation's \
                file does not set.",
    },
    Key {
        name: "mode",
        kind: Kind::Word(&["passthrough", "monitor", "enforce"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"enforce\"",
        about: "Effect of decisions. `enforce`: castellan enforces them. `monitor`: castellan judges and records \
                calls, and leaves them to the agent. `passthrough`: castellan only records calls.",
    },
    Key {
        name: "profile",
        kind: Kind::Word(&["kit", "quiet", "standard", "autonomous", "strict", "observer"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"standard\"",
        about: "Presets other keys. The profile of a layer presets the keys that its file does not set; then \
                castellan merges the layers key by key.",
    },
    Key {
        name: "default",
        kind: Kind::Word(AllowOrDefer::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "Verdict on a call without a finding. `defer`: the agent's own permissions decide. `allow`: the call \
                runs without the agent's prompt.",
    },
    Key {
        name: "opaque",
        kind: Kind::Word(NotAllow::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "Verdict on a program, target or code that castellan does not understand.",
    },
    Key {
        name: "own_opaque",
        kind: Kind::Word(OwnOpaque::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "Verdict on Opaque parts in files of the project while a person is at the agent's prompt. `defer`: the \
                agent's own permissions decide in a trusted workspace, if `opaque` does not deny; elsewhere, and about \
                files that a session changed, only if the agent itself asks about commands. `prompted`: they decide \
                only if the agent itself asks about commands. `ask`: as `opaque`. Unless it is `ask`, code of the \
                workspace runs within `workspace-write` if the agent itself asks about commands.",
    },
    Key {
        name: "deny",
        kind: Kind::Patterns,
        merge: Merge::United,
        place: Place::Every,
        default: "[]",
        about: "Short rules that deny. Nothing exempts a call from them.",
    },
    Key {
        name: "ask",
        kind: Kind::Patterns,
        merge: Merge::United,
        place: Place::Every,
        default: "[]",
        about: "Short rules that ask. Nothing exempts a call from those of the organisation.",
    },
    Key {
        name: "allow",
        kind: Kind::Patterns,
        merge: Merge::Lifting,
        place: Place::Every,
        default: "[]",
        about: "Short rules that allow a call if they cover all of it. They exempt the call from asks of rules of \
                their own layer. Those of a project that you trust also exempt it from asks of the user's rules.",
    },
    Key {
        name: "presence_check",
        kind: Kind::Word(&["terminal", "pin", "password"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"terminal\"",
        about: "Proof that a person is present, for each request that loosens something (approve, mode, apply, stop, \
                ...). `terminal`: a terminal that a person opened, without an agent above it. Code of your own user \
                can imitate that. `pin`: also a PIN. Set it with `castellan presence set-pin` before you apply this. \
                `password`: also the password of your account, checked by PAM's `unix_chkpwd` (Linux, accounts in \
                `/etc/passwd`).",
    },
    Key {
        name: "ask_wait",
        kind: Kind::Count(0),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "0",
        about: "Seconds that a call waits for `castellan approve` or `refuse` before castellan answers the agent: at \
                most 580.",
    },
    Key {
        name: "notify",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "true",
        about: "Shows pending calls on the desktop, if `notify-send` is there.",
    },
    Key {
        name: "plan.mode",
        kind: Kind::Word(PlanMode::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"warn\"",
        about: "Effect of plans (`castellan plan use`). `off`: none. `warn`: castellan records departures from a plan. \
                `strict`: castellan denies them, and a session without a plan may only read.",
    },
    Key {
        name: "plan.ad_hoc",
        kind: Kind::Word(AllowOrAsk::WORDS),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"ask\"",
        about: "Verdict on a departure from a strict plan if the command has the comment `# castellan: ad-hoc` or \
                `# nous: ad-hoc`. `allow`: the plan lets it run.",
    },
    Key {
        name: "review.provider",
        kind: Kind::Word(ReviewProvider::WORDS),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "\"off\"",
        about: "Language model that castellan asks if you asked for a call, where only review rules ask about it. `off`: \
                none. `openai`: an endpoint with the interface of OpenAI's chat completions. `anthropic`: Anthropic's \
                Messages API. `command`: a local program. The endpoint or program reads your prompts.",
    },
    Key {
        name: "review.url",
        kind: Kind::Text,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "",
        about: "Base URL of the endpoint: `https`, or `http` to this machine.",
    },
    Key {
        name: "review.model",
        kind: Kind::Text,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "",
        about: "Model of the endpoint.",
    },
    Key {
        name: "review.key_file",
        kind: Kind::Text,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "",
        about: "Absolute path of the file with the key of the endpoint. Only you may be able to read or change it.",
    },
    Key {
        name: "review.command",
        kind: Kind::Texts,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "[]",
        about: "Program and arguments of the provider `command`. The program is an absolute path; it gets no \
                environment.",
    },
    Key {
        name: "review.time_ms",
        kind: Kind::Count(1),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "2000",
        about: "Milliseconds of one review: at most 5000, because the agent's hook waits meanwhile.",
    },
    Key {
        name: "review.per_hour",
        kind: Kind::Count(0),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "60",
        about: "Reviews in an hour. castellan asks you about further calls.",
    },
    Key {
        name: "review.tokens_per_day",
        kind: Kind::Count(0),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "1000000",
        about: "Tokens of reviews in a day. castellan asks you about further calls.",
    },
    Key {
        name: "review.opaque",
        kind: Kind::Word(REVIEW_OPAQUE),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "",
        about: "The first that castellan asks about Opaque programs and code where the verdict is `ask`. `review`: the \
                reviewer. `ask`: you.",
    },
    Key {
        name: "review.with_host",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "false",
        about: "The reviewer is also asked where the agent's own model judges intent: in Claude Code's `auto`, and under \
                Codex's auto-review.",
    },
];

const AFTER_SANDBOX: &[Key] = &[
    Key {
        name: "on_ungoverned",
        kind: Kind::Word(&["record", "notify", "stop"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "Reaction to a call that ran without a decision, against one, or with another input than the judged \
                one. `record`: castellan records it. `notify`: castellan also notifies you. `stop`: castellan also \
                blocks the session.",
    },
    Key {
        name: "hooks.trusted",
        kind: Kind::Texts,
        merge: Merge::Lifting,
        place: Place::AboveProject,
        default: "[]",
        about: "Trusted hooks of other programs, by their commands as `castellan doctor` shows them. In `strict`, \
                nothing runs while another hook is registered that could change a call after the decision. If the \
                organisation locks this key or sets `strict`, only its own entries apply.",
    },
    Key {
        name: "level.session",
        kind: Kind::Word(&["off", "full-access", "workspace-write", "read-only"]),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "Access level of sessions. `off`: no levels.",
    },
    Key {
        name: "level.on_insufficient",
        kind: Kind::Word(AskOrDeny::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "Verdict on a call that needs a higher level.",
    },
    Key {
        name: "new_mcp_server",
        kind: Kind::Word(NotAllow::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "Verdict on a tool of an MCP server that was added after castellan, until you agree: for the session \
                at the agent's prompt, for good with `castellan approve --always`.",
    },
    preset("headless_default", NotAsk::WORDS, "`default` for a session without a person to ask."),
    preset("headless_opaque", NotAllow::WORDS, "`opaque` for a session without a person to ask."),
    preset(
        "unknown_workspace",
        &["off", "full-access", "workspace-write", "read-only"],
        "Highest access level of sessions in a workspace without a decision about trust.",
    ),
    preset("unknown_tool", DeferOrDeny::WORDS, "Verdict on a tool that castellan does not know."),
    preset(
        "probing",
        DeferOrAsk::WORDS,
        "Verdict on every call of a session with the mark `probing`: three denials with the same denial key.",
    ),
    preset(
        "allow_understood",
        &["true", "false"],
        "Runs a call without a prompt if castellan understands all of it and it is safe.",
    ),
    preset("tools", &["true", "false"], "Permits tools."),
    preset(
        "ungoverned_level",
        &["off", "full-access", "workspace-write", "read-only"],
        "Highest access level of a session after a call that `on_ungoverned` describes.",
    ),
    preset(
        "blocks_foreign_hooks",
        &["false", "true"],
        "Blocks all calls while a hook of another program that is not trusted could change them.",
    ),
    tier(
        "tiers.ask",
        "State of the rules of shipped packs that ask: `off`, `observe` or `enforce`, as for a pack.",
    ),
    tier(
        "tiers.review",
        "State of the review rules of shipped packs, which ask about calls that are fine if the user wanted them: \
         `off`, `observe` or `enforce`, as for a pack.",
    ),
];

const AFTER_PACKS: &[Key] = &[
    Key {
        name: "rules.reload",
        kind: Kind::Word(&["watch", "apply"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"apply\"",
        about: "Time at which edited rule files of the user take effect. `apply`: after `castellan apply` by a \
                person. `watch`: at once, whichever program edited them.",
    },
    Key {
        name: "rules.regex_compat",
        kind: Kind::Word(&["falco", "strict"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"strict\"",
        about: "Handling of a regex that Falco loads but never matches. `strict`: castellan rejects the rule file. \
                `falco`: castellan loads it like Falco.",
    },
    Key {
        name: "rules.engine",
        kind: Kind::Word(&["0.43", "0.44"]),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "\"0.43\"",
        about: "Falco version of the rule language of the user's files.",
    },
    Key {
        name: "rules.matching",
        kind: Kind::Word(&["first", "all"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"all\"",
        about: "Matching rules of the user that apply: `all`, or only the `first` in the order of the files.",
    },
    Key {
        name: "rules.priority",
        kind: Kind::Word(&["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"]),
        merge: Merge::Strictest,
        place: Place::AboveProject,
        default: "\"debug\"",
        about: "Lowest priority of the user's rules: castellan ignores less severe ones.",
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
        about: "Text added to the outputs of the user's rules: of those that `match` names, or of all.",
    },
    tag("tags.deny", "\"coding_agent_deny\"", "Tag of the user's rules that deny."),
    tag("tags.ask", "\"coding_agent_ask\"", "Tag of the user's rules that ask."),
    tag(
        "tags.contain",
        "\"coding_agent_contain\"",
        "Tag of the user's rules that run calls in a sandbox, or ask where that is not possible.",
    ),
    tag(
        "tags.review",
        "\"coding_agent_review\"",
        "Tag of the user's review rules, which ask about calls that are fine if the user wanted them.",
    ),
    tag("tags.allow", "\"coding_agent_allow\"", "Tag of the user's rules that allow."),
    tag("tags.seen", "\"coding_agent_seen\"", "Tag of the kit's rule that only records calls."),
    tag("tags.mark", "\"coding_agent_mark:\"", "Start of the tags of the user's rules that mark a session."),
    size("log.routine_segment_mib", 1, "50", "Size of one log file of allowed and deferred calls, in MiB."),
    size("log.routine_segments", 0, "3", "Number of closed log files of allowed and deferred calls to keep."),
    size("log.notable_days", 0, "90", "Days to keep denied and asked calls, control requests and failures."),
    size("log.notable_mib", 1, "512", "Size limit of the records that `log.notable_days` names, in MiB."),
    Key {
        name: "log.fsync",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "false",
        about: "Flushes each record to the disk. Without it, a power cut can lose the last records; with it, every \
                call takes milliseconds more.",
    },
    Key {
        name: "log.prompts",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "false",
        about: "The log keeps your prompts and e-mail addresses. Else it has the length of each prompt, and a placeholder \
                for each address.",
    },
    Key {
        name: "log.outside",
        kind: Kind::Word(&["off", "auto"]),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "\"auto\"",
        about: "A copy of the record outside of castellan's home. `auto`: each denial, each ask and each begin of a log \
                file goes to journald, else to syslog, if the machine has one; `castellan log verify` compares.",
    },
];

/// The first to ask about Opaque code, the mildest first.
const REVIEW_OPAQUE: &[&str] = &["review", "ask"];

/// The states of rules, the mildest first.
const STATES: &[&str] = &["off", "observe", "enforce"];

/// The state of a shipped pack. Its rules only tighten, so a lower layer may enforce it.
fn pack(pack: &ShippedPack) -> Key {
    Key {
        name: pack.key,
        kind: Kind::Word(STATES),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"enforce\"",
        about: pack.about,
    }
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

/// Returns the name that a key had in an earlier version.
pub(super) fn former_name(present: &str) -> Option<&'static str> {
    FORMER_NAMES.iter().find(|(_, now)| *now == present).map(|(former, _)| *former)
}

/// Returns the names of all keys that a file can set.
pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
    KEYS.iter().filter(|key| key.place != Place::Profile).map(|key| key.name)
}
