//! Local programs as reviewers. They are shell texts here, which the tests run as `/bin/sh -c TEXT`.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use castellan_review::{Answer, BadAnswer, Fault, Program, Provider, Reviewed, Reviewer};

use crate::{PATIENT, SHORT, evidence, fault, limits};

const ALLOW: &str = r#"echo '{"answer":"allow","reason":"asked"}'"#;

fn review(text: &str, time: Duration) -> Reviewed {
    let argv = ["/bin/sh", "-c", text].map(OsString::from).to_vec();
    let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    let program = Program::new(argv, environment).unwrap();
    Reviewer::new(Provider::Command(program), limits(time)).review(&evidence())
}

#[test]
fn the_output_of_a_program_is_the_answer() {
    for (text, expected) in [
        (ALLOW.to_owned(), Ok(Answer::Allow)),
        (format!("cat > /dev/null; {ALLOW}"), Ok(Answer::Allow)),
        (format!("exec 0<&-; sleep 0.1; {ALLOW}"), Ok(Answer::Allow)),
        (format!("{ALLOW} >&1; exec >&-; sleep 0.1"), Ok(Answer::Allow)),
        (format!("test -z \"$HOME\" && test \"$PWD\" = / && {ALLOW}"), Ok(Answer::Allow)),
        (format!("yes 2>/dev/null | head -c 300000 >&2; {ALLOW}"), Ok(Answer::Allow)),
        // A process outside of the group holds the pipe, and castellan does not wait for it.
        (format!("setsid sleep 1 & {ALLOW}"), Ok(Answer::Allow)),
        (format!("{ALLOW}; {ALLOW}"), Err(Fault::Answer(BadAnswer::NotJson))),
        ("true".to_owned(), Err(Fault::Answer(BadAnswer::NotJson))),
        (r"printf '\377'".to_owned(), Err(Fault::Format)),
        ("yes".to_owned(), Err(Fault::TooLarge)),
        (format!("{ALLOW}; exit 3"), Err(Fault::Exit("exit code 3".to_owned()))),
        (format!("{ALLOW}; kill -9 $$"), Err(Fault::Exit("signal 9".to_owned()))),
    ] {
        let reviewed = review(&text, PATIENT);
        match expected {
            Ok(answer) => assert_eq!(reviewed.answer(), answer, "{text}: {:?}", reviewed.opinion),
            Err(expected) => assert_eq!(*fault(&reviewed), expected, "{text}"),
        }
    }
}

#[test]
fn a_program_gets_instructions_and_evidence() {
    let said = |text| review(text, PATIENT).said.unwrap();
    let document = said("tail -n 1 | tr -d '\\n'");
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document.pointer("/prompts/0/text").unwrap(), "Push \"main\" now");
    assert!(said("head -n 1").starts_with("You review one action of an AI coding agent."));
}

#[test]
fn a_slow_program_ends_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let text = format!("sleep 60 & echo $$ $! > {}; wait", file.display());
    let start = Instant::now();
    let reviewed = review(&text, Duration::from_secs(1));
    assert_eq!(fault(&reviewed).word(), "slow");
    assert!(start.elapsed() < Duration::from_secs(4));
    let pids = fs::read_to_string(file).unwrap();
    assert_eq!(pids.split_whitespace().count(), 2);
    for pid in pids.split_whitespace() {
        wait_until_ended(pid);
    }
}

/// Waits until a process has ended. It may be there until the first process of the system has noticed.
fn wait_until_ended(pid: &str) {
    let status = Path::new("/proc").join(pid).join("stat");
    let has_ended = || fs::read_to_string(&status).map_or(true, |text| text.contains(") Z "));
    let until = Instant::now() + Duration::from_secs(5);
    while !has_ended() {
        assert!(Instant::now() < until, "{pid} runs on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_cannot_be_started_is_an_error() {
    let program = |path: &str| Program::new(vec![path.into()], Vec::new());
    for path in ["", "sh", "./sh", "bin/sh"] {
        assert_eq!(program(path).unwrap_err().fault.word(), "start", "{path}");
    }
    assert!(Program::new(Vec::new(), Vec::new()).is_err());
    for path in ["/none/reviewer", "/etc", "/dev/null"] {
        let reviewer = Reviewer::new(Provider::Command(program(path).unwrap()), limits(SHORT));
        let reviewed = reviewer.review(&evidence());
        assert_eq!(fault(&reviewed).word(), "start", "{path}");
        assert!(reviewed.opinion.unwrap_err().to_string().contains(path));
    }
}
