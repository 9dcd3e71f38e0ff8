//! A row that came over the channel, without the plugin. It reports as the plugin does.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;

use castellan_event::{Row, Value};
use castellan_rows::{Event, Nonce, PlainRow, Seen};
use castellan_rules::RuleSet;

use crate::judge::{Alert, Reports, alerts};

/// Returns the alerts on an event of the channel. The error says why it cannot be read.
pub fn alerts_on(rules: &RuleSet, event: &[u8]) -> io::Result<Vec<Alert>> {
    let event = Event::read(event).map_err(io::Error::other)?;
    let nonce = String::from_utf8_lossy(event.nonce()).replace('\0', "");
    let nonce = Nonce::parse(&nonce).ok_or_else(|| io::Error::other("a row without a nonce"))?;
    Ok(alerts(rules, &Received { row: PlainRow(event), nonce, noted: RefCell::default() }))
}

struct Received<'e> {
    row: PlainRow<'e>,
    nonce: Nonce,
    noted: RefCell<BTreeSet<u64>>,
}

impl Row for Received<'_> {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        self.row.value(field, arg)
    }
}

impl Reports for Received<'_> {
    fn note(&self, number: u64) {
        self.noted.borrow_mut().insert(number);
    }

    fn report(&self) -> Option<String> {
        let rules = self.noted.borrow().iter().copied().collect();
        Some(Seen { nonce: self.nonce, rules }.to_string())
    }
}
