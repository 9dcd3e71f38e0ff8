//! Gaps: calls and events that hooks answered without a daemon. Hooks leave a line each; here they go into the log.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use castellan_wire::Home;

use crate::judge::Judge;
use crate::limits::GAPS_BYTES_MAX;
use crate::record;

/// One line of a hook: format version, unix milliseconds, agent, event, parent process id, what went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) time: SystemTime,
    pub(crate) agent: String,
    pub(crate) event: String,
    pub(crate) parent_pid: u32,
    pub(crate) failure: String,
}

/// Records the gaps that lie in a home, if any. A file that was taken away is read before it is removed: a crash between
/// the two records it twice rather than never.
pub(crate) fn collect(home: &Home, judge: &Judge) {
    let taken = home.run().join("gaps.taken");
    if !taken.exists() && std::fs::rename(home.gaps(), &taken).is_err() {
        return;
    }
    let Ok(text) = read(&taken) else { return };
    let recorded = text.lines().all(|line| {
        let gap = Gap::parse(line);
        judge.append(&record::gap(gap.as_ref(), line)).is_ok()
    });
    if recorded {
        let _ = std::fs::remove_file(&taken);
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(GAPS_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Gap {
    fn parse(line: &str) -> Option<Gap> {
        let fields: Vec<&str> = line.split(' ').collect();
        let [version, ms, agent, event, parent_pid, failure] = fields.try_into().ok()?;
        if version != "1" {
            return None;
        }
        Some(Gap {
            time: SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms.parse().ok()?))?,
            agent: agent.to_owned(),
            event: event.to_owned(),
            parent_pid: parent_pid.parse().ok()?,
            failure: failure.to_owned(),
        })
    }
}
