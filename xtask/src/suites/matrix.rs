//! The tests of a slow matrix that the test command runs: one fifth. The commit chooses it, so that a run can be
//! repeated: by the length of its history, so that five commits in a row run every test once. A shallow clone does not
//! know that length, so there the hash chooses.

use std::process::Command;

use anyhow::Context;

use crate::root;

/// A share of a list of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    part: u32,
    parts: u32,
}

impl Share {
    /// Every test.
    pub(super) const WHOLE: Share = Share { part: 0, parts: 1 };

    /// The fifth of the commit that is checked out; without git every test.
    pub(super) fn of_commit() -> anyhow::Result<Share> {
        let Some(hash) = git(&["rev-parse", "HEAD"])? else {
            println!("no commit is checked out: the whole matrix runs");
            return Ok(Share::WHOLE);
        };
        let is_shallow =
            git(&["rev-parse", "--is-shallow-repository"])?.is_none_or(|answer| answer != "false");
        match git(&["rev-list", "--count", "HEAD"])? {
            Some(count) if !is_shallow => Share::of_count(&count),
            Some(_) | None => Share::of_hash(&hash),
        }
    }

    fn of_count(count: &str) -> anyhow::Result<Share> {
        let number: u32 = count.parse().context("git counts no commits")?;
        Ok(Share { part: number % 5, parts: 5 })
    }

    fn of_hash(hash: &str) -> anyhow::Result<Share> {
        let head = hash.get(..8).context("git names no commit")?;
        let number = u32::from_str_radix(head, 16).context("a commit that is no hexadecimal number")?;
        Ok(Share { part: number % 5, parts: 5 })
    }

    pub(super) fn is_whole(self) -> bool {
        self == Share::WHOLE
    }

    /// Keeps the tests of this share. Neighbours in the alphabet go to different shares, so each share has tests of
    /// each module.
    pub(super) fn of_tests(self, mut tests: Vec<String>) -> Vec<String> {
        tests.sort();
        (0_u32..).zip(tests).filter(|(at, _)| at % self.parts == self.part).map(|(_, test)| test).collect()
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "part {} of {}", self.part + 1, self.parts)
    }
}

/// Returns the line that git prints; `None` if it fails or is not there.
fn git(arguments: &[&str]) -> anyhow::Result<Option<String>> {
    let output = Command::new("git").args(arguments).current_dir(root()?).output();
    let output = output.ok().filter(|output| output.status.success());
    Ok(output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_five_shares_have_each_test_once() {
        let tests: Vec<String> = (0..23).map(|number| format!("module::test_{number}")).collect();
        let mut all = Vec::new();
        // Five commits in a row.
        for count in 1998..2003 {
            let share = Share::of_count(&count.to_string()).unwrap().of_tests(tests.clone());
            assert!(share.len() >= 4, "{count}");
            all.extend(share);
        }
        all.sort();
        assert_eq!(all, Share::WHOLE.of_tests(tests));
        assert_eq!(Share::of_hash("0000000e").unwrap(), Share::of_count("4").unwrap());
        assert!(Share::of_hash("no hash").is_err() && Share::of_count("").is_err());
    }
}
