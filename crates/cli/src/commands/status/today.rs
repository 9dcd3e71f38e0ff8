//! [`Today`]: the calls of this local day.

use std::time::{Duration, SystemTime};

use castellan_daemon::{QuarterCalls, StatusReport, VerdictCounts};
use jiff::civil::Date;

use crate::times::local_day;

/// The calls of a local day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Today {
    pub(super) calls: VerdictCounts,
    /// False if earlier calls of the day may be missing.
    pub(super) is_whole: bool,
}

impl Today {
    /// Sums the calls of the day of `now`.
    pub(super) fn of(status: &StatusReport, now: SystemTime) -> Today {
        Today::on(local_day(now), status, local_day)
    }

    fn on(day: Date, status: &StatusReport, day_of: impl Fn(SystemTime) -> Date) -> Today {
        let mut calls = VerdictCounts::default();
        let begin =
            |quarter: &QuarterCalls| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(quarter.begin_s));
        let is_today = |quarter: &&QuarterCalls| begin(quarter).is_some_and(|time| day_of(time) == day);
        for QuarterCalls { calls: of_quarter, .. } in status.recent.quarters.iter().filter(is_today) {
            calls.deny = calls.deny.saturating_add(of_quarter.deny);
            calls.ask = calls.ask.saturating_add(of_quarter.ask);
            calls.allow = calls.allow.saturating_add(of_quarter.allow);
            calls.defer = calls.defer.saturating_add(of_quarter.defer);
        }
        Today { calls, is_whole: status.recent.is_whole }
    }

    /// Returns the counts for people.
    pub(super) fn text(&self) -> String {
        let VerdictCounts { deny, ask, allow, defer } = self.calls;
        let at_least = if self.is_whole { "" } else { "at least " };
        format!("{at_least}{deny} denied, {ask} asked, {allow} allowed, {defer} left to the agent")
    }
}

#[cfg(test)]
mod tests {
    use castellan_daemon::RecentCalls;
    use jiff::Timestamp;
    use jiff::tz::{TimeZone, offset};

    use super::*;

    #[test]
    fn the_day_begins_at_local_midnight() {
        let at = |time: &str| time.parse::<Timestamp>().unwrap().as_second().unsigned_abs();
        let quarter = |time: &str, deny| QuarterCalls {
            begin_s: at(time),
            calls: VerdictCounts { deny, ..VerdictCounts::default() },
        };
        // Two hours ahead of UTC, the day begins at 22:00.
        let quarters = vec![
            quarter("2026-11-21T21:45:00Z", 1),
            quarter("2026-11-21T22:00:00Z", 10),
            quarter("2026-11-22T21:45:00Z", 100),
            quarter("2026-11-22T22:00:00Z", 1000),
        ];
        let status =
            StatusReport { recent: RecentCalls { is_whole: false, quarters }, ..StatusReport::default() };
        let zone = TimeZone::fixed(offset(2));
        let day_of = |time| Timestamp::try_from(time).unwrap().to_zoned_datetime(zone.clone()).date();
        let today = Today::on("2026-11-22".parse().unwrap(), &status, day_of);
        assert_eq!(today.calls.deny, 110);
        assert_eq!(today.text(), "at least 110 denied, 0 asked, 0 allowed, 0 left to the agent");
    }
}
