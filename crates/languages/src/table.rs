//! A language's libraries, as data: modules, types and functions. `build.rs` makes the tables from `models/*.toml`.
//! Must not know how programs are read.

mod types;

use std::sync::OnceLock;

use crate::language::Language;

pub(crate) use self::types::{Does, Entry, Parameter, Part, Space, Table, Takes};

// One image for each language: without pointers, so that the loader has nothing to relocate, and only the languages that
// are used take memory of the process.
include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// A table that is read when its language is first used.
struct Image {
    bytes: &'static [u8],
    table: OnceLock<Table>,
}

impl Image {
    const fn new(bytes: &'static [u8]) -> Image {
        Image { bytes, table: OnceLock::new() }
    }

    /// Returns the table. An unreadable table is empty: every name is unknown.
    fn table(&self) -> &Table {
        self.table.get_or_init(|| postcard::from_bytes(self.bytes).unwrap_or_default())
    }
}

impl Table {
    pub(crate) fn of(language: Language) -> &'static Table {
        let image = match language {
            Language::Python => &PYTHON,
            Language::JavaScript => &JAVASCRIPT,
            Language::Php => &PHP,
            Language::Lua => &LUA,
            Language::Perl => &PERL,
            Language::Ruby => &RUBY,
            Language::PowerShell => &POWERSHELL,
            Language::Batch => &BATCH,
            Language::AppleScript => &APPLESCRIPT,
        };
        image.table()
    }

    pub(crate) fn module(&self, name: &str) -> Option<&'static Space> {
        find(self.modules_by_name, self.modules, name)
    }

    pub(crate) fn kind(&self, name: &str) -> Option<&'static Space> {
        find(self.types_by_name, self.types, name)
    }

    /// Reports whether a module, or its package, has no effects.
    pub(crate) fn is_inert(&self, module: &str) -> bool {
        let mut name = module;
        loop {
            if self.inert.binary_search(&name).is_ok() {
                return true;
            }
            match name.rsplit_once(['.', '/']) {
                Some((package, _)) => name = package,
                None => return false,
            }
        }
    }
}

fn find<T>(by_name: &[(&str, usize)], all: &'static [T], name: &str) -> Option<&'static T> {
    let place = by_name.binary_search_by_key(&name, |(own, _)| *own).ok()?;
    all.get(by_name.get(place)?.1)
}

impl Space {
    pub(crate) fn entry(&self, name: &str) -> Option<&'static Entry> {
        find(self.by_name, self.entries, name)
    }

    /// Returns the entry of a type's member: its own, or the common entry `*`.
    pub(crate) fn member(&self, name: &str) -> Option<&'static Entry> {
        self.entry(name).or_else(|| self.entry("*").filter(|_| !self.inert.contains(&name)))
    }

    pub(crate) fn is_inert(&self, member: &str) -> bool {
        self.has_inert(member) || self.has_inert("*")
    }

    /// Reports whether the table lists this very member as inert.
    pub(crate) fn has_inert(&self, member: &str) -> bool {
        self.inert.binary_search(&member).is_ok()
    }

    pub(crate) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Reports whether a member has effects, or nothing is known of the members.
    pub(crate) fn is_capable(&self) -> bool {
        let is_unknown = self.entries.is_empty() && self.inert.is_empty();
        is_unknown || self.entries.iter().any(Entry::is_capable)
    }
}

/// Computations that run code or reach other values.
const CAPABLE: &[&str] = &[
    "member",
    "set-member",
    "names",
    "code",
    "function",
    "load",
    "modules",
    "call",
    "include",
    "extract",
    "expression",
    "pattern-replace",
    "call-inner",
    "call-method",
    "load-code",
    "lost",
    "protected-call",
    "protected-call-with",
    "new-inner",
    "listed",
    "opened",
    "called",
    "searched",
    "vim-code",
];

impl Parameter {
    /// Reports whether the parameter has this name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.name.split('/').any(|one| one == name)
    }

    /// Reports whether the argument becomes code that is not followed.
    pub(crate) fn is_opaque(&self) -> bool {
        self.parts.contains(&Part::Opaque)
    }
}

impl Entry {
    pub(crate) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Reports whether it is a method of its receiver.
    pub(crate) fn takes_receiver(&self) -> bool {
        self.parameters().iter().any(|parameter| parameter.takes == Takes::Receiver)
    }

    /// Reports whether a shell reads an argument.
    pub(crate) fn takes_shell_text(&self) -> bool {
        self.parameters().iter().any(|parameter| parameter.parts.contains(&Part::Shell))
    }

    /// Reports whether a call has effects.
    pub(crate) fn is_capable(&self) -> bool {
        let acts = |parameter: &Parameter| parameter.parts.iter().any(|part| *part != Part::Any);
        !self.does.is_empty()
            || CAPABLE.contains(&self.computes)
            || self.parameters.is_some_and(|parameters| parameters.iter().any(acts))
    }

    pub(crate) fn parameters(&self) -> &'static [Parameter] {
        self.parameters.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_image_is_readable() {
        let images = [&PYTHON, &JAVASCRIPT, &PHP, &LUA, &PERL, &RUBY, &POWERSHELL, &BATCH, &APPLESCRIPT];
        for image in images {
            assert!(postcard::from_bytes::<Table>(image.bytes).is_ok(), "{} bytes", image.bytes.len());
        }
    }
}
