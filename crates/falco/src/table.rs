//! [`FieldTable`]: the fields of an event source, read from files. It knows the names, types and arguments of fields,
//! and their places in an event; it does not know the values.

mod generic;
mod read;

use castellan_event::{FIELDS, FieldArg, FieldDef, FieldType, Level};
use castellan_rules::Options;
use serde_json::{Value as Json, json};

pub(crate) use generic::Generic;
pub use read::TableError;

/// The fields of one source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldTable {
    source: Option<String>,
    plugins: Vec<(String, String)>,
    fields: Vec<Field>,
}

/// A file with a table or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableText<'t> {
    /// Name of the file in errors, usually its path.
    pub name: &'t str,
    /// JSON of the file.
    pub text: &'t str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: FieldType,
    pub(crate) list: bool,
    pub(crate) level: Level,
    pub(crate) arg: FieldArg,
    pub(crate) suggested: bool,
    pub(crate) meaning: String,
    /// The list field that the index selects from.
    pub(crate) of: Option<String>,
    /// The property that Falco knows of every event.
    pub(crate) generic: Option<Generic>,
}

/// Each type with its names in files. The first name is castellan's; the others are from Falco's plugins and its lists
/// of fields. Signed numbers are compared as unsigned numbers: an event cannot hold a negative number.
const TYPES: &[(FieldType, &[&str])] = &[
    (FieldType::Text, &["string", "charbuf", "fspath", "fsrelpath", "dynamic"]),
    (
        FieldType::U64,
        &[
            "uint64", "uint32", "uint16", "uint8", "int64", "int32", "int16", "int8", "double", "port",
            "pid", "fd", "uid", "gid", "errno", "reltime", "abstime",
        ],
    ),
    (FieldType::Bool, &["bool"]),
    (FieldType::Bytes, &["bytebuf"]),
    (FieldType::Ip, &["ipaddr", "ipv4addr", "ipv6addr"]),
    (FieldType::Net, &["ipnet", "ipv4net", "ipv6net"]),
];

const ARGS: [(FieldArg, &str); 4] = [
    (FieldArg::None, "none"),
    (FieldArg::Key, "key"),
    (FieldArg::Index, "index"),
    (FieldArg::Optional, "optional"),
];

impl FieldTable {
    /// Returns the fields of castellan's own source.
    pub fn castellan() -> Self {
        let fields = FIELDS.iter().map(Field::of).collect();
        Self { source: Some("coding_agent".to_owned()), plugins: Vec::new(), fields }
    }

    /// Reads a table from files that complete each other, and adds Falco's fields for every event. A file is a table of
    /// [`FieldTable::to_json`], a list of names and types, or the output of `falco --list --format json`.
    pub fn read(texts: &[TableText<'_>]) -> Result<Self, TableError> {
        read::read(texts)
    }

    /// Returns the table for a rule loader.
    pub fn fields(&self) -> Vec<FieldDef<'_>> {
        self.fields.iter().map(Field::def).collect()
    }

    /// Returns the options for rules of this source: the table's plugins are treated as loaded.
    pub fn options(&self, options: Options) -> Options {
        let source = self.source.clone().unwrap_or(options.source);
        let own = self.plugins.iter().find(|(name, _)| *name == source);
        let plugin_version = own.map_or(options.plugin_version, |(_, version)| version.clone());
        Options { source, plugin_version, other_plugins: self.plugins.clone(), ..options }
    }

    /// Returns the table as a file: version 1 of the format.
    pub fn to_json(&self) -> Json {
        let fields: Vec<Json> = self.fields.iter().map(Field::to_json).collect();
        json!({ "version": read::VERSION, "source": self.source, "fields": fields })
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Field> {
        self.fields.get(index)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Field {
    fn of(def: &FieldDef<'_>) -> Self {
        Self {
            name: def.name.to_owned(),
            ty: def.ty,
            list: def.list,
            level: def.level,
            arg: def.arg,
            suggested: def.suggested,
            meaning: def.meaning.to_owned(),
            of: None,
            generic: None,
        }
    }

    fn def(&self) -> FieldDef<'_> {
        FieldDef {
            name: &self.name,
            ty: self.ty,
            list: self.list,
            level: self.level,
            arg: self.arg,
            suggested: self.suggested,
            words: &[],
            meaning: &self.meaning,
        }
    }

    fn to_json(&self) -> Json {
        json!({
            "name": self.name,
            "type": self.type_name(),
            "list": self.list,
            "argument": ARGS.iter().find(|(arg, _)| *arg == self.arg).map(|(_, word)| word),
            "level": self.level.as_str(),
            "suggested": self.suggested,
            "meaning": self.meaning,
        })
    }

    fn type_name(&self) -> &'static str {
        let names = TYPES.iter().find(|(ty, _)| *ty == self.ty).and_then(|(_, names)| names.first());
        names.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
