//! [`Stamp`]: time and host of alerts.

/// Time and machine of alerts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Nanoseconds since 1970.
    pub unix_ns: u64,
    /// The same time as `YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ`.
    pub rfc3339: String,
    /// The machine's name.
    pub hostname: String,
}

impl Stamp {
    /// Returns `HH:MM:SS.nnnnnnnnn` in UTC, as everywhere; Falco prints local time here.
    pub(crate) fn time_of_day(&self) -> &str {
        let time = self.rfc3339.split_once('T').map_or(self.rfc3339.as_str(), |(_, time)| time);
        time.trim_end_matches('Z')
    }
}
