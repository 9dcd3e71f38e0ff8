//! [`Outside`]: sends the copy of the log to the system's log, which programs of the user cannot change: journald, else
//! syslog. A send never waits. A line that cannot be sent waits for the next one, and for the housekeeping. It must not
//! know what a copy says.

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use castellan_audit::Copied;

use crate::control::OutsideStatus;
use crate::limits::OUTSIDE_WAITING_MAX;

/// The sockets, in the order in which they are tried. Fixed: an agent may have started the daemon, with its environment.
const PLACES: [(Form, &str); 2] =
    [(Form::Journal, "/run/systemd/journal/socket"), (Form::Syslog, "/dev/log")];

/// The protocol of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// journald's own: a field on each line.
    Journal,
    /// RFC 3164 without the time, which the receiver adds.
    Syslog,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Journal => "journald",
            Form::Syslog => "syslog",
        }
    }

    /// `line` has no line break. Denials are warnings, other lines are notices.
    fn datagram(self, line: &str, is_denial: bool) -> String {
        let priority: u32 = if is_denial { 4 } else { 5 };
        match self {
            Form::Journal => {
                format!("MESSAGE={line}\nPRIORITY={priority}\nSYSLOG_IDENTIFIER=castellan\n")
            }
            // The facility `user`.
            Form::Syslog => format!("<{}>castellan[{}]: {line}", 8 + priority, std::process::id()),
        }
    }
}

/// The system's log.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Empty if the copy is off.
    places: Vec<(Form, PathBuf)>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: Option<(Form, UnixDatagram)>,
    /// The socket that was open last; `None` if there never was one.
    last: Option<Form>,
    waiting: VecDeque<Line>,
    /// Lines that were dropped since the start.
    lost: u64,
    /// The reason why lines wait.
    problem: Option<String>,
    is_recorded: bool,
}

#[derive(Debug)]
struct Line {
    text: String,
    is_denial: bool,
}

impl Outside {
    pub(crate) fn new(is_on: bool) -> Outside {
        let places = PLACES.iter().map(|(form, path)| (*form, PathBuf::from(path)));
        Outside::at(if is_on { places.collect() } else { Vec::new() })
    }

    fn at(places: Vec<(Form, PathBuf)>) -> Outside {
        Outside { places, state: Mutex::default() }
    }

    /// Sends a copy, after those that wait. Returns at once.
    pub(crate) fn send(&self, copied: &Copied) {
        if self.places.is_empty() {
            return;
        }
        let mut state = self.state();
        if state.waiting.len() >= OUTSIDE_WAITING_MAX {
            state.waiting.pop_front();
            state.lost = state.lost.saturating_add(1);
        }
        let is_denial = copied.verdict() == "deny";
        state.waiting.push_back(Line { text: copied.to_line(), is_denial });
        self.flush(&mut state);
    }

    /// Sends what waits. Returns a problem that is not recorded yet, once in the life of the daemon.
    pub(crate) fn retry(&self) -> Option<String> {
        let mut state = self.state();
        self.flush(&mut state);
        let problem = state.problem.clone().filter(|_| !state.is_recorded)?;
        state.is_recorded = true;
        Some(problem)
    }

    pub(crate) fn status(&self) -> OutsideStatus {
        let state = self.state();
        let to = match state.last {
            _ if self.places.is_empty() => "off",
            None => "none",
            Some(form) => form.name(),
        };
        OutsideStatus {
            to: to.to_owned(),
            problem: state.problem.clone().unwrap_or_default(),
            waiting: state.waiting.len(),
            lost: state.lost,
        }
    }

    fn flush(&self, state: &mut State) {
        // The receiver may have begun again since the last line: then the first attempt fails.
        for _attempt in 0..2 {
            if state.open.is_none() && !state.waiting.is_empty() {
                match self.connect() {
                    Ok(Some((form, socket))) => {
                        state.last = Some(form);
                        state.open = Some((form, socket));
                    }
                    // This machine has none of them: there is no copy.
                    Ok(None) if state.last.is_none() => state.waiting.clear(),
                    Ok(None) => state.problem = Some("its socket is gone".to_owned()),
                    Err(why) => state.problem = Some(why),
                }
            }
            let Some((form, socket)) = &state.open else { return };
            let sent = send_all(*form, socket, &mut state.waiting);
            match sent {
                Ok(()) => {
                    state.problem = None;
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    state.problem = Some(format!("{} does not read its socket", form.name()));
                    return;
                }
                Err(error) => {
                    state.problem = Some(format!("{} does not take lines: {error}", form.name()));
                    state.open = None;
                }
            }
        }
    }

    /// Returns the first socket that exists.
    fn connect(&self) -> Result<Option<(Form, UnixDatagram)>, String> {
        for (form, path) in &self.places {
            match open(path) {
                Ok(socket) => return Ok(Some((*form, socket))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(format!("{} does not take lines: {error}", form.name())),
            }
        }
        Ok(None)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open(path: &Path) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    socket.connect(path)?;
    Ok(socket)
}

/// Sends lines until none is left or one fails, which stays.
fn send_all(form: Form, socket: &UnixDatagram, waiting: &mut VecDeque<Line>) -> io::Result<()> {
    while let Some(Line { text, is_denial }) = waiting.front() {
        socket.send(form.datagram(text, *is_denial).as_bytes())?;
        waiting.pop_front();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
