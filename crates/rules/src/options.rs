//! [`Options`]: how rule files are read, which rules of them count, and what is added to their outputs. Data only.

use crate::priority::Priority;
use crate::tag_words::TagWords;

/// How rule files are read.
#[derive(Debug, Clone)]
pub struct Options {
    /// The event source whose rules are evaluated.
    pub source: String,
    /// The version of Falco's plugin for that source that `required_plugin_versions` is held against.
    pub plugin_version: String,
    /// Name and version of other plugins that are taken as loaded.
    pub other_plugins: Vec<(String, String)>,
    /// The Falco whose language is read.
    pub engine: Engine,
    /// Which matches are reported.
    pub matching: Matching,
    /// Loads a `regex` that RE2's POSIX mode refuses with a warning, and never matches it, as Falco 0.43 does silently.
    pub regex_compat_falco: bool,
    /// Lets a file define a rule twice, as Falco does: the later definition replaces the earlier one, which nobody sees any more.
    pub redefined_in_file: bool,
    /// Rules less severe than this are left out (Falco's `priority`).
    pub priority: Priority,
    /// Switches rules on and off after loading, in order (Falco's `rules`).
    pub selection: Vec<Selection>,
    /// What is added to outputs (Falco's `append_output`).
    pub append_output: Vec<AppendOutput>,
    /// The tags that mean something: another one that begins as they do is an error. Falco has none.
    pub tags: TagWords,
    /// Reports what Falco does not: conditions that probably do not mean what their author thinks.
    pub lints: bool,
    /// Fills [`crate::Loaded::description`].
    pub describe: bool,
}

/// A version of Falco, as far as the language differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Engine {
    /// Falco 0.43, engine 0.58.
    #[default]
    V0_43,
    /// Falco 0.44, engine 0.62: `oneof`, `anyof`, `allof`, `join`, `concat`, `getopt`.
    V0_44,
}

impl Engine {
    /// Every engine by the version of its Falco: the words of configuration and command line.
    pub const WORDS: &[(&str, Self)] = &[("0.43", Self::V0_43), ("0.44", Self::V0_44)];

    /// The version that rule files ask for with `required_engine_version`.
    pub fn version(self) -> &'static str {
        match self {
            Self::V0_43 => "0.58.0",
            Self::V0_44 => "0.62.0",
        }
    }
}

/// Which matching rules of a row are reported (Falco's `rule_matching`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// All of them.
    #[default]
    All,
    /// The first in the order of the files.
    First,
}

impl Matching {
    /// The words of configuration and command line.
    pub const WORDS: &[(&str, Self)] = &[("all", Self::All), ("first", Self::First)];
}

/// Switches rules on or off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// On or off.
    pub enable: bool,
    /// Which rules.
    pub of: Selected,
}

/// Which rules are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selected {
    /// Those whose whole name matches a pattern in which `*` stands for any text.
    Rule(String),
    /// Those with this tag.
    Tag(String),
}

/// An addition to the outputs of some rules. What is `None` or empty matches every rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppendOutput {
    /// Rules of this source.
    pub source: Option<String>,
    /// The rule of this name.
    pub rule: Option<String>,
    /// Rules that have all of these tags.
    pub tags: Vec<String>,
    /// Put behind the output, after a blank.
    pub extra_output: Option<String>,
    /// Added to the output fields.
    pub extra_fields: Vec<ExtraField>,
    /// Puts every suggested field of the source behind the output.
    pub suggested_output: bool,
}

/// A further output field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtraField {
    /// The typed value of a field, under its own name.
    Field(String),
    /// A formatted text under a name.
    Format {
        /// Key among the output fields.
        name: String,
        /// Text with `%field` tokens.
        format: String,
    },
}

impl Options {
    /// The words of configuration and command line for [`Options::regex_compat_falco`].
    pub const REGEX_COMPAT_WORDS: &[(&str, bool)] = &[("strict", false), ("falco", true)];
}

impl Default for Options {
    fn default() -> Self {
        Self {
            source: "coding_agent".to_owned(),
            plugin_version: "0.5.0".to_owned(),
            other_plugins: Vec::new(),
            engine: Engine::default(),
            matching: Matching::default(),
            regex_compat_falco: false,
            redefined_in_file: false,
            priority: Priority::Debug,
            selection: Vec::new(),
            append_output: Vec::new(),
            tags: TagWords::default(),
            lints: false,
            describe: false,
        }
    }
}
