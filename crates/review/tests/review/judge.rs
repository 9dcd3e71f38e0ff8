//! [`Judge`]: a reviewer on loopback that does what its script says.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// A connection, plain or encrypted.
pub(crate) trait Line: Read + Write {}

impl<T: Read + Write> Line for T {}

/// A request as the judge got it.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// The answer of a judge to a request.
pub(crate) type Script = Arc<dyn Fn(&Received, &mut dyn Line) + Send + Sync>;

/// A running judge. It ends with this value.
pub(crate) struct Judge {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    scheme: &'static str,
}

impl Judge {
    pub(crate) fn plain(script: Script) -> Judge {
        Judge::start(script, None)
    }

    pub(crate) fn encrypted(script: Script, config: Arc<ServerConfig>) -> Judge {
        Judge::start(script, Some(config))
    }

    fn start(script: Script, config: Option<Arc<ServerConfig>>) -> Judge {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (received, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (kept, ends) = (Arc::clone(&received), Arc::clone(&is_over));
        let scheme = if config.is_some() { "https" } else { "http" };
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Acquire) {
                    break;
                }
                serve(stream.unwrap(), config.as_ref(), &script, &kept);
            }
        });
        Judge { address, received, is_over, thread: Some(thread), scheme }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}://{}/v1", self.scheme, self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

fn serve(
    stream: TcpStream,
    config: Option<&Arc<ServerConfig>>,
    script: &Script,
    kept: &Mutex<Vec<Received>>,
) {
    // A client that hangs must not hang the test.
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let closer = stream.try_clone().unwrap();
    let mut line: Box<dyn Line> = match config {
        Some(config) => {
            let connection = ServerConnection::new(Arc::clone(config)).unwrap();
            Box::new(StreamOwned::new(connection, stream))
        }
        None => Box::new(stream),
    };
    // A client that rejects the certificate sends no request.
    if let Some(request) = receive(&mut *line) {
        kept.lock().unwrap().push(request.clone());
        script(&request, &mut *line);
    }
    let _ = closer.shutdown(Shutdown::Both);
}

fn receive(line: &mut dyn Line) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = line.read(&mut buffer).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap() {
            return Some(Received { head: format!("{head}\r\n"), body: body.to_owned() });
        }
    }
}

impl Received {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A script that sends these bytes.
pub(crate) fn sends(response: impl Into<Vec<u8>>) -> Script {
    let response = response.into();
    Arc::new(move |_, line| line.write_all(&response).unwrap())
}

/// Returns a response with status 200.
pub(crate) fn response(kind: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Returns a response of chat completions with the text of a model.
pub(crate) fn completion(text: &str) -> String {
    let message = json!({ "role": "assistant", "content": text });
    let body = json!({
        "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920 },
    });
    response("application/json", &body.to_string())
}

/// A script that waits until the client has closed the connection.
pub(crate) fn silent() -> Script {
    Arc::new(|_, line| {
        let _ = line.read_to_end(&mut Vec::new());
    })
}

/// A script that sends the response bit by bit until the client has closed the connection.
pub(crate) fn drips(response: String) -> Script {
    Arc::new(move |_, line| {
        for byte in response.bytes() {
            if line.write_all(&[byte]).and_then(|()| line.flush()).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(40));
        }
    })
}

/// A script that sends 100 MB after a head, until the client has closed the connection.
pub(crate) fn floods(head: &'static str) -> Script {
    Arc::new(move |_, line| {
        let _ = line.write_all(head.as_bytes());
        let part = [b'a'; 100_000];
        for _ in 0..1000 {
            if line.write_all(&part).is_err() {
                break;
            }
        }
    })
}
