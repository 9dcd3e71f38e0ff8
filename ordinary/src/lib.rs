//! Ordinary work of a developer with an agent: invented projects, and the calls of the sessions in them. Grammars
//! (`grammars/*.txt`) and a seed make them. Nobody would want to be asked about any of these calls.
//!
//! Reading order: `grammar` reads a grammar, `expansion` expands its texts, `project` makes a project with its calls,
//! `set` all projects of a seed. `measure` judges them under a profile. No module may depend on rules or verdicts,
//! except `measure`.

mod expansion;
mod grammar;
mod measure;
mod project;
mod set;

pub use measure::{Interruption, Measured, Profiles};
pub use project::{Project, Session, Step};
pub use set::{ECOSYSTEMS, projects};
