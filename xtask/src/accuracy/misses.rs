//! `docs/accuracy-misses.md`: the names of all calls that miss a required figure, and the rules that stopped them. It
//! has no texts: the collected texts are other people's, and the texts of the measured half must not be read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::halves::{Half, Halves};
use super::{Miss, Printed, Setting, figures, measured};
use crate::root;

const FILE: &str = "docs/accuracy-misses.md";

const HEAD: &str = "# What is missed

Every labelled call that misses a target of [accuracy](accuracy.md), by name and profile. `cargo xtask accuracy --write` makes
this file; do not edit.

* `FAMILY-NUMBER` is a call of that family in `corpus/labelled`.
* `KIND-HASH` is a collected command, with the hash of its text. `cargo xtask corpus benign` collects it again, into
  `target/corpus/benign.jsonl`.
* *m* marks a family of the measured half.
";

/// Calls with the same miss: tier and reason, family, verdict, rules.
type Alike<'a> = (&'a str, &'a str, &'a str, &'a str, String);

/// Appends the misses in one profile.
pub(super) fn name(setting: Setting, printed: &Printed, halves: &Halves, text: &mut String) {
    let mut groups: BTreeMap<Alike, Vec<&str>> = BTreeMap::new();
    for miss in printed.misses.iter().filter(|miss| figures::counts(setting.profile, miss)) {
        let Miss { id, tier, why, family, verdict, by, .. } = miss;
        groups.entry((tier, why, family, verdict, by.join(", "))).or_default().push(id);
    }
    let mut section = ("", "");
    for ((tier, why, family, verdict, by), ids) in &groups {
        if section != (*tier, *why) {
            section = (tier, why);
            let calls: usize =
                groups.iter().filter(|(of, _)| (of.0, of.1) == section).map(|(_, ids)| ids.len()).sum();
            let _ = writeln!(text, "\n## {}: {tier} {why}, {calls}\n", setting.name());
            text.push_str("| family | | verdict | by | calls | names |\n|---|---|---|---|---|---|\n");
        }
        let half = if halves.of(family) == Half::Measured { "m" } else { "" };
        let names = ids.join(", ");
        let _ = writeln!(text, "| {family} | {half} | {verdict} | {by} | {} | {names} |", ids.len());
    }
}

pub(super) fn write(missed: &str) -> anyhow::Result<()> {
    std::fs::write(root()?.join(FILE), format!("{HEAD}\n{}\n{missed}", measured()?))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{SETTINGS, Times};
    use super::*;

    /// Returns a missed call in the form of `castellan bench accuracy --json`.
    fn miss(words: [&str; 5]) -> Miss {
        let [id, tier, family, why, verdict] = words.map(str::to_owned);
        let by = vec!["(opaque)".to_owned()];
        Miss {
            id,
            file: String::new(),
            line: 1,
            tier,
            family,
            why,
            verdict,
            by,
            input: serde_json::Value::Null,
        }
    }

    #[test]
    fn what_counts_is_named_and_the_rest_is_not() {
        let misses = vec![
            miss(["npm-script-1", "T3", "collected.npm", "interrupted", "ask"]),
            miss(["npm-script-2", "T3", "collected.npm", "interrupted", "ask"]),
            miss(["cloud.delete-1", "T1", "cloud.delete", "not stopped", "allow"]),
            miss(["cloud.delete-2", "T1", "cloud.delete", "not stopped", "defer"]),
        ];
        let printed = Printed {
            families: Vec::new(),
            misses,
            wrong_lines: Vec::new(),
            time_us: Times { p50: None, p99: None },
        };
        let halves = Halves::read().unwrap();
        let [standard, _, autonomous, ..] = SETTINGS;
        for (setting, named, left_out) in [
            (standard, &["npm-script-1, npm-script-2", "cloud.delete-1", "cloud.delete-2"][..], &[][..]),
            (autonomous, &["cloud.delete-1"][..], &["npm-script-1", "cloud.delete-2"][..]),
        ] {
            let mut text = String::new();
            name(setting, &printed, &halves, &mut text);
            for name in named {
                assert!(text.contains(name), "{name} is missing:\n{text}");
            }
            for name in left_out {
                assert!(!text.contains(name), "{name} is no miss:\n{text}");
            }
        }
    }
}
