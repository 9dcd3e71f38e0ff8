//! The parts of Falco that tests play: the values of castellan's configuration, the exported rules on one row, and alerts. The
//! rules are tested by castellan's own engine, so nothing here shows how Falco itself reads a rule.
//!
//! Three Falcos are made of these parts, because each shows something else:
//!
//! * `crates/engine/tests`: a thread beside one engine. Its scripts spoil single alerts;
//! * `castellan_tests::falco`: a process that a daemon starts as `falco`. It fails as a whole: version, start, load, end;
//! * `plugins/falco/examples/stand_in`: a process that loads the real plugin. It takes values and reports from the plugin.
//!
//! The crate must not know how rows arrive, and how a test spoils an alert.

mod config;
mod judge;
mod poster;
mod received;

use std::io;

use castellan_rows::plain_fields;
use castellan_rules::{Loaded, Options, Severity, Source};

pub use config::Config;
pub use judge::{Alert, Reports, alerts};
pub use poster::Poster;
pub use received::alerts_on;

/// The file of rules in messages.
const NAME: &str = "rules.yaml";

/// Loads rule files as Falco does, one after the other. The error names the first rule that does not load.
pub fn load(files: &[&str], options: Options) -> io::Result<Loaded> {
    let source = |text: &&str| Source { name: NAME.to_owned(), text: (*text).to_owned() };
    let sources: Vec<_> = files.iter().map(source).collect();
    let loaded = castellan_rules::load(&sources, &plain_fields(), &Options { lints: false, ..options });
    match loaded.problems.iter().find(|problem| problem.severity == Severity::Error) {
        Some(problem) => Err(io::Error::other(format!("the rules do not load: {problem:?}"))),
        None => Ok(loaded),
    }
}
