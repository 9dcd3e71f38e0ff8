//! Checks with a stand-in for Falco, whose answer is the text of the rules.

use std::sync::atomic::AtomicUsize;

use super::*;
use crate::engine::tests::wanted;

const LIMIT: Duration = Duration::from_secs(20);

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn stand_in(wanted: &Wanted, limit: Limit<'_>) -> Result<(), String> {
    match wanted.rules.yaml.as_str() {
        "rejected" => return Err("Falco rejects the rule `x`".to_owned()),
        "defect" => panic!("a test"),
        "hangs" => {
            while !limit.is_reached() {
                std::thread::yield_now();
            }
            return Err("it did not end".to_owned());
        }
        _ => {}
    }
    // Those of one test.
    if wanted.rules.yaml.parse::<u32>().is_err() {
        return Ok(());
    }
    let running = RUNNING.fetch_add(1, Ordering::SeqCst) + 1;
    MOST.fetch_max(running, Ordering::SeqCst);
    std::thread::yield_now();
    RUNNING.fetch_sub(1, Ordering::SeqCst);
    Ok(())
}

fn rules(text: &str) -> Wanted {
    let (mut wanted, _home) = wanted(None);
    wanted.rules.yaml = text.to_owned();
    "/falco".clone_into(&mut wanted.settings.falco);
    "/plugin".clone_into(&mut wanted.settings.plugin);
    Wanted { place: "/place".into(), ..wanted }
}

#[test]
fn rules_pass_only_if_falco_has_loaded_exactly_them() {
    let checks = Checks::with(stand_in);
    assert!(!checks.has_passed(&rules("good")));
    assert_eq!(checks.check(&rules("good")), Ok(()));
    assert!(checks.has_passed(&rules("good")) && !checks.has_passed(&rules("other")));
    let mut other = rules("good");
    other.settings.falco.push('x');
    assert!(!checks.has_passed(&other), "another program has not loaded them");
    for (text, why) in [("rejected", "rejects the rule"), ("defect", "castellan has failed")] {
        let refused = checks.check(&rules(text)).unwrap_err();
        assert!(refused.contains(why) && !checks.has_passed(&rules(text)), "{refused}");
    }
    assert_eq!(checks.check(&rules("good")), Ok(()), "a failure blocks no later check");
}

/// Starts a check that hangs until the end of `checks`.
fn hang(checks: &Arc<Checks>) -> std::thread::JoinHandle<Result<(), String>> {
    let of_thread = Arc::clone(checks);
    let hanging = std::thread::spawn(move || of_thread.check(&rules("hangs")));
    while !checks.lock().is_busy {
        std::thread::yield_now();
    }
    hanging
}

/// A program may send many changes that need no person.
#[test]
fn one_falco_at_a_time_loads_rules_and_few_requests_wait() {
    let checks = Arc::new(Checks::with(stand_in));
    let hanging = hang(&checks);
    let all: Vec<_> = (0..16)
        .map(|number| {
            let checks = Arc::clone(&checks);
            std::thread::spawn(move || checks.check(&rules(&number.to_string())))
        })
        .collect();
    let until = Instant::now() + LIMIT;
    while all.iter().filter(|one| one.is_finished()).count() < 16 - ENGINE_CHECKS_WAITING_MAX {
        assert!(Instant::now() < until, "too many wait");
        std::thread::yield_now();
    }
    // The check of housekeeping has its turn in any case.
    assert_eq!(checks.check_aside(&rules("99")), None);
    checks.is_over.store(true, Ordering::SeqCst);
    hanging.join().unwrap().unwrap_err();
    let done: Vec<_> = all.into_iter().map(|one| one.join().unwrap()).collect();
    assert_eq!(done.iter().filter(|one| one.is_ok()).count(), ENGINE_CHECKS_WAITING_MAX);
    assert!(done.iter().flat_map(|one| one.as_ref().err()).all(|why| why == BUSY));
    assert_eq!(result(&checks, &rules("99")), Ok(()));
    assert_eq!(MOST.load(Ordering::SeqCst), 1);
}

/// Returns the result of a check on a thread of its own.
fn result(checks: &Arc<Checks>, wanted: &Wanted) -> Result<(), String> {
    let until = Instant::now() + LIMIT;
    loop {
        if let Some(result) = checks.check_aside(wanted) {
            return result;
        }
        assert!(Instant::now() < until, "no result");
        std::thread::yield_now();
    }
}

#[test]
fn a_check_aside_gives_its_result_once_and_only_for_its_rules() {
    let checks = Arc::new(Checks::with(stand_in));
    assert_eq!(checks.check_aside(&rules("good")), None);
    // Whatever is asked meanwhile, a result is that of these rules.
    assert_eq!(result(&checks, &rules("rejected")), Err("Falco rejects the rule `x`".to_owned()));
    assert!(!checks.has_passed(&rules("rejected")));
    assert_eq!(checks.check_aside(&rules("rejected")), None, "the result was given");
    assert_eq!(result(&checks, &rules("good")), Ok(()));
    assert!(checks.has_passed(&rules("good")));
}

/// The daemon ends in time, and leaves no Falco and no files of a check.
#[test]
fn the_end_of_the_daemon_ends_a_check_that_hangs() {
    let checks = Arc::new(Checks::with(stand_in));
    let hanging = hang(&checks);
    checks.end(LIMIT);
    assert!(!checks.lock().is_busy, "it runs");
    hanging.join().unwrap().unwrap_err();
}
