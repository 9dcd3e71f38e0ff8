//! Data sources: the file or server of a database that a program opens. Must not know what statements do.

use castellan_event::{EffectKind, Why};
use castellan_programs::Arg;

use super::Machine;
use super::bound::Bound;
use crate::act::Operand;
use crate::tree::Node;
use crate::value::{Ref, Value};

/// Drivers of PDO and DBI whose databases are files.
const FILES: &[&str] = &["sqlite", "sqlite2", "sqlite3", "csv", "dbm"];

impl Machine<'_> {
    /// Reads `sqlite:file`, `mysql:host=name;port=1`, `dbi:Pg:dbname=x;host=name`. Returns a `Database`, or a `Sqlite`
    /// for a file if the language has that type.
    pub(super) fn data_source(&mut self, node: &Node, bound: &Bound) -> Value {
        let source = bound.first_plain();
        let mut kind = "Database";
        for source in self.args(node, &source) {
            if self.is_file(node, &source) && self.table.kind("Sqlite").is_some() {
                kind = "Sqlite";
            }
        }
        match self.table.kind(kind) {
            Some(kind) => Value::Object(Ref(kind), source.into()),
            None => self.unknown(node, Why::Dynamic),
        }
    }

    /// Opens the data source; returns whether it is a file.
    fn is_file(&mut self, node: &Node, source: &Arg) -> bool {
        let without = source.strip_prefix("dbi:").or_else(|| source.strip_prefix("DBI:"));
        let source = without.as_ref().unwrap_or(source);
        let driver = source.prefix().split(':').next().unwrap_or_default().to_ascii_lowercase();
        if FILES.contains(&driver.as_str()) {
            let begin = source.prefix().get(..=driver.len()).unwrap_or_default().to_owned();
            let Some(file) = source.strip_prefix(&begin) else { return true };
            let named =
                ["dbname=", "database=", "db=", "f_dir="].iter().find_map(|name| file.strip_prefix(name));
            let file = named.unwrap_or(file);
            if !matches!(file.as_str(), Some("" | ":memory:")) {
                self.opens(node, &file, true, true);
            }
            return true;
        }
        let parts = || source.as_str().unwrap_or_default().split([':', ';', ' ']);
        let part = |name: &str| parts().find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        let on = match (part("host").or_else(|| part("hostname")), part("unix_socket")) {
            (Some(host), _) => Operand::Host { host: Arg::known(host), port: part("port").map(Arg::known) },
            (None, Some(socket)) => Operand::Path(Arg::known(socket)),
            (None, None) => Operand::Nothing,
        };
        self.effect(node, EffectKind::Connect, on);
        false
    }
}
