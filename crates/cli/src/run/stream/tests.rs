use std::io::{PipeReader, PipeWriter, pipe};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::ioctl_fionread;

use super::*;

const LIMIT: Duration = Duration::from_secs(20);

/// Time in which a copy that can go on would have done so.
const WAITS: Duration = Duration::from_millis(200);

/// A copy that runs on a thread. `lines` has the length of each line; `None`: too long.
struct Running {
    agent: PipeWriter,
    lines: Receiver<Option<usize>>,
    copy: JoinHandle<io::Result<()>>,
}

impl Running {
    fn start(to: impl Into<OwnedFd>) -> Running {
        let (from, agent) = pipe().unwrap();
        let to = File::from(to.into());
        let (send, lines) = mpsc::channel();
        let copy = thread::spawn(move || {
            copy(from, to, |line| {
                let line = match line {
                    Line::Whole(line) => Some(line.len()),
                    Line::TooLong => None,
                };
                send.send(line).unwrap();
            })
        });
        Running { agent, lines, copy }
    }

    /// Ends the agent's output, and returns the lines that nobody has received.
    fn end(self) -> Vec<Option<usize>> {
        drop(self.agent);
        self.copy.join().unwrap().unwrap();
        self.lines.iter().collect()
    }
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut read = Vec::new();
        from.read_to_end(&mut read).unwrap();
        read
    })
}

/// Lines of many lengths, longer than every pipe, and a last one without an end.
fn text() -> Vec<u8> {
    let mut text = Vec::new();
    for length in (0..3000).chain([STREAM_CHUNK_BYTES, 3 * STREAM_CHUNK_BYTES + 1]) {
        text.extend((0..length).map(|at| b'a' + u8::try_from(at % 26).unwrap()));
        text.push(b'\n');
    }
    text.extend_from_slice(b"end");
    text
}

#[test]
fn every_byte_and_every_line_arrives() {
    let text = text();
    let expected: Vec<Option<usize>> =
        text.split(|byte| *byte == b'\n').map(|line| Some(line.len())).collect();
    let check = |to: OwnedFd, from: Box<dyn Read + Send>, kind: &str| {
        let (mut running, read) = (Running::start(to), read_all(from));
        running.agent.write_all(&text).unwrap();
        assert_eq!(running.end(), expected, "{kind}");
        assert!(read.join().unwrap() == text, "{kind}");
    };
    let (from, to) = pipe().unwrap();
    check(to.into(), Box::new(from), "pipe");
    let (from, to) = UnixStream::pair().unwrap();
    check(to.into(), Box::new(from), "socket");
    let (from, to) = pipe().unwrap();
    fcntl_setfl(&to, OFlags::NONBLOCK).unwrap();
    check(to.into(), Box::new(from), "pipe that does not block");
}

#[test]
fn a_line_over_the_limit_is_reported_once_and_passes() {
    let (from, to) = pipe().unwrap();
    let (mut running, read) = (Running::start(to), read_all(from));
    let long = vec![b'x'; STREAM_LINE_BYTES_MAX + 1];
    running.agent.write_all(&long).unwrap();
    running.agent.write_all(b"\nshort\n").unwrap();
    assert_eq!(running.end(), [None, Some(5)]);
    assert_eq!(read.join().unwrap().len(), long.len() + 7);
}

#[test]
fn a_line_is_read_after_the_reader_could_have_it() {
    let (mut from, to) = pipe().unwrap();
    fill(&to);
    let mut running = Running::start(to.try_clone().unwrap());
    running.agent.write_all(b"line\n").unwrap();
    assert_eq!(running.lines.recv_timeout(WAITS), Err(RecvTimeoutError::Timeout));
    let inside = usize::try_from(ioctl_fionread(&from).unwrap()).unwrap();
    from.read_exact(&mut vec![0; inside]).unwrap();
    assert_eq!(running.lines.recv_timeout(LIMIT), Ok(Some(4)));
    assert_eq!(ioctl_fionread(&from).unwrap(), 5);
    running.end();
}

#[test]
fn a_slow_reader_makes_the_agent_wait() {
    let (from, to) = pipe().unwrap();
    let mut running = Running::start(to);
    let (send, sent) = mpsc::channel();
    let bytes = 16 * STREAM_CHUNK_BYTES;
    let mut agent = running.agent.try_clone().unwrap();
    let writing = thread::spawn(move || {
        agent.write_all(&vec![b'x'; bytes]).unwrap();
        drop(agent);
        send.send(()).unwrap();
    });
    assert_eq!(sent.recv_timeout(WAITS), Err(RecvTimeoutError::Timeout));
    let read = read_all(from);
    assert_eq!(sent.recv_timeout(LIMIT), Ok(()));
    writing.join().unwrap();
    running.agent.write_all(b"\n").unwrap();
    assert_eq!(running.end(), [Some(bytes)]);
    assert_eq!(read.join().unwrap().len(), bytes + 1);
}

#[test]
fn what_a_gone_reader_misses_is_read_and_the_next_write_fails() {
    let (from, to) = pipe().unwrap();
    drop(from);
    let mut running = Running::start(to);
    running.agent.write_all(b"one\ntwo\n").unwrap();
    assert_eq!(running.lines.recv_timeout(LIMIT), Ok(Some(3)));
    assert_eq!(running.lines.recv_timeout(LIMIT), Ok(Some(3)));
    running.copy.join().unwrap().unwrap();
    assert_eq!(running.agent.write(b"three\n").unwrap_err().kind(), ErrorKind::BrokenPipe);
}

#[test]
fn a_pipe_of_the_reader_is_made_larger_and_never_smaller() {
    let size = |pipe: &PipeReader| rustix::pipe::fcntl_getpipe_size(pipe).unwrap();
    for before in [4096, STREAM_CHUNK_BYTES, 2 * STREAM_CHUNK_BYTES] {
        let (from, to) = pipe().unwrap();
        rustix::pipe::fcntl_setpipe_size(&from, before).unwrap();
        let running = Running::start(to);
        running.end();
        assert_eq!(size(&from), before.max(STREAM_CHUNK_BYTES));
    }
}

/// Fills a pipe to its last byte.
fn fill(mut to: &PipeWriter) {
    let before = rustix::fs::fcntl_getfl(to).unwrap();
    crate::run::between::enlarge(to);
    fcntl_setfl(to, before | OFlags::NONBLOCK).unwrap();
    while to.write(&[b'f'; 4096]).is_ok() {}
    fcntl_setfl(to, before).unwrap();
}
