//! [`Start`]: arguments and environment of a process, from the answer to `sysctl` `KERN_PROCARGS2`.
//!
//! The answer is a copy of the top of the process's stack: the number of arguments (4 bytes), the executed path, NULs, the
//! arguments, the environment, NULs, and strings of the system such as `ptr_munge=`. Each string ends with a NUL. The
//! kernel leaves the environment out for programs of the system that must not be inspected.

use crate::bytes::i32_at;
use crate::limits::START_BYTES_MAX;

/// Names of the system's strings (xnu, `exec_add_apple_strings`). An answer with no other string behind the arguments holds
/// no environment. A name that is missing here makes such an environment known and empty.
const SYSTEMS: &[&str] = &[
    "MallocNanoZone",
    "arm64e_abi",
    "dyld_file",
    "dyld_flags",
    "executable_boothash",
    "executable_cdhash",
    "executable_file",
    "executable_path",
    "main_stack",
    "malloc_entropy",
    "pfz",
    "ptr_munge",
    "security_config",
    "stack_guard",
    "stack_logging",
    "subsystem_root_path",
    "th_port",
];

/// The start of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The arguments, the program's own name first.
    pub arguments: Vec<Vec<u8>>,
    /// The entries `NAME=value`, with the strings of the system: nothing marks the border between them reliably. `None` when
    /// the answer holds none: an empty environment and one that the kernel withholds look the same.
    pub environment: Option<Vec<Vec<u8>>>,
}

/// Reads an answer; `None` if it has another form, or more bytes than a start can have.
pub fn start(bytes: &[u8]) -> Option<Start> {
    if bytes.len() > START_BYTES_MAX {
        return None;
    }
    let count = usize::try_from(i32_at(bytes, 0)?).ok()?;
    let (_path, rest) = string(bytes.get(4..)?)?;
    let padding = rest.iter().take_while(|byte| **byte == 0).count();
    let mut rest = rest.get(padding..)?;
    let mut arguments = Vec::new();
    for _ in 0..count {
        let (argument, after) = string(rest)?;
        arguments.push(argument.to_vec());
        rest = after;
    }
    Some(Start { arguments, environment: environment(rest) })
}

/// Reads every string up to the end. An empty string is no end: a process can set one to hide the entries behind it.
fn environment(mut rest: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (entry, after) = string(rest)?;
        if !entry.is_empty() {
            entries.push(entry.to_vec());
        }
        rest = after;
    }
    entries.iter().any(|entry| !is_systems(entry)).then_some(entries)
}

fn is_systems(entry: &[u8]) -> bool {
    let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
    SYSTEMS.iter().any(|systems| systems.as_bytes() == name)
}

/// Splits at the first NUL; `None` without one.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((bytes.get(..end)?, bytes.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raw(count: i32, rest: &str) -> Vec<u8> {
        [&count.to_le_bytes(), rest.as_bytes()].concat()
    }

    /// `|` is a NUL in `rest` and separates strings in the expected texts; `-` is an unknown environment.
    fn check(count: i32, rest: &str, expected: Option<(&str, &str)>) {
        let joined = |strings: &[Vec<u8>]| {
            strings.iter().map(|one| String::from_utf8_lossy(one).into_owned()).collect::<Vec<_>>().join("|")
        };
        let found = start(&raw(count, &rest.replace('|', "\0"))).map(|found| {
            let environment = found.environment.map_or("-".to_owned(), |entries| joined(&entries));
            (joined(&found.arguments), environment)
        });
        let expected =
            expected.map(|(arguments, environment)| (arguments.to_owned(), environment.to_owned()));
        assert_eq!(found, expected, "{count} {rest}");
    }

    /// Behind the environment: the strings of the system.
    const SYSTEM: &str = "|||ptr_munge=|main_stack=|";

    #[test]
    fn arguments_and_environment_are_those_of_the_start() {
        check(
            3,
            &format!("/bin/zsh|||||-zsh|-c|echo a  b|HOME=/Users/ada|A=|{SYSTEM}"),
            Some(("-zsh|-c|echo a  b", "HOME=/Users/ada|A=|ptr_munge=|main_stack=")),
        );
        check(1, "/bin/zsh|zsh|HOME=/|", Some(("zsh", "HOME=/")));
        check(1, "/bin/zsh|zsh|HOME=/||||", Some(("zsh", "HOME=/")));
        // An empty argument in the middle and at the end.
        check(3, "/bin/zsh||zsh|||HOME=/|", Some(("zsh||", "HOME=/")));
    }

    #[test]
    fn a_withheld_environment_is_unknown_and_not_empty() {
        check(1, &format!("/sbin/launchd||launchd|{SYSTEM}"), Some(("launchd", "-")));
        check(1, "/sbin/launchd||launchd|", Some(("launchd", "-")));
        check(1, "/sbin/launchd||launchd||||", Some(("launchd", "-")));
    }

    /// A process starts an agent with an empty entry, or one with the name of a string of the system, to hide others.
    #[test]
    fn no_entry_hides_the_ones_behind_it() {
        let hidden = "DYLD_INSERT_LIBRARIES=/e.dylib";
        check(1, &format!("/x|x|A=1||{hidden}|"), Some(("x", &format!("A=1|{hidden}"))));
        check(1, &format!("/x|x||{hidden}|"), Some(("x", hidden)));
        check(1, &format!("/x|x|ptr_munge=|{hidden}|"), Some(("x", &format!("ptr_munge=|{hidden}"))));
        // An entry without an end: the answer was cut.
        check(1, "/x|x|A=1|B=no end", Some(("x", "-")));
    }

    #[test]
    fn other_bytes_are_no_start() {
        check(-1, "/x|x|", None);
        check(2, "/x|x|", None);
        check(i32::MAX, "/x|x|", None);
        check(1, "/x", None);
        check(1, "/x|||||", None);
        assert_eq!(start(b""), None);
        assert_eq!(start(b"\x01\0\0"), None);
        let long = raw(1, &format!("/x\0x\0{}\0", "a".repeat(START_BYTES_MAX)));
        assert_eq!(start(&long), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400), count in 0_u8..6) {
            let _ = start(&bytes);
            let _ = start(&[&[count, 0, 0, 0], bytes.as_slice()].concat());
        }

        #[test]
        fn a_start_is_read_as_it_was_written(
            arguments in proptest::collection::vec("[a-z ]{1,9}", 1..6),
            variables in proptest::collection::vec("[A-Z]{1,4}=[a-z]{0,9}", 1..6),
        ) {
            let strings = |all: &[String]| all.iter().map(|one| format!("{one}|")).collect::<String>();
            let text = format!("/bin/x|||{}{}", strings(&arguments), strings(&variables));
            let found = start(&raw(arguments.len() as i32, &text.replace('|', "\0"))).unwrap();
            let bytes = |all: &[String]| all.iter().map(|one| one.clone().into_bytes()).collect::<Vec<_>>();
            prop_assert_eq!(found.arguments, bytes(&arguments));
            prop_assert_eq!(found.environment, Some(bytes(&variables)));
        }
    }
}
