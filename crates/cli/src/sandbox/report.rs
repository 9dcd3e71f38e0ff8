//! What the kernel enforces of a sandbox, for people.

use std::io;

use castellan_sandbox::{Aspect, Item, Report};

use crate::output::{WARNING, printable, write_messages};

/// Warns of the parts that the kernel does not enforce.
pub(crate) fn warn_of_missing(report: &Report) -> io::Result<()> {
    lines(&missing(report))
        .iter()
        .try_for_each(|line| write_messages(&mut anstream::stderr(), WARNING, &[line]))
}

/// Returns a line for each part of a sandbox.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    let line = |item: &Item| {
        let mark = if item.enforced { "enforced" } else { "not enforced" };
        let requested =
            if item.requested.is_empty() { String::new() } else { format!(" {}", item.requested) };
        printable(&format!("{mark:<12}  {}{requested}: {}", name(item.aspect), item.how))
    };
    report.items.iter().map(line).collect()
}

/// Returns the text of the record: the parts that are not enforced first, because a record has a limit.
pub(crate) fn record(report: &Report) -> String {
    let (enforced, missing): (Vec<&Item>, Vec<&Item>) = report.items.iter().partition(|item| item.enforced);
    let named = |items: &[&Item]| {
        let texts: Vec<String> = items
            .iter()
            .map(|item| format!("{} {}", name(item.aspect), item.requested).trim_end().to_owned())
            .collect();
        if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
    };
    format!("not enforced: {}; enforced: {}", named(&missing), named(&enforced))
}

/// Returns the parts that the kernel does not enforce.
pub(super) fn missing(report: &Report) -> Report {
    Report { items: report.missing().cloned().collect() }
}

fn name(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Writes => "limited writes",
        Aspect::Reads => "limited reads",
        Aspect::Protected => "read-only",
        Aspect::Secret => "unreadable",
        Aspect::Socket => "unreachable",
        Aspect::Devices => "devices",
        Aspect::PrivateTmp => "private /tmp",
        Aspect::Processes => "other processes",
        Aspect::End => "end of all processes",
        Aspect::Network => "network",
        Aspect::Privileges => "no privileges",
        Aspect::SystemCalls => "system calls",
        Aspect::Terminal => "terminal",
        Aspect::ProcessLimit => "limit of processes",
        Aspect::MemoryLimit => "limit of memory",
        Aspect::CpuLimit => "limit of computing",
        Aspect::FileLimit => "limit of file size",
        Aspect::OpenFilesLimit => "limit of open files",
        Aspect::TimeLimit => "limit of time",
        Aspect::SpaceLimit => "limit of private space",
    }
}
