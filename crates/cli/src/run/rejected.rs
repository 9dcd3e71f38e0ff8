//! [`Rejected`]: the error of a command line.

/// The command line asks for something that `run` does not do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Rejected(pub(crate) String);
