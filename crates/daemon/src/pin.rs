//! The PIN of `presence = "pin"`: what the person knows and code of the same user does not. Kept as its Argon2id hash, with how
//! often it was got wrong, so that nobody can try them all, by a restart neither. It must not know what it is asked for.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use argon2::Argon2;
use serde::{Deserialize, Serialize};

use crate::files::{read_limited, write_private};
use crate::limits::{PIN_BYTES_MAX, PIN_CHARS_MIN, PIN_FILE_BYTES_MAX, PIN_TRIES, PIN_WAIT, PIN_WAIT_MAX};

/// Where the PIN is kept.
#[derive(Debug)]
pub(crate) struct Pin {
    file: PathBuf,
    /// One try at a time.
    trying: Mutex<()>,
}

/// Why a PIN does not count.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PinError {
    /// There is none.
    NotSet,
    /// It is another one.
    Wrong,
    /// It was got wrong too often: this long nobody is listened to.
    Wait(Duration),
    /// What is kept cannot be read or written.
    Kept(String),
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PinError::NotSet => f.write_str("no PIN is set: `castellan presence set-pin`"),
            PinError::Wrong => f.write_str("the PIN is wrong"),
            PinError::Wait(time) => {
                write!(
                    f,
                    "the PIN was wrong too often: try again in {}",
                    humantime::format_duration(Duration::from_secs(time.as_secs().max(1)))
                )
            }
            PinError::Kept(why) => write!(f, "the PIN cannot be checked: {why}"),
        }
    }
}

/// The file: Argon2id with the parameters of this version, in hex, and the tries since it was last right.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    salt: String,
    hash: String,
    wrong: u32,
    /// Of the last try, in milliseconds since 1970.
    tried_ms: u64,
}

const VERSION: u32 = 1;

impl Pin {
    /// The PIN that is kept in `file`.
    pub(crate) fn new(file: PathBuf) -> Pin {
        Pin { file, trying: Mutex::default() }
    }

    /// Whether there is one, readable or not.
    pub(crate) fn is_set(&self) -> bool {
        std::fs::symlink_metadata(&self.file).is_ok()
    }

    /// Checks a PIN at `now`. A try counts before it is looked at.
    pub(crate) fn check(&self, pin: &str, now: SystemTime) -> Result<(), PinError> {
        let _trying = self.trying.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_set() {
            return Err(PinError::NotSet);
        }
        let mut kept = self.read().map_err(PinError::Kept)?;
        let now_ms = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let now_ms = u64::try_from(now_ms).unwrap_or(u64::MAX);
        // Where the clock was set back, no time has gone by.
        let elapsed = Duration::from_millis(now_ms.saturating_sub(kept.tried_ms));
        let wait = wait_after(kept.wrong);
        if elapsed < wait {
            return Err(PinError::Wait(wait.saturating_sub(elapsed)));
        }
        kept.wrong = kept.wrong.saturating_add(1);
        kept.tried_ms = now_ms;
        self.write(&kept).map_err(PinError::Kept)?;
        let salt = unhex(&kept.salt).ok_or_else(|| PinError::Kept(self.damaged()))?;
        let hash = hash(pin, &salt).map_err(PinError::Kept)?;
        if !is_same(hex(&hash).as_bytes(), kept.hash.as_bytes()) {
            return Err(PinError::Wrong);
        }
        kept.wrong = 0;
        self.write(&kept).map_err(PinError::Kept)
    }

    /// Sets another one. The error says why not.
    pub(crate) fn set(&self, pin: &str) -> Result<(), String> {
        let _trying = self.trying.lock().unwrap_or_else(PoisonError::into_inner);
        if pin.chars().count() < PIN_CHARS_MIN || pin.len() > PIN_BYTES_MAX {
            return Err(format!(
                "a PIN has {PIN_CHARS_MIN} characters or more, and at most {PIN_BYTES_MAX} bytes"
            ));
        }
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).map_err(|error| format!("no random numbers: {error}"))?;
        let hash = hash(pin, &salt)?;
        self.write(&Kept { version: VERSION, salt: hex(&salt), hash: hex(&hash), wrong: 0, tried_ms: 0 })
    }

    fn read(&self) -> Result<Kept, String> {
        if std::fs::symlink_metadata(&self.file).is_ok_and(|file| file.is_symlink()) {
            return Err(self.damaged());
        }
        let text = read_limited(&self.file, PIN_FILE_BYTES_MAX)
            .map_err(|error| format!("`{}`: {error}", self.file.display()))?;
        let kept: Kept = serde_json::from_str(&text).map_err(|_| self.damaged())?;
        if kept.version == VERSION { Ok(kept) } else { Err(self.damaged()) }
    }

    fn damaged(&self) -> String {
        format!("`{}` is not what this castellan has written", self.file.display())
    }

    fn write(&self, kept: &Kept) -> Result<(), String> {
        let json = serde_json::to_vec(kept).map_err(|error| error.to_string())?;
        write_private(&self.file, &json).map_err(|error| format!("`{}`: {error}", self.file.display()))
    }
}

/// How long after the last try the next one is listened to.
fn wait_after(wrong: u32) -> Duration {
    match wrong.checked_sub(PIN_TRIES) {
        None => Duration::ZERO,
        Some(more) => PIN_WAIT.saturating_mul(1 << more.min(20)).min(PIN_WAIT_MAX),
    }
}

fn hash(pin: &str, salt: &[u8]) -> Result<[u8; 32], String> {
    let mut hash = [0; 32];
    let hashed = Argon2::default().hash_password_into(pin.as_bytes(), salt, &mut hash);
    hashed.map_err(|error| error.to_string()).map(|()| hash)
}

/// Compares without telling by its time where two differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    Some(digits?.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| (byte << 4) | digit)).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds)
    }

    fn pin(dir: &tempfile::TempDir) -> Pin {
        Pin::new(dir.path().join("pin.json"))
    }

    #[test]
    fn the_right_one_counts_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let pin = pin(&dir);
        assert_eq!(pin.check("1234", at(0)), Err(PinError::NotSet));
        assert!(pin.set("123").is_err());
        pin.set("1234").unwrap();
        assert_eq!(pin.check("1234", at(0)), Ok(()));
        assert_eq!(pin.check("12345", at(0)), Err(PinError::Wrong));
        assert_eq!(pin.check("", at(0)), Err(PinError::Wrong));
        let text = std::fs::read_to_string(&pin.file).unwrap();
        assert!(!text.contains("1234"), "{text}");
        assert_eq!(std::fs::metadata(&pin.file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn after_five_wrong_ones_the_wait_doubles_across_restarts_and_clocks() {
        let dir = tempfile::tempdir().unwrap();
        pin(&dir).set("1234").unwrap();
        for _ in 0..PIN_TRIES {
            assert_eq!(pin(&dir).check("9999", at(10)), Err(PinError::Wrong));
        }
        assert_eq!(pin(&dir).check("1234", at(10)), Err(PinError::Wait(PIN_WAIT)));
        assert_eq!(pin(&dir).check("1234", at(5)), Err(PinError::Wait(PIN_WAIT)), "clock set back");
        assert_eq!(pin(&dir).check("9999", at(10) + PIN_WAIT), Err(PinError::Wrong));
        assert_eq!(
            pin(&dir).check("1234", at(11) + PIN_WAIT),
            Err(PinError::Wait(2 * PIN_WAIT - Duration::from_secs(1)))
        );
        assert_eq!(pin(&dir).check("1234", at(10) + 3 * PIN_WAIT), Ok(()));
        // A right one begins anew.
        assert_eq!(pin(&dir).check("9999", at(10) + 3 * PIN_WAIT), Err(PinError::Wrong));
        assert_eq!(wait_after(u32::MAX), PIN_WAIT_MAX);
    }

    #[test]
    fn a_file_that_is_none_of_ours_lets_nobody_in() {
        let dir = tempfile::tempdir().unwrap();
        let pin = pin(&dir);
        pin.set("1234").unwrap();
        let sound = std::fs::read_to_string(&pin.file).unwrap();
        let check = |text: &[u8]| {
            std::fs::write(&pin.file, text).unwrap();
            assert!(matches!(pin.check("1234", at(0)), Err(PinError::Kept(_) | PinError::Wrong)), "{text:?}");
        };
        check(b"");
        check(b"[]");
        check(b"\xff");
        check(sound.replace("\"version\":1", "\"version\":2").as_bytes());
        check(sound.replace("\"wrong\"", "\"wrong\":0,\"wrong\"").as_bytes());
        check(sound.replace("\"wrong\"", "\"more\":0,\"wrong\"").as_bytes());
        check(sound.replace("\"hash\":\"", "\"hash\":\"0").as_bytes());
        let file = std::fs::File::create(&pin.file).unwrap();
        file.set_len(100 * 1024 * 1024).unwrap();
        assert!(matches!(pin.check("1234", at(0)), Err(PinError::Kept(_))));
        std::fs::write(dir.path().join("elsewhere"), &sound).unwrap();
        std::fs::remove_file(&pin.file).unwrap();
        symlink(dir.path().join("elsewhere"), &pin.file).unwrap();
        assert!(matches!(pin.check("1234", at(0)), Err(PinError::Kept(_))));
    }
}
