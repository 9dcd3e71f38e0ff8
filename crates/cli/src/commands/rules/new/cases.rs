//! Cases of a new rule besides its call: ways to write the same command otherwise, and harmless commands that only name it. Each is
//! judged with the rule; what is not decided as it should be is left out, and told.

use anyhow::{Context, bail};
use castellan_daemon::{Config, compile};
use castellan_event::Verdict;
use castellan_policy::{Policy, RuleVerdict};
use castellan_rules::Source;
use castellan_trial::{Case, Judged, Trial};
use serde_json::Value as Json;

use super::text::NewRule;
use super::verdict_of;

/// The cases of a rule.
#[derive(Debug)]
pub(super) struct Derived {
    /// What the call itself gets.
    pub(super) verdict: Verdict,
    pub(super) kept: Vec<DerivedCase>,
    /// Commands that are not decided as they should be, and why.
    pub(super) left_out: Vec<(String, String)>,
}

/// A command that was made of the call's.
#[derive(Debug)]
pub(super) struct DerivedCase {
    /// As the case file says it.
    pub(super) shows: &'static str,
    pub(super) command: String,
    pub(super) case: Case,
    pub(super) verdict: Verdict,
}

/// The same command, written otherwise; `{}` is the command in quotes.
const DISGUISES: &[&str] = &["bash -c {}", "eval {}", "printf '%s' {} | sh", "env LC_ALL=C sh -c {}"];

/// Harmless commands that name it.
const LOOK_ALIKES: &[&str] = &["echo {}", "git commit -m {}", "grep -rnF {} docs"];

/// Judges the call and what can be made of it with the rule and all others. An error when the rule does not load, or does not decide
/// about its own call.
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
    // Whatever hides what an allow lets pass would be one more allow.
    let Some(command) = command.filter(|_| rule.verdict != RuleVerdict::Allow) else { return Ok(derived) };
    let shown = [("disguise", DISGUISES), ("look-alike", LOOK_ALIKES)];
    for (shows, pattern) in
        shown.iter().flat_map(|(shows, all)| all.iter().map(move |pattern| (*shows, *pattern)))
    {
        let command = pattern.replace("{}", &quoted(command));
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

/// As one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
