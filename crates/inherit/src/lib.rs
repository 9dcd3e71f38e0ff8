//! L0: open descriptors that a service manager passes to a starting program, by the protocol of systemd (sd_listen_fds(3)):
//! `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`. The crate knows no socket: the caller checks what it gets.

mod sys;

use std::fmt;
use std::os::fd::{OwnedFd, RawFd};

/// The first passed descriptor.
const FIRST: RawFd = 3;

/// Descriptors that one start can pass: castellan needs two.
const DESCRIPTORS_MAX: RawFd = 16;

const PID: &str = "LISTEN_PID";
const COUNT: &str = "LISTEN_FDS";
const NAMES: &str = "LISTEN_FDNAMES";

/// All variables of the protocol. The last is a newer addition of systemd's.
const VARIABLES: [&str; 4] = [PID, COUNT, NAMES, "LISTEN_PIDFDID"];

/// A passed descriptor.
#[derive(Debug)]
pub struct Passed {
    /// Its name in the service manager's configuration; empty without one.
    pub name: String,
    /// The descriptor. No program that this one starts inherits it.
    pub descriptor: OwnedFd,
}

/// The reason why the passed descriptors cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// `LISTEN_FDS` is no number of descriptors.
    Count(String),
    /// `LISTEN_FDNAMES` has another number of names than there are descriptors.
    Names(String),
    /// This descriptor is not open.
    NotOpen(RawFd),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Count(text) => {
                write!(f, "{COUNT} is `{}`, not a number up to {DESCRIPTORS_MAX}", text.escape_debug())
            }
            Wrong::Names(text) => {
                write!(f, "{NAMES} is `{}`, not a name for each descriptor", text.escape_debug())
            }
            Wrong::NotOpen(number) => write!(f, "descriptor {number}, which {COUNT} announces, is not open"),
        }
    }
}

impl std::error::Error for Wrong {}

/// Takes all descriptors that were passed to this process, and removes the variables. Returns none if the variables are
/// missing or meant for another process. Only for the start of a program, while it has one thread.
pub fn passed() -> Result<Vec<Passed>, Wrong> {
    let read = |name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let [pid, count, names] = [PID, COUNT, NAMES].map(read);
    VARIABLES.iter().for_each(|variable| sys::forget(variable));
    if pid != Some(std::process::id().to_string()) {
        return Ok(Vec::new());
    }
    let names = names_of(count.unwrap_or_default(), names)?;
    let numbered = names.into_iter().zip(FIRST..);
    let take = |(name, number)| match sys::take(number) {
        Ok(descriptor) => Ok(Passed { name, descriptor }),
        Err(_) => Err(Wrong::NotOpen(number)),
    };
    numbered.map(take).collect()
}

/// Returns a name for each descriptor.
fn names_of(count: String, names: Option<String>) -> Result<Vec<String>, Wrong> {
    let number = count.parse::<RawFd>().ok().filter(|number| (0..=DESCRIPTORS_MAX).contains(number));
    let number = number.and_then(|number| usize::try_from(number).ok()).ok_or(Wrong::Count(count))?;
    let Some(names) = names else { return Ok(vec![String::new(); number]) };
    let list: Vec<String> =
        if number == 0 { Vec::new() } else { names.split(':').map(str::to_owned).collect() };
    if list.len() == number { Ok(list) } else { Err(Wrong::Names(names)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_for_each_descriptor() {
        let check = |count: &str, names: Option<&str>, expected: Result<&[&str], Wrong>| {
            let found = names_of(count.to_owned(), names.map(str::to_owned));
            let expected = expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            assert_eq!(found, expected, "{count} {names:?}");
        };
        check("2", Some("hook:control"), Ok(&["hook", "control"]));
        check("1", None, Ok(&[""]));
        check("0", Some(""), Ok(&[]));
        check("2", Some("hook"), Err(Wrong::Names("hook".to_owned())));
        check("1", Some("a:b"), Err(Wrong::Names("a:b".to_owned())));
        for wrong in ["", "-1", "17", "x", "1 ", "99999999999"] {
            check(wrong, None, Err(Wrong::Count(wrong.to_owned())));
        }
    }

    #[test]
    fn a_descriptor_that_this_program_has_opened_is_not_taken() {
        use std::os::fd::AsRawFd;

        let (file, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(sys::take(file.as_raw_fd()).err(), Some(rustix::io::Errno::BADF));
        assert_eq!(sys::take(-1).err(), Some(rustix::io::Errno::BADF));
        assert_eq!(sys::take(1 << 20).err(), Some(rustix::io::Errno::BADF));
        // A descriptor without the flag is like an inherited one. It is taken once.
        let inherited = rustix::io::dup(&file).unwrap();
        let number = inherited.as_raw_fd();
        std::mem::forget(inherited);
        let taken = sys::take(number).unwrap();
        assert_eq!(sys::take(number).err(), Some(rustix::io::Errno::BADF));
        assert!(rustix::io::fcntl_getfd(&taken).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
    }
}
