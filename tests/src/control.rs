//! The control socket, spoken directly: a program that does not use `castellan`. The daemon takes this test for the
//! requesting process. It must not know the meaning of a request.

use std::os::unix::net::UnixStream;

use anyhow::{Context, Result};
use castellan_wire::{CONTROL_BYTES_MAX, Kind, connect, read_frame, write_frame};
use serde_json::{Value as Json, json};

use crate::home::Home;

/// Version of the control protocol.
const VERSION: u32 = 2;

/// Sends a request from this process. Returns the response.
pub fn ask(home: &Home, body: &Json) -> Result<Json> {
    answer(&mut begin(home)?, body)
}

/// Connects to the control socket.
pub fn begin(home: &Home) -> Result<UnixStream> {
    let home = castellan_wire::Home::new(home.castellan()).context("a relative home")?;
    Ok(connect(&home.control_socket())?)
}

/// Sends a request over a connection. Returns the response.
pub fn answer(stream: &mut UnixStream, body: &Json) -> Result<Json> {
    let request = json!({ "version": VERSION, "body": body });
    write_frame(stream, Kind::Control, request.to_string().as_bytes())?;
    let response: Json = serde_json::from_slice(&read_frame(stream, CONTROL_BYTES_MAX)?.body)?;
    response.get("body").cloned().with_context(|| format!("no body: {response}"))
}
