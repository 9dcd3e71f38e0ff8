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

/// Returns the line of the record. The parts that are not enforced come first and in full, because a record has a limit;
/// parts of one kind that are enforced become a number.
pub(crate) fn record(report: &Report) -> String {
    let missing: Vec<String> = report
        .missing()
        .map(|item| format!("{} {}", name(item.aspect), item.requested).trim_end().to_owned())
        .collect();
    let mut enforced: Vec<(Aspect, Vec<&str>)> = Vec::new();
    for item in report.items.iter().filter(|item| item.enforced) {
        match enforced.iter_mut().find(|(aspect, _)| *aspect == item.aspect) {
            Some((_, requested)) => requested.push(&item.requested),
            None => enforced.push((item.aspect, vec![&item.requested])),
        }
    }
    let counted = enforced.iter().map(|(aspect, requested)| match &requested[..] {
        [one] => format!("{} {one}", name(*aspect)).trim_end().to_owned(),
        several => format!("{} ({} paths)", name(*aspect), several.len()),
    });
    let enforced = counted.collect::<Vec<_>>().join(", ");
    match missing.is_empty() {
        true => printable(&format!("all enforced: {enforced}")),
        false => printable(&format!("not enforced: {}; enforced: {enforced}", missing.join(", "))),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn item(aspect: Aspect, requested: &str, enforced: bool) -> Item {
        Item { aspect, requested: requested.to_owned(), enforced, how: "h".to_owned() }
    }

    #[test]
    fn a_record_is_one_line_that_names_first_what_is_missing() {
        let mut report = Report {
            items: vec![
                item(Aspect::Writes, "/w", true),
                item(Aspect::Protected, "/w/.git", true),
                item(Aspect::Secret, "/h/.ssh", true),
                item(Aspect::Secret, "/h/.netrc", true),
                item(Aspect::Network, "hosts", true),
            ],
        };
        assert_eq!(
            record(&report),
            "all enforced: limited writes /w, read-only /w/.git, unreadable (2 paths), network hosts"
        );
        report.items.push(item(Aspect::Secret, "/h/a\nb", false));
        report.items.push(item(Aspect::Terminal, "", false));
        let text = record(&report);
        assert!(text.starts_with("not enforced: unreadable /h/a"), "{text}");
        assert!(text.contains(", terminal; enforced: limited writes /w"), "{text}");
        assert!(!text.contains('\n'), "{text}");
    }
}
