//! `[[rule]]` of Gemini CLI's policies (0.61.0). Gemini applies the matching rule with the highest priority.

use toml_edit::{Document, Item, Table, Value};

use super::{Permission, PermissionSubject, PermissionVerdict, Permissions, line_at, one_line};

const VERDICTS: &[(&str, PermissionVerdict)] = &[
    ("deny", PermissionVerdict::Deny),
    ("ask_user", PermissionVerdict::Ask),
    ("allow", PermissionVerdict::Allow),
];

const SHELL: &str = "run_shell_command";

/// Gemini's tool names, and their short form.
const TOOLS: &[(&str, &str)] = &[
    (SHELL, "Bash"),
    ("read_file", "Read"),
    ("read_many_files", "Read"),
    ("glob", "Read"),
    ("grep_search", "Read"),
    ("list_directory", "Read"),
    ("write_file", "Edit"),
    ("replace", "Edit"),
    ("web_fetch", "WebFetch"),
    ("google_web_search", "WebSearch"),
];

/// Keys that do not change which calls a rule matches.
const NEUTRAL: &[&str] =
    &["toolName", "mcpName", "commandPrefix", "commandRegex", "decision", "priority", "denyMessage"];

pub(super) fn read(text: &str) -> Permissions {
    let mut read = Permissions::default();
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            read.refuse(line_at(text, at), error.message().to_owned());
            return read;
        }
    };
    for (name, item) in document.as_table() {
        let line = |span: Option<std::ops::Range<usize>>| line_at(text, span.map_or(0, |span| span.start));
        let Some(rules) = item.as_array_of_tables().filter(|_| name == "rule") else {
            read.refuse(line(item.span()), format!("`{name}` is no `[[rule]]`"));
            continue;
        };
        for rule in rules {
            let original = original(rule).unwrap_or_default();
            let line = line(rule.span());
            match rules_of(rule) {
                Err(why) => read.refuse(line, why),
                Ok((verdict, subjects)) => {
                    read.rules.extend(subjects.into_iter().map(|subject| Permission {
                        verdict,
                        subject,
                        original: original.clone(),
                        reason: text_of(rule, "denyMessage").unwrap_or_default(),
                        line,
                    }))
                }
            }
        }
    }
    read
}

/// The rule on one line.
fn original(rule: &Table) -> Option<String> {
    let pairs =
        rule.iter().map(|(name, item)| Some(format!("{name} = {}", item.as_value()?.to_string().trim())));
    Some(one_line(&pairs.collect::<Option<Vec<_>>>()?.join(", ")))
}

fn rules_of(rule: &Table) -> Result<(PermissionVerdict, Vec<PermissionSubject>), String> {
    let decision = text_of(rule, "decision").ok_or("no `decision` stands in it")?;
    let verdict = VERDICTS.iter().find(|(known, _)| *known == decision);
    let (_, verdict) =
        verdict.ok_or_else(|| format!("`decision` is not one of allow, ask_user, deny: {decision}"))?;
    for (name, _) in rule {
        if !NEUTRAL.contains(&name) {
            return Err(format!(
                "`{name}` says which calls are meant in a way that no rule of castellan does"
            ));
        }
    }
    let tools = texts_of(rule, "toolName")?;
    let (prefixes, regex) = (texts_of(rule, "commandPrefix")?, text_of(rule, "commandRegex"));
    if rule.contains_key("mcpName") {
        let server = text_of(rule, "mcpName").ok_or("`mcpName` is a text")?;
        let of = |tool: &String| PermissionSubject::Short(format!("mcp__{server}__{tool}"));
        let all = vec![PermissionSubject::Short(format!("mcp__{server}"))];
        return Ok((*verdict, if tools.is_empty() { all } else { tools.iter().map(of).collect() }));
    }
    if prefixes.is_empty() && regex.is_none() {
        let short = |tool: &String| match TOOLS.iter().find(|(name, _)| name == tool) {
            Some((_, short)) => Ok(PermissionSubject::Short((*short).to_owned())),
            None if tool.contains('*') || tool.starts_with("mcp_") => Err(format!(
                "`toolName = \"{tool}\"` does not name one tool: write `mcpName` for those of a server"
            )),
            None => Ok(PermissionSubject::Short(tool.clone())),
        };
        let mut subjects = tools.iter().map(short).collect::<Result<Vec<_>, String>>()?;
        subjects.dedup();
        return match subjects.is_empty() {
            true => Err("it names no tool".to_owned()),
            false => Ok((*verdict, subjects)),
        };
    }
    if tools.iter().any(|tool| tool != SHELL) {
        return Err(format!("commands are those of `{SHELL}`"));
    }
    let words = |prefix: &String| {
        PermissionSubject::Prefix(prefix.split_whitespace().map(|word| vec![word.to_owned()]).collect())
    };
    Ok((*verdict, prefixes.iter().map(words).chain(regex.map(PermissionSubject::Text)).collect()))
}

fn text_of(rule: &Table, name: &str) -> Option<String> {
    rule.get(name).and_then(Item::as_str).map(str::to_owned)
}

/// Reads one text or a list of texts.
fn texts_of(rule: &Table, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("`{name}` is a text or a list of texts");
    match rule.get(name).map(Item::as_value) {
        None => Ok(Vec::new()),
        Some(Some(Value::String(text))) => Ok(vec![text.value().clone()]),
        Some(Some(Value::Array(texts))) => {
            texts.iter().map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(text: &str) -> PermissionSubject {
        PermissionSubject::Short(text.to_owned())
    }

    fn prefix(words: &[&str]) -> PermissionSubject {
        PermissionSubject::Prefix(words.iter().map(|word| vec![(*word).to_owned()]).collect())
    }

    fn check(rule: &str, expected: Result<&[PermissionSubject], &str>) {
        let read = read(&format!("# mine\n[[rule]]\n{rule}\n"));
        let subjects: Vec<_> = read.rules.iter().map(|one| one.subject.clone()).collect();
        match expected {
            Ok(expected) => {
                assert_eq!((subjects.as_slice(), read.unread.as_slice()), (expected, [].as_slice()), "{rule}")
            }
            Err(part) => {
                let [unread] = &read.unread[..] else { panic!("{rule}: {read:?}") };
                assert!(
                    unread.why.contains(part) && unread.line == 2 && subjects.is_empty(),
                    "{rule}: {unread:?}"
                );
            }
        }
    }

    #[test]
    fn what_a_rule_is_about() {
        check("toolName = 'write_file'\ndecision = 'deny'", Ok(&[short("Edit")]));
        check(
            "toolName = ['glob', 'read_file', 'web_fetch']\ndecision = 'ask_user'\npriority = 100",
            Ok(&[short("Read"), short("WebFetch")]),
        );
        check("mcpName = 's'\ndecision = 'deny'", Ok(&[short("mcp__s")]));
        check(
            "mcpName = 's'\ntoolName = ['a', 'b']\ndecision = 'deny'",
            Ok(&[short("mcp__s__a"), short("mcp__s__b")]),
        );
        check("toolName = 'run_shell_command'\ndecision = 'deny'", Ok(&[short("Bash")]));
        check(
            "toolName = 'run_shell_command'\ncommandPrefix = ['git push', 'rm']\ndecision = 'deny'",
            Ok(&[prefix(&["git", "push"]), prefix(&["rm"])]),
        );
        check(
            "commandRegex = 'npm (ci|test)'\ndecision = 'allow'",
            Ok(&[PermissionSubject::Text("npm (ci|test)".to_owned())]),
        );
    }

    #[test]
    fn what_is_no_rule_of_ours_is_told() {
        check("toolName = 'glob'", Err("no `decision`"));
        check("toolName = 'glob'\ndecision = 'maybe'", Err("not one of allow"));
        check("decision = 'deny'", Err("names no tool"));
        check("toolName = '*'\ndecision = 'deny'", Err("does not name one tool"));
        check("toolName = 'mcp_s_t'\ndecision = 'deny'", Err("does not name one tool"));
        check("toolName = 7\ndecision = 'deny'", Err("a text or a list of texts"));
        check("toolName = 'glob'\ncommandPrefix = 'x'\ndecision = 'deny'", Err("commands are those of"));
        check(
            "toolName = 'glob'\nargsPattern = 'x'\ndecision = 'deny'",
            Err("`argsPattern` says which calls"),
        );
        check("toolName = 'glob'\nmodes = ['plan']\ndecision = 'allow'", Err("`modes` says which calls"));
        let read = read("[[rule]]\ntoolName = 'glob'\ndecision = 'deny'\n[[rule\n");
        assert_eq!(
            (read.rules.len(), read.unread.iter().map(|one| one.line).collect::<Vec<_>>()),
            (0, vec![4])
        );
        let other = super::read("[other]\nx = 1\n[[rule]]\ntoolName = 'glob'\ndecision = 'deny'\n");
        assert_eq!(
            (other.rules.len(), other.unread.iter().map(|one| one.line).collect::<Vec<_>>()),
            (1, vec![1])
        );
    }
}
