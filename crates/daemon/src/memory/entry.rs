//! [`Entry`]: an event that must outlive the daemon, as a line of the journal. Independent of its consequences.

mod begun;

use std::time::{Duration, SystemTime};

use castellan_event::{AccessLevel, ScriptFile};
use castellan_policy::{CallClass, FindingName, Grant, GrantPart, RequestId};
use serde::{Deserialize, Serialize};

pub(super) use self::begun::BegunEntry;
use super::Copier;
use super::consequence::Consequence;
use super::halt::HaltPlace;
use super::plan::{PlanInForce, PlanPlace};
use super::trust::WorkspaceDecision;
use super::workspace::Workspace;
use crate::peers::AgentProcess;
use crate::requests::{GrantKey, GrantScope, Granted, Now, Subject};
use crate::session_key::SessionKey;

/// Version of the journal's format.
pub(super) const VERSION: u32 = 7;

/// The oldest readable version. Grants of version 1 do not record whether the agent's own prompt was open. Version 2
/// calls the block of a session `bar`. Before version 4, grants have no class, the output of
/// unread code is not recorded, and there are no plans. Before version 5 there are no runs and no halts.
/// Before version 6 there are no contained calls; before version 7 no pauses, no copies of contained files, no processes of
/// contained calls, and no code, reads, copies and
/// begins of calls.
pub(super) const VERSION_OLDEST: u32 = 1;

/// The first line: the format version, and the time on three clocks when the file was rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) castellan_journal: u32,
    /// Boot id of the machine; empty if unknown.
    pub(super) boot: String,
    /// Milliseconds on the clock of marks and sessions.
    pub(super) clock_ms: u64,
    /// Milliseconds since boot.
    pub(super) boot_ms: u64,
    /// Milliseconds of the wall clock, which people can set.
    pub(super) wall_ms: u64,
}

/// Any other line. Times are of the clock of marks and sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Entry {
    /// A known session id and the root of its merged sessions.
    Session {
        id: SessionKey,
        root: SessionKey,
        seen_ms: u64,
        workspace: Option<Workspace>,
    },
    /// An agent's process that makes calls of these sessions. Invalid after a reboot.
    Process {
        pid: u32,
        started: u64,
        root: SessionKey,
    },
    /// The access level that the main agent of a session declares.
    Ceiling {
        id: SessionKey,
        #[serde(with = "level_word")]
        ceiling: AccessLevel,
    },
    /// Two sessions were found to be the same session.
    Merged {
        from: SessionKey,
        into: SessionKey,
    },
    /// Sessions forgotten after a long time without calls.
    Forgotten {
        ids: Vec<SessionKey>,
    },
    /// A call has set marks.
    Marked {
        root: SessionKey,
        labels: Vec<String>,
        at_ms: u64,
    },
    /// Count of a mark and time of the last one.
    Mark {
        root: SessionKey,
        label: String,
        count: u64,
        at_ms: u64,
    },
    /// A call that writes something may run.
    Begun(Box<BegunEntry>),
    Ended {
        root: SessionKey,
        calls: Vec<u64>,
    },
    /// Writes so far.
    Written {
        root: SessionKey,
        paths: Vec<String>,
        downloaded: Vec<String>,
        /// An older journal has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        secret_copies: Vec<String>,
        /// An older journal has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unread_output: Vec<String>,
        /// An older journal has none.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        has_tunnel: bool,
        is_full: bool,
    },
    /// The session's past is unknown. castellan assumes that it did everything possible.
    Suspect {
        root: SessionKey,
    },
    /// Calls of a session ran against the decision, with this consequence.
    Follows {
        root: SessionKey,
        consequence: Consequence,
    },
    /// The state was lost. The past of agents started up to this tick since boot is unknown. Invalid after a reboot.
    Lost {
        ticks: u64,
    },
    /// A person has granted a call.
    Granted(Box<GrantEntry>),
    /// A grant is used up or revoked, by the number of its request.
    GrantOver {
        request: u32,
    },
    /// A plan is in force; `None` ends it.
    Plan {
        place: PlanPlace,
        plan: Option<PlanInForce>,
    },
    /// A call under a plan. `departed`: number of its departures; `last`: the first of them, for people.
    PlanCall {
        place: PlanPlace,
        departed: u64,
        last: String,
    },
    /// A process has registered a run. `None`: under the configured profile. Invalid after a reboot.
    Run {
        process: AgentProcess,
        profile: Option<String>,
        #[serde(default, rename = "sandboxed", skip_serializing_if = "std::ops::Not::not")]
        is_sandboxed: bool,
        at_ms: u64,
    },
    /// An agent has asked below a run. Invalid after a reboot.
    RunAgent {
        run: AgentProcess,
        agent: AgentProcess,
    },
    /// Agents of a run have ended. Invalid after a reboot.
    RunAgentsOver {
        run: AgentProcess,
        agents: Vec<AgentProcess>,
    },
    /// A run has ended. Invalid after a reboot.
    RunOver {
        process: AgentProcess,
    },
    /// A person has halted sessions. `of` is for people.
    Halt {
        place: HaltPlace,
        of: String,
        at_ms: u64,
    },
    /// A person has ended a halt.
    HaltOver {
        place: HaltPlace,
    },
    /// A person has paused castellan. Invalid after a reboot.
    Pause {
        at_ms: u64,
        until_ms: u64,
    },
    /// The pause is over. Invalid after a reboot.
    PauseOver {},
    /// A contained call may write files of a workspace from now on. `call`: the number of its record. `process`: `castellan
    /// contained`; an older journal has none.
    Contained {
        call: u64,
        workspace: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<AgentProcess>,
        /// Calls that ran when it began. An older journal has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        beside: Vec<Copier>,
    },
    /// A contained call has ended, and wrote these files.
    ContainedOver {
        call: u64,
        workspace: String,
        written: Vec<String>,
    },
    /// Another call copies files of a contained call to these paths.
    ContainedCopied {
        call: u64,
        workspace: String,
        paths: Vec<String>,
    },
    /// A person has kept or undone what a contained call wrote.
    ContainedSettled {
        call: u64,
        /// An older journal has none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        workspace: String,
    },
    /// A person has decided about a workspace; `None` removes the decision.
    Trust {
        workspace: String,
        decided: Option<WorkspaceDecision>,
    },
    /// MCP servers without a question: a person has agreed to them, or they existed before castellan.
    Servers {
        names: Vec<String>,
    },
    /// Request ids up to this one are reserved.
    Requests {
        next: u32,
    },
}

mod level_word {
    use castellan_event::AccessLevel;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(level: &AccessLevel, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(level.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AccessLevel, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The stored form of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantEntry {
    request: u32,
    call: GrantKey,
    /// `None`: valid in any session.
    session: Option<SessionKey>,
    scope: ScopeEntry,
    given: Clocks,
    until: Option<Clocks>,
    subject: Subject,
    #[serde(default)]
    is_at_prompt: bool,
    parts: Vec<PartEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class: Option<ClassEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassEntry {
    findings: Vec<String>,
    programs: Vec<String>,
    kinds: Vec<String>,
    roots: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum ScopeEntry {
    Once,
    Session,
    For { seconds: u64 },
    Always,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Clocks {
    /// Seconds since 1970.
    wall_s: u64,
    /// Seconds since boot.
    boot_s: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartEntry {
    /// Code, rule, layer and message of each finding.
    lifts: Vec<[String; 4]>,
    /// Path and hash of each file whose code ran, and whether the call itself writes the file.
    scripts: Vec<(String, Option<String>, bool)>,
}

impl GrantEntry {
    pub(super) fn of(granted: &Granted) -> GrantEntry {
        let part = |GrantPart { lifts, scripts }: &GrantPart| PartEntry {
            lifts: lifts
                .iter()
                .cloned()
                .map(|FindingName { code, rule, layer, message }| [code, rule, layer, message])
                .collect(),
            scripts: scripts
                .iter()
                .cloned()
                .map(|ScriptFile { path, sha256, is_written }| (path, sha256, is_written))
                .collect(),
        };
        GrantEntry {
            request: granted.id.number(),
            call: granted.key,
            session: granted.session,
            scope: granted.scope.into(),
            given: granted.given.into(),
            until: granted.until.map(Clocks::from),
            subject: granted.subject.clone(),
            is_at_prompt: granted.is_at_prompt,
            parts: granted.grant.parts.iter().map(part).collect(),
            class: granted.class.clone().map(ClassEntry::from),
        }
    }

    pub(super) fn granted(self) -> Granted {
        let lift = |[code, rule, layer, message]: [String; 4]| FindingName { code, rule, layer, message };
        let script = |(path, sha256, is_written)| ScriptFile { path, sha256, is_written };
        let part = |PartEntry { lifts, scripts }: PartEntry| GrantPart {
            lifts: lifts.into_iter().map(lift).collect(),
            scripts: scripts.into_iter().map(script).collect(),
        };
        let mut parts: Vec<GrantPart> = self.parts.into_iter().map(part).collect();
        // A parsed vector has spare capacity, which adds up over thousands of grants.
        parts.shrink_to_fit();
        Granted {
            id: RequestId::nth(self.request),
            key: self.call,
            session: self.session,
            scope: self.scope.into(),
            given: self.given.into(),
            until: self.until.map(Now::from),
            subject: self.subject,
            is_at_prompt: self.is_at_prompt,
            is_taken: false,
            grant: Grant { parts },
            class: self.class.map(CallClass::from),
        }
    }
}

impl From<CallClass> for ClassEntry {
    fn from(CallClass { findings, programs, kinds, roots }: CallClass) -> ClassEntry {
        ClassEntry { findings, programs, kinds, roots }
    }
}

impl From<ClassEntry> for CallClass {
    fn from(ClassEntry { findings, programs, kinds, roots }: ClassEntry) -> CallClass {
        CallClass { findings, programs, kinds, roots }
    }
}

impl From<GrantScope> for ScopeEntry {
    fn from(scope: GrantScope) -> ScopeEntry {
        match scope {
            GrantScope::Once => ScopeEntry::Once,
            GrantScope::Session => ScopeEntry::Session,
            GrantScope::For(seconds) => ScopeEntry::For { seconds },
            GrantScope::Always => ScopeEntry::Always,
        }
    }
}

impl From<ScopeEntry> for GrantScope {
    fn from(scope: ScopeEntry) -> GrantScope {
        match scope {
            ScopeEntry::Once => GrantScope::Once,
            ScopeEntry::Session => GrantScope::Session,
            ScopeEntry::For { seconds } => GrantScope::For(seconds),
            ScopeEntry::Always => GrantScope::Always,
        }
    }
}

impl From<Now> for Clocks {
    fn from(now: Now) -> Clocks {
        let wall = now.wall.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Clocks { wall_s: wall.as_secs(), boot_s: now.boot_s }
    }
}

impl From<Clocks> for Now {
    fn from(clocks: Clocks) -> Now {
        let wall = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(clocks.wall_s));
        // A time beyond the clock's range counts as expired.
        Now { wall: wall.unwrap_or(SystemTime::UNIX_EPOCH), boot_s: clocks.boot_s }
    }
}

/// Serializes a hash as hex.
macro_rules! in_hex {
    ($key:ident) => {
        impl Serialize for $key {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&base16ct::lower::encode_string(&self.0))
            }
        }

        impl<'de> Deserialize<'de> for $key {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$key, D::Error> {
                let text = String::deserialize(deserializer)?;
                from_hex(&text).map($key).ok_or_else(|| serde::de::Error::custom("not 64 hex digits"))
            }
        }
    };
}

in_hex!(SessionKey);
in_hex!(GrantKey);

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let read = base16ct::mixed::decode(text, &mut bytes).ok()?.len();
    (read == bytes.len()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_64_hex_digits() {
        let text = "0123456789abcdef".repeat(4);
        assert_eq!(from_hex(&text).map(|bytes| base16ct::lower::encode_string(&bytes)), Some(text.clone()));
        for wrong in [
            "",
            "00",
            text.trim_start_matches('0'),
            &format!("{text}0"),
            &text.replace('0', "+"),
            &text.replace('0', "é"),
        ] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_line_that_is_not_exactly_one_entry_is_none() {
        let key = "00".repeat(32);
        let check = |text: &str, is_entry: bool| {
            let text = text.replace("KEY", &key);
            assert_eq!(serde_json::from_str::<Entry>(&text).is_ok(), is_entry, "{text}");
        };
        check(r#"{"suspect":{"root":"KEY"}}"#, true);
        check(r#"{"suspect":{"root":"KEY","root":"KEY"}}"#, false);
        check(r#"{"suspect":{"root":"KEY","more":1}}"#, false);
        check(r#"{"suspect":{"root":"KEY"},"lost":{"ticks":1}}"#, false);
        check(r#"{"suspect":{"root":"KEY"},"suspect":{"root":"KEY"}}"#, false);
        check(r#"{"suspect":{"root":7}}"#, false);
        check(r#"{"suspect":{}}"#, false);
        check(r#"{"other":{}}"#, false);
        check(r#"{"lost":{"ticks":-1}}"#, false);
        check(r#"{"ceiling":{"id":"KEY","ceiling":"read-only"}}"#, true);
        check(r#"{"ceiling":{"id":"KEY","ceiling":"none"}}"#, false);
        check("", false);
        check("null", false);
    }
}
