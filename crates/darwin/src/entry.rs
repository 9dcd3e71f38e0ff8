//! [`Entry`]: a process in the kernel's list, `struct kinfo_proc` of `sys/sysctl.h`. Any process may read the list, also the
//! entries of other users; `proc_pidinfo` answers about the caller's own processes only.

use crate::bytes::{i32_at, i64_at, text_at, u32_at};

/// Bytes of an entry.
pub(crate) const ENTRY_BYTES: usize = 648;

/// Offsets, asserted in `layout.c`.
const STARTED_SECONDS: usize = 0;
const STARTED_MICROS: usize = 8;
const STATE: usize = 36;
const PID: usize = 40;
const NAME: usize = 243;
const USER: usize = 420;
const PARENT: usize = 560;
const TERMINAL: usize = 572;

/// Bytes of the name with its NUL (`MAXCOMLEN + 1`).
const NAME_BYTES: usize = 17;

/// `SSTOP` and `SZOMB` of `sys/proc.h`.
const STOPPED: u8 = 4;
const ENDED: u8 = 5;

/// `NODEV`: no controlling terminal.
const NO_DEVICE: i32 = -1;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub pid: u32,
    /// The id of its parent; 0 for the first process.
    pub parent: u32,
    /// Its effective user.
    pub user: u32,
    /// The device number of its controlling terminal; 0 when there is none.
    pub terminal: i32,
    /// The wall clock's time at its start, in microseconds since 1970. With the id it identifies a process permanently.
    pub started_us: u64,
    /// Its state.
    pub state: State,
    /// The first 16 bytes of the name of the executed file.
    pub name: String,
}

/// The states that castellan distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has ended and waits for its parent.
    Ended,
    /// A signal or a debugger has stopped it.
    Stopped,
    /// It runs, sleeps or is being made.
    Alive,
}

/// Reads one entry; `None` if the bytes are no entry of this layout.
pub fn entry(bytes: &[u8]) -> Option<Entry> {
    if bytes.len() != ENTRY_BYTES {
        return None;
    }
    let seconds = u64::try_from(i64_at(bytes, STARTED_SECONDS)?).ok()?;
    let micros = u64::try_from(i32_at(bytes, STARTED_MICROS)?).ok().filter(|micros| *micros < 1_000_000)?;
    Some(Entry {
        pid: u32::try_from(i32_at(bytes, PID)?).ok()?,
        parent: u32::try_from(i32_at(bytes, PARENT)?).ok()?,
        user: u32_at(bytes, USER)?,
        terminal: match i32_at(bytes, TERMINAL)? {
            NO_DEVICE => 0,
            device => device,
        },
        started_us: seconds.checked_mul(1_000_000)?.checked_add(micros)?,
        state: match *bytes.get(STATE)? {
            ENDED => State::Ended,
            STOPPED => State::Stopped,
            _ => State::Alive,
        },
        name: String::from_utf8_lossy(text_at(bytes, NAME, NAME_BYTES)?).into_owned(),
    })
}

/// Reads the whole list; `None` if a part of it is no entry, because a list with gaps would hide processes.
pub fn entries(bytes: &[u8]) -> Option<Vec<Entry>> {
    bytes.chunks(ENTRY_BYTES).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An entry, written by the offsets of Apple's headers as numbers: pid, parent, user, terminal, seconds, state, name.
    fn raw(pid: i32, parent: i32, user: u32, terminal: i32, seconds: i64, state: u8, name: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xAA; 648];
        let mut put = |at: usize, with: &[u8]| bytes[at..at + with.len()].copy_from_slice(with);
        put(0, &seconds.to_le_bytes());
        put(8, &250_000_i32.to_le_bytes());
        put(36, &[state]);
        put(40, &pid.to_le_bytes());
        put(243, &[0; 17]);
        put(243, name);
        put(420, &user.to_le_bytes());
        put(560, &parent.to_le_bytes());
        put(572, &terminal.to_le_bytes());
        bytes
    }

    fn shell() -> Vec<u8> {
        raw(4711, 500, 501, 0x1000_0003, 1_780_000_000, 3, b"zsh")
    }

    #[test]
    fn an_entry_is_read_field_by_field() {
        let expected = Entry {
            pid: 4711,
            parent: 500,
            user: 501,
            terminal: 0x1000_0003,
            started_us: 1_780_000_000_250_000,
            state: State::Alive,
            name: "zsh".to_owned(),
        };
        assert_eq!(entry(&shell()), Some(expected));
        let launchd = entry(&raw(1, 0, 0, -1, 1_779_000_000, 2, b"launchd")).unwrap();
        assert_eq!((launchd.parent, launchd.user, launchd.terminal), (0, 0, 0));
        // The longest name has a NUL behind it.
        let long = entry(&raw(5, 1, 0, -1, 1, 2, b"com.apple.WebKit")).unwrap();
        assert_eq!(long.name, "com.apple.WebKit");
        for (state, expected) in [(1, State::Alive), (4, State::Stopped), (5, State::Ended)] {
            assert_eq!(entry(&raw(5, 1, 0, -1, 1, state, b"x")).unwrap().state, expected, "{state}");
        }
    }

    #[test]
    fn other_bytes_are_no_entry() {
        let with = |at: usize, value: &[u8]| {
            let mut bytes = shell();
            bytes[at..at + value.len()].copy_from_slice(value);
            entry(&bytes)
        };
        assert!(with(0, &0_i64.to_le_bytes()).is_some());
        assert_eq!(with(0, &(-1_i64).to_le_bytes()), None);
        assert_eq!(with(0, &i64::MAX.to_le_bytes()), None);
        assert_eq!(with(8, &1_000_000_i32.to_le_bytes()), None);
        assert_eq!(with(40, &(-1_i32).to_le_bytes()), None);
        assert_eq!(with(560, &(-1_i32).to_le_bytes()), None);
        // A name without an end.
        assert_eq!(with(243, &[b'a'; 17]), None);
        assert_eq!(entry(&shell()[..647]), None);
        assert_eq!(entry(&[shell(), vec![0]].concat()), None);
        assert_eq!(entry(b""), None);
    }

    #[test]
    fn a_list_is_whole_or_unknown() {
        let list = [shell(), raw(1, 0, 0, -1, 9, 2, b"launchd")].concat();
        let pids: Vec<u32> = entries(&list).unwrap().iter().map(|entry| entry.pid).collect();
        assert_eq!(pids, [4711, 1]);
        assert_eq!(entries(b""), Some(Vec::new()));
        assert_eq!(entries(&list[..list.len() - 1]), None);
        assert_eq!(entries(&[list, vec![0xFF; 648]].concat()), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..1400)) {
            let _ = entries(&bytes);
        }
    }
}
