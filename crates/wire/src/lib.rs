//! L0: the protocol between `castellan-hook` and the daemon: one frame out, one reply (or holds, then a reply) back.
//!
//! A frame is `CSTL`, a version, a kind, a length and a body. All numbers are little endian, and all sizes have limits.
//! The crate knows no agent, no rule and no JSON, and uses nothing but `std`, because the hook links it.

mod frame;
mod gap;
mod home;
mod home_argument;
mod limits;
mod message;
mod users;

pub use frame::{Announced, Frame, Kind, VERSION, WireError, read_frame, write_frame};
pub use gap::Gap;
pub use home::{
    DAEMON_ALREADY_RUNS, DAEMON_ENVIRONMENT, Home, SYSTEM_HOMES, SYSTEM_RUN, bind, connect, with_short_path,
};
pub use home_argument::HomeArgument;
pub use limits::{
    CONTROL_BYTES_MAX, FRAME_BYTES_MAX, GAPS_BYTES_MAX, HOLD_MS_MAX, PAYLOAD_BYTES_MAX, REPLY_BYTES_MAX,
};
pub use message::{Hold, Reply, Request};
pub use users::USER_FILES;
