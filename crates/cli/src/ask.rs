//! Questions to the person at the terminal, independent of stdin and stdout. This module must not know the topics.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};

use anyhow::{Context, ensure};
use castellan_daemon::Secret;
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::limits::ANSWER_BYTES_MAX;

/// Asks for a yes. Without a terminal it returns true: the user presence check comes before each question about a
/// loosening action, and other actions need no person.
pub(crate) fn is_agreed(question: &str) -> anyhow::Result<bool> {
    let Some(mut terminal) = terminal()? else { return Ok(true) };
    write!(terminal, "{question} [y/N] ")?;
    Ok(matches!(line(terminal)?.to_lowercase().as_str(), "y" | "yes"))
}

/// Asks for a text. Returns `None` without a terminal.
pub(crate) fn text(question: &str) -> anyhow::Result<Option<String>> {
    let Some(mut terminal) = terminal()? else { return Ok(None) };
    write!(terminal, "{question}")?;
    let answer = line(terminal)?;
    ensure!(answer.len() as u64 + 1 < ANSWER_BYTES_MAX, "the answer is longer than {ANSWER_BYTES_MAX} bytes");
    Ok(Some(answer.trim().to_owned()))
}

/// Asks for a secret of the person.
pub(crate) fn known(secret: Secret) -> io::Result<String> {
    hidden(&format!("{secret}: "))
}

/// Asks without echoing the answer.
pub(crate) fn hidden(question: &str) -> io::Result<String> {
    let mut terminal = open()?;
    let shown = tcgetattr(&terminal)?;
    let mut silent = shown.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    // Input typed before the question is discarded: it is not an answer.
    tcsetattr(&terminal, OptionalActions::Flush, &silent)?;
    let asked = write!(terminal, "{question}");
    let answer = asked.and_then(|()| line(terminal.try_clone()?));
    tcsetattr(&terminal, OptionalActions::Now, &shown)?;
    writeln!(terminal)?;
    answer
}

/// Shows lines, one screen at a time on a terminal. Returns false if the person stops before the end.
pub(crate) fn show(text: &str) -> anyhow::Result<bool> {
    let mut out = anstream::stdout();
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let rows = size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 1).unwrap_or(usize::MAX);
    let lines: Vec<&str> = text.lines().collect();
    let pages = lines.chunks(rows.saturating_sub(1));
    let last = pages.len().saturating_sub(1);
    for (number, page) in pages.enumerate() {
        for line in page {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        if number < last {
            let Some(mut terminal) = terminal()? else { continue };
            write!(
                terminal,
                "-- {} more lines: Enter, or q to stop -- ",
                lines.len() - (number + 1) * page.len()
            )?;
            if line(terminal)? == "q" {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Returns `None` if there is no terminal.
fn terminal() -> anyhow::Result<Option<File>> {
    match open() {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => Ok(None),
        opened => Ok(Some(opened.context("`/dev/tty`: you cannot be asked")?)),
    }
}

#[expect(clippy::disallowed_methods, reason = "a terminal, which a person has")]
fn open() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

fn line(terminal: File) -> io::Result<String> {
    let mut answer = String::new();
    BufReader::new(terminal).take(ANSWER_BYTES_MAX).read_line(&mut answer)?;
    Ok(answer.trim_end_matches(['\r', '\n']).to_owned())
}
