//! `permissions.allow`, `ask` and `deny` of Claude Code's settings (2.1.330).

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;

use super::{Permission, PermissionSubject, PermissionVerdict, Permissions, line_at};
use crate::settings::{SettingsProblem, Source};

const LISTS: &[(&str, PermissionVerdict)] = &[
    ("deny", PermissionVerdict::Deny),
    ("ask", PermissionVerdict::Ask),
    ("allow", PermissionVerdict::Allow),
];

/// Other keys of `permissions`, which are not rules.
const NO_RULES: &[&str] =
    &["defaultMode", "additionalDirectories", "disableBypassPermissionsMode", "disableAutoMode"];

pub(super) fn read(text: &str) -> Permissions {
    let mut read = Permissions::default();
    let root = match Source::parse(text) {
        Ok(source) => source.root,
        Err(SettingsProblem::NotJson { line, message, .. }) => {
            read.refuse(line, format!("it is not valid JSON: {message}"));
            return read;
        }
        Err(other) => {
            read.refuse(1, other.to_string());
            return read;
        }
    };
    match root {
        Some(Value::Object(settings)) => {
            let permissions = settings.properties.iter().filter(|one| one.name.as_str() == "permissions");
            for property in permissions {
                let Value::Object(lists) = &property.value else {
                    let line = line_at(text, property.value.start());
                    read.refuse(line, "`permissions` is no object");
                    continue;
                };
                lists.properties.iter().for_each(|list| read_list(&mut read, text, list));
            }
        }
        _ => read.refuse(1, "these are no settings: no object stands there"),
    }
    read
}

fn read_list(read: &mut Permissions, text: &str, list: &ObjectProp<'_>) {
    let name = list.name.as_str();
    let line = |value: &Value<'_>| line_at(text, value.start());
    let Some((_, verdict)) = LISTS.iter().find(|(known, _)| *known == name) else {
        if !NO_RULES.contains(&name) {
            read.refuse(line(&list.value), format!("`permissions.{name}` is not known"));
        }
        return;
    };
    let Value::Array(rules) = &list.value else {
        return read.refuse(line(&list.value), format!("`permissions.{name}` is no list"));
    };
    for rule in &rules.elements {
        let Value::StringLit(short) = rule else {
            read.refuse(line(rule), format!("a rule of `permissions.{name}` is a text"));
            continue;
        };
        read.rules.push(Permission {
            verdict: *verdict,
            subject: PermissionSubject::Short(short.value.to_string()),
            original: format!("permissions.{name}: {}", short.value),
            reason: String::new(),
            line: line(rule),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_its_line_and_what_is_none_is_told() {
        let text = "{\n  \"permissions\": {\n    \"allow\": [\"Bash(git status:*)\",\n      7],\n    \"deny\": \
                    [\n      // mine\n      \"Read(//etc/**)\",\n    ],\n    \"ask\": {},\n    \"defaultMode\": \
                    \"plan\",\n    \"dney\": []\n  }\n}\n";
        let read = read(text);
        let rules: Vec<_> =
            read.rules.iter().map(|one| (one.verdict, one.original.as_str(), one.line)).collect();
        assert_eq!(
            rules,
            [
                (PermissionVerdict::Allow, "permissions.allow: Bash(git status:*)", 3),
                (PermissionVerdict::Deny, "permissions.deny: Read(//etc/**)", 7),
            ]
        );
        let unread: Vec<_> = read.unread.iter().map(|one| (one.line, one.why.as_str())).collect();
        assert_eq!(
            unread,
            [
                (4, "a rule of `permissions.allow` is a text"),
                (9, "`permissions.ask` is no list"),
                (11, "`permissions.dney` is not known"),
            ]
        );
    }

    #[test]
    fn what_are_no_settings_is_told_with_its_line() {
        let check = |text: &str, line: usize| {
            let read = read(text);
            assert_eq!(read.rules, []);
            assert_eq!(read.unread.iter().map(|one| one.line).collect::<Vec<_>>(), [line], "{text}");
        };
        check("", 1);
        check("[]", 1);
        check("{\n\"permissions\": [\n", 2);
        check("{\n\"permissions\": 7}", 2);
    }
}
