//! The note for the agent after a contained command failed: what was blocked, and what to do. The command's own messages often
//! hide the reason of a failure.

use super::Ran;
use crate::limits::CLOSED_NAMED_MAX;
use crate::output::printable;

/// Returns the note.
pub(super) fn note(ran: &Ran) -> String {
    let hosts = ran.run.hosts.join(", ");
    let network = match (ran.unreachable > 0, hosts.as_str()) {
        (true, "") => "castellan blocked its network: it tried to reach a host, and none is open to it. Work without the \
                       network, or tell the user which host is needed and why"
            .to_owned(),
        (true, hosts) => format!(
            "castellan blocked a part of its network: it tried to reach another host than {hosts}. Tell the user which host \
             is needed and why"
        ),
        (false, "") => "it has no network".to_owned(),
        (false, hosts) => format!("it reaches only {hosts}"),
    };
    let workspace = printable(&ran.run.workspace);
    let kept = named(&ran.closed.kept, "there not");
    let hidden = named(&ran.closed.hidden, "of the workspace not");
    format!(
        "castellan contained this command: {network}. It writes only in {workspace}{kept}, and reads no keys and logins\
         {hidden}. If it failed for a file, tell the user which one is needed and why"
    )
}

/// Names the first paths.
fn named(paths: &[String], words: &str) -> String {
    let first: Vec<String> = paths.iter().take(CLOSED_NAMED_MAX).map(|path| printable(path)).collect();
    match (first.is_empty(), paths.len().saturating_sub(first.len())) {
        (true, _) => String::new(),
        (false, 0) => format!(", {words} {}", first.join(", ")),
        (false, more) => format!(", {words} {} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Closed;

    #[test]
    fn the_note_names_what_was_blocked() {
        let check = |hosts: &[&str], closed: (&[&str], &[&str]), unreachable, expected: &str| {
            let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
            let run = castellan_daemon::ContainedRun {
                command: String::new(),
                workspace: "/w".to_owned(),
                user_home: String::new(),
                other_homes: Vec::new(),
                tools: Vec::new(),
                hosts: list(hosts),
                environment: Vec::new(),
                capabilities: castellan_sandbox::Capabilities::none(),
            };
            let closed = Closed { kept: list(closed.0), hidden: list(closed.1) };
            let note = note(&Ran { run, code: 1, directory: None, closed, unreachable });
            assert_eq!(note, format!("castellan contained this command: {expected} is needed and why"));
        };
        let file = "It writes only in /w, and reads no keys and logins. If it failed for a file, tell the user which one";
        check(&[], (&[], &[]), 0, &format!("it has no network. {file}"));
        check(
            &["a.example", "b.example"],
            (&[], &[]),
            0,
            &format!("it reaches only a.example, b.example. {file}"),
        );
        check(
            &[],
            (&[], &[]),
            2,
            &format!(
                "castellan blocked its network: it tried to reach a host, and none is open to it. Work without the network, \
                 or tell the user which host is needed and why. {file}"
            ),
        );
        check(
            &["a.example"],
            (&[], &[]),
            1,
            &format!(
                "castellan blocked a part of its network: it tried to reach another host than a.example. Tell the user which \
                 host is needed and why. {file}"
            ),
        );
        check(
            &[],
            (&[".git", ".vs\u{7}code"], &[".env"]),
            0,
            "it has no network. It writes only in /w, there not .git, .vs\\u{7}code, and reads no keys and logins, of the \
             workspace not .env. If it failed for a file, tell the user which one",
        );
        let many: Vec<String> = (0..CLOSED_NAMED_MAX + 2).map(|number| number.to_string()).collect();
        assert!(named(&many, "not").ends_with(" and 2 more"));
    }
}
