//! L2: what a program text in a language other than shell would do, as far as reading it tells. It knows languages and their
//! libraries, as data. It must not know files, scopes of paths, rules or verdicts.

mod act;
mod language;

pub use act::{Act, Operand, Reading, Start, What};
pub use language::Language;
