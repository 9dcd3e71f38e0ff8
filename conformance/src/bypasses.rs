//! `conformance bypasses`: the catalogue of the ways to disguise a command, in Markdown, from `corpus/disguises.txt`
//! and castellan's facts. `cargo xtask gen` writes it to `docs/bypasses.md`. Must not depend on the meaning of a way.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use anyhow::{anyhow, ensure};
use castellan_corpus::{Case, Conditions, Disguises, Layer, Test, Way, shell_call};

use crate::forerunners::facts_of;

const HEAD: &str = "\
# Bypasses

Every known way to disguise a command or to bypass castellan's analysis. `cargo xtask gen` makes this page from
`corpus/disguises.txt`; do not edit. Add a new way to that file first.

`cargo xtask conformance disguises` tests each text: castellan must find the facts that the file names. Links name the tests
elsewhere. `⏎` stands for a newline, `␉` for a tab. The mark before a text shows castellan's result:

| mark | result |
|---|---|
| ● | castellan finds the named facts and no Opaque program, code or target |
| ◐ | castellan finds the named facts and an Opaque program, code or target with its reason, which rules see |
| ○ | castellan does not find the effect. The line before the text names the layer that covers it |

Rules decide about these facts. The shipped rules match commands and effects, so a disguise makes no difference to them.
[Accuracy](accuracy.md) has the share of labelled calls, disguised ones included, that they stop.

";

/// The analysed share of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    All,
    Opaque,
    NotAll,
}

/// The counts in the catalogue.
#[derive(Debug, Default)]
struct Tally {
    ways: usize,
    left: usize,
    texts: BTreeMap<Found, usize>,
    tests: usize,
}

pub(crate) fn run() -> anyhow::Result<()> {
    let all = Disguises::read().map_err(|error| anyhow!("corpus/disguises.txt: {error}"))?;
    let wrong = all.wrong(facts_of);
    ensure!(wrong.is_empty(), "not as expected, so there is no book:\n{}", wrong.join("\n"));
    print!("{}", book(&all)?);
    Ok(())
}

fn book(all: &Disguises) -> anyhow::Result<String> {
    let opaque =
        Conditions::new(["opaque_danger"]).map_err(|error| anyhow!("corpus/macros.yaml: {error}"))?;
    let mut tallies: Vec<(&str, Tally)> = Vec::new();
    let mut body = String::new();
    for (at, way) in all.ways.iter().enumerate() {
        if !tallies.iter().any(|(group, _)| *group == way.group) {
            tallies.push((&way.group, Tally::default()));
            write!(body, "\n## {}\n\n", way.group)?;
        }
        let Some((_, tally)) = tallies.iter_mut().find(|(group, _)| *group == way.group) else { continue };
        let cases = all.cases.iter().filter(|case| case.way == Some(at));
        let texts: Vec<(Found, &Case)> = cases.map(|case| (found(case, way, &opaque), case)).collect();
        tally.count(way, &texts);
        write_way(&mut body, way, &texts)?;
    }
    let harmless = all.cases.iter().filter(|case| case.way.is_none()).count();
    let mut book = HEAD.to_owned();
    write_tallies(&mut book, &tallies)?;
    write!(
        book,
        "\nIn {harmless} harmless look-alikes castellan must not find a danger. \
         A layer covers the ways that castellan does not detect:\n\n\
         | layer | protection |\n|---|---|\n"
    )?;
    for layer in Layer::ALL {
        writeln!(book, "| {} | {} |", layer.as_str(), layer.meaning())?;
    }
    Ok(book + &body)
}

/// The expectations of the case are met, so only Opaque parts are tested here.
fn found(case: &Case, way: &Way, opaque: &Conditions) -> Found {
    let call = shell_call(&case.text);
    if way.left.is_some() {
        Found::NotAll
    } else if opaque.true_of(&call, &facts_of(&call)).is_empty() {
        Found::All
    } else {
        Found::Opaque
    }
}

fn write_way(book: &mut String, way: &Way, texts: &[(Found, &Case)]) -> fmt::Result {
    writeln!(book, "- {}", way.name)?;
    if let Some(left) = &way.left {
        writeln!(book, "  - **{}**: {}", left.layer.as_str(), left.why)?;
    }
    for (found, case) in texts {
        writeln!(book, "  - {} {}", found.mark(), code(&case.text))?;
    }
    for Test { file, function } in &way.tests {
        let function = function.as_ref().map(|name| format!(", `{name}`")).unwrap_or_default();
        writeln!(book, "  - [{file}](../{file}){function}")?;
    }
    Ok(())
}

fn write_tallies(book: &mut String, tallies: &[(&str, Tally)]) -> fmt::Result {
    book.push_str("| group | ways | layer covers | texts ● | ◐ | ○ | tests elsewhere |\n|---|---|---|---|---|---|---|\n");
    let mut all = Tally::default();
    for (group, tally) in tallies {
        write_tally(book, group, tally)?;
        all.ways += tally.ways;
        all.left += tally.left;
        all.tests += tally.tests;
        tally.texts.iter().for_each(|(found, count)| *all.texts.entry(*found).or_default() += count);
    }
    write_tally(book, "all", &all)
}

fn write_tally(book: &mut String, group: &str, tally: &Tally) -> fmt::Result {
    let [all, opaque, not_all] =
        [Found::All, Found::Opaque, Found::NotAll].map(|found| tally.texts.get(&found).copied().unwrap_or(0));
    let Tally { ways, left, tests, .. } = tally;
    writeln!(book, "| {group} | {ways} | {left} | {all} | {opaque} | {not_all} | {tests} |")
}

/// Returns a code span, with a fence longer than any run of backticks in the text.
fn code(text: &str) -> String {
    let text = text.replace('\n', "⏎").replace('\t', "␉");
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

impl Found {
    fn mark(self) -> char {
        match self {
            Found::All => '●',
            Found::Opaque => '◐',
            Found::NotAll => '○',
        }
    }
}

impl Tally {
    fn count(&mut self, way: &Way, texts: &[(Found, &Case)]) {
        self.ways += 1;
        self.left += usize::from(way.left.is_some());
        self.tests += way.tests.len();
        texts.iter().for_each(|(found, _)| *self.texts.entry(*found).or_default() += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_as_it_is_written() {
        for (text, expected) in
            [("rm x", "`rm x`"), ("`a` b", "`` `a` b ``"), ("a ``b", "```a ``b```"), ("a\nb", "`a⏎b`")]
        {
            assert_eq!(code(text), expected);
        }
    }

    #[test]
    fn every_way_and_every_text_of_one_stands_in_the_book() {
        let all = Disguises::read().unwrap_or_else(|error| panic!("{error}"));
        let book = book(&all).unwrap();
        for way in &all.ways {
            assert!(book.contains(&format!("\n- {}\n", way.name)), "{}", way.name);
        }
        for case in all.cases.iter().filter(|case| case.way.is_some()) {
            assert!(book.contains(&code(&case.text)), "{}", case.text);
        }
    }
}
