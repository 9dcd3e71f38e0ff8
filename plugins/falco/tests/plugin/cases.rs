//! The rows of all cases of the shipped rules. `cargo xtask test falco` writes them by castellan's own reading of its rows
//! (`crates/trial/examples/case_rows.rs`) and names the file in `CASTELLAN_CASE_ROWS`.

use std::collections::BTreeMap;

use castellan_event::{FIELDS, FieldArg, FieldType};

use crate::daemon::Daemon;
use crate::host::{Host, bytes};

/// The present values of a row by the names of their fields: each element as bytes.
type Values = BTreeMap<String, Vec<Vec<u8>>>;

/// A call on the channel, and for each row its nonce with the present values.
type Case = (Vec<u8>, Vec<(String, Values)>);

#[test]
#[ignore = "needs the rows of the cases: `cargo xtask test falco`"]
fn every_field_of_every_row_of_all_cases_is_the_daemons() {
    let path =
        std::env::var_os("CASTELLAN_CASE_ROWS").expect("CASTELLAN_CASE_ROWS names the rows of the cases");
    let cases = read(&std::fs::read(path).unwrap());
    assert!(cases.len() > 1_000, "{} cases", cases.len());
    let daemon = Daemon::start();
    let mut host = Host::start(&daemon.settings);
    assert!(host.poll().is_none());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for (call, _) in &cases {
                daemon.send(call).unwrap();
            }
        });
        for (nonce, values) in cases.iter().flat_map(|(_, rows)| rows) {
            let event = host.event();
            assert_eq!(host.text(&event, "row.nonce").as_ref(), Some(nonce));
            let mut present = 0;
            for name in names(values) {
                let found = bytes(&host.field(&event, &name).unwrap());
                let expected = values.get(&name).map(|values| expected(&name, values));
                present += usize::from(found.is_some());
                assert_eq!(found, expected, "{nonce} {name}");
            }
            assert_eq!(present, values.len(), "{nonce}: each expected value is a field");
            assert_eq!(host.seen(&event).unwrap(), format!("{nonce}:"));
        }
        assert!(host.poll().is_none(), "no other row comes");
    });
}

/// All fields. Of those with keys, the keys that the file has a value for, and the one that no session has.
fn names(values: &Values) -> Vec<String> {
    let mut names = Vec::new();
    for field in FIELDS {
        if field.arg == FieldArg::Key {
            let own = format!("{}[", field.name);
            names.extend(values.keys().filter(|name| name.starts_with(&own)).cloned());
            let unknown = format!("{own}no_such_mark]");
            if !names.contains(&unknown) {
                names.push(unknown);
            }
        } else {
            names.push(field.name.to_owned());
        }
    }
    names
}

/// The values of a text or a list of texts, without NULs.
fn expected(name: &str, values: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let is_text = FIELDS.iter().any(|field| field.name == name && field.ty == FieldType::Text);
    let text = |text: &Vec<u8>| text.split(|byte| *byte == 0).collect::<Vec<_>>().join("\u{fffd}".as_bytes());
    if is_text { values.iter().map(text).collect() } else { values.to_vec() }
}

fn read(mut bytes: &[u8]) -> Vec<Case> {
    let mut part = || {
        let (size, rest) = bytes.split_first_chunk::<4>()?;
        let (part, rest) = rest.split_at(u32::from_le_bytes(*size) as usize);
        bytes = rest;
        Some(part.to_vec())
    };
    let mut cases = Vec::new();
    while let Some(call) = part() {
        let text = String::from_utf8(part().unwrap()).unwrap();
        let mut rows: Vec<(String, Values)> = Vec::new();
        for line in text.lines() {
            let (name, value) = line.split_once(' ').unwrap();
            if name == "row" {
                rows.push((value.to_owned(), Values::new()));
            } else {
                let values = value.split(',').map(unhex).collect();
                rows.last_mut().unwrap().1.insert(name.to_owned(), values);
            }
        }
        cases.push((call, rows));
    }
    cases
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
