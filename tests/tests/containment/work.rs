//! Ordinary work of an agent that the test plays: each call runs, contained or freely, without a question, and does its work.

use anyhow::{Result, ensure};
use castellan_tests::process::Finished;

use crate::ecosystems::Step::{After, Edit, Free, Unread};
use crate::ecosystems::{Session, play_each};
use crate::rig::Rig;

fn play(session: &Session) -> Result<()> {
    let rig = Rig::new()?;
    for step in session.steps {
        let (done, succeeds, text) = match step {
            Edit(file, text) => {
                rig.write(file, text)?;
                continue;
            }
            Unread(command, succeeds, text) => (rig.inside(command)?, succeeds, text),
            After(command, succeeds, text) => (rig.contained(command)?, succeeds, text),
            Free(command, succeeds, text) => (free(&rig, command)?, succeeds, text),
        };
        let output = format!("{}{}", done.stdout, done.stderr);
        ensure!((done.code == Some(0)) == *succeeds && output.contains(text), "{text}: {done:?}");
    }
    Ok(())
}

/// Runs a command that castellan must let run as it is, and reports its end.
fn free(rig: &Rig, command: &str) -> Result<Finished> {
    let answer = rig.ask(command)?;
    ensure!(answer.is_free(), "not free: `{command}`: {answer:?}");
    let done = rig.shell(command)?;
    rig.done(command, command)?;
    Ok(done)
}

#[test]
fn work_in_each_ecosystem_needs_no_question() -> Result<()> {
    play_each(play)
}
