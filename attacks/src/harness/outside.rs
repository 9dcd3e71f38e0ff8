//! What the starter of a sandbox has around it: open descriptors, a terminal, a visitor.

use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::scene::Scene;
use super::server::Internet;
use crate::sys;

/// A visitor waits so long for an answer.
const HEARD: Duration = Duration::from_millis(500);

/// Descriptors that a careless starter leaves open: a secret, a folder with secrets, a connection.
pub(super) struct Leaked {
    _file: File,
    _folder: File,
    _connection: std::net::TcpStream,
}

impl Leaked {
    pub(super) fn open(scene: &Scene<'_>, internet: &Internet) -> anyhow::Result<Leaked> {
        let leaked = Leaked {
            _file: File::open(scene.home().join(".aws/credentials"))?,
            _folder: File::open(scene.home())?,
            _connection: std::net::TcpStream::connect(internet.server)?,
        };
        sys::inherit(&leaked._file)?;
        sys::inherit(&leaked._folder)?;
        sys::inherit(&leaked._connection)?;
        Ok(leaked)
    }
}

/// A visitor from outside who asks a port for the word.
pub(super) struct Contact(std::thread::JoinHandle<bool>);

impl Contact {
    /// Returns a port that is free now.
    pub(super) fn free_port() -> anyhow::Result<u16> {
        Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
    }

    pub(super) fn start(port: u16, word: &str) -> Contact {
        let word = word.to_owned();
        Contact(std::thread::spawn(move || {
            let until = Instant::now() + Duration::from_secs(3);
            while Instant::now() < until {
                let mut said = String::new();
                if let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", port)) {
                    let _ = stream.set_read_timeout(Some(HEARD));
                    let _ = stream.read_to_string(&mut said);
                }
                if said.contains(&word) {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            false
        }))
    }

    pub(super) fn got(self) -> Option<String> {
        self.0.join().ok()?.then(|| "somebody outside got it".to_owned())
    }
}

/// The user's terminal.
pub(super) struct Terminal {
    master: std::os::fd::OwnedFd,
    slave: File,
}

impl Terminal {
    pub(super) fn open() -> anyhow::Result<Terminal> {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).context("no terminal")?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let mut options = File::options();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOCTTY);
        let slave = options.read(true).write(true).open(name.to_str()?)?;
        rustix::io::ioctl_fionbio(&master, true)?;
        Ok(Terminal { master, slave })
    }

    pub(super) fn slave(&self) -> anyhow::Result<File> {
        Ok(self.slave.try_clone()?)
    }

    /// The terminal echoes what was typed into it.
    pub(super) fn typed(&self) -> Option<String> {
        let mut bytes = [0; 256];
        let count = rustix::io::read(&self.master, &mut bytes).ok()?;
        let text = String::from_utf8_lossy(bytes.get(..count)?).into_owned();
        text.contains("typed").then(|| format!("the terminal got `{}`", text.trim()))
    }
}
