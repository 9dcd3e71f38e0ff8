//! Times as people write and read them: local, with the offset of the time zone. JSON has RFC 3339 in UTC, and local
//! days.

use std::time::{Duration, SystemTime};

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};

/// Forms of a time that [`parse`] reads, for error messages and help texts.
const FORMS: &str = "`2h`, `today`, `yesterday`, `2026-11-20`, `2026-11-20 14:00` or `2026-11-20T13:00:00Z`";

/// Parses a point in time. A day is its first second. A time without a zone is local.
pub(crate) fn parse(text: &str) -> Result<SystemTime, String> {
    parse_at(&zoned(SystemTime::now()), text)
}

fn parse_at(now: &ZonedDateTime, text: &str) -> Result<SystemTime, String> {
    let found = match text.trim().to_lowercase().as_str() {
        "today" => now.start_of_day().ok(),
        "yesterday" => now.yesterday().and_then(|day| day.start_of_day()).ok(),
        _ => absolute(now.time_zone(), text.trim()),
    };
    let found = found.and_then(|time| SystemTime::try_from(time).ok());
    let time = found.or_else(|| before(SystemTime::try_from(now).ok()?, text.trim()));
    time.ok_or_else(|| format!("`{text}` is no time: write {FORMS}"))
}

/// Parses a date, with or without a time and an offset.
fn absolute(zone: &TimeZone, text: &str) -> Option<ZonedDateTime> {
    // castellan shows times with a blank before the offset, which RFC 3339 does not have.
    let joined = text.replace(" +", "+").replace(" -", "-");
    if let Ok(time) = joined.parse::<Timestamp>() {
        return Some(time.to_zoned_datetime(zone.clone()));
    }
    text.parse::<DateTime>().ok()?.to_zoned_datetime(zone.clone()).ok()
}

/// Parses a duration before now.
fn before(now: SystemTime, text: &str) -> Option<SystemTime> {
    let ago = humantime::parse_duration(text).ok().filter(|ago| *ago > Duration::ZERO)?;
    now.checked_sub(ago)
}

/// Formats a time for people: `2026-01-31 13:00:00 +01:00`.
pub(crate) fn local(time: SystemTime) -> String {
    zoned(time).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

/// Formats a time without year and seconds: `01-31 13:00 +01:00`.
pub(crate) fn local_minute(time: SystemTime) -> String {
    zoned(time).strftime("%m-%d %H:%M %:z").to_string()
}

/// Formats a time in few columns: `01-31 13:00`.
pub(crate) fn local_brief(time: SystemTime) -> String {
    zoned(time).strftime("%m-%d %H:%M").to_string()
}

/// Returns the local time. A time beyond jiff's range (year 9999) becomes the last one in it.
fn zoned(time: SystemTime) -> ZonedDateTime {
    Timestamp::try_from(time).unwrap_or(Timestamp::MAX).to_zoned_datetime(TimeZone::system())
}

/// Formats a time in UTC to the second, for JSON.
pub(crate) fn utc(time: SystemTime) -> String {
    // The formatter accepts no time before 1970. A machine without a set clock may have one.
    humantime::format_rfc3339_seconds(time.max(SystemTime::UNIX_EPOCH)).to_string()
}

/// Returns the local day of a time. It is shown as `2026-01-31`.
pub(crate) fn local_day(time: SystemTime) -> Date {
    zoned(time).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses at 2026-11-22 10:30 in a zone two hours ahead of UTC.
    fn check(text: &str, expected: Result<&str, &str>) {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now = "2026-11-22T08:30:00Z".parse::<Timestamp>().unwrap().to_zoned_datetime(zone);
        let got = parse_at(&now, text).map(utc);
        match (&got, expected) {
            (Ok(time), Ok(expected)) => assert_eq!(time, expected, "{text}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{text}: {error}"),
            _ => panic!("{text}: {got:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn times_are_absolute_or_named_or_ago() {
        for (text, expected) in [
            ("2026-11-20T14:00:00Z", "2026-11-20T14:00:00Z"),
            ("2026-11-20T14:00:00+02:00", "2026-11-20T12:00:00Z"),
            ("2026-11-20 14:00:00 +02:00", "2026-11-20T12:00:00Z"),
            ("2026-11-20 14:00:00 -05:30", "2026-11-20T19:30:00Z"),
            ("2026-11-20", "2026-11-19T22:00:00Z"),
            ("2026-11-20 14:00", "2026-11-20T12:00:00Z"),
            ("2026-11-20T14:00:30", "2026-11-20T12:00:30Z"),
            ("today", "2026-11-21T22:00:00Z"),
            ("Yesterday", "2026-11-20T22:00:00Z"),
            ("2h", "2026-11-22T06:30:00Z"),
            ("1h30m", "2026-11-22T07:00:00Z"),
            (" 7d ", "2026-11-15T08:30:00Z"),
        ] {
            check(text, Ok(expected));
        }
    }

    #[test]
    fn other_texts_are_no_times_and_the_error_names_the_forms() {
        for text in ["", "0s", "tomorrow", "2026-13-01", "2026-11-20 25:00", "-2h", "99999999999999y"] {
            check(text, Err("is no time: write `2h`, `today`"));
        }
    }

    #[test]
    fn any_time_of_a_machine_can_be_shown() {
        for ago in [1, 86_400, 691_200] {
            let time = SystemTime::UNIX_EPOCH - Duration::from_secs(ago);
            assert_eq!(utc(time), "1970-01-01T00:00:00Z");
            assert!(local(time).starts_with(&local_day(time).to_string()), "{}", local(time));
        }
        let late = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert!(local(late).starts_with("9999-12-3"), "{}", local(late));
    }
}
