//! All attacks in one sandbox, compared with the expected verdicts.

use std::path::Path;
use std::thread::ScopedJoinHandle;

use super::expected::{Expected, Outcome};
use super::sandbox::Sandbox;
use super::scene::{Place, User};
use super::server::Internet;
use super::trial::{Verdict, run};
use crate::attempts::{self, Evidence};

/// Runs all attacks as each user that this machine can try; returns a line for each verdict that differs. `program` is the
/// attack. The users have a thread each, since limits of processes are those of a user.
///
/// # Errors
///
/// A scene that cannot be made, or `expected.toml` in another form.
pub fn compare(sandbox: &Sandbox, program: &Path) -> anyhow::Result<Vec<String>> {
    let place = Place::new(program)?;
    let internet = Internet::start()?;
    let wrong: Vec<anyhow::Result<Vec<String>>> = std::thread::scope(|scope| {
        let start = |user: &'static User| {
            let (place, internet) = (&place, &internet);
            scope.spawn(move || compare_as(sandbox, *user, place, internet))
        };
        let threads: Vec<_> = User::all().iter().map(start).collect();
        let end = |thread: ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a thread of the harness ended")))
        };
        threads.into_iter().map(end).collect()
    });
    if User::all().len() == 1 {
        println!("SKIPPED: the attacks as root; run the suite as root");
    }
    Ok(wrong.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat())
}

fn compare_as(
    sandbox: &Sandbox,
    user: User,
    place: &Place,
    internet: &Internet,
) -> anyhow::Result<Vec<String>> {
    let can = std::fs::read_to_string(place.capabilities(user)).unwrap_or_default();
    if let Ok(can) = toml::from_str(&can)
        && let Some(lacks) = sandbox.lacks(&can)
    {
        println!("SKIPPED: the attacks in {} as {}: this machine lacks {lacks}", sandbox.name(), user.name());
        return Ok(Vec::new());
    }
    let expected = Expected::read()?;
    let mut wrong = Vec::new();
    for attack in attempts::all() {
        let is_work = attack.evidence == Evidence::Works;
        let outcome = expected.outcome(attack.name, is_work, sandbox.name(), user.name());
        let verdict = run(attack, sandbox, user, place, internet)?;
        if let Some(difference) = difference(&outcome, &verdict) {
            wrong.push(format!("{} as {} in {}: {difference}", attack.name, user.name(), sandbox.name()));
        }
    }
    Ok(wrong)
}

/// Returns how a verdict differs from what is expected; `None` if it does not.
fn difference(expected: &Outcome, verdict: &Verdict) -> Option<String> {
    match (expected, verdict) {
        (Outcome::Unproved, _)
        | (Outcome::Succeeds, Verdict::Succeeded(_))
        | (Outcome::Blocked, Verdict::Blocked(_) | Verdict::Unsupported(_)) => None,
        (Outcome::Succeeds, other) => Some(format!("should succeed, but: {other:?}")),
        (Outcome::Blocked, other) => Some(format!("should be blocked, but: {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_is_a_block() {
        let text = || "text".to_owned();
        let wrong = |expected: &Outcome, verdict: Verdict| difference(expected, &verdict).is_some();
        assert!(!wrong(&Outcome::Blocked, Verdict::Blocked(text())));
        // A device that the sandbox hides.
        assert!(!wrong(&Outcome::Blocked, Verdict::Unsupported(text())));
        assert!(wrong(&Outcome::Blocked, Verdict::Succeeded(text())));
        assert!(wrong(&Outcome::Blocked, Verdict::Broken(text())));
        assert!(!wrong(&Outcome::Succeeds, Verdict::Succeeded(text())));
        for verdict in [Verdict::Blocked(text()), Verdict::Unsupported(text()), Verdict::Broken(text())] {
            assert!(wrong(&Outcome::Succeeds, verdict));
        }
    }
}
