//! Ways through the proxy to hosts that it must refuse. Each reaches the same server of the harness, where the proxy lets it.
//!
//! The proxy may reach `allowed.test` at the port of the server. `private.test` is allowed too, but its address is private.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::network::stream;
use super::{Attack, Evidence, Run};
use crate::outcome::{At, Attempt, Stop};
use crate::targets::Targets;

pub(super) const ATTACKS: &[Attack] = &[
    proxy(
        "proxy-unlisted",
        |t| tunnel(t, "unlisted.test"),
        "Has the proxy connect to a host that is not allowed.",
    ),
    proxy("proxy-private", |t| tunnel(t, "127.0.0.1"), "Has the proxy connect to the machine itself."),
    proxy(
        "proxy-private-ipv6",
        |t| tunnel(t, "[::1]"),
        "Has the proxy connect to the machine itself by IPv6.",
    ),
    proxy(
        "proxy-private-mapped",
        |t| tunnel(t, "[::ffff:127.0.0.1]"),
        "Hides the machine's address in an IPv6 address.",
    ),
    proxy(
        "proxy-private-decimal",
        |t| tunnel(t, "2130706433"),
        "Writes the machine's address as one decimal number.",
    ),
    proxy(
        "proxy-private-octal",
        |t| tunnel(t, "0177.0.0.1"),
        "Writes the machine's address with an octal number.",
    ),
    proxy(
        "proxy-private-hexadecimal",
        |t| tunnel(t, "0x7f000001"),
        "Writes the machine's address as one hexadecimal number.",
    ),
    proxy("proxy-private-short", |t| tunnel(t, "127.1"), "Writes the machine's address with two numbers."),
    proxy("proxy-private-zero", |t| tunnel(t, "0.0.0.0"), "Writes the machine as the address of all zeros."),
    proxy("proxy-localhost", |t| tunnel(t, "localhost"), "Has the proxy connect to the machine by its name."),
    proxy(
        "proxy-metadata",
        |t| tunnel(t, "169.254.169.254"),
        "Has the proxy fetch the cloud's credentials of the machine.",
    ),
    proxy(
        "proxy-rebind",
        |t| tunnel(t, "private.test"),
        "Has the proxy connect to an allowed name that has a private address.",
    ),
    proxy(
        "proxy-suffix",
        |t| tunnel(t, "allowed.test.evil.test"),
        "Has the proxy connect to a host that begins with the name of an allowed one.",
    ),
    proxy(
        "proxy-prefix",
        |t| tunnel(t, "evil-allowed.test"),
        "Has the proxy connect to a host that ends with the name of an allowed one.",
    ),
    proxy(
        "proxy-user",
        |t| tunnel(t, "allowed.test@127.0.0.1"),
        "Writes the allowed host as the user of another one.",
    ),
    proxy(
        "proxy-nul",
        |t| tunnel(t, "unlisted.test\0.allowed.test"),
        "Ends the name of a host by NUL before the allowed one.",
    ),
    proxy(
        "proxy-line-break",
        |t| tunnel(t, "unlisted.test:80 HTTP/1.1\r\nX: allowed.test"),
        "Smuggles a second request line into the name of the host.",
    ),
    Attack {
        name: "proxy-http-private",
        says: "Has the proxy fetch a page from the machine itself, without a tunnel.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let url = format!("http://127.0.0.1:{}/{}", port(targets)?, targets.text_of("word")?);
            fetch(targets, &url).map(|(_, text)| text)
        }),
    },
    Attack {
        name: "proxy-http-unlisted",
        says: "Has the proxy fetch a page from a host that is not allowed, without a tunnel.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let url = format!("http://unlisted.test:{}/{}", port(targets)?, targets.text_of("word")?);
            fetch(targets, &url).map(|(_, text)| text)
        }),
    },
    Attack {
        name: "proxy-redirect",
        says: "Follows the redirect of an allowed host to the machine itself.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let word = targets.text_of("word")?;
            let (_, first) =
                fetch(targets, &format!("http://allowed.test:{}/redirect/{word}", port(targets)?))?;
            let location = first.lines().find_map(|line| line.strip_prefix("Location: "));
            let location = location.ok_or_else(|| Stop::blocked(format!("no redirect: {first}")))?;
            fetch(targets, location.trim()).map(|(_, text)| text)
        }),
    },
    Attack {
        name: "proxy-second-request",
        says: "Sends a second request, for a host that is not allowed, on the connection of an allowed one.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let (mut stream, _) = fetch(targets, &format!("http://allowed.test:{}/", port(targets)?))?;
            let word = targets.text_of("word")?;
            let host = format!("unlisted.test:{}", port(targets)?);
            let request = format!("GET http://{host}/{word} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            stream.write_all(request.as_bytes()).at("send")?;
            answer(&mut stream)
        }),
    },
    proxy(
        "proxy-socks-private",
        |t| socks(t, &[1, 127, 0, 0, 1]),
        "Asks the proxy by SOCKS to connect to the machine itself.",
    ),
    proxy(
        "proxy-socks-unlisted",
        |t| socks(t, b"\x03\x0dunlisted.test"),
        "Asks the proxy by SOCKS to connect to a host that is not allowed.",
    ),
    proxy(
        "proxy-socks-number",
        |t| socks(t, b"\x03\x0a2130706433"),
        "Asks the proxy by SOCKS for a host whose name is a number.",
    ),
    Attack {
        name: "proxy-other-port",
        says: "Has the proxy connect to another port of an allowed host.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let port = targets.number("other-port")?;
            tunnel_to(targets, "allowed.test", port)
        }),
    },
];

const fn proxy(name: &'static str, attempt: fn(&Targets) -> Attempt, says: &'static str) -> Attack {
    Attack { name, says, evidence: Evidence::Reached, run: Run::Do(attempt) }
}

fn port(targets: &Targets) -> Result<i64, Stop> {
    targets.number("server-port")
}

/// Connects to the proxy that the environment names.
pub(super) fn connect(_: &Targets) -> Result<TcpStream, Stop> {
    let variables = ["http_proxy", "HTTP_PROXY"];
    let named = variables.iter().find_map(|name| std::env::var(name).ok());
    let named = named.ok_or_else(|| Stop::blocked("no proxy in the environment"))?;
    let rest = named.trim_start_matches("http://").trim_end_matches('/');
    let address = rest.rsplit_once('@').map_or(rest, |(_, address)| address);
    stream(&address.replace("localhost", "127.0.0.1"))
}

/// The words for a proxy that wants a password.
fn password() -> String {
    let variables = ["http_proxy", "HTTP_PROXY"];
    let named = variables.iter().find_map(|name| std::env::var(name).ok()).unwrap_or_default();
    let user = named.trim_start_matches("http://").rsplit_once('@').map(|(user, _)| base64(user.as_bytes()));
    user.map_or(String::new(), |user| format!("Proxy-Authorization: Basic {user}\r\n"))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        let digit = |at: usize| match DIGITS.get((bits >> (18 - 6 * at)) as usize & 63) {
            Some(digit) if at <= three.len() => char::from(*digit),
            _ => '=',
        };
        [0, 1, 2, 3].map(digit)
    };
    bytes.chunks(3).flat_map(group).collect()
}

fn tunnel(targets: &Targets, host: &str) -> Attempt {
    tunnel_to(targets, host, port(targets)?)
}

fn tunnel_to(targets: &Targets, host: &str, port: i64) -> Attempt {
    let mut stream = connect(targets)?;
    let request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{}\r\n", password());
    stream.write_all(request.as_bytes()).at("send")?;
    let said = answer(&mut stream)?;
    if said.split(' ').nth(1) != Some("200") {
        return Err(Stop::blocked(format!("the proxy said {}", said.lines().next().unwrap_or_default())));
    }
    get(&mut stream, targets)
}

fn get(stream: &mut TcpStream, targets: &Targets) -> Attempt {
    let word = targets.text_of("word")?;
    stream
        .write_all(format!("GET /{word} HTTP/1.1\r\nHost: allowed.test\r\n\r\n").as_bytes())
        .at("send through the tunnel")?;
    answer(stream)
}

/// Fetches a page by the proxy; returns the connection, too.
pub(super) fn fetch(targets: &Targets, url: &str) -> Result<(TcpStream, String), Stop> {
    let mut stream = connect(targets)?;
    let host = url.split('/').nth(2).unwrap_or_default();
    let request = format!("GET {url} HTTP/1.1\r\nHost: {host}\r\n{}\r\n", password());
    stream.write_all(request.as_bytes()).at("send")?;
    let text = answer(&mut stream)?;
    Ok((stream, text))
}

/// The head of the answer, and the body where the head says how long it is.
fn answer(stream: &mut TcpStream) -> Attempt {
    let mut text = String::new();
    while !is_complete(&text) {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).at("receive")?;
        if count == 0 {
            break;
        }
        text.push_str(&String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()));
    }
    if text.is_empty() { Err(Stop::blocked("the proxy closed the connection")) } else { Ok(text) }
}

fn is_complete(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.is_none_or(|length: usize| body.len() >= length)
}

/// `to` is the kind of address and the address.
fn socks(targets: &Targets, to: &[u8]) -> Attempt {
    let variables = ["all_proxy", "ALL_PROXY"];
    let named = variables.iter().find_map(|name| std::env::var(name).ok());
    let named = named.ok_or_else(|| Stop::blocked("no SOCKS proxy in the environment"))?;
    let rest = named.split("://").nth(1).unwrap_or_default().trim_end_matches('/');
    let (user, address) = rest.rsplit_once('@').map_or((None, rest), |(user, address)| (Some(user), address));
    let mut stream = stream(&address.replace("localhost", "127.0.0.1"))?;
    let method = if user.is_some() { 2 } else { 0 };
    stream.write_all(&[5, 1, method]).at("send")?;
    let mut reply = [0; 2];
    stream.read_exact(&mut reply).at("receive")?;
    if let Some((name, word)) = user.and_then(|user| user.split_once(':')) {
        let length = |text: &str| u8::try_from(text.len()).unwrap_or(255);
        let login = [&[1, length(name)], name.as_bytes(), &[length(word)], word.as_bytes()].concat();
        stream.write_all(&login).at("send")?;
        stream.read_exact(&mut reply).at("receive")?;
    }
    let port = u16::try_from(port(targets)?).unwrap_or(0).to_be_bytes();
    stream.write_all(&[&[5, 1, 0], to, &port].concat()).at("send")?;
    let mut reply = [0; 10];
    stream.read_exact(&mut reply).at("receive")?;
    match reply {
        [5, 0, ..] => get(&mut stream, targets),
        [_, code, ..] => Err(Stop::blocked(format!("the proxy said {code}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_complete_with_its_body() {
        assert!(is_complete("HTTP/1.1 200 Connection established\r\n\r\n"));
        assert!(is_complete("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
        assert!(!is_complete("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"));
        assert!(!is_complete("HTTP/1.1 200 OK\r\n"));
    }

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
