//! Commands of Ninja 1.12. A variable of a rule whose value the file does not show is unknown.

use std::collections::BTreeMap;

use super::{Commands, Rest, Source, unknown};
use crate::limits::{BUILD_COMMANDS_MAX, BUILD_VALUE_BYTES_MAX};

pub(super) const LANGUAGE: &str = "ninja";

pub(super) fn read(text: &str) -> Commands {
    let mut found = Commands::default();
    let mut values: BTreeMap<&str, String> =
        BTreeMap::from(FILES.map(|name| (name, "build/file".to_owned())));
    let mut commands: Vec<&str> = Vec::new();
    let text = text.replace("$\n", "");
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if commands.len() + found.sources.len() > BUILD_COMMANDS_MAX {
            found.rest = Rest::Over;
            break;
        }
        let file = ["include ", "subninja "].iter().find_map(|word| line.strip_prefix(word));
        found.sources.extend(file.map(|file| Source::File(file.trim().to_owned())));
        match line.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
            Some(("command", value)) if !commands.contains(&value) => commands.push(value),
            Some((name, value)) if name.chars().all(is_of_name) => {
                let value = filled(value, &values);
                // A build has its own value of a name, so each of them may be the one of the rule.
                let known = values.get(name).filter(|known| **known != value).cloned();
                let is_begin = commands.iter().any(|command| begins(command, name));
                let kept = match known {
                    Some(known) if !is_begin && is_near(&value) => known,
                    Some(known) if is_begin || !is_near(&known) => unknown(),
                    Some(_) | None => value,
                };
                values.insert(name, kept);
            }
            Some(_) | None => {}
        }
    }
    let lines: Vec<String> = commands.iter().map(|command| filled(command, &values)).collect();
    found.shell = lines.join("\n");
    found
}

/// Variables with the files of a build.
const FILES: [&str; 3] = ["in", "in_newline", "out"];

/// Returns true for options and files of the project, in whose place another of them makes no difference.
fn is_near(value: &str) -> bool {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_./=+:,- \"".contains(one);
    value.chars().all(is_plain)
        && !value.contains("..")
        && !value.split(' ').any(|word| word.starts_with('/'))
}

/// Returns true if a command begins with a variable.
fn begins(command: &str, name: &str) -> bool {
    let rest = command.strip_prefix('$').map(|rest| rest.trim_start_matches('{'));
    rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| !rest.starts_with(is_of_name))
}

fn is_of_name(one: char) -> bool {
    one.is_ascii_alphanumeric() || matches!(one, '_' | '-')
}

/// Replaces variables, and the signs that a dollar protects.
fn filled(text: &str, values: &BTreeMap<&str, String>) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        whole.push_str(before);
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, behind) = braced
            .unwrap_or_else(|| after.split_at(after.find(|one| !is_of_name(one)).unwrap_or(after.len())));
        rest = behind;
        if !name.is_empty() {
            whole.push_str(&values.get(name).cloned().unwrap_or_else(unknown));
        } else if let Some(sign) = behind.chars().next() {
            whole.push(sign);
            rest = behind.get(sign.len_utf8()..).unwrap_or_default();
        }
        if whole.len() > BUILD_VALUE_BYTES_MAX {
            return unknown();
        }
    }
    whole + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_files_of_ninja_are_found() {
        let unknown = unknown();
        let check = |text: &str, expected: &str| assert_eq!(read(text).shell, expected, "{text}");
        check("rule r\n  command = rm -rf /x\nbuild a: r\n", "rm -rf /x");
        check("d = /x\nrule r\n  command = rm $\n    $d && a $$HOME\n", "rm     /x && a $HOME");
        check("rule r\n  command = $c\nbuild a: r\n  c = x\nbuild b: r\n  c = y\n", &unknown);
        check("rule r\n  command = rm $d\nbuild a: r\n  d = x\nbuild b: r\n  d = /y\n", "rm /y");
        let both = "rule r\n  command = rm $d\nbuild a: r\n  d = /x\nbuild b: r\n  d = /y\n";
        check(both, &format!("rm {unknown}"));
        check("rule r\n  command = rm $d\nbuild a: r\n  d = x\nbuild b: r\n  d = y\n", "rm x");
        check("rule r\n  command = cc $in -o ${out} $f\n", &format!("cc build/file -o build/file {unknown}"));
        let file = |path: &str| Source::File(path.to_owned());
        assert_eq!(read("include a.txt\nsubninja b\n").sources, [file("a.txt"), file("b")]);
    }
}
