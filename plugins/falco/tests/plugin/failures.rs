//! A failure is never an absent value of a row that is then answered as seen.

use castellan_rows::encode;
use falco_plugin_runner::{Event, ExtractedField};

use crate::daemon::{Daemon, IDENTITY, nonce};
use crate::host::Host;
use crate::rows::Made;

/// The length of an event's head in Falco's memory: header, lengths of two parameters, the plugin's number.
const HEAD: usize = 26 + 2 * 4 + 4;

fn event() -> (Daemon, Host, Event) {
    let daemon = Daemon::start();
    let mut host = Host::start(&daemon.settings);
    assert!(host.poll().is_none());
    let row = Made::with("tool.input_command", b"rm -rf /");
    daemon.send(&encode(&[row], &[], IDENTITY.generation, &[nonce(1)]).unwrap()).unwrap();
    let event = host.event();
    assert!(host.seen(&event).is_some());
    (daemon, host, event)
}

fn damage(event: &Event, needle: &[u8], with: &[u8]) {
    // SAFETY: the memory is the batch of the plugin, which stays until the next request for events. Nobody else reads
    // it now, and its length is in its header.
    let bytes = unsafe {
        let length = (*event.buf).len as usize;
        std::slice::from_raw_parts_mut(event.buf.cast::<u8>(), length)
    };
    let at = bytes.windows(needle.len()).position(|bytes| bytes == needle).expect("the bytes are there");
    assert!(at >= HEAD);
    bytes[at..at + with.len()].copy_from_slice(with);
}

#[test]
fn a_damaged_value_hides_the_row() {
    let (_daemon, mut host, event) = event();
    damage(&event, b"rm -rf /\0", b"rm -rf /x");
    assert!(host.field(&event, "tool.input_command").is_err());
    assert_eq!(host.seen(&event), None);
    assert!(host.text(&event, "row.nonce").is_some());
}

#[test]
fn a_damaged_head_hides_the_row() {
    let (_daemon, mut host, event) = event();
    damage(&event, b"CSTR", b"XXXX");
    assert!(host.field(&event, "tool.input_command").is_err());
    assert!(host.field(&event, "row.seen").is_err());
}

#[test]
fn a_damaged_nonce_hides_the_row() {
    let (_daemon, mut host, event) = event();
    damage(&event, nonce(1).to_string().as_bytes(), b"zz");
    assert!(host.field(&event, "row.nonce").is_err());
    assert!(host.field(&event, "row.seen").is_err());
}

/// Falco formats an alert before it takes the next event. If it did not, a report would lack matches.
#[test]
fn a_report_after_another_row_is_none() {
    let daemon = Daemon::start();
    let mut host = Host::start(&daemon.settings);
    assert!(host.poll().is_none());
    let rows = [Made::with("tool.name", b"Bash"), Made::with("tool.name", b"Read")];
    daemon.send(&encode(&rows, &[], IDENTITY.generation, &[nonce(1), nonce(2)]).unwrap()).unwrap();
    let (one, other) = (host.event(), host.event());
    host.field(&one, "row.match[3]").unwrap();
    assert_eq!(host.seen(&one).unwrap(), format!("{}:3", nonce(1)));
    assert_eq!(host.seen(&other).unwrap(), format!("{}:", nonce(2)));
    assert_eq!(host.text(&one, "row.seen"), None);
}

#[test]
fn an_unknown_number_of_a_rule_hides_the_row() {
    let (_daemon, mut host, event) = event();
    assert_eq!(host.field(&event, "row.match[100001]"), Ok(ExtractedField::Bool(true)));
    assert_eq!(host.seen(&event), None);
}
