//! Signals that a person or a program sends to `castellan run`: the agent gets them. A signal of the terminal already
//! reaches the agent, which is in the same process group.

use std::io;
use std::thread;

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

/// The signals, and true for those that a terminal sends to the whole group.
const FORWARDED: &[(i32, Signal, bool)] = &[
    (SIGHUP, Signal::HUP, false),
    (SIGINT, Signal::INT, true),
    (SIGQUIT, Signal::QUIT, true),
    (SIGTERM, Signal::TERM, false),
    (SIGUSR1, Signal::USR1, false),
    (SIGUSR2, Signal::USR2, false),
];

/// Catches the signals. Until [`Caught::forward`] they wait.
pub(crate) fn catch() -> io::Result<Caught> {
    Ok(Caught(Signals::new(FORWARDED.iter().map(|(number, ..)| *number))?))
}

/// Signals that end no process here any more.
#[derive(Debug)]
pub(crate) struct Caught(Signals);

impl Caught {
    /// Sends each caught signal to the agent, on a thread, as long as this process lives.
    pub(crate) fn forward(mut self, agent: Pid) -> io::Result<()> {
        let forward = move || {
            for number in self.0.forever() {
                let known = FORWARDED.iter().find(|(known, ..)| *known == number);
                if let Some((_, signal, is_terminals)) = known
                    && !(*is_terminals && is_in_foreground())
                {
                    let _ended_already = kill_process(agent, *signal);
                }
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(forward).map(drop)
    }
}

/// Reports whether a terminal sends its signals to the group of this process.
fn is_in_foreground() -> bool {
    [stdin(), stdout(), stderr()].into_iter().any(|fd| tcgetpgrp(fd).is_ok_and(|group| group == getpgrp()))
}
