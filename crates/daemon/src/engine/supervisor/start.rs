//! A start of Falco, and its end. It must not know the reason for the end.

use std::ffi::OsStr;
use std::sync::Arc;

use castellan_engine::RemoteEngine;
use castellan_rows::SenderEvent;

use super::{End, Round, Seen};
use crate::engine::channel::{Channel, process};
use crate::engine::heard::heard;
use crate::engine::output::{LastLine, LogFile, copy};
use crate::engine::program::{Limit, Process, check_language, version};
use crate::engine::trusted::trusted;
use crate::engine::unchanged::Stamps;
use crate::limits::{ENGINE_LOOK, ENGINE_VERSION_TIME};

/// A Falco that runs. The fields end in their order, also after a panic.
pub(super) struct Running {
    /// It ends first: once the process was waited for, another process may get its id.
    pub(super) channel: Channel,
    pub(super) process: Process,
    pub(super) last: LastLine,
    /// The files that Falco reads at its start.
    pub(super) stamps: Stamps,
    /// It keeps the port for alerts until the process has ended. Another process at the port would get the alerts, which
    /// have the inputs of calls and the secret path.
    pub(super) listening: Arc<RemoteEngine>,
}

impl Running {
    /// Ends Falco, unless it has ended already. Then ends its channel.
    pub(super) fn end(self, seen: Seen) -> End {
        let Running { channel, mut process, last, stamps: _, listening } = self;
        // Before the process is waited for.
        drop(channel);
        let end = match seen {
            Seen::Unwanted => {
                process.stop();
                End::Unwanted
            }
            Seen::Ended => {
                let status = process.wait().status;
                End::Failed(format!("Falco has ended ({status}){}", said(&last)))
            }
            Seen::Failed(why) => {
                process.stop();
                End::Failed(why)
            }
        };
        drop(listening);
        end
    }
}

impl Round {
    pub(super) fn start(&self) -> Result<Running, String> {
        let settings = &self.wanted.settings;
        let found = version(&settings.falco, Limit::of(ENGINE_VERSION_TIME))?;
        check_language(&found, self.wanted.language)?;
        let library = trusted("the plugin", &settings.plugin)?;
        self.set(|inner| inner.version.clone_from(&found.text));
        let (mut channel, remote) = self.open()?;
        channel.write(&self.wanted, &library)?;
        // Before the stamps, because the log is in the same folder.
        let log = LogFile::begin(channel.place.log());
        // A later change has another time, also on a clock with coarse steps.
        std::thread::sleep(ENGINE_LOOK);
        let stamps = channel.stamps(&self.wanted)?;
        let config = channel.place.config();
        // A process that connects waits until it is known.
        let mut only = channel.only.lock();
        let (child, output) = Process::start(&found.program, &[OsStr::new("-c"), config.as_os_str()])?;
        *only = process(child.id());
        drop(only);
        let last = LastLine::default();
        let running = Running { channel, process: child, last: last.clone(), stamps, listening: remote };
        self.set(|inner| inner.pid = running.process.id());
        let copying = move || copy(output, log, &last);
        let copying = std::thread::Builder::new().name("falco output".to_owned()).spawn(copying);
        copying.map_err(|error| format!("no thread for Falco's output: {error}"))?;
        Ok(running)
    }

    /// Listens for rows and alerts, and lets the judging threads use both.
    pub(super) fn open(&self) -> Result<(Channel, Arc<RemoteEngine>), String> {
        let mut of = (self.number, 0);
        self.set(|inner| {
            inner.channel += 1;
            of.1 = inner.channel;
        });
        let (engine, refused) = (Arc::clone(&self.engine), Arc::clone(&self.refused));
        let heard = move |event: &SenderEvent| heard(&engine, of, event, &refused);
        let (channel, remote) = Channel::open(&self.wanted, heard)?;
        self.put(Some(Arc::clone(&remote)));
        Ok((channel, remote))
    }

    /// Stores the channel for the judging threads. After a panic, one of before is stored.
    pub(super) fn put(&self, mut remote: Option<Arc<RemoteEngine>>) {
        self.set(|inner| {
            std::mem::swap(&mut inner.remote, &mut remote);
            (inner.is_connected, inner.is_closed) = (false, false);
        });
        // The end of a channel waits for its thread, which may wait for the lock.
        drop(remote);
    }
}

/// Returns Falco's last line for a reason.
pub(super) fn said(last: &LastLine) -> String {
    let line = last.get();
    if line.is_empty() { String::new() } else { format!("; its last line: {line}") }
}
