//! Scripted servers, clients and resolvers on loopback.

mod tls;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use castellan_proxy::{Event, HostRule, Proxy, Range, Resolver, Secret, Settings, What};

pub(crate) use tls::{Ca, TlsClient, connect_tls};

/// The longest wait of a test. Nothing reaches it unless it fails.
pub(crate) const PATIENT: Duration = Duration::from_secs(20);

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A rule for a host on loopback.
pub(crate) fn rule(text: &str) -> HostRule {
    let mut rule = HostRule::parse(text).unwrap();
    rule.addresses = vec![Range::one(LOOPBACK)];
    rule
}

/// A resolver with fixed answers: each name has a list of answers, the last of which is repeated.
#[derive(Clone, Default)]
pub(crate) struct Names(Arc<Mutex<HashMap<String, Script>>>);

/// The number of questions so far, and the answers.
type Script = (usize, Vec<Vec<IpAddr>>);

impl Names {
    pub(crate) fn add(self, name: &str, answers: &[&[&str]]) -> Names {
        let answers =
            answers.iter().map(|answer| answer.iter().map(|one| one.parse().unwrap()).collect()).collect();
        self.0.lock().unwrap().insert(name.to_owned(), (0, answers));
        self
    }

    /// The number of questions for a name.
    pub(crate) fn asked(&self, name: &str) -> usize {
        self.0.lock().unwrap().get(name).map_or(0, |(asked, _)| *asked)
    }

    /// Unknown names are on loopback; `nowhere.example` does not exist, and `defect.example` panics.
    fn resolver(&self) -> Resolver {
        let names = self.clone();
        Arc::new(move |name| {
            assert_ne!(name, "defect.example", "a defect of the resolver");
            if name == "nowhere.example" {
                return Err(std::io::Error::other("no such name"));
            }
            let mut names = names.0.lock().unwrap();
            let Some((asked, answers)) = names.get_mut(name) else { return Ok(vec![LOOPBACK]) };
            *asked += 1;
            Ok(answers[(*asked - 1).min(answers.len() - 1)].clone())
        })
    }
}

/// A running proxy with its events.
pub(crate) struct Running {
    pub(crate) proxy: Proxy,
    events: Arc<(Mutex<Vec<Event>>, Condvar)>,
}

impl Running {
    pub(crate) fn new(rules: Vec<HostRule>) -> Running {
        Running::with(Settings::new(rules, Vec::new()).unwrap(), &Names::default())
    }

    pub(crate) fn with_secrets(rules: Vec<HostRule>, secrets: Vec<Secret>, ca: &Ca) -> (Running, String) {
        let settings = Settings::new(rules, secrets).unwrap().with_roots(&ca.roots()).unwrap();
        let pem = settings.authority_pem().expect("the proxy ends TLS").to_owned();
        (Running::with(settings, &Names::default()), pem)
    }

    pub(crate) fn with(settings: Settings, names: &Names) -> Running {
        let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let events = Arc::<(Mutex<Vec<Event>>, Condvar)>::default();
        let told = Arc::clone(&events);
        let settings = settings.with_resolver(names.resolver());
        let proxy = Proxy::start(listener, settings, move |event| {
            told.0.lock().unwrap().push(event);
            told.1.notify_all();
        });
        Running { proxy: proxy.unwrap(), events }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.proxy.address()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.0.lock().unwrap().clone()
    }

    /// Waits for an event.
    pub(crate) fn wait(&self, is_it: impl Fn(&Event) -> bool) -> Event {
        let deadline = Instant::now() + PATIENT;
        let mut events = self.events.0.lock().unwrap();
        loop {
            if let Some(event) = events.iter().find(|event| is_it(event)) {
                return event.clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the event did not come: {events:?}");
            events = self.events.1.wait_timeout(events, left).unwrap().0;
        }
    }

    /// Waits for a refusal, and returns its code.
    pub(crate) fn refusal(&self) -> &'static str {
        let event = self.wait(|event| matches!(event.what, What::Refused(_)));
        let What::Refused(refusal) = event.what else { panic!("{event:?}") };
        refusal.code()
    }

    /// Sends bytes on a new connection, and returns everything that comes back. The write side stays open.
    pub(crate) fn ask(&self, text: impl AsRef<[u8]>) -> String {
        let mut client = self.client();
        client.write_all(text.as_ref()).unwrap();
        rest(&mut client)
    }

    pub(crate) fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.address()).unwrap();
        client.set_read_timeout(Some(PATIENT)).unwrap();
        client
    }

    /// Opens a tunnel by CONNECT.
    pub(crate) fn tunnel(&self, target: &str) -> Result<TcpStream, String> {
        let mut client = self.client();
        client.write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes()).unwrap();
        let head = head(&mut client);
        if head.starts_with("HTTP/1.1 200 ") { Ok(client) } else { Err(head + &rest(&mut client)) }
    }
}

/// Reads to the end of a connection.
pub(crate) fn rest(client: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    // An error is an end too: a reset, or TLS without its last message.
    drop(client.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a head, byte by byte. At the end of the connection, it is what came until then.
pub(crate) fn head(client: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let mut one = [0];
    while !bytes.ends_with(b"\r\n\r\n") && client.read(&mut one).is_ok_and(|read| read == 1) {
        bytes.extend(one);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a number of bytes as text.
pub(crate) fn exactly(client: &mut impl Read, bytes: usize) -> String {
    let mut buffer = vec![0; bytes];
    client.read_exact(&mut buffer).unwrap();
    String::from_utf8(buffer).unwrap()
}

/// A server on loopback that handles each connection with a function.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
}

impl Server {
    /// `handle` gets a connection, and a log for the requests that it reads.
    pub(crate) fn start(handle: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static) -> Server {
        Server::on(TcpListener::bind((LOOPBACK, 0)).unwrap(), handle)
    }

    pub(crate) fn on(
        listener: TcpListener,
        handle: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static,
    ) -> Server {
        let address = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let connections = Arc::<Mutex<usize>>::default();
        let (log, count, handle) = (Arc::clone(&requests), Arc::clone(&connections), Arc::new(handle));
        // The thread ends with the test's process.
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                *count.lock().unwrap() += 1;
                client.set_read_timeout(Some(PATIENT)).unwrap();
                let (log, handle) = (Arc::clone(&log), Arc::clone(&handle));
                thread::spawn(move || handle(client, &log));
            }
        });
        Server { address, requests, connections }
    }

    /// A server that answers each request on a connection with the bytes that `respond` makes of its head and body.
    pub(crate) fn http(respond: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> Server {
        Server::start(move |mut client, log| serve(&mut client, log, &respond))
    }

    /// A server that sends back what it gets.
    pub(crate) fn echo() -> Server {
        Server::start(|client, _| {
            let mut writer = client.try_clone().unwrap();
            drop(std::io::copy(&mut &client, &mut writer));
            drop(writer.shutdown(Shutdown::Write));
        })
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests so far: head and body each.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

/// Serves requests until the connection ends.
pub(crate) fn serve(
    client: &mut (impl Read + Write),
    log: &Mutex<Vec<String>>,
    respond: &impl Fn(&str, &str) -> Vec<u8>,
) {
    loop {
        let head = head(client);
        if !head.ends_with("\r\n\r\n") {
            return;
        }
        let lower = head.to_ascii_lowercase();
        let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let body = match length.map(|digits| digits.parse().unwrap()) {
            Some(length) => exactly(client, length),
            None if lower.contains("transfer-encoding: chunked") => chunks(client),
            None => String::new(),
        };
        log.lock().unwrap().push(format!("{head}{body}"));
        let response = respond(&head, &body);
        let text = String::from_utf8_lossy(&response).to_ascii_lowercase();
        let has_length = text.contains("content-length: ") || text.contains("transfer-encoding: ");
        if client.write_all(&response).and_then(|()| client.flush()).is_err() || !has_length {
            return;
        }
    }
}

fn chunks(client: &mut impl Read) -> String {
    let mut body = String::new();
    loop {
        let mut line = String::new();
        while !line.ends_with("\r\n") {
            line.push_str(&exactly(client, 1));
        }
        let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
        body.push_str(&exactly(client, size));
        assert_eq!(exactly(client, 2), "\r\n");
        if size == 0 {
            return body;
        }
    }
}

/// A response with a body.
pub(crate) fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
