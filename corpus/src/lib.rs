//! Shell text and what is expected of it, as data for tests, benchmarks and measurements: everyday commands
//! (`commands.txt`), commands in disguise with the facts that must be found in them (`disguises.txt`), and hostile shapes
//! (`hostile.txt`); programs in other languages (`programs/`). Expected facts are conditions of the rule language, tested on the rows of the call.
//!
//! It must not know how facts are found: whoever has analysed a call brings its [`castellan_event::Facts`].

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

/// Commands as agents run them every day.
pub fn commands() -> Vec<String> {
    include_str!("../commands.txt").lines().filter_map(text_of).collect()
}

/// An ordinary program of about 4 KiB in a language, by the language's name; `None` where there is none yet.
pub fn program(language: &str) -> Option<String> {
    std::fs::read_to_string(format!("{PROGRAMS}/{language}.txt")).ok()
}

/// Parts of programs that are hostile to parsers when they are repeated, whatever the language.
pub fn hostile_parts() -> Vec<String> {
    let lines = include_str!("../programs/hostile.txt").lines();
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(|line| line.replace("\\n", "\n"))
        .collect()
}

/// What a language's grammar or reader knows: hostile programs repeat it, alone and together.
pub fn program_tokens(language: &str) -> Vec<String> {
    let lines = include_str!("../programs/tokens.txt").lines();
    let of_language = |line: &&str| *line != format!("[{language}]");
    let section = lines.skip_while(of_language).skip(1).take_while(|line| !is_section(line));
    let written = section.flat_map(str::split_whitespace);
    written
        .map(|token| token.replace("\\n", "\n").replace("\\s", " ").replace("\\t", "\t").replace("\\r", "\r"))
        .collect()
}

/// `[name]`: tokens that look so have no such name.
fn is_section(line: &str) -> bool {
    let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    name.is_some_and(|name| name.len() > 1 && name.bytes().all(|letter| letter.is_ascii_lowercase()))
}

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");

/// The text of a line: `⏎` stands for a newline. Blank lines and comments have none.
fn text_of(line: &str) -> Option<String> {
    let line = line.trim();
    let text = !line.is_empty() && !line.starts_with("# ");
    text.then(|| line.replace('⏎', "\n"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
