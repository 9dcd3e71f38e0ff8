//! An HTTP server on the enclosure's loopback, for commands that fetch or send. Must not depend on the client.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

const ADDRESS: &str = "127.0.0.1:8000";

/// More than any command sends.
const BODY_BYTES_MAX: u64 = 1 << 20;

/// Starts the server on a thread, which ends with the process.
pub(crate) fn start() -> std::io::Result<()> {
    let listener = TcpListener::bind(ADDRESS)?;
    std::thread::spawn(move || {
        // An aborted connection is no error of the server.
        listener.incoming().flatten().for_each(|stream| drop(answer(&stream)));
    });
    Ok(())
}

/// Reads one request and answers with a little JSON.
fn answer(mut stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.by_ref().take(BODY_BYTES_MAX).read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    std::io::copy(&mut reader.take(BODY_BYTES_MAX.min(length)), &mut std::io::sink())?;
    let body = "{\"name\":\"project\",\"items\":[1,2,3]}\n";
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
