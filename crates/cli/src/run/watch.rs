//! The threads that read what an agent reports, and end it with all processes below if the reports are a reason.
//!
//! A part of an agent's output on which castellan panics may hide what was spent. With a budget, or in an observer, it
//! ends the agent; otherwise the copy of the output goes on.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::Builder;
use std::time::Duration;

use super::between::enlarge;
use super::meter::Meter;
use super::{stream, tree};
use crate::limits::TRANSCRIPT_POLL;

/// Starts the threads that read the stream and the transcripts. The first channel ends with the copy of the stream; the
/// end of the second one ends the other thread.
pub(crate) fn watch(
    stdout: Option<File>,
    has_budget: bool,
    meter: &Arc<Meter>,
) -> anyhow::Result<(Receiver<()>, Sender<()>)> {
    let (copying, copied) = mpsc::channel();
    let (looking, ended) = mpsc::channel();
    if let Some(from) = stdout {
        let (meter, to) = (Arc::clone(meter), stream::output()?);
        enlarge(&from);
        let copy = move || {
            let _copying = copying;
            let copy = || stream::copy(from, to, |line| end_if(&meter, || meter.line(&line)));
            end_if(&meter, || copy().is_err_and(|error| meter.failed(&error.to_string())));
            end_if(&meter, || meter.stream_ended());
        };
        Builder::new().name("stream".to_owned()).spawn(copy)?;
    }
    if has_budget {
        let meter = Arc::clone(meter);
        let look = move || {
            let is_running =
                |pause: Duration| ended.recv_timeout(pause) == Err(mpsc::RecvTimeoutError::Timeout);
            while is_running(TRANSCRIPT_POLL) {
                end_if(&meter, || meter.look(false));
            }
        };
        Builder::new().name("transcripts".to_owned()).spawn(look)?;
    }
    Ok((copied, looking))
}

/// Reads all reports that are left after the agent's end.
pub(crate) fn last_look(meter: &Meter, has_succeeded: bool) {
    read(meter, || meter.agent_ended(has_succeeded));
    meter.record_end();
}

/// Ends the agent if what is read is a reason. The record of it waits for the daemon on a thread of its own; if there is
/// none, the last look records it.
fn end_if(meter: &Arc<Meter>, reads: impl FnOnce() -> bool) {
    if read(meter, reads) {
        let recording = Arc::clone(meter);
        let _later = Builder::new().name("record".to_owned()).spawn(move || recording.record_end());
        tree::end_all();
    }
}

/// Returns true if what is read is a reason to end the agent. A panic can be one.
fn read(meter: &Meter, reads: impl FnOnce() -> bool) -> bool {
    catch_unwind(AssertUnwindSafe(reads)).unwrap_or_else(|_| meter.failed("castellan panicked"))
}

#[cfg(test)]
mod tests {
    use castellan_agents::AgentId;
    use castellan_daemon::ControlClient;
    use castellan_wire::Home;

    use super::*;
    use crate::run::budget::Budgets;
    use crate::run::meter::Cause;
    use crate::run::reporter::Reporter;
    use crate::run::sums::SessionSums;

    /// A meter without a daemon.
    fn meter(budgets: Budgets, is_observer: bool) -> Meter {
        let (agent, state) = (AgentId::CLAUDE, std::env::temp_dir());
        let client = ControlClient::new(Home::new(state.join("no-home")).unwrap());
        let sums = SessionSums::new(&state);
        Meter::new(agent, (budgets, is_observer), sums, Reporter { client, agent }, None)
    }

    #[test]
    fn a_panic_is_a_reason_where_it_can_hide_something() {
        let budget = Budgets { invocation: Some(1), session: None };
        for (budgets, is_observer, expected) in
            [(budget, false, true), (Budgets::default(), true, true), (Budgets::default(), false, false)]
        {
            let meter = meter(budgets, is_observer);
            let is_reason = read(&meter, || panic!("a test of panics"));
            let is_failure = matches!(meter.cause(), Some(Cause::Failed(_)));
            assert_eq!((is_reason, is_failure), (expected, expected), "{budgets:?} {is_observer}");
            assert!(!read(&meter, || false));
        }
    }

    #[test]
    fn the_copy_goes_on_after_a_panic() {
        let meter = meter(Budgets::default(), false);
        let (from, mut agent) = std::io::pipe().unwrap();
        let (mut reader, to) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut agent, b"first\nsecond\n").unwrap();
        drop(agent);
        let mut lines = 0;
        let each = |_: super::super::lines::Line<'_>| {
            lines += 1;
            read(&meter, || panic!("a test of panics"));
        };
        stream::copy(from, std::os::fd::OwnedFd::from(to).into(), each).unwrap();
        assert_eq!((lines, std::io::read_to_string(&mut reader).unwrap().as_str()), (2, "first\nsecond\n"));
    }
}
