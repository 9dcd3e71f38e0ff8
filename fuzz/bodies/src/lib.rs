//! The bodies of the fuzz targets: each takes any bytes, and panics if a law does not hold. `fuzz/fuzz_targets` calls
//! them with libFuzzer's inputs, `tests/corpus.rs` with the seeds in `fuzz/corpus`.

#[path = "../../../crates/shell/tests/shared/accepted.rs"]
mod accepted;
mod choices;
mod evaluate;
mod frame;
mod nestings;
mod path;
mod payload;
mod plan;
#[path = "../../../crates/shell/tests/shared/print.rs"]
mod print;
mod program;
mod proxy;
mod request;
mod review;
mod rules;
mod settings;
mod shell;
mod sql;
mod url;
mod world;

pub use evaluate::rules_evaluate;
pub use frame::frame;
pub use nestings::{NESTINGS, Nesting, nesting};
pub use path::path;
pub use payload::payload;
pub use plan::plan;
pub use program::program;
pub use proxy::proxy;
pub use request::request;
pub use review::review;
pub use rules::{rules_condition, rules_yaml};
pub use settings::settings;
pub use shell::{shell, shell_accepts, shell_parse};
pub use sql::sql;
pub use url::url;

/// The function of a target.
pub type Body = fn(&[u8]);

/// Every target by name.
pub const TARGETS: [(&str, Body); 17] = [
    ("frame", frame),
    ("path", path),
    ("payload", payload),
    ("plan", plan),
    ("program", program),
    ("proxy", proxy),
    ("request", request),
    ("review", review),
    ("rules_condition", rules_condition),
    ("rules_evaluate", rules_evaluate),
    ("rules_yaml", rules_yaml),
    ("settings", settings),
    ("shell", shell),
    ("shell_accepts", shell_accepts),
    ("shell_parse", shell_parse),
    ("sql", sql),
    ("url", url),
];
