//! Descriptors that the sandbox's starter had open and did not close.

use std::fs::File;
use std::io::Write;

use super::links::open_at;
use super::{Attack, Evidence, Run, read_all};
use crate::outcome::{At, Stop};
use crate::sys;

/// Descriptors are looked for up to here.
const HIGHEST: i32 = 256;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "leaked-file",
        says: "Reads every descriptor that it was started with: the harness has left a secret open.",
        evidence: Evidence::Secret,
        run: Run::Do(|_| {
            let mut found = String::new();
            for fd in 3..HIGHEST {
                let Some(fd) = sys::inherited(fd) else { continue };
                let mut file = File::from(fd);
                // Sockets and folders do not seek; a read of them could wait.
                if std::io::Seek::rewind(&mut file).is_ok() {
                    found.push_str(&read_all(file).unwrap_or_default());
                }
            }
            if found.is_empty() { Err(Stop::blocked("no descriptor has a text")) } else { Ok(found) }
        }),
    },
    Attack {
        name: "leaked-folder",
        says: "Opens a secret below every descriptor that it was started with: the harness has left a folder open.",
        evidence: Evidence::Secret,
        run: Run::Do(|_| {
            let folders = (3..HIGHEST).filter_map(sys::inherited);
            let opened = folders.filter_map(|folder| open_at(&folder, ".aws/credentials", 0).ok());
            let found = opened.filter_map(|file| read_all(File::from(file)).ok()).next();
            found.ok_or_else(|| Stop::blocked("no descriptor is a folder with secrets"))
        }),
    },
    Attack {
        name: "leaked-socket",
        says: "Writes to every descriptor that it was started with: the harness has left a connection open.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let word = targets.text_of("word")?.to_owned();
            let mut written = 0;
            for fd in (3..HIGHEST).filter_map(sys::inherited) {
                let mut file = File::from(fd);
                if file.write_all(format!("{word}\n").as_bytes()).at("write").is_ok() {
                    written += 1;
                }
            }
            if written == 0 { Err(Stop::blocked("no descriptor takes bytes")) } else { Ok("sent".to_owned()) }
        }),
    },
];
