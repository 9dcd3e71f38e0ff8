//! [`Options`]: options for loading rule files, selecting rules and extending outputs. Data only.

use crate::priority::Priority;
use crate::tag_words::TagWords;

/// Options for loading rule files.
#[derive(Debug, Clone)]
pub struct Options {
    /// The event source whose rules are evaluated.
    pub source: String,
    /// The version of Falco's plugin for that source, for comparison with `required_plugin_versions`.
    pub plugin_version: String,
    /// Name and version of other plugins that are treated as loaded.
    pub other_plugins: Vec<(String, String)>,
    /// The Falco version that defines the language.
    pub engine: Engine,
    /// The matches that are reported.
    pub matching: Matching,
    /// Loads a `regex` that RE2's POSIX mode rejects, with a warning, and never matches it. Falco 0.43 does so
    /// silently.
    pub regex_compat_falco: bool,
    /// Lets a file define a rule twice, as Falco does: the later definition replaces the earlier one without notice.
    pub redefined_in_file: bool,
    /// Rules less severe than this are left out (Falco's `priority`).
    pub priority: Priority,
    /// Enables and disables rules after loading, in order (Falco's `rules`).
    pub selection: Vec<Selection>,
    /// Additions to outputs (Falco's `append_output`).
    pub append_output: Vec<AppendOutput>,
    /// The tags with a meaning. Another tag with the same prefix is an error. Falco has no such tags.
    pub tags: TagWords,
    /// Reports conditions that probably do not mean what their author thinks. Falco has no such reports.
    pub lints: bool,
    /// Fills [`crate::Loaded::description`].
    pub describe: bool,
}

/// A version of Falco with its own version of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Engine {
    /// Falco 0.43, engine 0.58.
    #[default]
    V0_43,
    /// Falco 0.44, engine 0.62: `oneof`, `anyof`, `allof`, `join`, `concat`, `getopt`.
    V0_44,
}

impl Engine {
    /// Every engine by its Falco version: the words of configuration and command line.
    pub const WORDS: &[(&str, Self)] = &[("0.43", Self::V0_43), ("0.44", Self::V0_44)];

    /// Returns the version for `required_engine_version` of rule files.
    pub fn version(self) -> &'static str {
        match self {
            Self::V0_43 => "0.58.0",
            Self::V0_44 => "0.62.0",
        }
    }
}

/// The matching rules of a row that are reported (Falco's `rule_matching`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// All matching rules.
    #[default]
    All,
    /// The first matching rule in the order of the files.
    First,
}

impl Matching {
    /// The words of configuration and command line.
    pub const WORDS: &[(&str, Self)] = &[("all", Self::All), ("first", Self::First)];
}

/// Enables or disables rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// True to enable.
    pub enable: bool,
    /// The selected rules.
    pub of: Selected,
}

/// A selection of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selected {
    /// Rules whose whole name matches a pattern, in which `*` matches any text.
    Rule(String),
    /// Rules with this tag.
    Tag(String),
}

/// An addition to the outputs of some rules. A filter that is `None` or empty matches every rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppendOutput {
    /// Rules of this source.
    pub source: Option<String>,
    /// The rule of this name.
    pub rule: Option<String>,
    /// Rules that have all of these tags.
    pub tags: Vec<String>,
    /// Text after the output, separated by a blank.
    pub extra_output: Option<String>,
    /// Added to the output fields.
    pub extra_fields: Vec<ExtraField>,
    /// Adds every suggested field of the source after the output.
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
