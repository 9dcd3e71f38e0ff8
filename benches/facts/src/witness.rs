//! A second parser as a witness. Every simple command that it finds in a text of the collection must also be found by
//! castellan's parser, or be in a part that castellan reports as Opaque. The witness is a separate program
//! (`witness/`), because it can crash on a text. This module sends it texts, kills it after a timeout, and restarts it.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use crate::corpus::{Item, items};
use crate::written;

/// Names that the witness wrongly reports as commands: start and end of the origin (without a version), and the name.
const MISREAD: [(&str, &str, &str); 3] = [
    // `if !(test -f $xmlfile)`: bash has no `extglob` in scripts, so it runs a subshell. castellan finds `test`.
    ("crates/bzip2-sys-", "/xmlproc.sh", "!(test -f $xmlfile)"),
    // A sed program in escaped double quotes, in backquotes, in double quotes.
    ("spamassassin_", "/preinst", "s/.*"),
    // `cat <<EOF | ${FMT}`: the witness loses the braces after a heredoc's operator. castellan finds `${FMT}`.
    ("postfix_", "/post-install", "FMT"),
];

/// A text that takes longer is counted as unreadable for the witness.
const ANSWER_SECONDS_MAX: u64 = 20;

/// The witness's answer about a text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Testimony {
    Seen {
        names: Vec<String>,
        unread: usize,
    },
    Refused {
        #[serde(rename = "refused")]
        why: String,
    },
}

#[derive(Debug, Default)]
struct Tally {
    texts: usize,
    refused: usize,
    ended: usize,
    unread: usize,
    commands: usize,
    in_holes: usize,
    misread: usize,
    missing: usize,
}

/// Asks about every text that bash accepts; fails if a command is missing.
pub(crate) fn print(file: &str, program: &str) -> anyhow::Result<()> {
    let mut witness = Witness::start(program)?;
    let all = items(file)?;
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut missing = Vec::new();
    for item in all.iter().filter(|item| item.accepted) {
        let tally = tallies.entry(&item.kind).or_default();
        tally.texts += 1;
        match witness.ask(&item.text)? {
            None => {
                tally.ended += 1;
                witness = Witness::start(program)?;
            }
            Some(Testimony::Refused { why }) => {
                tally.refused += 1;
                println!("refused: {}: {why}", item.origin);
            }
            Some(Testimony::Seen { names, unread }) => {
                tally.commands += names.len();
                tally.unread += unread;
                let (in_holes, not_found) = compare(&item.text, &names);
                tally.in_holes += in_holes;
                let (misread, not_found): (Vec<String>, Vec<String>) =
                    not_found.into_iter().partition(|name| is_misread(&item.origin, name));
                tally.misread += misread.len();
                tally.missing += not_found.len();
                missing.extend(not_found.into_iter().map(|name| (item, name)));
            }
        }
    }
    witness.end()?;
    print_tallies(&tallies);
    missing.iter().for_each(|(item, name): &(&Item, String)| println!("MISSING: {}: `{name}`", item.origin));
    ensure!(missing.is_empty(), "{} commands that the witness sees are not found", missing.len());
    Ok(())
}

/// Returns the number of names that are only in Opaque parts, and the names that are missing.
fn compare(text: &str, seen: &[String]) -> (usize, Vec<String>) {
    let (found, holes) = written::names(text);
    let mut left: HashMap<String, usize> = HashMap::new();
    found.into_iter().for_each(|name| *left.entry(bare(name)).or_default() += 1);
    let holes: Vec<String> = holes.into_iter().map(bare).collect();
    let (mut in_holes, mut missing) = (0, Vec::new());
    for name in seen {
        let plain = bare(name);
        match left.get_mut(&plain) {
            Some(count) if *count > 0 => *count -= 1,
            _ if holes.iter().any(|hole| hole.contains(&plain)) => in_holes += 1,
            _ => missing.push(name.clone()),
        }
    }
    (in_holes, missing)
}

fn is_misread(origin: &str, name: &str) -> bool {
    let is_this = |&(start, end, misread): &(&str, &str, &str)| {
        origin.starts_with(start) && origin.ends_with(end) && name == misread
    };
    MISREAD.iter().any(is_this)
}

/// Removes quotes, escapes and line continuations. The two parsers see a name in backquotes at different levels of
/// these.
fn bare(name: &str) -> String {
    name.replace("\\\n", "").chars().filter(|letter| !matches!(letter, '\\' | '"' | '\'')).collect()
}

fn print_tallies(tallies: &BTreeMap<&str, Tally>) {
    println!(
        "\n| source | texts | the witness refuses | ends on | commands that it sees | words that it cannot read | in parts not understood | that are none | missing |\n\
         |---|---|---|---|---|---|---|---|---|"
    );
    let mut all = Tally::default();
    for (name, tally) in tallies {
        print_tally(name, tally);
        all.texts += tally.texts;
        all.refused += tally.refused;
        all.ended += tally.ended;
        all.commands += tally.commands;
        all.unread += tally.unread;
        all.in_holes += tally.in_holes;
        all.misread += tally.misread;
        all.missing += tally.missing;
    }
    print_tally("all", &all);
}

fn print_tally(name: &str, tally: &Tally) {
    let Tally { texts, refused, ended, unread, commands, in_holes, misread, missing } = tally;
    println!(
        "| {name} | {texts} | {refused} | {ended} | {commands} | {unread} | {in_holes} | {misread} | {missing} |"
    );
}

#[derive(Debug)]
struct Witness {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Witness {
    fn start(program: &str) -> anyhow::Result<Witness> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("`{program}` cannot be started"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the witness has no input or output");
        };
        let (sender, answers) = channel();
        // The thread ends with the program's output.
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines();
            lines.map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        Ok(Witness { child, input, answers })
    }

    /// Returns `None` if the program ended or was killed on the text.
    fn ask(&mut self, text: &str) -> anyhow::Result<Option<Testimony>> {
        let line = serde_json::to_string(text)?;
        let sent = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        let answer = self.answers.recv_timeout(Duration::from_secs(ANSWER_SECONDS_MAX));
        match (sent, answer) {
            (Ok(()), Ok(answer)) => {
                serde_json::from_str(&answer).map(Some).context("the witness says no testimony")
            }
            _ => {
                let _ = self.child.kill();
                self.child.wait()?;
                Ok(None)
            }
        }
    }

    fn end(mut self) -> anyhow::Result<()> {
        drop(self.input);
        self.child.wait()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_seen_once_more_is_missing() {
        let seen = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (text, names, in_holes, missing) in [
            ("a; b; a", &["a", "b", "a"][..], 0, &[][..]),
            ("a; b", &["a", "a", "b"], 0, &["a"]),
            ("a `\"b\\$c\"`", &["a", "\"b$c\""], 0, &[]),
            // The text before the open quote is uncertain too.
            ("a; b 'c", &["a", "b"], 2, &[]),
        ] {
            assert_eq!(compare(text, &seen(names)), (in_holes, seen(missing)), "{text}");
        }
    }

    #[test]
    fn a_testimony_is_names_or_a_refusal() {
        let read = |text: &str| serde_json::from_str::<Testimony>(text).unwrap();
        assert!(matches!(read(r#"{"names":["a"],"unread":0}"#), Testimony::Seen { .. }));
        assert!(matches!(read(r#"{"refused":"w"}"#), Testimony::Refused { why } if why == "w"));
    }
}
