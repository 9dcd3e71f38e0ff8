//! Conditions on facts, in the rule language. A condition is true of a call if one of the call's rows meets it.

use std::collections::BTreeSet;

use castellan_event::{Answer, Answers, Call, FIELDS, Facts, Query, Session, lexical_path, rows};
use castellan_rules::{Options, RuleSet, Severity, Source, load};

/// Macros that conditions share.
const MACROS: &str = include_str!("../macros.yaml");

/// A set of conditions, compiled.
#[derive(Debug)]
pub struct Conditions {
    rules: RuleSet,
}

impl Conditions {
    /// Compiles conditions, numbered by position. The error names the invalid condition.
    pub fn new<'c>(conditions: impl IntoIterator<Item = &'c str>) -> Result<Conditions, String> {
        let rule = |(at, condition): (usize, &str)| {
            let condition = serde_json::Value::from(condition);
            format!(
                "- {{rule: \"{at}\", desc: d, condition: {condition}, output: o, priority: INFO, source: coding_agent}}\n"
            )
        };
        let text: String = conditions.into_iter().enumerate().map(rule).collect();
        let sources = [
            Source { name: "macros.yaml".to_owned(), text: MACROS.to_owned() },
            Source { name: "conditions".to_owned(), text },
        ];
        let options = Options::default();
        let loaded = load(&sources, FIELDS, &options);
        let errors: Vec<String> = loaded
            .problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .map(|problem| problem.one_line())
            .collect();
        if errors.is_empty() { Ok(Conditions { rules: loaded.rules }) } else { Err(errors.join("\n")) }
    }

    /// Returns the numbers of the conditions that a row of the call meets.
    pub fn true_of(&self, call: &Call, facts: &Facts) -> BTreeSet<usize> {
        let session = Session::default();
        let mut answers = Answers::default();
        // The analysis has resolved the paths; the call's own fields are used unresolved.
        if let Err(missing) = rows(call, facts, &session, &answers) {
            for query in missing {
                if let Query::RealPath { base, path } = &query {
                    let real = Answer::RealPath(lexical_path(base, path));
                    // Answers over the limit are dropped. Then there are no rows, and no condition is true.
                    let _ = answers.insert(query, real);
                }
            }
        }
        let Ok(rows) = rows(call, facts, &session, &answers) else { return BTreeSet::new() };
        rows.iter().flat_map(|row| self.rules.evaluate(row)).map(|hit| hit.rule).collect()
    }
}

#[cfg(test)]
mod tests {
    use castellan_event::{Command, Effect, EffectKind, LocatedFile, Scope};

    use super::*;
    use crate::call::shell_call;

    fn facts() -> Facts {
        let rm = Command { name: Some("rm".into()), ..Command::default() };
        let (path, scope) = (Some("/".into()), Some(Scope::Root));
        let file = LocatedFile { path, scope, ..LocatedFile::default() };
        let delete = Effect { command: Some(0), ..Effect::on_file(EffectKind::Delete, file) };
        let opaque = Effect { command: Some(0), ..Effect::default() };
        Facts { commands: vec![rm], effects: vec![delete, opaque], ..Facts::default() }
    }

    #[test]
    fn a_condition_is_true_when_one_row_makes_it_true() {
        for (condition, expected) in [
            ("fx.kind = delete and fx.scope = root", true),
            ("fx.kind = delete and fx.scope = home", false),
            // No row meets both parts.
            ("fx.kind = opaque and fx.scope = root", false),
            ("cmd.name = rm", true),
            ("cmd.name = mv", false),
            ("tool.name = Bash", true),
            ("changes", true),
            ("fx.kind = read", false),
        ] {
            let conditions = Conditions::new([condition]).unwrap();
            let found = conditions.true_of(&shell_call("rm -rf /"), &facts());
            assert_eq!(found.contains(&0), expected, "{condition}");
        }
    }

    #[test]
    fn conditions_keep_their_numbers() {
        let conditions = Conditions::new(["cmd.name = mv", "cmd.name = rm"]).unwrap();
        assert_eq!(conditions.true_of(&shell_call("x"), &facts()), BTreeSet::from([1]));
    }

    #[test]
    fn what_does_not_compile_is_told() {
        assert!(Conditions::new(["fx.knid = delete"]).is_err());
        assert!(Conditions::new(["fx.kind = "]).is_err());
    }
}
