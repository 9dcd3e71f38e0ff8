//! L1: a *reader* looks at files and processes with the rights of one user, for a daemon that runs as another user. Both
//! ends of its protocol are here, and the program `castellan-reader` is the one end.
//!
//! The reader answers questions about paths and changes nothing: it opens for reading, reads links, and reports whether
//! the user may execute a file. It knows no rule, no call and no secret. The crate must not know the reason of a question.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod asking;
mod descriptor;
mod limits;
mod message;
mod serving;
mod users;

pub use asking::{Gone, Reader};
pub use message::Sort;
pub use serving::serve;
pub use users::user_named;
