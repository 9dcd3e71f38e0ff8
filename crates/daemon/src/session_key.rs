//! [`SessionKey`].

/// Key of an agent's session, shared with its sub-agents: SHA-256 over agent and session id. Merged sessions use the
/// key of one of them: their *root*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SessionKey(pub(crate) [u8; 32]);
