//! [`EngineError`]: the reason why Falco's answer about a call is not known.

use castellan_rows::{EncodeError, SendError};

/// The reason why the rules that match a call are not known. The call must then be denied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The rows cannot be sent.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// Falco does not take rows.
    #[error("Falco did not take the call: {0}")]
    Send(#[from] SendError),
    /// Falco has not reported all rows in time.
    #[error("Falco has not judged {missing} of {rows} rows in time")]
    Late {
        /// Rows without a report.
        missing: usize,
        /// Rows of the call.
        rows: usize,
    },
    /// Falco ended, or its plugin disconnected, before all rows were reported.
    #[error("Falco ended before it had judged the call")]
    Lost,
    /// Two reports on one row differ, or a report names an unknown rule.
    #[error("Falco's reports on the call contradict each other")]
    Contradiction,
    /// Falco's configuration keeps it from the test of all rules.
    #[error(
        "Falco does not test {missing} of {rules} rules: another part of its configuration disables or replaces them, or \
         orders them anew"
    )]
    Rules {
        /// Rules that Falco does not test before it reports a row.
        missing: usize,
        /// Enabled rules.
        rules: usize,
    },
    /// Falco has not shown in time that it tests all rules.
    #[error("Falco is connected, but has not shown in time that it tests all rules")]
    Unready,
    /// Too many rows wait.
    #[error("too many calls wait for Falco")]
    Full,
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    Random,
}
