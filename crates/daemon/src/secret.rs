//! Secrets of the person: the PIN of `presence_check = "pin"`, stored as its Argon2id hash, or the account's password,
//! which the system checks. Failed tries are stored, so that nobody can try all values, even with restarts. Does not
//! depend on the reason for asking.

mod password;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use argon2::Argon2;
use serde::{Deserialize, Serialize};

pub(crate) use self::password::Account;
use crate::control::Secret;
use crate::limits::{
    PIN_BYTES_MAX, PIN_CHARS_MIN, SECRET_FILE_BYTES_MAX, SECRET_TRIES, SECRET_WAIT, SECRET_WAIT_MAX,
};
use castellan_files::{Guard, read_guarded, write_private};

/// The file of the PIN and the tries.
#[derive(Debug)]
pub(crate) struct Secrets {
    file: PathBuf,
    /// Allows one try at a time.
    trying: Mutex<()>,
}

/// Why a secret is not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SecretError {
    /// There is no PIN.
    NotSet,
    /// The secret is wrong.
    Wrong(Secret),
    /// Too many wrong tries: no try is accepted for this time.
    Wait(Secret, Duration),
    /// The check failed, with the reason.
    Unchecked(Secret, String),
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretError::NotSet => f.write_str("no PIN is set: run `castellan presence set-pin`"),
            SecretError::Wrong(Secret::Pin) => f.write_str("the PIN is wrong: try again"),
            // The system does not distinguish these.
            SecretError::Wrong(Secret::Password) => {
                f.write_str("the password is wrong, or the account has none: it may be locked")
            }
            SecretError::Wait(secret, time) => {
                write!(
                    f,
                    "the {secret} was wrong too often: try again in {}",
                    humantime::format_duration(Duration::from_secs(time.as_secs().max(1)))
                )
            }
            SecretError::Unchecked(secret, why) => write!(f, "the {secret} cannot be checked: {why}"),
        }
    }
}

/// The file: Argon2id salt and hash in hex with this version's parameters, if a PIN is set, and the tries since
/// success.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    wrong: u32,
    /// Time of the last try, in milliseconds since 1970.
    tried_ms: u64,
}

const VERSION: u32 = 1;

impl Secrets {
    pub(crate) fn new(file: PathBuf) -> Secrets {
        Secrets { file, trying: Mutex::default() }
    }

    /// Reports whether a PIN is set. True if the file is unreadable.
    pub(crate) fn has_pin(&self) -> bool {
        self.read().map_or(true, |kept| kept.hash.is_some())
    }

    pub(crate) fn check_pin(&self, pin: &str, now: SystemTime) -> Result<(), SecretError> {
        if !self.has_pin() {
            return Err(SecretError::NotSet);
        }
        self.count(Secret::Pin, now, |kept| {
            let salt = kept.salt.as_deref().and_then(|salt| base16ct::mixed::decode_vec(salt).ok());
            let salt = salt.ok_or_else(|| self.damaged())?;
            let hash = base16ct::lower::encode_string(&hash(pin, &salt)?);
            Ok(kept.hash.as_ref().is_some_and(|kept| is_same(hash.as_bytes(), kept.as_bytes())))
        })
    }

    pub(crate) fn check_password(
        &self,
        account: &Account,
        password: &str,
        now: SystemTime,
    ) -> Result<(), SecretError> {
        self.count(Secret::Password, now, |_| account.has_password(password))
    }

    /// Counts a try before checking it, and resets the count when it is right.
    fn count(
        &self,
        secret: Secret,
        now: SystemTime,
        is_right: impl FnOnce(&Kept) -> Result<bool, String>,
    ) -> Result<(), SecretError> {
        let unchecked = |why| SecretError::Unchecked(secret, why);
        let _trying = self.trying.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = self.read().map_err(unchecked)?;
        let now_ms = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let now_ms = u64::try_from(now_ms).unwrap_or(u64::MAX);
        // A clock that was set back means no elapsed time.
        let elapsed = Duration::from_millis(now_ms.saturating_sub(kept.tried_ms));
        let wait = wait_after(kept.wrong);
        if elapsed < wait {
            return Err(SecretError::Wait(secret, wait.saturating_sub(elapsed)));
        }
        kept.wrong = kept.wrong.saturating_add(1);
        kept.tried_ms = now_ms;
        self.write(&kept).map_err(unchecked)?;
        if !is_right(&kept).map_err(unchecked)? {
            return Err(SecretError::Wrong(secret));
        }
        kept.wrong = 0;
        self.write(&kept).map_err(unchecked)
    }

    /// Checks that a text can be a PIN. The error gives the reason.
    pub(crate) fn check_new(pin: &str) -> Result<(), String> {
        if pin.chars().count() < PIN_CHARS_MIN || pin.len() > PIN_BYTES_MAX {
            return Err(format!(
                "a PIN has {PIN_CHARS_MIN} characters or more, and at most {PIN_BYTES_MAX} bytes"
            ));
        }
        Ok(())
    }

    /// Sets another PIN. The error gives the reason of a failure.
    pub(crate) fn set_pin(&self, pin: &str) -> Result<(), String> {
        Secrets::check_new(pin)?;
        let _trying = self.trying.lock().unwrap_or_else(PoisonError::into_inner);
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).map_err(|error| format!("no random numbers: {error}"))?;
        let hash = hash(pin, &salt)?;
        // Keeps the tries, so that a first PIN does not shorten the wait for a password.
        let kept = self.read()?;
        let hex = |bytes| Some(base16ct::lower::encode_string(bytes));
        self.write(&Kept { salt: hex(&salt), hash: hex(&hash), ..kept })
    }

    /// Reads the file; a missing file is an empty state.
    fn read(&self) -> Result<Kept, String> {
        let own = rustix::process::geteuid().as_raw();
        let text = match read_guarded(&self.file, SECRET_FILE_BYTES_MAX, Guard::Private(own)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Kept { version: VERSION, salt: None, hash: None, wrong: 0, tried_ms: 0 });
            }
            read => read.map_err(|error| format!("`{}`: {error}", self.file.display()))?,
        };
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

/// Returns the time from the last try until the next is accepted.
fn wait_after(wrong: u32) -> Duration {
    match wrong.checked_sub(SECRET_TRIES) {
        None => Duration::ZERO,
        Some(more) => SECRET_WAIT.saturating_mul(1 << more.min(20)).min(SECRET_WAIT_MAX),
    }
}

fn hash(pin: &str, salt: &[u8]) -> Result<[u8; 32], String> {
    let mut hash = [0; 32];
    let hashed = Argon2::default().hash_password_into(pin.as_bytes(), salt, &mut hash);
    hashed.map_err(|error| error.to_string()).map(|()| hash)
}

/// Compares in constant time, so that the time does not reveal the first difference.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds)
    }

    fn secrets(dir: &tempfile::TempDir) -> Secrets {
        Secrets::new(dir.path().join("pin.json"))
    }

    #[test]
    fn the_right_one_counts_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = secrets(&dir);
        assert_eq!(secrets.check_pin("1234", at(0)), Err(SecretError::NotSet));
        assert!(secrets.set_pin("123").is_err());
        secrets.set_pin("1234").unwrap();
        assert_eq!(secrets.check_pin("1234", at(0)), Ok(()));
        assert_eq!(secrets.check_pin("12345", at(0)), Err(SecretError::Wrong(Secret::Pin)));
        assert_eq!(secrets.check_pin("", at(0)), Err(SecretError::Wrong(Secret::Pin)));
        let text = std::fs::read_to_string(&secrets.file).unwrap();
        assert!(!text.contains("1234"), "{text}");
        assert_eq!(std::fs::metadata(&secrets.file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn after_five_wrong_ones_the_wait_doubles_across_restarts_and_clocks() {
        let dir = tempfile::tempdir().unwrap();
        secrets(&dir).set_pin("1234").unwrap();
        for _ in 0..SECRET_TRIES {
            assert_eq!(secrets(&dir).check_pin("9999", at(10)), Err(SecretError::Wrong(Secret::Pin)));
        }
        assert_eq!(secrets(&dir).check_pin("1234", at(10)), Err(SecretError::Wait(Secret::Pin, SECRET_WAIT)));
        assert_eq!(
            secrets(&dir).check_pin("1234", at(5)),
            Err(SecretError::Wait(Secret::Pin, SECRET_WAIT)),
            "clock set back"
        );
        assert_eq!(
            secrets(&dir).check_pin("9999", at(10) + SECRET_WAIT),
            Err(SecretError::Wrong(Secret::Pin))
        );
        assert_eq!(
            secrets(&dir).check_pin("1234", at(11) + SECRET_WAIT),
            Err(SecretError::Wait(Secret::Pin, 2 * SECRET_WAIT - Duration::from_secs(1)))
        );
        assert_eq!(secrets(&dir).check_pin("1234", at(10) + 3 * SECRET_WAIT), Ok(()));
        // A right one resets the wait.
        assert_eq!(
            secrets(&dir).check_pin("9999", at(10) + 3 * SECRET_WAIT),
            Err(SecretError::Wrong(Secret::Pin))
        );
        assert_eq!(wait_after(u32::MAX), SECRET_WAIT_MAX);
    }

    #[test]
    fn wrong_passwords_are_counted_with_wrong_pins() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = secrets(&dir);
        let password = |at, answer: Result<bool, String>| secrets.count(Secret::Password, at, |_| answer);
        assert_eq!(password(at(0), Ok(true)), Ok(()));
        assert!(!secrets.has_pin());
        for _ in 1..SECRET_TRIES {
            assert_eq!(password(at(0), Ok(false)), Err(SecretError::Wrong(Secret::Password)));
        }
        // A try that could not be checked counts, too.
        let unchecked = SecretError::Unchecked(Secret::Password, "why".to_owned());
        assert_eq!(password(at(0), Err("why".to_owned())), Err(unchecked));
        assert_eq!(password(at(0), Ok(true)), Err(SecretError::Wait(Secret::Password, SECRET_WAIT)));
        secrets.set_pin("1234").unwrap();
        assert_eq!(secrets.check_pin("1234", at(0)), Err(SecretError::Wait(Secret::Pin, SECRET_WAIT)));
        assert_eq!(password(at(0) + SECRET_WAIT, Ok(true)), Ok(()));
        assert_eq!(secrets.check_pin("1234", at(0) + SECRET_WAIT), Ok(()));
    }

    #[test]
    fn a_file_that_is_none_of_ours_lets_nobody_in() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = secrets(&dir);
        secrets.set_pin("1234").unwrap();
        let sound = std::fs::read_to_string(&secrets.file).unwrap();
        let check = |text: &[u8]| {
            std::fs::write(&secrets.file, text).unwrap();
            assert!(
                matches!(
                    secrets.check_pin("1234", at(0)),
                    Err(SecretError::Unchecked(..) | SecretError::Wrong(Secret::Pin))
                ),
                "{text:?}"
            );
        };
        check(b"");
        check(b"[]");
        check(b"\xff");
        check(sound.replace("\"version\":1", "\"version\":2").as_bytes());
        check(sound.replace("\"wrong\"", "\"wrong\":0,\"wrong\"").as_bytes());
        check(sound.replace("\"wrong\"", "\"more\":0,\"wrong\"").as_bytes());
        check(sound.replace("\"hash\":\"", "\"hash\":\"0").as_bytes());
        for mode in [0o606, 0o640] {
            std::fs::write(&secrets.file, &sound).unwrap();
            std::fs::set_permissions(&secrets.file, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(secrets.check_pin("1234", at(0)), Err(SecretError::Unchecked(..))), "{mode:o}");
        }
        std::fs::set_permissions(&secrets.file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let file = std::fs::File::create(&secrets.file).unwrap();
        file.set_len(100 * 1024 * 1024).unwrap();
        assert!(matches!(secrets.check_pin("1234", at(0)), Err(SecretError::Unchecked(..))));
        std::fs::write(dir.path().join("elsewhere"), &sound).unwrap();
        std::fs::remove_file(&secrets.file).unwrap();
        symlink(dir.path().join("elsewhere"), &secrets.file).unwrap();
        assert!(matches!(secrets.check_pin("1234", at(0)), Err(SecretError::Unchecked(..))));
    }
}
