//! Limits of a review.

use std::time::Duration;

/// Prompts of the user that the reviewer sees. The last few name the task; older ones rarely matter to one call.
pub(crate) const PROMPTS_MAX: usize = 20;

/// Bytes of one prompt. People write a few lines; a pasted log or file is longer, and its start says what it is.
pub(crate) const PROMPT_BYTES_MAX: usize = 4 * 1024;

/// Bytes of all prompts: about 4,000 tokens, which small local models read within the time limit.
pub(crate) const PROMPTS_BYTES_MAX: usize = 16 * 1024;

/// Bytes of the effects of a call. A call with more is not reviewed, because its harm may be in the part that is cut.
pub(crate) const CALL_BYTES_MAX: usize = 8 * 1024;

/// Findings of a call. A call with more is not reviewed.
pub(crate) const FINDINGS_MAX: usize = 16;

/// Bytes of the rule name, and of the message, of a finding. A call with a longer one is not reviewed.
pub(crate) const FINDING_BYTES_MAX: usize = 1024;

/// Provenance words of a call. A call with more is not reviewed.
pub(crate) const MARKS_MAX: usize = 32;

/// Bytes of such a word. A call with a longer one is not reviewed.
pub(crate) const MARK_BYTES_MAX: usize = 256;

/// Words between two words of an instruction that the screen looks for: "ignore all of your previous instructions".
pub(crate) const SCREEN_GAP_MAX: usize = 4;

/// Bytes of the answer of a model: a word and two sentences have some hundred.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 * 1024;

/// Characters of a reason: people read it beside a question.
pub(crate) const REASON_CHARS_MAX: usize = 300;

/// Bytes of the body of a response, or of the output of a local program. Servers add metadata to the answer.
pub(crate) const BODY_BYTES_MAX: usize = 256 * 1024;

/// Bytes of the head of a response. Usual ones have about one KiB.
pub(crate) const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Tokens that a model may write: enough for the answer, too few for an essay that somebody pays for.
pub const OUTPUT_TOKENS: u32 = 200;

/// Time of one review. The agent's hook waits meanwhile.
pub const TIME: Duration = Duration::from_secs(2);

/// The longest time that a review may get. Agents give up on a hook after a minute.
pub const TIME_MAX: Duration = Duration::from_secs(30);

/// Exchanges of one reviewer that run at once, those that castellan gave up on included: some sessions at a time. A
/// lookup of a host name cannot be ended, so its thread outlives the review for up to half a minute.
pub(crate) const EXCHANGES_MAX: usize = 8;

/// Time between two looks at a local program.
pub(crate) const LOOK: Duration = Duration::from_millis(5);

/// Bytes of an API key. Usual ones have 40 to 200; signed tokens have up to 2 KiB.
pub(crate) const KEY_BYTES_MAX: usize = 4 * 1024;

/// Bytes of a URL of an endpoint.
pub(crate) const URL_BYTES_MAX: usize = 1024;

/// Opinions in a cache: those of a busy day of one user.
pub(crate) const CACHE_ENTRIES_MAX: usize = 512;

/// Seconds for which an opinion is valid. A user's intention is rarely older.
pub(crate) const CACHE_S: u64 = 15 * 60;

/// Reviews in an hour. A busy session asks for tens.
pub const REVIEWS_PER_HOUR: usize = 60;

/// Tokens in a day, input and output: a thousand short reviews.
pub const TOKENS_PER_DAY: u64 = 1_000_000;
