//! [`compare`]: a call beside a plan. It must not know how a plan came into force.

use std::path::Path;

use crate::sight::read_text;
use castellan_event::{Call, Effect, EffectKind, Facts, Scope};
use castellan_plans::{CallView, Departure, DepartureKind, Plan, check, covers};
use castellan_policy::{PlanDeparture, PlanMode, PlanReport};
use castellan_shell::{agent_shells, comments};

use crate::limits::GIT_HEAD_BYTES_MAX;
use crate::memory::PlanInForce;

/// The comments that mark unplanned work.
const MARKERS: &[&str] = &["castellan: ad-hoc", "nous: ad-hoc"];

/// The result of a comparison.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) departures: Vec<Departure>,
    pub(crate) report: PlanReport,
}

/// Compares a call with a plan. `root`: the workspace of the plan; `inside`: that of the session; `now_s`: seconds since
/// 1970.
pub(crate) fn compare(
    (plan, in_force): (&Plan, &PlanInForce),
    mode: PlanMode,
    (call, facts): (&Call, &Facts),
    (root, inside): (&str, &str),
    now_s: i64,
) -> Comparison {
    let branch = plan.scope().branches.as_ref().and_then(|_| branch_of(root));
    let view = CallView {
        facts,
        root,
        branch: branch.as_deref(),
        calls_so_far: in_force.calls,
        started_s: in_force.started_s,
        now_s,
    };
    let mut departures = check(plan, &view);
    if in_force.is_approved && only_reads(facts) {
        // A person who approved a plan wants to be asked about changes, not about a look.
        departures.retain(|one| !matches!(one.kind, DepartureKind::Command | DepartureKind::Arguments));
    }
    let shown = |departure: &Departure| PlanDeparture {
        kind: departure.kind.meaning(),
        subject: departure.subject.clone(),
        nearest: departure.nearest.clone(),
    };
    let name = &plan.parts().name;
    let report = PlanReport {
        name: if name.is_empty() { in_force.source.clone() } else { name.clone() },
        enforcement: in_force.enforcement(mode),
        is_approved: in_force.is_approved,
        departures: departures.iter().map(shown).collect(),
        // The facts name the workspace of the session, and a person approved the plan for its own.
        is_covered: in_force.is_approved && root == inside && covers(plan, &view).is_covered(),
        is_ad_hoc: !departures.is_empty() && is_marked(call),
    };
    Comparison { departures, report }
}

/// Reports whether a call only looks at files of the workspace and at the state of version control.
fn only_reads(facts: &Facts) -> bool {
    let is_look = |effect: &Effect| match effect.system() {
        None => effect.kind() == EffectKind::Read && effect.scope() == Some(Scope::Workspace),
        Some(system) => effect.kind() == EffectKind::Query && system == "git",
    };
    let is_plain = |effect: &Effect| {
        is_look(effect) && effect.remote().is_none() && effect.doubt().is_none() && effect.guard().is_none()
    };
    !facts.background && facts.effects.iter().all(is_plain)
}

/// Reports whether the shell text has the marker in a comment, in every shell that may read it.
fn is_marked(call: &Call) -> bool {
    let Some(text) = call.command.as_deref().filter(|text| text.contains("ad-hoc")) else { return false };
    comments(text, agent_shells(None))
        .iter()
        .any(|comment| MARKERS.iter().any(|marker| comment.trim_start().starts_with(marker)))
}

/// Returns the branch that is checked out in a work tree; `None` if it is not known.
fn branch_of(root: &str) -> Option<String> {
    let head = read_text(&Path::new(root).join(".git/HEAD"), GIT_HEAD_BYTES_MAX).ok()?;
    head.trim_end().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use castellan_event::{Command, LocatedFile};
    use castellan_plans::read;

    use super::*;
    use crate::plans::imagined;

    fn in_force(is_strict: bool, is_approved: bool) -> PlanInForce {
        PlanInForce {
            hash: String::new(),
            source: "plan.yaml".to_owned(),
            of: String::new(),
            is_strict,
            is_approved,
            started_s: 0,
            calls: 0,
            departed: 0,
            last: String::new(),
        }
    }

    fn plan() -> Plan {
        let text = b"castellan_plan: 1\ncommands: [cargo test *]\nwrites: [out]\nhosts: []\nbranches: []\n";
        read(text, &|_| Vec::new()).unwrap()
    }

    fn facts(name: &str, kind: EffectKind, path: &str) -> Facts {
        let located = LocatedFile {
            path: Some(path.to_owned()),
            scope: Some(Scope::Workspace),
            place: Some(Scope::Workspace),
            ..LocatedFile::default()
        };
        let command = Command {
            name: Some(name.to_owned()),
            line: name.to_owned(),
            args: vec!["test".to_owned()],
            wrappers_are_neutral: true,
            ..Command::default()
        };
        let effect = Effect { command: Some(0), ..Effect::on_file(kind, located) };
        Facts { commands: vec![command], effects: vec![effect], ..Facts::default() }
    }

    fn of(in_force: &PlanInForce, mode: PlanMode, text: &str, facts: &Facts) -> PlanReport {
        compare((&plan(), in_force), mode, (&imagined("/w", 0, text), facts), ("/w", "/w"), 0).report
    }

    #[test]
    fn the_stricter_of_plan_and_settings_decides() {
        use castellan_policy::PlanEnforcement::{Ask, Strict, Warn};
        let facts = facts("rm", EffectKind::Delete, "/w/x");
        for (is_strict, is_approved, mode, expected) in [
            (false, false, PlanMode::Warn, Warn),
            (false, true, PlanMode::Warn, Ask),
            (true, false, PlanMode::Warn, Strict),
            (false, false, PlanMode::Strict, Strict),
            (false, true, PlanMode::Strict, Strict),
        ] {
            let report = of(&in_force(is_strict, is_approved), mode, "rm x", &facts);
            assert_eq!(
                (report.enforcement, report.departures.len()),
                (expected, 2),
                "{is_strict} {is_approved}"
            );
            assert_eq!(report.name, "plan.yaml");
        }
    }

    #[test]
    fn an_approved_plan_asks_about_changes_and_covers_its_own() {
        let approved = in_force(false, true);
        for (name, kind, path, departures, is_covered) in [
            ("cargo", EffectKind::Write, "/w/out/a", 0, true),
            ("cargo", EffectKind::Write, "/w/src/a", 1, false),
            ("cat", EffectKind::Read, "/w/src/a", 0, false),
            ("rm", EffectKind::Delete, "/w/out/a", 1, false),
        ] {
            let report = of(&approved, PlanMode::Warn, name, &facts(name, kind, path));
            assert_eq!(
                (report.departures.len(), report.is_covered),
                (departures, is_covered),
                "{name} {path}"
            );
        }
        // An agent that was started in another workspace.
        let (built, call) = (facts("cargo", EffectKind::Write, "/w/out/a"), imagined("/x", 0, "cargo"));
        let elsewhere = compare((&plan(), &approved), PlanMode::Warn, (&call, &built), ("/w", "/x"), 0);
        assert!(!elsewhere.report.is_covered);
        // Without approval, a plan covers nothing, and a look departs from it too.
        let plain = in_force(true, false);
        let report = of(&plain, PlanMode::Warn, "cat", &facts("cat", EffectKind::Read, "/w/src/a"));
        assert_eq!((report.departures.len(), report.is_covered), (1, false));
    }

    #[test]
    fn only_a_comment_marks_unplanned_work() {
        let facts = facts("rm", EffectKind::Delete, "/w/x");
        for (text, expected) in [
            ("rm x # nous: ad-hoc", true),
            ("rm x # castellan: ad-hoc because", true),
            ("#nous: ad-hoc\nrm x", true),
            ("rm x '# nous: ad-hoc'", false),
            ("rm x # Nous: ad-hoc", false),
            ("rm x # not nous: ad-hoc", false),
            ("echo x# nous: ad-hoc; rm x", false),
            ("cat <<E\n# nous: ad-hoc\nE\nrm x", false),
            ("rm x", false),
        ] {
            assert_eq!(
                of(&in_force(true, false), PlanMode::Warn, text, &facts).is_ad_hoc,
                expected,
                "{text}"
            );
        }
    }
}
