//! Clocks: the wall clock, and a clock in milliseconds for marks and sessions. The second never goes back; it continues
//! over restarts of the daemon and of the machine. This module must not know what is measured.

use std::time::SystemTime;

use crate::platform;

/// A time on the machine's clocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Id of the machine's boot; empty if it cannot be read.
    pub(crate) boot: String,
    /// Milliseconds since the boot, including suspended time.
    pub(crate) boot_ms: u64,
    /// Milliseconds since 1970 by the wall clock.
    pub(crate) wall_ms: u64,
}

/// The clock of marks and sessions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    at_ms: u64,
    at_boot_ms: u64,
}

impl Moment {
    pub(crate) fn read() -> Moment {
        let wall = wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Moment {
            boot: platform::boot_id().unwrap_or_default(),
            boot_ms: boot_ms(),
            wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Reports whether the moment and `boot` are of the same boot. An unknown boot never matches.
    pub(crate) fn is_of_boot(&self, boot: &str) -> bool {
        !boot.is_empty() && self.boot == boot
    }
}

impl Clock {
    /// Returns a clock that shows `at_ms` at this moment.
    pub(crate) fn showing(at_ms: u64, moment: &Moment) -> Clock {
        Clock { at_ms, at_boot_ms: moment.boot_ms }
    }

    /// Continues a clock that showed `at_ms` at an earlier moment. After a reboot it advances by the wall clock, and by
    /// nothing if the wall clock was set back.
    pub(crate) fn going_on(at_ms: u64, before: &Moment, now: &Moment) -> Clock {
        let passed = if now.is_of_boot(&before.boot) {
            now.boot_ms.saturating_sub(before.boot_ms)
        } else {
            now.wall_ms.saturating_sub(before.wall_ms)
        };
        Clock::showing(at_ms.saturating_add(passed), now)
    }

    /// Returns the later of two clocks that were read at the same moment.
    pub(crate) fn no_earlier(self, other: Clock) -> Clock {
        if other.at_ms > self.at_ms { other } else { self }
    }

    /// Returns the milliseconds that it shows now.
    pub(crate) fn now_ms(&self) -> u64 {
        self.at_ms.saturating_add(boot_ms().saturating_sub(self.at_boot_ms))
    }
}

/// Returns the wall clock's time.
pub(crate) fn wall() -> SystemTime {
    shown(SystemTime::now())
}

/// Milliseconds since 1970 by the wall clock.
pub(crate) fn unix_ms() -> i64 {
    let since = wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Replaces a time before 1970, from a clock that was never set, by 1970: no time format can represent it.
fn shown(time: SystemTime) -> SystemTime {
    time.max(SystemTime::UNIX_EPOCH)
}

/// Milliseconds since boot.
pub(crate) fn boot_ms() -> u64 {
    u64::try_from(platform::boot_time().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn moment(boot: &str, boot_ms: u64, wall_ms: u64) -> Moment {
        Moment { boot: boot.to_owned(), boot_ms, wall_ms }
    }

    #[test]
    fn the_clock_goes_on_over_a_boot_and_never_back() {
        let before = moment("a", 1000, 50_000);
        let cases = [
            // The same boot: the wall clock is ignored.
            (moment("a", 1700, 90_000), 5700),
            (moment("a", 1700, 10), 5700),
            // Another boot.
            (moment("b", 30, 50_900), 5900),
            (moment("b", 30, 10), 5000),
            // The boot is unknown.
            (moment("", 30, 50_900), 5900),
        ];
        for (now, expected) in cases {
            assert_eq!(Clock::going_on(5000, &before, &now).at_ms, expected, "{now:?}");
        }
        let unknown = moment("", 1000, 50_000);
        assert_eq!(Clock::going_on(5000, &unknown, &moment("", 1700, 50_100)).at_ms, 5100);
    }

    #[test]
    fn a_clock_that_nobody_has_set_shows_a_time_that_can_be_written() {
        let unix = SystemTime::UNIX_EPOCH;
        let ago = |seconds| unix - Duration::from_secs(seconds);
        for (time, expected) in [
            (ago(1), unix),
            (ago(86_400), unix),
            (ago(1 << 40), unix),
            (unix, unix),
            (unix + Duration::from_nanos(1), unix + Duration::from_nanos(1)),
        ] {
            assert_eq!(shown(time), expected, "{time:?}");
            assert!(
                humantime::format_rfc3339_millis(shown(time)).to_string().starts_with("1970-01-01T00:00:00")
            );
        }
    }

    #[test]
    fn it_runs_with_the_machine() {
        let clock = Clock::showing(7, &Moment::read());
        let first = clock.now_ms();
        assert!((7..7 + 60_000).contains(&first), "{first}");
        assert!(clock.now_ms() >= first);
    }
}
