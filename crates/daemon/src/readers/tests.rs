use super::*;

/// Time for a helper in tests, long enough for a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// Helpers that run this shell script.
fn readers(script: &str) -> Readers {
    let command = ["/bin/sh", "-c", script].map(OsString::from).to_vec();
    Readers { command: command.into(), ..Readers::new() }
}

#[test]
fn a_helper_answers_one_request_after_the_other() {
    // Returns each message as it came.
    let readers = readers("exec cat");
    for request in ["first", "second", &"x".repeat(100_000)] {
        assert_eq!(readers.read(request.as_bytes(), LONG).as_deref(), Some(request.as_bytes()));
    }
    let pool = readers.lock();
    assert_eq!((pool.busy, pool.idle.len()), (0, 1), "one process did it all");
}

#[test]
fn a_helper_that_fails_is_given_up() {
    let no_end = r"printf '\005\000\000\000ab'";
    let large = r"printf '\377\377\377\377'; exec cat";
    for script in ["exit 1", "kill -9 $$", no_end, large, r"printf '\000\000\000\000'; exec cat"] {
        let readers = readers(script);
        for _ in 0..3 {
            assert_eq!(readers.read(b"request", LONG), None, "{script}");
        }
        assert_eq!(readers.lock().busy, 0, "{script}");
    }
}

#[test]
fn a_helper_that_hangs_is_killed_and_another_one_answers() {
    let place = tempfile::tempdir().unwrap();
    let mark = place.path().join("mark");
    // The first helper reads and never answers; the second one works.
    let script = format!("test -e {0} && exec cat; echo $$ >{0}; exec cat >/dev/null", mark.display());
    let readers = readers(&script);
    assert_eq!(readers.read(b"request", Duration::from_millis(300)), None);
    assert_eq!(readers.read(b"request", LONG).as_deref(), Some(&b"request"[..]));
    let pid: i32 = std::fs::read_to_string(mark).unwrap().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    assert!(rustix::process::test_kill_process(pid).is_err(), "the first helper still runs");
}

#[test]
fn a_helper_that_takes_no_request_is_given_up() {
    let readers = readers("exec 0</dev/null; exec sleep 60");
    let request = vec![b'x'; 4 << 20];
    assert_eq!(readers.read(&request, Duration::from_millis(300)), None);
}

#[test]
fn no_more_than_some_helpers_run_at_a_time() {
    let readers = readers("exec cat >/dev/null");
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..HELPERS_MAX + 2)
            .map(|_| scope.spawn(|| readers.read(b"request", Duration::from_millis(200))))
            .collect();
        for one in all {
            assert_eq!(one.join().unwrap(), None);
            assert!(readers.lock().busy <= HELPERS_MAX);
        }
    });
    assert_eq!(readers.lock().busy, 0);
}

#[test]
fn without_a_program_each_request_is_given_up() {
    let readers = Readers::new();
    assert_eq!(readers.read(b"request", LONG), None);
    assert_eq!(readers.lock().busy, 0);
}

#[test]
fn an_old_helper_is_replaced() {
    let readers = readers("exec cat");
    for _ in 0..HELPER_REQUESTS_MAX {
        assert!(readers.read(b"request", LONG).is_some());
    }
    assert!(readers.lock().idle.is_empty());
    assert!(readers.read(b"request", LONG).is_some());
}
