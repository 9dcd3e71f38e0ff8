//! [`SessionSums`]: the tokens that each session has spent in all of its starts, in a file of the home's state. Writers
//! take turns by a lock, and each adds its own difference. A file that cannot be read is an error, never zero.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use castellan_files::{Links, open_with, read_text, write_private};
use serde::{Deserialize, Serialize};

use crate::limits::{
    SESSION_SUMS_BYTES_MAX, SESSION_SUMS_LOCK_POLL, SESSION_SUMS_LOCK_TIME, SESSION_SUMS_MAX,
};

const VERSION: u32 = 1;

/// The file of the sums of all sessions.
#[derive(Debug)]
pub(crate) struct SessionSums {
    file: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sums {
    version: u32,
    /// The session that was changed last is the last one.
    sessions: Vec<Sum>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sum {
    agent: String,
    session: String,
    tokens: u64,
}

impl SessionSums {
    /// Returns the sums below the directory of the state.
    pub(crate) fn new(state: &Path) -> SessionSums {
        SessionSums { file: state.join("session_tokens.json") }
    }

    /// Returns the tokens of a session; zero for an unknown one.
    pub(crate) fn of(&self, agent: &str, session: &str) -> anyhow::Result<u64> {
        let _lock = self.lock()?;
        let sums = self.read()?;
        let sum = sums.sessions.iter().find(|sum| sum.agent == agent && sum.session == session);
        Ok(sum.map_or(0, |sum| sum.tokens))
    }

    /// Adds tokens to a session. Returns its sum, with what other starts have added meanwhile.
    pub(crate) fn add(&self, agent: &str, session: &str, tokens: u64) -> anyhow::Result<u64> {
        let _lock = self.lock()?;
        let mut sums = self.read()?;
        let at = sums.sessions.iter().position(|sum| sum.agent == agent && sum.session == session);
        let mut sum = match at {
            Some(at) => sums.sessions.remove(at),
            None => Sum { agent: agent.to_owned(), session: session.to_owned(), tokens: 0 },
        };
        sum.tokens = sum.tokens.saturating_add(tokens);
        let total = sum.tokens;
        sums.sessions.push(sum);
        let surplus = sums.sessions.len().saturating_sub(SESSION_SUMS_MAX);
        sums.sessions.drain(..surplus);
        let text = serde_json::to_vec(&Sums { version: VERSION, ..sums })?;
        write_private(&self.file, &text).with_context(|| self.shown())?;
        Ok(total)
    }

    fn read(&self) -> anyhow::Result<Sums> {
        let text = match read_text(&self.file, SESSION_SUMS_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Sums::default()),
            Err(error) => return Err(error).with_context(|| self.shown()),
        };
        let sums: Sums = serde_json::from_str(&text)
            .with_context(|| format!("{} has no sums of tokens: move it away", self.shown()))?;
        if sums.version != VERSION {
            bail!("{} is of version {}: use the castellan that wrote it", self.shown(), sums.version);
        }
        Ok(sums)
    }

    /// Waits for the other writers, for a limited time: the agent's own processes could keep the lock. The lock ends with
    /// the file.
    fn lock(&self) -> anyhow::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).mode(0o600);
        let file = self.file.with_extension("lock");
        let shown = || format!("`{}`", file.display());
        let lock = open_with(&mut options, &file, Links::Refused).with_context(shown)?;
        let begun = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) if begun.elapsed() < SESSION_SUMS_LOCK_TIME => {
                    std::thread::sleep(SESSION_SUMS_LOCK_POLL);
                }
                Err(error) => return Err(error).with_context(shown),
            }
        }
    }

    fn shown(&self) -> String {
        format!("`{}`", self.file.display())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_sum_grows_and_belongs_to_agent_and_session() {
        let dir = tempfile::tempdir().unwrap();
        let sums = SessionSums::new(dir.path());
        assert_eq!(sums.of("claude", "a").unwrap(), 0);
        sums.add("claude", "a", 5).unwrap();
        sums.add("claude", "a", 7).unwrap();
        sums.add("codex", "a", 1).unwrap();
        sums.add("claude", "b", u64::MAX).unwrap();
        sums.add("claude", "b", 1).unwrap();
        let check = |agent, session, expected| assert_eq!(sums.of(agent, session).unwrap(), expected);
        check("claude", "a", 12);
        check("codex", "a", 1);
        check("claude", "b", u64::MAX);
        let mode = std::fs::metadata(&sums.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn writers_do_not_lose_each_others_tokens() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        SessionSums::new(dir.path()).add("claude", "a", 1).unwrap();
                    }
                });
            }
        });
        assert_eq!(SessionSums::new(dir.path()).of("claude", "a").unwrap(), 40);
    }

    #[test]
    fn a_lock_that_another_process_keeps_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let sums = SessionSums::new(dir.path());
        let kept = sums.lock().unwrap();
        assert!(sums.add("claude", "a", 1).is_err() && sums.of("claude", "a").is_err());
        drop(kept);
        assert_eq!(sums.add("claude", "a", 1).unwrap(), 1);
    }

    #[test]
    fn the_oldest_session_leaves_first() {
        let dir = tempfile::tempdir().unwrap();
        let sums = SessionSums::new(dir.path());
        let sessions = (0..SESSION_SUMS_MAX)
            .map(|number| Sum { agent: "claude".to_owned(), session: number.to_string(), tokens: 1 })
            .collect();
        let text = serde_json::to_vec(&Sums { version: VERSION, sessions }).unwrap();
        write_private(&sums.file, &text).unwrap();
        sums.add("claude", "0", 1).unwrap();
        sums.add("claude", "new", 1).unwrap();
        assert_eq!(sums.of("claude", "0").unwrap(), 2);
        assert_eq!(sums.of("claude", "1").unwrap(), 0);
        assert_eq!(sums.of("claude", "2").unwrap(), 1);
    }

    #[test]
    fn a_file_that_is_not_understood_is_an_error() {
        let check = |text: &str, expected: &str| {
            let dir = tempfile::tempdir().unwrap();
            let sums = SessionSums::new(dir.path());
            write_private(&sums.file, text.as_bytes()).unwrap();
            for error in [sums.of("claude", "a").unwrap_err(), sums.add("claude", "a", 1).unwrap_err()] {
                assert!(format!("{error:#}").contains(expected), "{error:#}");
            }
            assert_eq!(std::fs::read_to_string(&sums.file).unwrap(), text);
        };
        check("", "no sums of tokens");
        check("{\"version\":2,\"sessions\":[]}", "version 2");
        check(
            "{\"version\":1,\"sessions\":[{\"agent\":\"claude\",\"session\":\"a\",\"tokens\":-1}]}",
            "no sums",
        );
        check("{\"version\":1,\"sessions\":[],\"more\":1}", "no sums");
    }
}
