//! The status in a few words, for a prompt or a status line. They are castellan's own words and numbers, so no text of another
//! program reaches the terminal.

use castellan_daemon::{ControlError, StatusReport};

use crate::protection::{Answer, Protection};

/// Neither the daemon nor the settings can be read, or something is wrong with them.
pub(super) const UNPROTECTED: &str = "castellan: not protected";

/// Returns the words; `None` where castellan was never installed.
pub(super) fn words(protection: &Protection) -> Option<String> {
    let home = protection.layout.home();
    let is_guarded = protection.guards.iter().any(|guard| guard.for_user || guard.for_machine);
    if !home.run().exists() && !is_guarded {
        return None;
    }
    Some(match (&protection.status, protection.answer()) {
        (Err(ControlError::NotRunning), _) if home.stopped_marker().exists() => {
            "castellan stopped".to_owned()
        }
        (Err(ControlError::NotRunning), _) => "castellan not running".to_owned(),
        (Err(ControlError::NoAnswer(_)), _) => "castellan does not answer".to_owned(),
        (Err(_), _) => UNPROTECTED.to_owned(),
        (Ok(status), answer) => of_daemon(status, answer),
    })
}

/// Returns the words for a daemon that answers.
fn of_daemon(status: &StatusReport, answer: Answer) -> String {
    let state = match (status.halts.is_empty(), status.pause.is_some(), status.mode.as_str()) {
        (false, ..) => "castellan halted",
        (true, true, _) => "castellan paused",
        (true, false, "monitor") => "castellan monitors only",
        (true, false, "passthrough") => "castellan off",
        (true, false, _) => match answer {
            Answer::Protected => "castellan on",
            Answer::Unprotected | Answer::NoDaemon => UNPROTECTED,
        },
    };
    match status.waiting {
        0 => state.to_owned(),
        waiting => format!("{state}, {waiting} waiting"),
    }
}

#[cfg(test)]
mod tests {
    use castellan_daemon::{HaltStatus, PauseStatus};

    use super::*;

    #[test]
    fn the_worst_is_said() {
        let check = |change: fn(&mut StatusReport), answer, expected: &str| {
            let mut status = StatusReport { mode: "enforce".to_owned(), ..StatusReport::default() };
            change(&mut status);
            assert_eq!(of_daemon(&status, answer), expected);
        };
        let pause = |status: &mut StatusReport| status.pause = Some(PauseStatus { age_s: 1, left_s: 1 });
        check(|_| {}, Answer::Protected, "castellan on");
        check(|status| status.waiting = 2, Answer::Protected, "castellan on, 2 waiting");
        check(|status| status.waiting = 1, Answer::Unprotected, "castellan: not protected, 1 waiting");
        check(|status| status.mode = "monitor".to_owned(), Answer::Unprotected, "castellan monitors only");
        check(|status| status.mode = "passthrough".to_owned(), Answer::Unprotected, "castellan off");
        check(pause, Answer::Unprotected, "castellan paused");
        check(
            |status| {
                status.halts.push(HaltStatus { of: "all agents".to_owned(), age_s: 1 });
                status.pause = Some(PauseStatus { age_s: 1, left_s: 1 });
            },
            Answer::Unprotected,
            "castellan halted",
        );
    }
}
