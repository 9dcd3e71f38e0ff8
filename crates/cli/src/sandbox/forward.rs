//! Ports of this machine's loopback that a sandbox has on its own: a local model server, for example. Programs inside do
//! not use a proxy for their own loopback.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

use anyhow::Context;

use crate::limits::FORWARDED_CONNECTIONS_MAX;

/// Returns the port of a host if it is one on the loopback: `127.0.0.1:8080`, `localhost:8080`.
pub(super) fn port(host: &str) -> Option<u16> {
    let (name, port) = host.split_whitespace().next()?.rsplit_once(':')?;
    ["127.0.0.1", "localhost"].contains(&name).then(|| port.parse().ok())?
}

/// Passes the connections of a listener inside on to the same port outside, on threads, as long as this process lives.
pub(super) fn start(listener: TcpListener, port: u16) -> anyhow::Result<()> {
    let open = Arc::new(AtomicUsize::new(0));
    let accept = move || {
        for inside in listener.incoming() {
            // The end of the sandbox ends its listener.
            let Ok(inside) = inside else { break };
            if open.load(Ordering::SeqCst) >= FORWARDED_CONNECTIONS_MAX {
                continue;
            }
            open.fetch_add(1, Ordering::SeqCst);
            let of_connection = Arc::clone(&open);
            let pass = move || {
                let _ended = pass_on(&inside, port);
                of_connection.fetch_sub(1, Ordering::SeqCst);
            };
            if Builder::new().name("forward".to_owned()).spawn(pass).is_err() {
                open.fetch_sub(1, Ordering::SeqCst);
            }
        }
    };
    Builder::new()
        .name("forwards".to_owned())
        .spawn(accept)
        .map(drop)
        .context("no thread for the sandbox's ports")
}

fn pass_on(inside: &TcpStream, port: u16) -> io::Result<()> {
    let outside = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let (from, to) = (inside.try_clone()?, outside.try_clone()?);
    let out = Builder::new().name("forward".to_owned()).spawn(move || copy(&from, &to))?;
    copy(&outside, inside);
    // A panic there has closed nothing, and the streams end with this function.
    drop(out.join());
    Ok(())
}

/// Copies until the end, and tells the reader that no more follows.
fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    let _broken = io::copy(&mut from, &mut to);
    let _closed = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn only_a_port_on_the_loopback_is_forwarded() {
        for (host, expected) in [
            ("127.0.0.1:8080", Some(8080)),
            ("localhost:80", Some(80)),
            ("localhost", None),
            ("127.0.0.2:80", None),
            ("example.org:80", None),
            ("localhost.example.org:80", None),
            ("127.0.0.1:x", None),
        ] {
            assert_eq!(port(host), expected, "{host}");
        }
    }

    #[test]
    fn a_connection_reaches_the_port_outside() {
        let (inside, outside) =
            (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
        let address = inside.local_addr().unwrap();
        start(inside, outside.local_addr().unwrap().port()).unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(b"question").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let (mut server, _) = outside.accept().unwrap();
        assert_eq!(io::read_to_string(&mut server).unwrap(), "question");
        server.write_all(b"answer").unwrap();
        drop(server);
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "answer");
    }
}
