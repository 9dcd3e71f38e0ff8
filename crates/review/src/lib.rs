//! L3: the second opinion. A [`Reviewer`] asks a language model if the user asked for a call. The model sees
//! [`Evidence`]: the user's own prompts, the effects of the call, castellan's findings and marks.
//!
//! The caller gathers the evidence, reads the key, and applies the [`Opinion`]. The crate knows neither verdicts nor
//! agents nor the paths of files. Clock and settings come in as values, except for the time that a review takes.

mod answer;
mod budget;
mod cache;
mod error;
pub mod evaluation;
mod evidence;
mod limits;
mod prompt;
mod provider;
mod reviewer;
mod screen;
mod secret;

pub use answer::{Answer, BadAnswer, Opinion, read_answer};
pub use budget::{Budget, Spent};
pub use cache::{Cache, CacheKey};
pub use error::{Fault, ReviewError};
pub use evidence::{Evidence, Finding, Prompt};
pub use limits::{OUTPUT_TOKENS, REVIEWS_PER_HOUR, TIME, TIME_MAX, TOKENS_PER_DAY};
pub use prompt::{PROMPT_VERSION, Request};
pub use provider::{Cost, Endpoint, Limits, Program, Provider, Roots};
pub use reviewer::{Reviewed, Reviewer};
pub use screen::suspicious;
pub use secret::{BadSecret, Secret};
