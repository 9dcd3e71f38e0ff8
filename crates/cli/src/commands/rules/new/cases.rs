//! More cases for a new rule: disguised forms of the same command, and harmless commands that only mention the command.
//! All are judged with the rule. A case with a wrong verdict is left out and reported.

use anyhow::{Context, bail};
use castellan_daemon::{Config, compile};
use castellan_event::{Verdict, single_quoted};
use castellan_policy::{Policy, RuleVerdict};
use castellan_rules::Source;
use castellan_trial::{Case, Judged, Trial};
use serde_json::Value as Json;

use super::text::{DerivedCase, NewRule};
use super::verdict_of;

/// The cases of a rule.
#[derive(Debug)]
pub(super) struct Derived {
    /// The verdict of the call itself.
    pub(super) verdict: Verdict,
    pub(super) kept: Vec<DerivedCase>,
    /// Commands with a wrong verdict, and the reason.
    pub(super) left_out: Vec<(String, String)>,
}

/// Disguised forms of the command; `{}` is the quoted command.
const DISGUISES: &[&str] = &["bash -c {}", "eval {}", "printf '%s' {} | sh", "env LC_ALL=C sh -c {}"];

/// Harmless commands that mention the command.
const LOOK_ALIKES: &[&str] = &["echo {}", "git commit -m {}", "grep -rnF {} docs"];

/// Judges the call and its derived commands with the new rule and all others. Fails if the rule does not load or does
/// not decide its own call.
pub(super) fn derive(
    case: &Case,
    rule: &NewRule,
    others: &[Source],
    config: &Config,
) -> anyhow::Result<Derived> {
    let new = Source { name: "the new rule".to_owned(), text: rule.text() };
    let sources: Vec<Source> = others.iter().cloned().chain([new]).collect();
    let compiled = compile(&sources, config);
    if let Some(why) = compiled.error() {
        bail!("the rule does not load: {why}");
    }
    let judged = judge(&compiled.policy, case)?;
    let verdict = verdict_of(rule.verdict);
    if judged.decision.verdict != verdict || !judged.by().contains(&rule.name) {
        let (now, by) = (judged.decision.verdict, judged.by().join("`, `"));
        bail!("with this rule the call is answered {now}, by `{by}`: it would decide nothing here");
    }
    let mut derived = Derived { verdict, kept: Vec::new(), left_out: Vec::new() };
    let command = case.call.input.get("command").and_then(Json::as_str);
    // A disguised form of an allowed command would only add another allow.
    let Some(command) = command.filter(|_| rule.verdict != RuleVerdict::Allow) else { return Ok(derived) };
    let shown = [("disguise", DISGUISES), ("look-alike", LOOK_ALIKES)];
    for (shows, pattern) in
        shown.iter().flat_map(|(shows, all)| all.iter().map(move |pattern| (*shows, *pattern)))
    {
        let command = pattern.replace("{}", &single_quoted(command));
        let mut made = case.clone();
        made.call.input.insert("command".to_owned(), command.clone().into());
        let judged = judge(&compiled.policy, &made)?;
        let verdict = judged.decision.verdict;
        let is_right = match shows {
            "disguise" => verdict == derived.verdict && judged.by().contains(&rule.name),
            _ => verdict == Verdict::Defer,
        };
        if is_right {
            derived.kept.push(DerivedCase { shows, command, case: made, verdict });
        } else {
            let why = format!("no {shows}, the verdict is {verdict}");
            derived.left_out.push((command, why));
        }
    }
    Ok(derived)
}

fn judge(policy: &Policy, case: &Case) -> anyhow::Result<Judged> {
    Trial::new(policy).judge(case).map_err(anyhow::Error::msg).context("the call cannot be judged")
}
