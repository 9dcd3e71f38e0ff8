//! Writes the rows of all cases of the shipped rules to a file, for the tests of Falco's plugin: `cargo xtask test falco`.
//!
//! ```text
//! (size u32, call as on the channel, size u32, expected values as text) ...
//! row <nonce>
//! <field>[<key>] <hex>,<hex>        each present value; the elements of a list with commas
//! ```

use std::io::Write as _;

use castellan_daemon::{Config, compile};
use castellan_event::{CallRow, FIELDS, FieldArg, Row as _, Value, rows};
use castellan_rows::{Generation, Nonce, encode};
use castellan_trial::{CaseFile, Trial, shipped_cases};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let path = std::env::args_os().nth(1).ok_or("usage: case_rows FILE")?;
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let policy = compile(&[], &Config::default()).policy;
    let mut count: u64 = 0;
    for (_, cases) in shipped_cases() {
        for case in CaseFile::read(&cases).map_err(|_| "the cases have problems")?.cases {
            let judged = Trial::new(&policy).judge(&case.case)?;
            let rows = rows(&judged.call, &judged.facts, &judged.session, &judged.answers)
                .map_err(|_| "an answer is missing")?;
            let mut keys: Vec<&str> = judged.session.marks.keys().map(String::as_str).collect();
            let nonces: Vec<Nonce> = rows.iter().map(|_| next(&mut count)).collect();
            let call = encode(&rows, &keys, Generation([2; 32]), &nonces)?;
            keys.push("no_such_mark");
            let mut expected = String::new();
            for (row, nonce) in rows.iter().zip(&nonces) {
                expected.push_str(&format!("row {nonce}\n"));
                expect(&mut expected, row, &keys);
            }
            for part in [&call[..], expected.as_bytes()] {
                file.write_all(&u32::try_from(part.len())?.to_le_bytes())?;
                file.write_all(part)?;
            }
        }
    }
    println!("{count} rows");
    Ok(file.flush()?)
}

fn next(count: &mut u64) -> Nonce {
    *count += 1;
    let mut nonce = Nonce([0; 16]);
    for (to, from) in nonce.0.iter_mut().zip(count.to_le_bytes()) {
        *to = from;
    }
    nonce
}

fn expect(into: &mut String, row: &CallRow<'_>, keys: &[&str]) {
    for (field, def) in FIELDS.iter().enumerate() {
        match def.arg {
            FieldArg::None | FieldArg::Index | FieldArg::Optional => {
                push(into, def.name, &row.value(field, None));
            }
            FieldArg::Key => {
                for key in keys {
                    push(into, &format!("{}[{key}]", def.name), &row.value(field, Some(key)));
                }
            }
        }
    }
}

fn push(into: &mut String, name: &str, value: &Value<'_>) {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let one = |value: &Value<'_>| match value {
        Value::Text(text) => hex(text),
        Value::U64(number) => hex(&number.to_le_bytes()),
        Value::Bool(truth) => hex(&[u8::from(*truth)]),
        Value::Absent | Value::Ip(_) | Value::Net(_) | Value::List(_) => "no such value".to_owned(),
    };
    let text = match value {
        Value::Absent => return,
        Value::List(list) if list.is_empty() => return,
        Value::List(list) => list.iter().map(one).collect::<Vec<_>>().join(","),
        Value::Text(_) | Value::U64(_) | Value::Bool(_) | Value::Ip(_) | Value::Net(_) => one(value),
    };
    into.push_str(&format!("{name} {text}\n"));
}
