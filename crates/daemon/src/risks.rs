//! [`Risks`]: what a call and its session may do, in the words for an agent's own judge of intent. It must not know how the
//! text is sent.
//!
//! The text names risks, never their absence, and consists of the sentences of one table. So no name that an agent, a file or
//! a repository chose is part of it: the judge sees such names in the call itself.

use castellan_event::{Effect, EffectKind, Facts, FileOrigin, Role, Scope, Session};
use castellan_policy::{FOREIGN, PROBING};

/// The risks of a call: one bit for each row of [`OF_CALLS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Risks(u16);

/// A test of an effect, and the words for effects that pass it.
type Row = (fn(&Effect) -> bool, &'static str);

const OF_CALLS: &[Row] = &[
    (is_unread_code, "runs code that castellan could not read"),
    (has_unknown_target, "acts on something that castellan could not find out"),
    (runs_download, "runs a file from the network"),
    (deletes_outside, "deletes files outside the workspace"),
    (changes_outside, "changes files outside the workspace"),
    (changes_code_of_others, "changes files from which programs take code or settings"),
    (reads_secret, "reads a secret"),
    (|effect| effect.kind() == EffectKind::Destroy, "destroys something for good"),
    (|effect| effect.kind() == EffectKind::Upload, "sends data to a host"),
    (|effect| effect.kind() == EffectKind::Publish, "publishes something"),
    (|effect| effect.kind() == EffectKind::Elevate, "gains the rights of another user"),
    (|effect| effect.kind() == EffectKind::Inject, "writes into another running program"),
    (outlasts, "leaves something running, or has it run later"),
];

/// The marks of a session that its judge should know, and the words for them.
const OF_SESSIONS: &[(&str, &str)] = &[
    (FOREIGN, "read text from the network or an MCP server"),
    (PROBING, "repeatedly tried calls that castellan denies"),
];

impl Risks {
    /// Returns the risks of a call, those of the code that it writes included.
    pub(crate) fn of(facts: &Facts) -> Risks {
        let effects = || facts.effects.iter().chain(&facts.written.effects);
        let bits = OF_CALLS.iter().enumerate().filter(|(_, (test, _))| effects().any(test));
        Risks(bits.fold(0, |bits, (position, _)| bits | 1 << position))
    }

    /// Returns the text about a call that was not denied, and about its session. `None` without a risk.
    pub(crate) fn text(self, session: &Session) -> Option<String> {
        let rows = OF_CALLS.iter().enumerate();
        let of_call = rows.filter(|(position, _)| self.0 & 1 << position != 0).map(|(_, (_, words))| *words);
        let of_session =
            OF_SESSIONS.iter().filter(|(mark, _)| session.marks.contains_key(*mark)).map(|(_, words)| *words);
        let parts = [
            ("this call, or code that it writes, ", of_call.collect::<Vec<_>>()),
            ("this session ", of_session.collect()),
        ];
        let parts = parts.into_iter().filter(|(_, all)| !all.is_empty());
        let said: Vec<String> = parts.map(|(subject, all)| format!("{subject}{}", all.join("; "))).collect();
        (!said.is_empty()).then(|| format!("castellan: {}.", said.join("; ")))
    }
}

fn is_unread_code(effect: &Effect) -> bool {
    effect.is_opaque() && matches!(effect.role(), Some(Role::Program | Role::Code | Role::Tool))
}

fn has_unknown_target(effect: &Effect) -> bool {
    effect.is_opaque() && effect.role() == Some(Role::Target)
}

fn runs_download(effect: &Effect) -> bool {
    effect.kind() == EffectKind::Execute && effect.file_origin() == Some(FileOrigin::Downloaded)
}

fn deletes_outside(effect: &Effect) -> bool {
    effect.kind() == EffectKind::Delete && is_outside(effect)
}

fn changes_outside(effect: &Effect) -> bool {
    is_change(effect) && is_outside(effect)
}

fn changes_code_of_others(effect: &Effect) -> bool {
    let is_of_others = matches!(
        effect.scope(),
        Some(Scope::Castellan | Scope::Agent | Scope::Startup | Scope::Hijack | Scope::Vcs)
    );
    (is_change(effect) || effect.kind() == EffectKind::Delete) && is_of_others
}

fn reads_secret(effect: &Effect) -> bool {
    matches!(effect.kind(), EffectKind::Read | EffectKind::Upload) && effect.scope() == Some(Scope::Secret)
}

fn outlasts(effect: &Effect) -> bool {
    matches!(effect.kind(), EffectKind::Detach | EffectKind::Schedule | EffectKind::Service)
}

fn is_change(effect: &Effect) -> bool {
    matches!(effect.kind(), EffectKind::Write | EffectKind::Link | EffectKind::Permission)
}

/// A path without a known place may be anywhere.
fn is_outside(effect: &Effect) -> bool {
    !matches!(effect.place(), Some(Scope::Workspace | Scope::Temporary))
}

#[cfg(test)]
mod tests {
    use castellan_agents::JUDGE_CONTEXT_UNITS_MAX;
    use castellan_event::{LocatedFile, Mark, Why};
    use proptest::prelude::*;

    use super::*;

    fn file(kind: EffectKind, path: &str, (scope, place): (Scope, Scope)) -> Effect {
        let path = Some(path.to_owned());
        let located = LocatedFile { path, scope: Some(scope), place: Some(place), ..LocatedFile::default() };
        Effect::on_file(kind, located)
    }

    fn of(effects: Vec<Effect>) -> Risks {
        Risks::of(&Facts { effects, ..Facts::default() })
    }

    fn marked(labels: &[&str]) -> Session {
        let marks = labels.iter().map(|label| ((*label).to_owned(), Mark::default())).collect();
        Session { marks, ..Session::default() }
    }

    #[test]
    fn each_risk_has_its_words() {
        let check = |effects: Vec<Effect>, labels: &[&str], expected: Option<&str>| {
            let text = of(effects.clone()).text(&marked(labels));
            assert_eq!(text.as_deref(), expected, "{effects:?} {labels:?}");
        };
        let call = |words: &str| format!("castellan: this call, or code that it writes, {words}.");
        let (inside, system) = ((Scope::Workspace, Scope::Workspace), (Scope::System, Scope::System));
        check(vec![], &[], None);
        check(vec![file(EffectKind::Write, "/w/a", inside), Effect::of(EffectKind::Query)], &["own"], None);
        check(
            vec![file(EffectKind::Delete, "/etc/x", system)],
            &[],
            Some(&call("deletes files outside the workspace")),
        );
        check(
            vec![file(EffectKind::Write, "/etc/x", system)],
            &[],
            Some(&call("changes files outside the workspace")),
        );
        let hook = file(EffectKind::Write, "/w/.git/hooks/x", (Scope::Vcs, Scope::Workspace));
        check(vec![hook], &[], Some(&call("changes files from which programs take code or settings")));
        let secret = file(EffectKind::Read, "/w/.env", (Scope::Secret, Scope::Workspace));
        check(vec![secret], &[], Some(&call("reads a secret")));
        let opaque = |role| Effect::opaque(role, Why::Language, Some("x".to_owned()));
        check(vec![opaque(Role::Code)], &[], Some(&call("runs code that castellan could not read")));
        check(
            vec![opaque(Role::Target)],
            &[],
            Some(&call("acts on something that castellan could not find out")),
        );
        check(vec![opaque(Role::Operand)], &[], None);
        let mut script = file(EffectKind::Execute, "/w/x", inside);
        script.set_file_origin(Some(FileOrigin::Downloaded));
        check(vec![script], &[], Some(&call("runs a file from the network")));
        let plain = [
            (EffectKind::Destroy, "destroys something for good"),
            (EffectKind::Upload, "sends data to a host"),
            (EffectKind::Publish, "publishes something"),
            (EffectKind::Elevate, "gains the rights of another user"),
            (EffectKind::Inject, "writes into another running program"),
            (EffectKind::Detach, "leaves something running, or has it run later"),
        ];
        for (kind, words) in plain {
            check(vec![Effect::of(kind)], &[], Some(&call(words)));
        }
        check(
            vec![Effect::of(EffectKind::Upload), Effect::of(EffectKind::Publish)],
            &[PROBING, FOREIGN],
            Some(
                "castellan: this call, or code that it writes, sends data to a host; publishes something; this session \
                 read text from the network or an MCP server; repeatedly tried calls that castellan denies.",
            ),
        );
    }

    #[test]
    fn code_that_the_call_writes_has_risks_too() {
        let mut facts = Facts::default();
        facts.written.effects = vec![Effect::of(EffectKind::Upload)];
        assert_eq!(Risks::of(&facts), of(vec![Effect::of(EffectKind::Upload)]));
    }

    #[test]
    fn the_longest_text_is_within_the_limit_of_a_judge() {
        assert!(OF_CALLS.len() <= 16);
        let text = Risks(u16::MAX >> (16 - OF_CALLS.len())).text(&marked(&[FOREIGN, PROBING])).unwrap();
        assert!(text.encode_utf16().count() <= JUDGE_CONTEXT_UNITS_MAX, "{text}");
    }

    proptest! {
        /// Names that an agent chose change nothing: an instruction in one cannot reach the judge.
        #[test]
        fn no_name_is_part_of_the_text(name in "[^a-z]{1,9}\\PC{0,40}", label in "\\PC{1,20}") {
            let system = (Scope::System, Scope::System);
            let with = |name: &str| {
                let mut effect = file(EffectKind::Delete, name, system);
                effect.op.target = Some(name.to_owned());
                effect.op.system = Some(name.to_owned());
                effect.op.verb = Some(name.to_owned());
                vec![effect, Effect::opaque(Role::Code, Why::Language, Some(name.to_owned()))]
            };
            prop_assume!(label != FOREIGN && label != PROBING);
            let text = of(with(&name)).text(&marked(&[&label]));
            prop_assert_eq!(text, of(with("x")).text(&marked(&[])));
        }
    }
}
