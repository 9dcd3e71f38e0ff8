//! Every field of every row is what the daemon has.

use castellan_event::{FIELDS, FieldArg, Row};
use castellan_rows::encode;

use crate::daemon::{Daemon, IDENTITY, nonce};
use crate::host::{Host, bytes};
use crate::rows::{MARK, Made, expected};

const ROWS: u64 = 200;

#[test]
fn every_field_of_every_row_is_the_daemons() {
    let daemon = Daemon::start();
    let mut host = Host::start(&daemon.settings);
    assert!(host.poll().is_none(), "connected, without a call");
    let rows: Vec<Made> = (0..ROWS).map(Made::new).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for (at, call) in rows.chunks(7).enumerate() {
                let nonces: Vec<_> = (0..7).map(|number| nonce(at as u64 * 7 + number)).collect();
                daemon.send(&encode(call, &[MARK], IDENTITY.generation, &nonces).unwrap()).unwrap();
            }
        });
        for (number, row) in rows.iter().enumerate() {
            let event = host.event();
            let own = nonce(number as u64).to_string();
            assert_eq!(host.text(&event, "row.nonce").unwrap(), own);
            assert_eq!(host.text(&event, "row.generation").unwrap(), "02".repeat(32));
            for (field, def) in FIELDS.iter().enumerate() {
                let keys: &[Option<&str>] =
                    if def.arg == FieldArg::Key { &[Some(MARK), Some("other")] } else { &[None] };
                for key in keys {
                    let name = key.map_or(def.name.to_owned(), |key| format!("{}[{key}]", def.name));
                    let found = host.field(&event, &name).unwrap();
                    assert_eq!(bytes(&found), expected(&row.value(field, *key)), "row {number}: {name}");
                }
            }
            assert_eq!(host.seen(&event).unwrap(), format!("{own}:"));
        }
    });
}

#[test]
fn the_event_reports_the_rules_that_asked_for_it() {
    let daemon = Daemon::start();
    let mut host = Host::start(&daemon.settings);
    assert!(host.poll().is_none());
    let rows = [Made::with("tool.name", b"Bash"), Made::with("tool.name", b"Read")];
    let call = encode(&rows, &[], IDENTITY.generation, &[nonce(1), nonce(2)]).unwrap();
    daemon.send(&call).unwrap();
    let event = host.event();
    for rule in [17, 3, 17] {
        host.field(&event, &format!("row.match[{rule}]")).unwrap();
    }
    assert_eq!(host.seen(&event).unwrap(), format!("{}:3,17", nonce(1)));
    assert_eq!(host.text(&event, "evt.plugininfo").unwrap(), " of Bash");
    let event = host.event();
    assert_eq!(host.seen(&event).unwrap(), format!("{}:", nonce(2)));
}
