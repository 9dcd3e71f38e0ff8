//! The victim: a process outside that holds a secret and says how it is.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::Context;

use super::scene::Scene;
use crate::targets::Targets;

/// The victim answers at once; a busy machine may take a while.
const PATIENCE: Duration = Duration::from_secs(5);

/// A victim that does not answer within this has ended or stopped.
const SILENCE: Duration = Duration::from_millis(400);

/// What the victim says of its memory.
const WELL: &str = "as befor";

/// The running victim; it is ended with this value.
#[derive(Debug)]
pub(super) struct Victim {
    child: Child,
    to: ChildStdin,
    from: Receiver<String>,
}

impl Victim {
    pub(super) fn start(scene: &Scene<'_>, targets: &mut Targets) -> anyhow::Result<Victim> {
        let mut command = Command::new(scene.place.program());
        command.arg("--victim").arg(scene.home().join(".aws/credentials")).current_dir(scene.outside());
        command.env_clear().env("AWS_SECRET_ACCESS_KEY", &scene.secret);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        scene.user.set(&mut command);
        let mut child = command.spawn().context("the victim cannot be started")?;
        let to = child.stdin.take().context("no pipe to the victim")?;
        let out = child.stdout.take().context("no pipe from the victim")?;
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            for line in lines {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let victim = Victim { child, to, from };
        let said = victim.from.recv_timeout(PATIENCE).context("the victim did not start")?;
        let mut words = said.split(' ');
        for name in ["victim-pid", "victim-address", "victim-fd"] {
            targets.set(name, words.next().context("the victim said too little")?);
        }
        Ok(victim)
    }

    /// Returns how the victim was harmed; `None` if it is well.
    pub(super) fn harm(&mut self) -> Option<String> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Some(format!("the victim ended: {status}"));
        }
        let asked = self.to.write_all(b"\n");
        match self.from.recv_timeout(SILENCE) {
            Ok(said) if asked.is_ok() && said == WELL => None,
            Ok(said) => Some(format!("the victim's memory is `{said}`")),
            Err(_) => Some("the victim does not answer".to_owned()),
        }
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
