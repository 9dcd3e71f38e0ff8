//! [`STAGES`]: the stages of a decision, in order. A stage checks the call and returns findings. Stages are
//! independent, and their order cannot loosen a decision, because the strictest finding decides.

mod access;
mod allow;
mod boundary;
mod containment;
mod gates;
mod lists;
mod opaque;
mod opinion;
mod orders;
mod plan;
mod rules;
mod sender;
mod understood;
mod undo;

use Exemption::{Grant, Met, Operator, Plan};
use castellan_event::{Exemption, Finding, Obligation, ObligationKind};

use crate::case::{Case, Reading};
use Find::{OnCall, OnReading};

pub use opaque::opaque_reason;
pub(crate) use rules::marks;

/// One stage of a decision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    /// Its name in the documents.
    pub(crate) name: &'static str,
    /// Its function.
    pub(crate) find: Find,
    /// Exemptions that apply to its findings.
    pub(crate) lifted_by: &'static [Exemption],
    /// Its findings, for a person, in Markdown.
    pub(crate) finds: &'static str,
    /// Its verdicts, for a person, in Markdown.
    pub(crate) answers: &'static str,
}

/// Input of a stage.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Find {
    /// The call alone. Such a stage applies in every mode.
    OnCall(fn(&Case<'_>) -> Found),
    /// The call and its effects. Passthrough mode reads no effects.
    OnReading(fn(&Case<'_>, &Reading<'_>) -> Found),
}

/// Result of a stage.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) findings: Vec<Finding>,
    pub(crate) obligations: Vec<Obligation>,
}

/// The stages, in the order of findings in the record.
pub(crate) const STAGES: &[Stage] = &[
    Stage {
        name: "intake",
        find: OnCall(gates::intake),
        lifted_by: &[],
        finds: "a payload that two parsers could read as two different calls",
        answers: "deny",
    },
    Stage {
        name: "halt",
        find: OnCall(gates::halt),
        lifted_by: &[],
        finds: "any call while you have halted the agents (`castellan halt`)",
        answers: "deny, in every mode",
    },
    Stage {
        name: "pause",
        find: OnCall(gates::pause),
        lifted_by: &[],
        finds: "any call while you have paused castellan (`castellan pause`)",
        answers: "nothing: castellan records it",
    },
    Stage {
        name: "session gate",
        find: OnCall(gates::session),
        lifted_by: &[],
        finds: "a session that may use no tools (`profile = \"observer\"`)",
        answers: "deny, in every mode",
    },
    Stage {
        name: "sandbox",
        find: OnCall(gates::sandbox),
        lifted_by: &[],
        finds: "an agent outside of a [sandbox](sandbox.md), if the settings require one (`sandbox.mode = \"require\"`)",
        answers: "deny",
    },
    Stage {
        name: "workspace",
        find: OnCall(gates::workspace),
        lifted_by: &[],
        finds: "a workspace that you denied (`castellan trust --deny`)",
        answers: "deny",
    },
    Stage {
        name: "blocked",
        find: OnCall(gates::blocked),
        lifted_by: &[],
        finds: "a blocked session: calls ran without a decision (`on_ungoverned = \"stop\"`), or a hook of another \
                program is not trusted (`strict`)",
        answers: "deny",
    },
    Stage {
        name: "policy",
        find: OnReading(gates::policy_present),
        lifted_by: &[],
        finds: "any call but a read, if castellan could load no rules",
        answers: "deny",
    },
    Stage {
        name: "deny list",
        find: OnReading(lists::deny),
        lifted_by: &[],
        finds: "a pattern of your `deny` list",
        answers: "deny",
    },
    Stage {
        name: "deny rules",
        find: OnReading(rules::deny),
        lifted_by: &[],
        finds: "rules with the tag `coding_agent_deny`",
        answers: "deny",
    },
    Stage {
        name: "plan",
        find: OnReading(plan::plan),
        lifted_by: &[Grant],
        finds: "a call that departs from its session's [plan](plans.md), and a session without the plan that it needs",
        answers: "deny, ask, or nothing: castellan records it",
    },
    Stage {
        name: "override",
        find: OnReading(sender::overriding),
        lifted_by: &[Grant],
        finds: "the decision in the payload of a program that embeds the agent; an allow applies if castellan \
                understands every part of the call",
        answers: "deny (nothing lifts it), ask, allow",
    },
    Stage {
        name: "ask list",
        find: OnReading(lists::ask),
        lifted_by: &[Grant],
        finds: "a pattern of your `ask` list",
        answers: "ask",
    },
    Stage {
        name: "ask rules",
        find: OnReading(rules::ask),
        lifted_by: &[Grant, Operator],
        finds: "rules with the tag `coding_agent_ask`",
        answers: "ask",
    },
    Stage {
        name: "contain rules",
        find: OnReading(rules::contain),
        lifted_by: &[Grant, Operator, Met(ObligationKind::Contain)],
        finds: "rules with the tag `coding_agent_contain`",
        answers: "ask",
    },
    Stage {
        name: "opaque",
        find: OnReading(opaque::opaque),
        lifted_by: &[Grant, Met(ObligationKind::Review), Met(ObligationKind::Contain)],
        finds: "Opaque code, an Opaque program, or an Opaque target of something dangerous",
        answers: "`opaque`",
    },
    Stage {
        name: "unknown orders",
        find: OnReading(orders::unknown_orders),
        lifted_by: &[Grant],
        finds: "unknown text that the call writes into a manifest or makefile (`strict`, `autonomous`)",
        answers: "`opaque`",
    },
    Stage {
        name: "boundary",
        find: OnReading(boundary::boundary),
        lifted_by: &[Grant],
        finds: "a path that is in the workspace as written and outside of it in fact; a file in the workspace that is a \
                secret or guarded by another name ([boundary](boundary.md)). `strict`: large and binary files, too",
        answers: "ask; `strict`: deny changes, else ask; `kit`: nothing",
    },
    Stage {
        name: "unknown tool",
        find: OnReading(sender::unknown_tool),
        lifted_by: &[Plan],
        finds: "a tool that this version does not know",
        answers: "by profile",
    },
    Stage {
        name: "new server",
        find: OnReading(sender::new_server),
        lifted_by: &[Grant, Operator],
        finds: "a tool of an MCP server that was added after castellan, and to which nobody has agreed",
        answers: "`new_mcp_server`",
    },
    Stage {
        name: "probing",
        find: OnReading(sender::probing),
        lifted_by: &[Grant],
        finds: "any call but a change of the agent's own task list, in a session with three denials for the same \
                denial key",
        answers: "`strict`: ask",
    },
    Stage {
        name: "review rules",
        find: OnReading(rules::review),
        lifted_by: &[Grant, Operator, Plan, Met(ObligationKind::Review)],
        finds: "rules with the tag `coding_agent_review`",
        answers: "ask",
    },
    Stage {
        name: "second opinion",
        find: OnReading(opinion::opinion),
        lifted_by: &[],
        finds: "the obligation `review`, if review rules or Opaque code (`review.opaque`) alone stop the call and there \
                is a [reviewer](review.md)",
        answers: "deny, if the reviewer denies",
    },
    Stage {
        name: "undo",
        find: OnReading(undo::undo),
        lifted_by: &[],
        finds: "the obligation `checkpoint`, if the call may overwrite or delete files of the workspace \
                ([undo](undo.md))",
        answers: "nothing; ask if there is no checkpoint, with `undo.required`",
    },
    Stage {
        name: "level",
        find: OnReading(access::level),
        lifted_by: &[Grant, Operator, Plan, Met(ObligationKind::Contain)],
        finds: "a call that needs a higher access level than the session has",
        answers: "`level.on_insufficient`",
    },
    Stage {
        name: "containment",
        find: OnReading(containment::containment),
        lifted_by: &[],
        finds: "the obligation `contain`, if rules with the tag `coding_agent_contain`, or programs and code that castellan \
                did not read, alone stop a shell call, and the call can work in a [sandbox](containment.md)",
        answers: "allow, if the call runs in a sandbox",
    },
    Stage {
        name: "allow rules",
        find: OnReading(rules::allow),
        lifted_by: &[],
        finds: "rules with the tag `coding_agent_allow` that together cover every part of the call",
        answers: "allow",
    },
    Stage {
        name: "understood",
        find: OnReading(understood::understood),
        lifted_by: &[],
        finds: "`profile = \"autonomous\"` or `\"quiet\"`: castellan understands every part, and the call stays \
                within the level, reads no secret and sends nothing off the machine. Tasks of the project that the \
                session did not write are a part of the workspace, with their tests and builds; so are \
                [these](#what-autonomous-and-quiet-run)",
        answers: "allow",
    },
    Stage {
        name: "allow list",
        find: OnReading(lists::allow),
        lifted_by: &[],
        finds: "patterns of your `allow` list that cover every part of the call",
        answers: "allow",
    },
    Stage {
        name: "notices",
        find: OnReading(rules::notices),
        lifted_by: &[],
        finds: "rules without a verdict tag",
        answers: "nothing: castellan records them",
    },
];

impl Stage {
    /// Runs the stage. Every finding gets the exemptions that the stage permits.
    pub(crate) fn look(&self, case: &Case<'_>) -> Found {
        let mut found = match (self.find, case.reading()) {
            (OnCall(find), _) => find(case),
            (OnReading(find), Some(reading)) => find(case, reading),
            (OnReading(_), None) => Found::default(),
        };
        for finding in &mut found.findings {
            finding.liftable_by = self.lifted_by;
        }
        found
    }
}

impl Found {
    /// Adds another result. An empty result, the usual case, costs nothing.
    pub(crate) fn add(&mut self, other: Found) {
        if self.findings.is_empty() {
            self.findings = other.findings;
        } else if !other.findings.is_empty() {
            self.findings.extend(other.findings);
        }
        if !other.obligations.is_empty() {
            self.obligations.extend(other.obligations);
        }
    }
}

impl From<Option<Finding>> for Found {
    fn from(finding: Option<Finding>) -> Found {
        let findings = finding.map_or_else(Vec::new, |finding| vec![finding]);
        Found { findings, obligations: Vec::new() }
    }
}

impl FromIterator<Finding> for Found {
    fn from_iter<I: IntoIterator<Item = Finding>>(findings: I) -> Found {
        Found { findings: findings.into_iter().collect(), obligations: Vec::new() }
    }
}

/// The table of stages for the documents, in Markdown.
pub fn stage_table() -> String {
    let mut table = "| stage | finds | answers | lifted by |\n|---|---|---|---|\n".to_owned();
    for Stage { name, finds, answers, lifted_by, .. } in STAGES {
        let lifted_by: Vec<String> = lifted_by.iter().map(|exemption| meaning(*exemption)).collect();
        let lifted_by = if lifted_by.is_empty() { "nothing".to_owned() } else { lifted_by.join(", ") };
        table.push_str(&format!("| {name} | {finds} | {answers} | {lifted_by} |\n"));
    }
    table
}

fn meaning(exemption: Exemption) -> String {
    match exemption {
        Grant => "a grant".to_owned(),
        Operator => "your `allow` list".to_owned(),
        Plan => "an approved plan".to_owned(),
        Exemption::Observe => "the state of its rule".to_owned(),
        Met(kind) => format!("the obligation `{}`", kind.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_and_an_allow_list_lift_what_asks_and_nothing_that_denies() {
        let admitting = |exemption| -> Vec<&str> {
            STAGES.iter().filter(|one| one.lifted_by.contains(&exemption)).map(|one| one.name).collect()
        };
        assert_eq!(
            admitting(Operator),
            ["ask rules", "contain rules", "new server", "review rules", "level"]
        );
        assert_eq!(admitting(Plan), ["unknown tool", "review rules", "level"]);
        let granted = [
            "plan",
            "override",
            "ask list",
            "ask rules",
            "contain rules",
            "opaque",
            "unknown orders",
            "boundary",
            "new server",
            "probing",
            "review rules",
            "level",
        ];
        assert_eq!(admitting(Grant), granted);
        assert_eq!(admitting(Met(ObligationKind::Review)), ["opaque", "review rules"]);
        assert_eq!(admitting(Met(ObligationKind::Contain)), ["contain rules", "opaque", "level"]);
        // The state of a rule exempts its findings at the source. No other obligation exempts anything.
        let others = |one: &&Stage| {
            let met = [Met(ObligationKind::Review), Met(ObligationKind::Contain)];
            let known = [Grant, Operator, Plan];
            one.lifted_by.iter().any(|exemption| !known.contains(exemption) && !met.contains(exemption))
        };
        assert_eq!(STAGES.iter().filter(others).count(), 0);
    }
}
