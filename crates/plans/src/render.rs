//! [`render`]: a plan in castellan's format. [`crate::read`] parses the result to the same plan.

use jiff::Timestamp;

use crate::plan::{Allowed, Plan};

/// Returns the plan as YAML, texts in double quotes. A plan near the limit of bytes may be longer than the limit then,
/// because some letters are escaped.
pub fn render(plan: &Plan) -> String {
    let parts = plan.parts();
    let mut yaml = "castellan_plan: 1\n".to_owned();
    if !parts.name.is_empty() {
        yaml.push_str(&format!("name: {}\n", quoted(&parts.name)));
    }
    // A time beyond the calendar is one without a limit, and no reader makes one.
    if let Some(time) = parts.expires_s.and_then(|expires| Timestamp::from_second(expires).ok()) {
        yaml.push_str(&format!("expires: {time}\n"));
    }
    let budget = [("calls", parts.budget.calls), ("minutes", parts.budget.minutes)];
    if budget.iter().any(|(_, limit)| limit.is_some()) {
        yaml.push_str("budget:\n");
    }
    for (key, limit) in budget {
        if let Some(limit) = limit {
            yaml.push_str(&format!("  {key}: {limit}\n"));
        }
    }
    lists(&mut yaml, "", &parts.own);
    if !parts.steps.is_empty() {
        yaml.push_str("steps:\n");
    }
    for step in &parts.steps {
        yaml.push_str(&format!("  - text: {}\n", quoted(&step.text)));
        lists(&mut yaml, "    ", &step.allowed);
    }
    yaml
}

/// Writes the lists of a plan or step.
fn lists(yaml: &mut String, indent: &str, allowed: &Allowed) {
    for (key, texts) in allowed.texts() {
        let Some(texts) = texts else { continue };
        if texts.is_empty() {
            yaml.push_str(&format!("{indent}{key}: []\n"));
            continue;
        }
        yaml.push_str(&format!("{indent}{key}:\n"));
        for text in texts {
            yaml.push_str(&format!("{indent}  - {}\n", quoted(&text)));
        }
    }
}

/// Returns a text in double quotes. Letters other than visible ASCII and those of words are escaped.
fn quoted(text: &str) -> String {
    let mut yaml = String::with_capacity(text.len() + 2);
    yaml.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => yaml.extend(['\\', letter]),
            ' '..='~' => yaml.push(letter),
            other if other.is_alphanumeric() => yaml.push(other),
            other => yaml.push_str(&format!("\\U{:08X}", u32::from(other))),
        }
    }
    yaml.push('"');
    yaml
}
