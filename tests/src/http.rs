//! A minimal HTTP/1.1 server on loopback: bodies by content-length, keep-alive, a thread for each connection, a port
//! chosen by the system. It stops when it is dropped. Must not depend on the contents of the messages.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// An agent's request carries its whole conversation and tool list: about 200 KB. More than this is a runaway test.
const BODY_BYTES_MAX: usize = 32 << 20;

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path without its query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// An answer, always with status 200.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on a free port of 127.0.0.1 and answers every request with `answer`.
    pub(crate) fn start(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let connections = Arc::new(Mutex::new(Vec::new()));
        let acceptor = thread::spawn({
            let (stopping, connections) = (Arc::clone(&stopping), Arc::clone(&connections));
            move || accept(&listener, &stopping, &connections, &answer)
        });
        Ok(Server { address, stopping, connections, acceptor: Some(acceptor) })
    }

    /// Returns the port of the server.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // The acceptor waits in `accept`; this connection wakes it.
        drop(TcpStream::connect(self.address));
        for connection in self.connections.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            drop(connection.shutdown(std::net::Shutdown::Both));
        }
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

fn accept(
    listener: &TcpListener,
    stopping: &AtomicBool,
    connections: &Mutex<Vec<TcpStream>>,
    answer: &(impl Fn(&Request) -> Response + Sync),
) {
    thread::scope(|scope| {
        for stream in listener.incoming() {
            let mut open = connections.lock().unwrap_or_else(PoisonError::into_inner);
            // The flag is read under the lock, so no connection joins the list after `drop` has drained it.
            if stopping.load(Ordering::SeqCst) {
                break;
            }
            let Ok(stream) = stream else { continue };
            open.extend(stream.try_clone());
            drop(open);
            // A client that hangs up is no error of the server; the test sees the client's result.
            scope.spawn(move || drop(serve(stream, answer)));
        }
    });
}

fn serve(stream: TcpStream, answer: &impl Fn(&Request) -> Response) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    while let Some(request) = read_request(&mut reader)? {
        let response = answer(&request);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
            response.content_type,
            response.body.len()
        );
        writer.write_all(head.as_bytes())?;
        if request.method != "HEAD" {
            writer.write_all(&response.body)?;
        }
    }
    Ok(())
}

/// Reads one request; `None` if the client has closed the connection.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut start = String::new();
    if reader.read_line(&mut start)? == 0 {
        return Ok(None);
    }
    let mut words = start.split_ascii_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(|_| invalid("content-length is not a number"))?;
        }
        if name.eq_ignore_ascii_case("transfer-encoding") || name.eq_ignore_ascii_case("content-encoding") {
            return Err(invalid("encoded bodies are not read by this server"));
        }
    }
    if length > BODY_BYTES_MAX {
        return Err(invalid("the body is too large"));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { method, path, body }))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
