//! [`describe`]: the scope of a plan as a table for people.

use jiff::Timestamp;

use crate::plan::Plan;
use crate::text::visible;

/// Returns the sections of a plan: a title and its lines. Every list is there, so that a person sees a missing limit.
/// No line has a character that a terminal would interpret or not show.
pub fn describe(plan: &Plan) -> Vec<(String, Vec<String>)> {
    let parts = plan.parts();
    let mut limits = Vec::new();
    limits.extend(
        parts.expires_s.and_then(|s| Timestamp::from_second(s).ok()).map(|time| format!("until {time}")),
    );
    limits.extend(parts.budget.calls.map(|calls| format!("{calls} calls")));
    limits.extend(parts.budget.minutes.map(|minutes| format!("{minutes} minutes")));
    if limits.is_empty() {
        limits.push(NO_LIMIT.to_owned());
    }
    let mut sections = vec![("budget".to_owned(), limits)];
    for (key, texts) in plan.scope().texts() {
        let lines = match texts {
            None => vec![NO_LIMIT.to_owned()],
            Some(texts) if texts.is_empty() => vec!["nothing".to_owned()],
            Some(texts) => texts.iter().map(|text| visible(text)).collect(),
        };
        sections.push((key.to_owned(), lines));
    }
    for (at, step) in parts.steps.iter().enumerate() {
        let lists = step.allowed.texts().into_iter();
        let line = |(key, texts): (&str, Option<Vec<String>>)| Some((key.to_owned(), texts?));
        let lines = lists.filter_map(line);
        let shown = |(key, texts): (String, Vec<String>)| format!("{key}: {}", visible(&texts.join(", ")));
        sections.push((format!("step {}: {}", at + 1, visible(&step.text)), lines.map(shown).collect()));
    }
    sections
}

/// The line of a list that is not there.
const NO_LIMIT: &str = "no limit";
