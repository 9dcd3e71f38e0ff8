//! The speed of a tunnel, beside a direct connection. Run in release mode:
//! `cargo test --release -p castellan-proxy --test proxy -- --ignored --nocapture speed`.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Instant;

use castellan_proxy::HostRule;

use crate::support::{LOOPBACK, Running};

const BYTES: usize = 4 << 30;
const BLOCK: usize = 256 * 1024;

/// Sends [`BYTES`] and returns the rate in GB/s until the receiver has all of them.
fn rate(mut sender: TcpStream, mut receiver: TcpStream) -> f64 {
    let start = Instant::now();
    let sending = std::thread::spawn(move || {
        let block = vec![7; BLOCK];
        for _ in 0..BYTES / BLOCK {
            sender.write_all(&block).unwrap();
        }
        sender.shutdown(Shutdown::Write).unwrap();
    });
    let mut block = vec![0; BLOCK];
    let mut total = 0;
    while let read @ 1.. = receiver.read(&mut block).unwrap() {
        total += read;
    }
    sending.join().unwrap();
    assert_eq!(total, BYTES);
    BYTES as f64 / start.elapsed().as_secs_f64() / 1e9
}

#[test]
#[ignore = "a measurement: takes seconds and needs a release build"]
fn speed() {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let target = listener.local_addr().unwrap();
    let mut raw = HostRule::parse(&target.to_string()).unwrap();
    raw.raw = true;
    let proxy = Running::new(vec![raw]);
    for _ in 0..3 {
        let client = TcpStream::connect(target).unwrap();
        let direct = rate(client, listener.accept().unwrap().0);
        let mut client = proxy.tunnel(&target.to_string()).unwrap();
        let mut server = listener.accept().unwrap().0;
        // The first bytes decide how the tunnel goes on.
        client.write_all(b"\0").unwrap();
        server.read_exact(&mut [0]).unwrap();
        let up = rate(client.try_clone().unwrap(), server.try_clone().unwrap());
        let mut client = proxy.tunnel(&target.to_string()).unwrap();
        let mut server = listener.accept().unwrap().0;
        client.write_all(b"\0").unwrap();
        server.read_exact(&mut [0]).unwrap();
        let down = rate(server, client);
        println!("direct {direct:.2} GB/s, through the proxy up {up:.2} GB/s, down {down:.2} GB/s");
    }
}
