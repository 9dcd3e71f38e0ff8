//! Programs that a helper reads: the same reading for the same work, and one `Hole` for a helper that fails.

use castellan_event::Why;
use castellan_languages::{Answered, Language, Reading, Start, What, Work, answer, read_once, read_within};

/// A comment that makes a program too long for this process.
fn long(text: &str) -> String {
    format!("{text}# {}\n", "x".repeat(5_000))
}

/// Reads a program once; returns the reading, the work that was spent, and the number of requests.
fn read(text: &str, helper: impl Fn(&[u8]) -> Option<Vec<u8>>) -> (Reading, u64, usize) {
    let (mut work, mut requests) = (Work::default(), 0);
    let mut ask = |sha256: &str, request: &[u8]| {
        assert_eq!(sha256.len(), 64, "{sha256}");
        requests += 1;
        helper(request).as_deref().and_then(Answered::decode)
    };
    let reading = read_once(Language::Python, text, &Start::default(), &mut work, &mut ask);
    (reading, work.spent(), requests)
}

#[test]
fn a_helper_gives_the_same_reading_for_the_same_work() {
    let nested = "import os\nexec('os.remove(\"a\")\\n' + '#' * 5000)\n";
    for (text, expected) in [
        ("import os\nos.remove('a')\n".to_owned(), 0),
        (long("import os\nos.remove('a')\n"), 1),
        // A short text with many openings.
        (format!("import os\nos.remove('a')\n#{}\n", "(".repeat(300)), 1),
        // A short text builds a long one.
        (nested.to_owned(), 1),
        // Longer than any text that is parsed.
        (long("import os\n").repeat(20), 0),
    ] {
        let mut work = Work::default();
        let here = read_within(Language::Python, &text, &Start::default(), &mut work);
        assert_eq!(read(&text, answer), (here, work.spent(), expected), "{} bytes", text.len());
    }
}

#[test]
fn own_readers_need_no_helper() {
    let text = long("Remove-Item a\n");
    let mut ask = |_: &str, _: &[u8]| panic!("a request");
    let reading = read_once(Language::PowerShell, &text, &Start::default(), &mut Work::default(), &mut ask);
    assert_eq!(reading.acts.len(), 1);
}

type Answers<'a> = dyn Fn(&[u8]) -> Option<Vec<u8>> + 'a;

#[test]
fn a_helper_that_fails_leaves_one_hole_and_no_work() {
    let text = long("import os\nos.remove('b')\n");
    let whole = |request: &[u8]| answer(request).unwrap();
    let answers: [&Answers<'_>; 6] = [
        &|_| None,
        &|_| Some(Vec::new()),
        &|_| Some(b"nonsense of a helper".to_vec()),
        &|request| Some(whole(request).split_at(9).0.to_vec()),
        // The helper of another version.
        &|request| {
            let whole = String::from_utf8(whole(request)).unwrap();
            let other = whole.replacen("\"version\":1", "\"version\":2", 1);
            assert_ne!(other, whole);
            Some(other.into_bytes())
        },
        // An answer with more than one reading.
        &|request| Some([whole(request), b" 0".to_vec()].concat()),
    ];
    for (at, helper) in answers.iter().enumerate() {
        // Twice, because a reading that was given up is not kept.
        for _ in 0..2 {
            let (reading, spent, requests) = read(&text, helper);
            let [act] = reading.acts.as_slice() else { panic!("{at}: {reading:?}") };
            assert!(matches!(act.what, What::Hole { why: Why::Budget, .. }), "{at}: {act:?}");
            assert_eq!((Work::default().left().saturating_sub(spent), requests), (0, 1), "{at}");
        }
    }
    assert_eq!(read(&text, answer).0.acts.len(), 1, "the next helper reads it");
}

#[test]
fn after_a_program_that_was_given_up_no_other_one_waits() {
    let (mut work, mut requests) = (Work::default(), 0);
    for name in ["c", "d", "e"] {
        let text = long(&format!("import os\nos.remove('{name}')\n"));
        let mut ask = |_: &str, _: &[u8]| {
            requests += 1;
            None
        };
        let reading = read_once(Language::Python, &text, &Start::default(), &mut work, &mut ask);
        assert!(
            matches!(reading.acts.as_slice(), [act] if matches!(act.what, What::Hole { .. })),
            "{reading:?}"
        );
    }
    assert_eq!(requests, 1);
}

#[test]
fn bytes_that_are_no_request_have_no_answer() {
    for request in [&b""[..], b"x", b"{}", &[b'['; 100_000]] {
        assert_eq!(answer(request), None, "{request:?}");
    }
}
