//! Which tests of a slow matrix the test command runs: one fifth, chosen by the commit, so that five commits in a row meet most of them and
//! a run can be repeated.

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
        let output = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root()?).output();
        match output {
            Ok(output) if output.status.success() => Share::of_hash(&String::from_utf8_lossy(&output.stdout)),
            Ok(_) | Err(_) => {
                println!("no commit is checked out: the whole matrix runs");
                Ok(Share::WHOLE)
            }
        }
    }

    fn of_hash(hash: &str) -> anyhow::Result<Share> {
        let head = hash.get(..8).context("git names no commit")?;
        let number = u32::from_str_radix(head, 16).context("a commit that is no hexadecimal number")?;
        Ok(Share { part: number % 5, parts: 5 })
    }

    pub(super) fn is_whole(self) -> bool {
        self == Share::WHOLE
    }

    /// Keeps the tests of this share. Neighbours in the alphabet go to different shares, so each share has tests of each module.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_five_shares_have_each_test_once() {
        let tests: Vec<String> = (0..23).map(|number| format!("module::test_{number}")).collect();
        let hashes = ["00000000", "00000001", "00000002", "00000003", "0000000e"];
        let mut all = Vec::new();
        for hash in hashes {
            let share = Share::of_hash(hash).unwrap().of_tests(tests.clone());
            assert!(share.len() >= 4, "{hash}");
            all.extend(share);
        }
        all.sort();
        assert_eq!(all, Share::WHOLE.of_tests(tests));
        assert!(Share::of_hash("no hash").is_err());
    }
}
