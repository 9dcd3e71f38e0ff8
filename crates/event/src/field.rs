//! The definition of a field that a rule can name: its name, type, level and meaning.

/// The type of a field's value, or of each of its elements. The corresponding Falco types are in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// Bytes, usually UTF-8 (`string`, charbuf). May hold NUL and invalid UTF-8: neither makes a field absent.
    Text,
    /// An unsigned number (`uint64`, `reltime`, `abstime` and the like).
    U64,
    /// True or false (`bool`).
    Bool,
    /// Bytes that are no text (`bytebuf`): constants for `bcontains` and `bstartswith` are hexadecimal.
    Bytes,
    /// An address (`ipaddr`).
    Ip,
    /// A network (`ipnet`).
    Net,
}

/// The finest row that a field describes: a call, a command in it, an effect of that, or of a file that it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Level {
    /// Describes the whole call.
    #[default]
    Call,
    /// Describes one command.
    Command,
    /// Describes one effect.
    Effect,
    /// Describes one effect of a file that the call writes, when that file is run later. This level is the finest. Only
    /// a rule that names a field of this level is tested on it, because the effect does not happen now.
    Written,
}

impl Level {
    /// Every level, coarsest first.
    pub const ALL: [Level; 4] = [Level::Call, Level::Command, Level::Effect, Level::Written];

    /// Returns the word used in tables and in the field `row.level`.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Call => "call",
            Level::Command => "command",
            Level::Effect => "effect",
            Level::Written => "written",
        }
    }
}

/// The argument of a field, as in `field[arg]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldArg {
    /// None.
    None,
    /// A key is required: `field[key]`.
    Key,
    /// An index is required: `field[0]`.
    Index,
    /// Any argument, or none: `field` or `field[arg]`.
    Optional,
}

/// One field of a rule condition or output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldDef<'t> {
    /// Dotted name, such as `tool.name`.
    pub name: &'t str,
    /// Type of the value.
    pub ty: FieldType,
    /// The value is a list of that type.
    pub list: bool,
    /// Level of the rows that the field describes.
    pub level: Level,
    /// Kind of argument.
    pub arg: FieldArg,
    /// The field is in Falco's suggested output, which `append_output` with `suggested_output` shows.
    pub suggested: bool,
    /// Every possible value if the values are words of a vocabulary; else empty.
    pub words: &'t [&'t str],
    /// One line for people.
    pub meaning: &'t str,
}
