//! Events from a file or stdin, one per line, each processed before the next is read. This module knows no fields.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, ensure};

use crate::limits::EVENT_BYTES_MAX;

/// The text of one event.
#[derive(Debug)]
pub(super) struct Line {
    /// Number of the event, from 1, without blank lines.
    pub(super) event: u64,
    /// Number of the line in the file, from 1.
    pub(super) line: u64,
    pub(super) text: String,
}

/// Opens a file of events and skips blank lines.
#[expect(clippy::disallowed_methods, reason = "a person names the file, and may name a pipe")]
pub(super) fn open(file: &Path) -> anyhow::Result<impl Iterator<Item = anyhow::Result<Line>>> {
    let name = file.display().to_string();
    let mut reader: Box<dyn BufRead> = if name == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(file).with_context(|| format!("`{name}`"))?))
    };
    let mut line = 0;
    let lines = std::iter::from_fn(move || {
        let next = next(&mut reader, &mut line);
        next.with_context(|| format!("`{name}` line {line}"))
            .map(|text| text.map(|text| (line, text)))
            .transpose()
    });
    Ok((1..).zip(lines).map(|(event, next)| next.map(|(line, text)| Line { event, line, text })))
}

/// Returns the next line that is not blank. Stores the number of the last line read in `number`.
fn next(reader: &mut impl BufRead, number: &mut u64) -> anyhow::Result<Option<String>> {
    loop {
        *number += 1;
        let mut line = String::new();
        let read = reader.take(EVENT_BYTES_MAX + 1).read_line(&mut line)?;
        ensure!(read as u64 <= EVENT_BYTES_MAX, "an event has more than {EVENT_BYTES_MAX} bytes");
        if read == 0 {
            return Ok(None);
        }
        if !line.trim().is_empty() {
            return Ok(Some(line));
        }
    }
}
