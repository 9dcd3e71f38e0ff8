use std::time::Duration;

use super::*;

fn write(dir: &Path, file: &str, text: &str) {
    let file = dir.join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn claude(id: &str, time: &str) -> String {
    let usage = r#""usage":{"input_tokens":1,"output_tokens":1}"#;
    format!(r#"{{"type":"assistant","timestamp":"{time}","message":{{"id":"{id}",{usage}}}}}"#) + "\n"
}

fn codex(tokens: u64, time: &str) -> String {
    let usage = format!(r#""total_token_usage":{{"input_tokens":{tokens},"output_tokens":0}}"#);
    let payload = format!(r#"{{"type":"token_count","info":{{{usage}}}}}"#);
    format!(r#"{{"timestamp":"{time}","type":"event_msg","payload":{payload}}}"#) + "\n"
}

const OLD: &str = "2020-01-01T00:00:00.000Z";
const NEW: &str = "2099-01-01T00:00:00.000Z";

fn reader(agent: AgentId, dir: &Path) -> Transcripts {
    let started = SystemTime::now() - Duration::from_secs(60);
    Transcripts::new(agent, dir.to_owned(), started).unwrap()
}

fn read(from: &mut Transcripts) -> Vec<(String, bool)> {
    from.read().unwrap().into_iter().map(|found| (found.thread, found.is_before)).collect()
}

#[test]
fn claudes_transcripts_are_those_of_the_session_and_its_subagents() {
    let dir = tempfile::tempdir().unwrap();
    let mut reader = reader(AgentId::CLAUDE, dir.path());
    write(dir.path(), "projects/p/s-1.jsonl", &claude("a", OLD));
    write(dir.path(), "projects/p/s-2.jsonl", &claude("b", NEW));
    write(dir.path(), "projects/p/s-2/subagents/agent-x.jsonl", &claude("b", NEW));
    write(dir.path(), "projects/p/s-1/subagents/agent-y.jsonl", &claude("c", NEW));
    write(dir.path(), "projects/p/s-1/notes.txt", &claude("d", NEW));
    assert_eq!(read(&mut reader), []);
    reader.add_session("s-1");
    assert_eq!(read(&mut reader), [("agent-y".to_owned(), false), ("s-1".to_owned(), true)]);
    assert_eq!(read(&mut reader), []);
    // A line that is not whole yet waits for its end.
    let (begin, end) = (claude("e", NEW), claude("f", NEW));
    let half = begin.len() / 2;
    write(dir.path(), "projects/p/s-1.jsonl", &format!("{}{}", claude("a", OLD), begin.get(..half).unwrap()));
    assert_eq!(read(&mut reader), []);
    write(dir.path(), "projects/p/s-1.jsonl", &format!("{}{begin}{end}", claude("a", OLD)));
    assert_eq!(read(&mut reader).len(), 2);
    write(dir.path(), "projects/q/s-1.jsonl", "{\"usage\": \n");
    assert!(reader.read().is_err());
}

#[test]
fn codexs_transcripts_are_those_of_the_thread_and_the_threads_below_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut reader = reader(AgentId::CODEX, dir.path());
    let day = |name: &str| format!("sessions/2026/11/29/rollout-x-{name}.jsonl");
    write(dir.path(), &day("t-1"), &(codex(5, OLD) + &codex(9, NEW)));
    write(dir.path(), &day("t-2"), &format!("{{\"parent\":\"t-1\"}}\n{}", codex(3, NEW)));
    write(dir.path(), &day("t-3"), &format!("{{\"parent\":\"t-0\"}}\n{}", codex(3, NEW)));
    reader.add_session("t-1");
    let expected = [("t-1".to_owned(), true), ("t-1".to_owned(), false), ("rollout-x-t-2".to_owned(), false)];
    assert_eq!(read(&mut reader), expected);
}

#[test]
fn a_transcript_that_moves_shrinks_or_becomes_a_link_is_an_error() {
    let file = "projects/p/s-1.jsonl";
    let check = |change: &dyn Fn(&Path), expected: &str| {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = reader(AgentId::CLAUDE, dir.path());
        write(dir.path(), file, &claude("a", NEW));
        reader.add_session("s-1");
        assert_eq!(read(&mut reader).len(), 1);
        change(dir.path());
        let error = reader.read().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&|dir| std::fs::rename(dir.join(file), dir.join("away")).unwrap(), "cannot be opened");
    check(&|dir| write(dir, file, ""), "replaced or cut");
    let replace = |dir: &Path| {
        write(dir, "new", &[claude("b", NEW), claude("c", NEW)].concat());
        std::fs::rename(dir.join("new"), dir.join(file)).unwrap();
    };
    check(&replace, "replaced or cut");
    let link = |dir: &Path| {
        std::fs::rename(dir.join(file), dir.join("away")).unwrap();
        std::os::unix::fs::symlink(dir.join("away"), dir.join(file)).unwrap();
    };
    check(&link, "cannot be opened");
}

/// Subtracted as usage of earlier starts, such a line would hide all tokens of a thread.
#[test]
fn an_old_sum_that_appears_later_hides_no_tokens() {
    let dir = tempfile::tempdir().unwrap();
    let mut reader = reader(AgentId::CODEX, dir.path());
    let file = "sessions/2026/11/29/rollout-x-t-1.jsonl";
    write(dir.path(), file, &codex(5, OLD));
    reader.add_session("t-1");
    assert_eq!(read(&mut reader), [("t-1".to_owned(), true)]);
    write(dir.path(), file, &(codex(5, OLD) + &codex(999_999, OLD)));
    assert_eq!(read(&mut reader), [("t-1".to_owned(), false)]);
}

#[test]
fn a_thread_below_is_found_when_its_first_line_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut reader = reader(AgentId::CODEX, dir.path());
    let file = "sessions/2026/11/29/rollout-x-t-2.jsonl";
    reader.add_session("t-1");
    for head in ["", "{\"parent\":"] {
        write(dir.path(), file, head);
        assert_eq!(read(&mut reader), []);
    }
    write(dir.path(), file, &format!("{{\"parent\":\"t-1\"}}\n{}", codex(3, NEW)));
    assert_eq!(read(&mut reader), [("rollout-x-t-2".to_owned(), false)]);
}

#[test]
fn more_files_than_are_searched_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "projects/p/s-1.jsonl", "");
    let mut reader = reader(AgentId::CLAUDE, dir.path());
    let place = transcript_places(AgentId::CLAUDE).first().unwrap();
    for (budget, is_enough) in [(2, true), (1, false)] {
        let mut budget = budget;
        let found = reader.find(&dir.path().join(place.folder), place, place.levels, &mut budget);
        assert_eq!(found.is_ok(), is_enough, "{budget}");
    }
}
