//! [`Violations`]: the log of departures, `plan_violations.jsonl`. It must not know the decision's reasons.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use castellan_files::{Links, open_with};
use castellan_plans::ViolationRow;

use crate::limits::VIOLATIONS_BYTES_MAX;

/// The log.
#[derive(Debug)]
pub(crate) struct Violations {
    file: PathBuf,
    /// Held while a line is written.
    writing: Mutex<()>,
}

impl Violations {
    pub(super) fn new(file: PathBuf) -> Violations {
        Violations { file, writing: Mutex::default() }
    }

    /// Appends lines. A log over its limit is set aside first; the one that was set aside before is lost.
    pub(crate) fn append(&self, rows: &[ViolationRow]) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let text: String = rows.iter().map(|row| row.line() + "\n").collect();
        let options = || {
            let mut options = OpenOptions::new();
            options.append(true).create(true).mode(0o600);
            open_with(&mut options, &self.file, Links::Refused)
        };
        let mut log = options()?;
        if log.metadata()?.len().saturating_add(text.len() as u64) > VIOLATIONS_BYTES_MAX {
            fs::rename(&self.file, self.file.with_extension("jsonl.1"))?;
            log = options()?;
        }
        log.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use castellan_plans::{Departure, DepartureKind, Outcome};

    use super::*;

    fn row() -> ViolationRow {
        let departure = Departure {
            kind: DepartureKind::Command,
            subject: "rm".to_owned(),
            nearest: Some("a".to_owned()),
        };
        ViolationRow::of(&departure, "rm x", Outcome::Block, 0)
    }

    #[test]
    fn lines_are_appended_and_a_full_log_is_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("plan_violations.jsonl");
        let log = Violations::new(file.clone());
        log.append(&[row(), row()]).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let line = r#"{"timestamp":"1970-01-01T00:00:00.000000+00:00","kind":"unplanned","command":"rm x","arm":"a","decision":"block"}"#;
        assert_eq!(text, format!("{line}\n{line}\n"));
        OpenOptions::new().write(true).open(&file).unwrap().set_len(VIOLATIONS_BYTES_MAX).unwrap();
        log.append(&[row()]).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{line}\n"));
        assert_eq!(fs::metadata(file.with_extension("jsonl.1")).unwrap().len(), VIOLATIONS_BYTES_MAX);
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, other) = (dir.path().join("plan_violations.jsonl"), dir.path().join("other"));
        fs::write(&other, "").unwrap();
        std::os::unix::fs::symlink(&other, &file).unwrap();
        assert!(Violations::new(file).append(&[row()]).is_err());
        assert_eq!(fs::read_to_string(&other).unwrap(), "");
    }
}
