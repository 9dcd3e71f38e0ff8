//! Shell text with expectations, as data for tests, benchmarks and measurements: everyday commands (`commands.txt`),
//! disguised commands with their required facts (`disguises.txt`), hostile shapes (`hostile.txt`), and programs in
//! other languages (`programs/`). Expected facts are conditions of the rule language on the rows of the call.
//!
//! Must not depend on the analysis: callers pass their own [`castellan_event::Facts`].

mod call;
mod conditions;
mod disguises;
mod hostile;
pub mod limits;

pub use call::shell_call;
pub use castellan_trial::{HOME, Machine, WORKSPACE};
pub use conditions::Conditions;
pub use disguises::{Case, Disguises, Layer, Left, Test, Way};
pub use hostile::{Hostile, hostile};

/// Returns everyday commands of agents.
pub fn commands() -> Vec<String> {
    include_str!("../commands.txt").lines().filter_map(text_of).collect()
}

/// Returns an ordinary program of about 4 KiB, by the language's name; `None` if there is none yet.
pub fn program(language: &str) -> Option<String> {
    std::fs::read_to_string(format!("{PROGRAMS}/{language}.txt")).ok()
}

/// Returns parts of programs that are hostile to parsers when repeated, for every language.
pub fn hostile_parts() -> Vec<String> {
    let lines = HOSTILE.lines().take_while(|line| !is_section(line));
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(|line| line.replace("\\n", "\n"))
        .collect()
}

/// Returns hostile programs of one language, by its name; each has the name of its kind. The error names the invalid line.
pub fn hostile_programs(language: &str) -> Result<Vec<Hostile>, String> {
    hostile::read(&section(HOSTILE, language).collect::<Vec<_>>().join("\n"))
}

/// Returns the tokens of a language's grammar or reader. Hostile programs repeat them, alone and together.
pub fn program_tokens(language: &str) -> Vec<String> {
    let written = section(include_str!("../programs/tokens.txt"), language).flat_map(str::split_whitespace);
    written
        .map(|token| token.replace("\\n", "\n").replace("\\s", " ").replace("\\t", "\t").replace("\\r", "\r"))
        .collect()
}

fn section<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let begin = format!("[{name}]");
    text.lines().skip_while(move |line| *line != begin).skip(1).take_while(|line| !is_section(line))
}

/// `[name]` is a section. No token has such a form.
fn is_section(line: &str) -> bool {
    let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    name.is_some_and(|name| name.len() > 1 && name.bytes().all(|letter| letter.is_ascii_lowercase()))
}

const HOSTILE: &str = include_str!("../programs/hostile.txt");

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");

/// Returns the text of a line, with `⏎` replaced by a newline; `None` for blank lines and comments.
fn text_of(line: &str) -> Option<String> {
    let line = line.trim();
    let text = !line.is_empty() && !line.starts_with("# ");
    text.then(|| line.replace('⏎', "\n"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Kinds of hostile programs that each language has.
    const KINDS: &[&str] = &["unary", "ternary", "branches", "members", "literals", "templates", "recovery"];

    #[test]
    fn each_language_has_hostile_programs_of_each_kind() {
        let mut all = 0;
        for language in
            ["python", "javascript", "perl", "ruby", "php", "lua", "powershell", "cmd", "applescript"]
        {
            let programs = hostile_programs(language).unwrap();
            for kind in KINDS {
                assert!(programs.iter().any(|one| one.name == *kind), "{language} has no {kind}");
            }
            for program in &programs {
                let length = program.text(64 << 10).len();
                assert!((60 << 10..=64 << 10).contains(&length), "{language} {program:?}: {length}");
            }
            all += programs.len();
        }
        assert!(all >= 300, "{all}");
    }

    #[test]
    fn there_are_enough_commands_and_none_twice() {
        let all = commands();
        let different: HashSet<&String> = all.iter().collect();
        assert!(all.len() >= 300, "{}", all.len());
        for (at, command) in all.iter().enumerate() {
            assert!(!all[..at].contains(command), "twice: {command}");
        }
        assert_eq!(different.len(), all.len());
    }
}
