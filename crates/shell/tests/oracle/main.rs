//! Compares the found commands with bash itself. The texts are random, and their only program is a harmless marker.
//! Every call that bash makes must be found, or be in a part reported as not understood.
//!
//! The test runs `ORACLE_CASES` texts (few by default) from `ORACLE_SEED` on, or the single text `ORACLE_TEXT`. A text
//! can run only builtins, the marker and bash. Every text runs in its own temporary directory.

#![expect(clippy::unwrap_used, reason = "a test's own locks")]

mod bash;
mod cover;
mod draws;
mod texts;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use castellan_shell::{Shell, Start, commands};

use self::bash::{Bash, Ran};
use self::cover::{Cover, cover};
use self::draws::{Draws, smaller};

const CASES: u64 = 100;
/// Failures that end the search; reducing a failing text takes time.
const FAILURES_MAX: u64 = 12;
/// Threads mostly wait for bash.
const THREADS: u32 = 3;

#[test]
fn everything_that_bash_runs_is_found() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    if let (Ok(text), Some(bash)) = (std::env::var("ORACLE_TEXT"), Bash::new(THREADS)) {
        let (count, wrong) = judge(&bash, &text);
        println!("{count:?}");
        assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
        return;
    }
    let cases = number("ORACLE_CASES", CASES);
    let first = number("ORACLE_SEED", 1);
    let most = number("ORACLE_FAILURES", FAILURES_MAX) as usize;
    let shared = Mutex::new((Count::default(), Vec::new()));
    let next = AtomicU64::new(first);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (shared, next) = (&shared, &next);
            scope.spawn(move || {
                let Some(bash) = Bash::new(thread) else { return };
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + cases || shared.lock().unwrap().1.len() >= most {
                        return;
                    }
                    let failure = one(&bash, seed, shared);
                    let mut shared = shared.lock().unwrap();
                    if let Some(failure) = failure
                        && !shared.1.contains(&failure)
                    {
                        println!("--- seed {seed}\n{failure}");
                        shared.1.push(failure);
                    }
                }
            });
        }
    });
    let (count, failures) = shared.into_inner().unwrap();
    println!("{count:?}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    assert!(count.known * 2 > count.calls, "most calls are not known: {count:?}");
    assert!(count.texts_with_gaps * 2 < count.texts, "most texts have gaps: {count:?}");
}

/// Returns the failure of one random text, reduced to a minimal text.
fn one(bash: &Bash, seed: u64, shared: &Mutex<(Count, Vec<String>)>) -> Option<String> {
    let mut draws = Draws::random(seed);
    let text = texts::text(&mut draws);
    let (count, wrong) = judge(bash, &text);
    shared.lock().unwrap().0.add(&count);
    let wrong = wrong?;
    // Some texts are not deterministic.
    if judge(bash, &text).1.is_none() {
        shared.lock().unwrap().0.unsteady += 1;
        return None;
    }
    let least = smaller(draws.taken(), |draws| judge(bash, &texts::text(draws)).1.is_some());
    let small = texts::text(&mut Draws::given(&least));
    let wrong = judge(bash, &small).1.unwrap_or(wrong);
    Some(format!("{small}\n    {wrong}\n"))
}

#[derive(Debug, Default)]
struct Count {
    texts: u64,
    /// Texts with a part that was not understood.
    texts_with_gaps: u64,
    /// Calls that bash made.
    calls: u64,
    /// Calls found with all arguments known.
    known: u64,
    /// Calls found with unknown arguments.
    partly: u64,
    /// Calls covered only by a part that was not understood.
    in_gaps: u64,
    /// Known calls found that bash did not make.
    not_made: u64,
    /// Texts that bash did not finish in time.
    late: u64,
    /// Texts that failed only once.
    unsteady: u64,
}

impl Count {
    fn add(&mut self, other: &Count) {
        self.texts += other.texts;
        self.texts_with_gaps += other.texts_with_gaps;
        self.calls += other.calls;
        self.known += other.known;
        self.partly += other.partly;
        self.in_gaps += other.in_gaps;
        self.not_made += other.not_made;
        self.late += other.late;
        self.unsteady += other.unsteady;
    }
}

/// Returns the difference between the found commands and bash's calls.
fn judge(bash: &Bash, text: &str) -> (Count, Option<String>) {
    let Some(Ran { calls, late, directory, home, path }) = bash.run(text) else { return Default::default() };
    let env = [("PATH", path.as_str()), ("FUNCNEST", "40"), ("LC_ALL", "C.UTF-8")];
    let start = Start {
        cwd: Some(directory.clone()),
        home: Some(home),
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        complete_env: true,
        aliases: Vec::new(),
        functions: Vec::new(),
        input: None,
        shells: vec![Shell::Bash],
    };
    let found = commands(text, &start);
    let mut count = Count {
        texts: 1,
        texts_with_gaps: u64::from(cover::has_gap(&found)),
        calls: calls.len() as u64,
        not_made: cover::not_made(&found, &calls),
        late: u64::from(late),
        ..Count::default()
    };
    let mut missing = Vec::new();
    for call in &calls {
        match cover(&found, call) {
            Cover::Known => count.known += 1,
            Cover::Partly => count.partly += 1,
            Cover::Gap => count.in_gaps += 1,
            Cover::No => {
                let place = call.directory.strip_prefix(&directory).unwrap_or(&call.directory);
                missing.push(format!("{:?} in .{place}", call.argv));
            }
        }
    }
    let wrong = (!missing.is_empty())
        .then(|| format!("bash ran {}\n    found  {}", missing.join(", "), cover::lines(&found, &directory)));
    (count, wrong)
}
