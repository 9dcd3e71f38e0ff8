//! Clocks: the time as people set it; and milliseconds for marks and sessions, on one clock that goes on over restarts of the daemon and of the machine, and
//! never back. It must not know what is measured with it.

use std::time::SystemTime;

use castellan_files::of_system;

/// Bytes of the kernel's name of a boot: a UUID and a line's end.
const BOOT_BYTES_MAX: u64 = 64;

/// A time on the machine's clocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Which boot of the machine; empty when that cannot be told.
    pub(crate) boot: String,
    /// Milliseconds since then, those asleep too.
    pub(crate) boot_ms: u64,
    /// Milliseconds since 1970, as people set it.
    pub(crate) wall_ms: u64,
}

/// The clock of marks and sessions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    at_ms: u64,
    at_boot_ms: u64,
}

impl Moment {
    /// Now.
    pub(crate) fn read() -> Moment {
        let boot = of_system("/proc/sys/kernel/random/boot_id", BOOT_BYTES_MAX).unwrap_or_default();
        let wall = wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Moment {
            boot: String::from_utf8_lossy(&boot).trim().to_owned(),
            boot_ms: boot_ms(),
            wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Whether both are of one boot. Of boots that cannot be told apart it is not known, and they are not.
    pub(crate) fn is_of_boot(&self, boot: &str) -> bool {
        !boot.is_empty() && self.boot == boot
    }
}

impl Clock {
    /// A clock that shows `at_ms` at this moment.
    pub(crate) fn showing(at_ms: u64, moment: &Moment) -> Clock {
        Clock { at_ms, at_boot_ms: moment.boot_ms }
    }

    /// What a clock shows now that showed `at_ms` at a moment before. Over a boot it goes on by what people's clock says, and
    /// stands still where that was set back.
    pub(crate) fn going_on(at_ms: u64, before: &Moment, now: &Moment) -> Clock {
        let passed = if now.is_of_boot(&before.boot) {
            now.boot_ms.saturating_sub(before.boot_ms)
        } else {
            now.wall_ms.saturating_sub(before.wall_ms)
        };
        Clock::showing(at_ms.saturating_add(passed), now)
    }

    /// Whichever of two is ahead; both were read at the same moment.
    pub(crate) fn no_earlier(self, other: Clock) -> Clock {
        if other.at_ms > self.at_ms { other } else { self }
    }

    /// Milliseconds that it shows now.
    pub(crate) fn now_ms(&self) -> u64 {
        self.at_ms.saturating_add(boot_ms().saturating_sub(self.at_boot_ms))
    }
}

/// The time as people set it.
pub(crate) fn wall() -> SystemTime {
    shown(SystemTime::now())
}

/// What counts of a clock's time. One before 1970 is that of a machine whose clock nobody has set: it counts as 1970, as no format of a
/// time begins before.
fn shown(time: SystemTime) -> SystemTime {
    time.max(SystemTime::UNIX_EPOCH)
}

fn boot_ms() -> u64 {
    let boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(boot.tv_sec), u64::try_from(boot.tv_nsec));
    seconds.unwrap_or_default().saturating_mul(1000).saturating_add(nanos.unwrap_or_default() / 1_000_000)
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
            // The same boot: whatever people's clock says.
            (moment("a", 1700, 90_000), 5700),
            (moment("a", 1700, 10), 5700),
            // Another one.
            (moment("b", 30, 50_900), 5900),
            (moment("b", 30, 10), 5000),
            // Nobody knows whether it is.
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
