//! A random sample of a collection with the commands found in each text, for a person to compare with the source.

use std::fmt::Write as _;

use anyhow::Context;
use castellan_corpus::shell_call;
use castellan_event::{Command, Facts};

use crate::analysis;
use crate::corpus::Item;

/// Writes the sample; the same seed selects the same items. Returns their number.
pub(crate) fn write(into: &str, items: &[&Item], number: usize, seed: u64) -> anyhow::Result<usize> {
    let taken = taken(items.len(), number, seed);
    let setting = analysis::setting();
    let mut text = format!(
        "{} of {} items, seed {seed}. Under each text: every command that was found (program: arguments; wrappers, where it runs \
         and where it was found), then what was not understood.\n",
        taken.len(),
        items.len()
    );
    for (number, item) in taken.iter().filter_map(|at| items.get(*at)).enumerate() {
        let facts = analysis::facts(&shell_call(&item.text), &setting);
        writeln!(text, "\n================ {} {}\n", number + 1, item.origin)?;
        for line in item.text.lines() {
            writeln!(text, "    {line}")?;
        }
        writeln!(text)?;
        describe(&facts, &mut text)?;
    }
    std::fs::write(into, text).with_context(|| into.to_owned())?;
    Ok(taken.len())
}

fn describe(facts: &Facts, text: &mut String) -> std::fmt::Result {
    for command in &facts.commands {
        writeln!(text, "  > {}", line(command))?;
    }
    for effect in facts.effects.iter().filter(|effect| effect.is_opaque()) {
        let (role, why) = (effect.role().unwrap_or_default(), effect.why().unwrap_or_default());
        let of = effect.command.and_then(|at| facts.commands.get(at)).map_or("", |command| &command.line);
        writeln!(text, "  ? {role}: {why}: {of}")?;
    }
    Ok(())
}

fn line(command: &Command) -> String {
    let mut line = format!("{}: {}", command.name.as_deref().unwrap_or("?"), command.args.join(" "));
    if !command.wrappers.is_empty() {
        line.push_str(&format!("  [in {}]", command.wrappers.join(", ")));
    }
    if let Some(remote) = &command.remote {
        line.push_str(&format!("  [at {remote}]"));
    }
    if command.origin != "text" {
        line.push_str(&format!("  [{}]", command.origin));
    }
    line
}

/// Returns the positions of a sample without repetition, in ascending order.
fn taken(of: usize, number: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut all: Vec<usize> = (0..of).collect();
    let number = number.min(of);
    for at in 0..number {
        state = splitmix(state);
        // The remainder's bias is far below one part in a billion.
        let with = at + usize::try_from(state % u64::try_from(of - at).unwrap_or(1)).unwrap_or(0);
        all.swap(at, with);
    }
    all.truncate(number);
    all.sort_unstable();
    all
}

/// A step of SplitMix64 (Steele, Lea and Flood 2014). The next state, mixed, is the number.
pub(crate) fn splitmix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_same_for_a_seed_and_has_nothing_twice() {
        let first = taken(1000, 200, 4);
        assert_eq!(first, taken(1000, 200, 4));
        assert_ne!(first, taken(1000, 200, 5));
        assert_eq!(first.len(), 200);
        assert!(first.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(taken(3, 200, 4), [0, 1, 2]);
    }
}
