//! Stand-ins of local services: Unix sockets, shared memory and queues outside.

use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::scene::{Scene, User};
use super::server::Heard;
use crate::sys::{self, Arg};
use crate::targets::Targets;

const STREAMS: &[&str] = &["bus", "docker.sock", "agent.sock", "S.gpg-agent", "control.sock"];

/// The stand-ins of one run, removed with this value.
#[derive(Debug)]
pub(super) struct Local {
    segment: Option<i32>,
    queue: Option<i64>,
    shm: PathBuf,
    posix_queue: Option<(OwnedFd, String)>,
    sockets: Vec<OwnedFd>,
}

impl Local {
    pub(super) fn start(scene: &Scene<'_>, heard: &Heard, targets: &mut Targets) -> anyhow::Result<Local> {
        let mut local = Local {
            segment: None,
            queue: None,
            shm: PathBuf::from(format!("/dev/shm/castellan-attack-{}-{}", std::process::id(), scene.number)),
            posix_queue: None,
            sockets: Vec::new(),
        };
        for name in STREAMS {
            let path = scene.sockets().join(name);
            local.listen(UnixListener::bind(&path)?, heard)?;
            open_for_all(&path)?;
        }
        let notify = scene.sockets().join("notify");
        local.hear(UnixDatagram::bind(&notify)?, heard)?;
        open_for_all(&notify)?;
        for (target, kind) in [("abstract-socket", "s"), ("abstract-datagram", "d")] {
            let name = format!("castellan-attack-{kind}-{}-{}", std::process::id(), scene.number);
            let address = SocketAddr::from_abstract_name(&name)?;
            if kind == "s" {
                local.listen(UnixListener::bind_addr(&address)?, heard)?;
            } else {
                local.hear(UnixDatagram::bind_addr(&address)?, heard)?;
            }
            targets.set(target, name);
        }
        local.share(scene, targets)?;
        Ok(local)
    }

    fn listen(&mut self, listener: UnixListener, heard: &Heard) -> anyhow::Result<()> {
        self.sockets.push(listener.try_clone()?.into());
        let heard = heard.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut bytes = [0; 256];
                let _ = stream.set_read_timeout(Some(std::time::Duration::from_secs(1)));
                let count = stream.read(&mut bytes).unwrap_or(0);
                heard.add(bytes.get(..count).unwrap_or_default());
            }
        });
        Ok(())
    }

    fn hear(&mut self, socket: UnixDatagram, heard: &Heard) -> anyhow::Result<()> {
        self.sockets.push(socket.try_clone()?.into());
        let heard = heard.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 256];
            while let Ok(count @ 1..) = socket.recv(&mut bytes) {
                heard.add(bytes.get(..count).unwrap_or_default());
            }
        });
        Ok(())
    }

    /// Puts the secret into memory and queues. A kernel without one of them has no target for it.
    fn share(&mut self, scene: &Scene<'_>, targets: &mut Targets) -> anyhow::Result<()> {
        std::fs::write(&self.shm, &scene.secret)?;
        std::fs::set_permissions(&self.shm, std::fs::Permissions::from_mode(0o666))?;
        targets.set("shm-file", self.shm.display());
        // An attack of another user may read these only if everyone may: the sandbox is what is tested.
        if let Ok(id) = sys::make_segment(format!("{:32}", scene.secret).as_bytes()) {
            self.segment = Some(id);
            targets.set("segment", id);
        }
        let mode = Arg::Int(0o1666);
        if let Ok(id) = sys::call(libc::SYS_msgget, &mut [Arg::Int(0), mode]) {
            self.queue = Some(id);
            let message = [&sys::words(&[1]), scene.secret.as_bytes()].concat();
            let length = Arg::Int(i64::try_from(scene.secret.len())?);
            sys::call(libc::SYS_msgsnd, &mut [Arg::Int(id), Arg::In(&message), length, Arg::Int(0)])
                .context("no message can be sent")?;
            targets.set("message-queue", id);
        }
        let name = format!("castellan-attack-{}-{}", std::process::id(), scene.number);
        if let Ok(queue) = make_queue(&name, &scene.secret) {
            self.posix_queue = Some((queue, name.clone()));
            targets.set("posix-queue", name);
        }
        if scene.user == User::Nobody {
            open_for_all(&self.shm)?;
        }
        Ok(())
    }
}

fn make_queue(name: &str, secret: &str) -> std::io::Result<OwnedFd> {
    let name = sys::c_path(name)?;
    let flags = Arg::Int((libc::O_RDWR | libc::O_CREAT | libc::O_NONBLOCK).into());
    let queue = sys::open(libc::SYS_mq_open, &mut [Arg::Text(&name), flags, Arg::Int(0o666), Arg::Null])?;
    let fd = i64::from(queue.as_raw_fd());
    // The mask of the harness takes rights away.
    sys::call(libc::SYS_fchmod, &mut [Arg::Int(fd), Arg::Int(0o666)])?;
    let length = Arg::Int(i64::try_from(secret.len()).map_err(std::io::Error::other)?);
    let mut arguments = [Arg::Int(fd), Arg::In(secret.as_bytes()), length, Arg::Int(0), Arg::Null];
    sys::call(libc::SYS_mq_timedsend, &mut arguments)?;
    Ok(queue)
}

fn open_for_all(path: &Path) -> anyhow::Result<()> {
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?)
}

impl Drop for Local {
    fn drop(&mut self) {
        // Ends the threads that wait for visitors.
        for socket in &self.sockets {
            let _ = sys::call(libc::SYS_shutdown, &mut [Arg::Int(socket.as_raw_fd().into()), Arg::Int(2)]);
        }
        if let Some(id) = self.segment {
            sys::remove_segment(id);
        }
        if let Some(id) = self.queue {
            // IPC_RMID.
            let _ = sys::call(libc::SYS_msgctl, &mut [Arg::Int(id), Arg::Int(0), Arg::Null]);
        }
        if let Some((_, name)) = &self.posix_queue
            && let Ok(name) = sys::c_path(name)
        {
            let _ = sys::call(libc::SYS_mq_unlink, &mut [Arg::Text(&name)]);
        }
        let _ = std::fs::remove_file(&self.shm);
    }
}
