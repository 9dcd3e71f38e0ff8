//! [`ViolationRow`]: a line of `plan_violations.jsonl`, as nous (at dc24006) writes it, with castellan's own kinds. It
//! must not know files.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::departure::{Departure, DepartureKind};

/// A line of the log. castellan fills in the nearest arm and logs blocks too, unlike nous.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ViolationRow {
    /// ISO 8601 in UTC, with `+00:00`.
    pub timestamp: String,
    /// The kind.
    pub kind: RowKind,
    /// The whole text of the command.
    pub command: String,
    /// The nearest arm or step; empty if there is none.
    pub arm: String,
    /// The decision.
    pub decision: Outcome,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// The command has the marker `ad-hoc`.
    AdHoc,
    /// A departure; a program or arguments outside of the plan are `unplanned`, as nous writes them.
    Departure(DepartureKind),
}

/// The decision about a departure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The call runs, and the line is the only consequence.
    Warn,
    /// The call does not run.
    Block,
    /// A person is asked.
    Ask,
    /// The call runs, because a person allowed it.
    Allow,
}

impl RowKind {
    /// Returns the word of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            RowKind::AdHoc => "ad-hoc",
            RowKind::Departure(DepartureKind::Command | DepartureKind::Arguments) => "unplanned",
            RowKind::Departure(kind) => kind.as_str(),
        }
    }
}

impl Serialize for RowKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl ViolationRow {
    /// Builds the line of a departure. `now_ms`: Unix milliseconds.
    pub fn of(departure: &Departure, command: &str, decision: Outcome, now_ms: i64) -> ViolationRow {
        let arm = departure.nearest.as_deref().unwrap_or_default();
        row(RowKind::Departure(departure.kind), command, arm, decision, now_ms)
    }

    /// Builds the line of a command with the marker. `departures`: those of the command; the first with an arm names it.
    pub fn ad_hoc(departures: &[Departure], command: &str, decision: Outcome, now_ms: i64) -> ViolationRow {
        let arm = departures.iter().find_map(|departure| departure.nearest.as_deref()).unwrap_or_default();
        row(RowKind::AdHoc, command, arm, decision, now_ms)
    }

    /// Returns the line of JSON, without a line break at its end.
    pub fn line(&self) -> String {
        // Texts and words always have a form in JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn row(kind: RowKind, command: &str, arm: &str, decision: Outcome, now_ms: i64) -> ViolationRow {
    let time = Timestamp::from_millisecond(now_ms).unwrap_or_default();
    let timestamp = time.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string();
    ViolationRow { timestamp, kind, command: command.to_owned(), arm: arm.to_owned(), decision }
}
