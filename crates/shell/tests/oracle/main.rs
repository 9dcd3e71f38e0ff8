//! bash itself says which commands a text runs: for random texts whose only program is a harmless marker, every call that
//! bash makes must be among those that were found, or lie in a part that was said not to be understood.
//!
//! `ORACLE_CASES` texts (a few by default), from `ORACLE_SEED` on. Nothing but builtins, the marker and bash itself can be
//! reached by a text, and every text runs in a temporary directory of its own.

mod bash;
mod cover;
mod draws;
mod texts;

use castellan_shell::{Dialect, Start, commands};

use self::bash::{Bash, Ran};
use self::cover::{Cover, cover};
use self::draws::{Draws, smaller};

const CASES: u64 = 100;
/// Failures after which the search ends: they are made smaller, which takes time.
const FAILURES_MAX: usize = 12;

#[test]
fn everything_that_bash_runs_is_found() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let Some(bash) = Bash::new() else { return };
    let cases = number("ORACLE_CASES", CASES);
    let first = number("ORACLE_SEED", 1);
    let most = number("ORACLE_FAILURES", FAILURES_MAX as u64) as usize;
    let mut count = Count::default();
    let mut failures: Vec<String> = Vec::new();
    for seed in first..first + cases {
        let mut draws = Draws::random(seed);
        let text = texts::text(&mut draws);
        let Some(wrong) = judge(&bash, &text, Some(&mut count)) else { continue };
        // Some texts do not run the same way twice.
        if judge(&bash, &text, None).is_none() {
            count.unsteady += 1;
            continue;
        }
        let least = smaller(draws.taken(), |draws| judge(&bash, &texts::text(draws), None).is_some());
        let small = texts::text(&mut Draws::given(&least));
        let wrong = judge(&bash, &small, None).unwrap_or(wrong);
        let failure = format!("{small}\n    {wrong}\n");
        if !failures.contains(&failure) {
            println!("--- seed {seed}\n{failure}");
            failures.push(failure);
        }
        if failures.len() >= most {
            break;
        }
    }
    println!("{count:?}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    assert!(count.known * 2 > count.calls, "most calls are not known: {count:?}");
    assert!(count.texts_with_gaps * 2 < count.texts, "most texts have gaps: {count:?}");
}

#[derive(Debug, Default)]
struct Count {
    texts: u64,
    /// Texts with a part that was not understood.
    texts_with_gaps: u64,
    /// Calls that bash made.
    calls: u64,
    /// Calls that are found word for word.
    known: u64,
    /// Calls that are found with arguments that are not known.
    partly: u64,
    /// Calls that only a part which was not understood accounts for.
    in_gaps: u64,
    /// Known calls that were found and that bash did not make.
    not_made: u64,
    /// Texts that bash did not end in time.
    late: u64,
    /// Texts that failed once only.
    unsteady: u64,
}

/// What is wrong with what is found in a text.
fn judge(bash: &Bash, text: &str, count: Option<&mut Count>) -> Option<String> {
    let Ran { calls, late, directory, home, path } = bash.run(text)?;
    let start = Start {
        cwd: Some(directory.clone()),
        home: Some(home),
        env: vec![("PATH".into(), path), ("FUNCNEST".into(), "40".into()), ("LC_ALL".into(), "C.UTF-8".into())],
        complete_env: true,
        aliases: Vec::new(),
        functions: Vec::new(),
        dialect: Dialect::Bash,
    };
    let found = commands(text, &start);
    let mut own = Count { texts: 1, late: u64::from(late), ..Count::default() };
    own.texts_with_gaps = u64::from(cover::has_gap(&found));
    own.calls = calls.len() as u64;
    own.not_made = cover::not_made(&found, &calls);
    let mut missing = Vec::new();
    for call in &calls {
        match cover(&found, call) {
            Cover::Known => own.known += 1,
            Cover::Partly => own.partly += 1,
            Cover::Gap => own.in_gaps += 1,
            Cover::No => {
                missing.push(format!("{:?} in {:?}", call.argv, call.directory.strip_prefix(&directory)))
            }
        }
    }
    if let Some(count) = count {
        count.texts += own.texts;
        count.texts_with_gaps += own.texts_with_gaps;
        count.calls += own.calls;
        count.known += own.known;
        count.partly += own.partly;
        count.in_gaps += own.in_gaps;
        count.not_made += own.not_made;
        count.late += own.late;
    }
    if missing.is_empty() {
        return None;
    }
    Some(format!("bash ran {}\n    found  {}", missing.join(", "), cover::lines(&found, &directory)))
}
