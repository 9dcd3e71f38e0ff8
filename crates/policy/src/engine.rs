//! [`EngineSettings`]: the program that tests rules on rows. It must not know how that program is started or asked.

use std::str::FromStr;

use castellan_event::{UnknownWord, from_word};

/// The program that tests rules on rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// castellan itself.
    Native,
    /// A Falco that castellan starts. Rules of a project are tested by castellan itself.
    Falco,
}

impl EngineKind {
    /// Both. Neither is milder: they give the same matches.
    pub const ALL: [EngineKind; 2] = [EngineKind::Native, EngineKind::Falco];

    /// Their words.
    pub const WORDS: &'static [&'static str] = &["native", "falco"];

    /// Returns the word used in configuration and records.
    pub fn as_str(self) -> &'static str {
        match self {
            EngineKind::Native => "native",
            EngineKind::Falco => "falco",
        }
    }
}

impl FromStr for EngineKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<EngineKind, UnknownWord> {
        from_word(&EngineKind::ALL, EngineKind::as_str, word)
    }
}

/// The place of Falco's own packages.
const FALCO: &str = "/usr/bin/falco";

/// The place of Falco's plugins.
const PLUGIN: &str = "/usr/share/falco/plugins/libcoding_agent.so";

/// Settings about the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSettings {
    /// The engine.
    pub kind: EngineKind,
    /// Absolute path of the program `falco`.
    pub falco: String,
    /// Absolute path of castellan's plugin for Falco.
    pub plugin: String,
    /// castellan copies judged calls for a Falco of the user's own.
    pub events: bool,
}

impl EngineSettings {
    /// Returns the settings without a configuration: castellan's own engine, and the usual places of Falco.
    pub fn native() -> EngineSettings {
        let (falco, plugin) = (FALCO.to_owned(), PLUGIN.to_owned());
        EngineSettings { kind: EngineKind::Native, falco, plugin, events: false }
    }

    /// Reports whether Falco tests the rules.
    pub fn is_falco(&self) -> bool {
        self.kind == EngineKind::Falco
    }

    /// Returns the files whose contents decide about calls: none with castellan's own engine.
    pub fn deciding_files(&self) -> impl Iterator<Item = &str> {
        let files = [&self.falco, &self.plugin];
        files.into_iter().map(String::as_str).filter(|_| self.is_falco())
    }
}
