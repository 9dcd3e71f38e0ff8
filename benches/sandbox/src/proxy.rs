//! The bytes a second through a tunnel of the proxy, beside those of a connection without it.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use castellan_proxy::{HostRule, Proxy, Range, Settings};

/// Bytes of one transfer.
const BYTES: u64 = 2 << 30;

/// Transfers of each kind, in turns.
const TURNS: usize = 5;

pub(crate) fn table() -> anyhow::Result<String> {
    let server = serve()?;
    let mut rule = HostRule::parse(&format!("bench.test:{}", server.port()))?;
    rule.raw = true;
    rule.addresses = vec![Range::parse("127.0.0.0/8").context("a range of addresses")?];
    let resolve = |_: &str| Ok(vec![std::net::IpAddr::from([127, 0, 0, 1])]);
    let settings = Settings::new(vec![rule], Vec::new())?.with_resolver(Arc::new(resolve));
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let proxy = Proxy::start(listener, settings, |_| {})?;
    let (mut direct, mut tunnelled) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        direct.push(receive(TcpStream::connect(server)?)?);
        tunnelled.push(receive(tunnel(address, server.port())?)?);
    }
    drop(proxy);
    let mut text = format!(
        "\n### {} GiB over loopback, {TURNS} times in turns\n\n| | GB/s, median |\n|---|---:|\n",
        BYTES >> 30
    );
    writeln!(text, "| a connection | {:.2} |", median(&mut direct))?;
    writeln!(text, "| a tunnel of the proxy | {:.2} |", median(&mut tunnelled))?;
    Ok(text)
}

/// Sends the bytes to each visitor.
fn serve() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        let block = vec![7_u8; 1 << 20];
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn({
                let block = block.clone();
                move || (0..BYTES >> 20).try_for_each(|_| stream.write_all(&block))
            });
        }
    });
    Ok(address)
}

fn tunnel(proxy: SocketAddr, port: u16) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(proxy)?;
    write!(stream, "CONNECT bench.test:{port} HTTP/1.1\r\nHost: bench.test:{port}\r\n\r\n")?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    ensure!(head.starts_with(b"HTTP/1.1 200"), "the proxy said {}", String::from_utf8_lossy(&head));
    Ok(stream)
}

/// Returns the gigabytes a second.
fn receive(mut stream: TcpStream) -> anyhow::Result<f64> {
    let started = Instant::now();
    let mut block = vec![0_u8; 1 << 18];
    let mut received = 0_u64;
    while let Ok(count @ 1..) = stream.read(&mut block) {
        received += u64::try_from(count)?;
    }
    ensure!(received == BYTES, "only {received} bytes came");
    #[expect(clippy::cast_precision_loss, reason = "a few thousand million are exact")]
    Ok(received as f64 / 1e9 / started.elapsed().as_secs_f64())
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
