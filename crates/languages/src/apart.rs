//! Reads programs in a helper process: the request and its answer as bytes, and the text that is read without a helper.
//! A parser of others may crash, hang or use much memory; the helper bounds all three. Must not know processes.

use castellan_event::{PartsHash, Role, Why};
use serde::{Deserialize, Serialize};

use crate::act::{Act, Reading, Start, What};
use crate::language::Language;
use crate::limits::STACK_BYTES;
use crate::memo;
use crate::parse::guard::Process;
use crate::run::{End, run};
use crate::work::Work;

/// Changes with the form of requests and answers. A helper of another version answers nothing.
const VERSION: u8 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Request {
    version: u8,
    language: Language,
    text: String,
    start: Start,
    /// Units of work that are left.
    left: u64,
}

/// A helper's answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answered {
    version: u8,
    reading: Reading,
    units: u64,
    is_whole: bool,
}

/// Reads programs that are not read in this process. Gets the hash of the program (64 hexadecimal digits, for records)
/// and the request; returns the result of [`answer`], or `None` if the helper was given up.
pub type Helper<'h> = dyn FnMut(&str, &[u8]) -> Option<Answered> + 'h;

impl Answered {
    /// Decodes the bytes of an answer. `None` for any other bytes, and for those of a helper of another version.
    pub fn decode(answer: &[u8]) -> Option<Answered> {
        serde_json::from_slice(answer).ok().filter(|answered: &Answered| answered.version == VERSION)
    }
}

/// Reports the acts of a program text within work that several programs share, and reuses a recent reading of the same
/// thread. A text that is not small ([`Process::reads`]), or a text with such code in it, goes to the helper. If the helper is given up, the reading is one
/// `Hole`, and no work is left. Work of the helper is paid, and a reading that was given up is not kept.
pub fn read_once(
    language: Language,
    text: &str,
    start: &Start,
    work: &mut Work,
    helper: &mut Helper<'_>,
) -> Reading {
    memo::kept(language, text, start, work, |work| match run(language, text, start, work, Process::Daemon) {
        (_, End::Apart) => read_apart(language, text, start, work, helper),
        here => here,
    })
}

fn read_apart(
    language: Language,
    text: &str,
    start: &Start,
    work: &mut Work,
    helper: &mut Helper<'_>,
) -> (Reading, End) {
    // After a program that was given up, no other one waits for a helper.
    if work.left() == 0 {
        return (hole(), End::OutOfWork);
    }
    let program = PartsHash::of([language.as_str(), text]).hex();
    let request = Request {
        version: VERSION,
        language,
        text: text.to_owned(),
        start: start.clone(),
        left: work.left(),
    };
    let done = serde_json::to_vec(&request).ok().and_then(|request| helper(&program, &request));
    let Some(done) = done else {
        work.spend(work.left());
        return (hole(), End::GivenUp);
    };
    work.spend(done.units);
    (done.reading, if done.is_whole { End::Whole } else { End::OutOfWork })
}

fn hole() -> Reading {
    let what = What::Hole { role: Role::Code, why: Why::Budget, written: String::new() };
    Reading { acts: vec![Act { span: 0..0, what }], modules: Vec::new() }
}

/// Reads the program of a request in this process, on a stack for the deepest text. `None` for bytes that are no request,
/// and after a panic.
pub fn answer(request: &[u8]) -> Option<Vec<u8>> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("program".into()).stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, || answer_here(request)).ok()?.join().ok()?
    })
}

fn answer_here(request: &[u8]) -> Option<Vec<u8>> {
    let request: Request = serde_json::from_slice(request).ok()?;
    if request.version != VERSION {
        return None;
    }
    let mut work = Work::with_left(request.left);
    let before = work.spent();
    let (reading, end) = run(request.language, &request.text, &request.start, &mut work, Process::Helper);
    let units = work.spent() - before;
    serde_json::to_vec(&Answered { version: VERSION, reading, units, is_whole: end == End::Whole }).ok()
}
