//! The lines of the screen at several widths, and the keys that lead there.

use castellan_daemon::{Explanation, ShownCall};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::json;

use super::super::state::Wish;
use super::super::whole;
use super::*;

const WIDTHS: [usize; 3] = [60, 80, 120];

fn call(id: &str, agent: &str, age_s: u64, input: &str) -> PendingCall {
    PendingCall {
        id: id.to_owned(),
        agent: agent.to_owned(),
        session: "s".to_owned(),
        cwd: "/home/u/repo".to_owned(),
        tool: "Bash".to_owned(),
        input: input.to_owned(),
        reasons: vec!["Ask before publishing: `git push --force` replaces what others have".to_owned()],
        age_s,
        times: 1,
        waiting: false,
        at_prompt: false,
        class: None,
    }
}

/// Calls of three agents. The third one is hostile: it tries to control the terminal and to hide words.
fn calls() -> Vec<PendingCall> {
    let long =
        "git push --force origin main && git push --force --tags origin && git push --force other main";
    let hostile = "echo \u{1b}[2J\u{1b}]0;title\u{7} \u{202e}dnammoc a\u{200b}\r\nlet this happen, once? [y/N] 字字字字字字字字字字字字字字字字字字字字";
    vec![
        PendingCall { waiting: true, ..call("K7", "claude", 12, long) },
        PendingCall { at_prompt: true, ..call("A12", "qwen", 200, "npm publish") },
        call("B3", "codex", 7300, hostile),
    ]
}

fn shown(call: PendingCall, input: &str) -> ShownCall {
    ShownCall {
        call,
        record: 42,
        whole_input: json!({ "command": input, "description": "Publish" }),
        input_sha256: "ab".repeat(32),
        explanation: Explanation::default(),
        shown: "cd".repeat(32),
    }
}

fn state(columns: usize, rows: usize, calls: Vec<PendingCall>) -> State {
    let mut state = State::default();
    state.resize(columns, rows);
    state.update(calls);
    state
}

/// Opens the selected call as the screen does.
fn open(state: &mut State, input: &str, is_asked: bool) {
    let shown = shown(state.calls[state.selected].clone(), input);
    let lines = whole::wrapped(&shown, state.columns).unwrap();
    state.open(shown, lines, is_asked);
}

fn press(state: &mut State, code: KeyCode) -> Wish {
    state.press(KeyEvent::new(code, KeyModifiers::NONE))
}

/// Returns the screen without styles. Checks that no line can leave its row.
fn plain(state: &State) -> String {
    let lines = draw(state);
    assert!(lines.len() <= state.rows);
    let plain: Vec<String> =
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
    for line in &plain {
        assert_eq!(*line, printable(line));
        assert!(width(line) <= state.columns, "{line}");
    }
    plain.join("\n")
}

#[test]
fn the_list_has_one_row_for_each_call() {
    for columns in WIDTHS {
        let mut state = state(columns, 8, calls());
        press(&mut state, KeyCode::Char('j'));
        insta::assert_snapshot!(format!("list_{columns}"), plain(&state));
    }
    insta::assert_snapshot!("list_empty", plain(&state(60, 5, Vec::new())));
}

#[test]
fn a_whole_call_is_shown_with_its_reasons() {
    for columns in WIDTHS {
        let mut state = state(columns, 16, calls());
        open(&mut state, "git push --force origin main", false);
        insta::assert_snapshot!(format!("whole_{columns}"), plain(&state));
    }
    let mut hostile = state(60, 20, calls());
    press(&mut hostile, KeyCode::End);
    let input = hostile.calls[2].input.clone();
    open(&mut hostile, &input, true);
    insta::assert_snapshot!("whole_hostile", plain(&hostile));
}

#[test]
fn a_small_terminal_is_never_overrun() {
    for (columns, rows) in [(0, 0), (1, 1), (5, 2), (20, 3), (60, 4)] {
        let mut state = state(columns, rows, calls());
        plain(&state);
        open(&mut state, "git push", true);
        plain(&state);
    }
}

/// A person approves only a call whose last line was visible.
#[test]
fn a_call_is_approved_after_it_was_read() {
    let long = "line\n".repeat(40);
    let mut state = state(80, 10, calls());
    assert_eq!(press(&mut state, KeyCode::Char('a')), Wish::Open("K7".to_owned(), true));
    open(&mut state, &long, true);
    assert!(plain(&state).contains("more lines first"), "{}", plain(&state));
    assert_eq!(press(&mut state, KeyCode::Char('y')), Wish::Nothing);
    press(&mut state, KeyCode::End);
    assert!(plain(&state).contains("let this happen, once? [y/N]"), "{}", plain(&state));
    assert_eq!(press(&mut state, KeyCode::Char('y')), Wish::Approve);
    // No other key approves, and a short call needs no scrolling.
    state.resize(80, 20);
    for key in [KeyCode::Enter, KeyCode::Char('n'), KeyCode::Char('Y'), KeyCode::Esc, KeyCode::Char('q')] {
        open(&mut state, "git push", true);
        assert_eq!(press(&mut state, key), Wish::Nothing, "{key:?}");
        assert_eq!(press(&mut state, KeyCode::Char('y')), Wish::Nothing, "{key:?}");
    }
    // In the opened call, `a` leads to the same question.
    open(&mut state, "git push", false);
    assert_eq!(press(&mut state, KeyCode::Char('a')), Wish::Ask("K7".to_owned()));
    assert_eq!(press(&mut state, KeyCode::Char('y')), Wish::Nothing);
    state.ask();
    assert_eq!(press(&mut state, KeyCode::Char('y')), Wish::Approve);
    // A terminal of another width needs other lines, whose end was not visible yet.
    open(&mut state, &"x".repeat(3000), true);
    let read = state.opened.as_ref().is_some_and(|opened| opened.is_read);
    assert!(!read && state.resize(200, 10));
}

#[test]
fn keys_move_refuse_and_end() {
    let mut state = state(80, 10, calls());
    for (key, expected) in [('j', 1), ('j', 2), ('j', 2), ('k', 1), ('g', 0), ('G', 2)] {
        press(&mut state, KeyCode::Char(key));
        assert_eq!(state.selected, expected, "{key}");
    }
    assert_eq!(press(&mut state, KeyCode::Up), Wish::Nothing);
    assert_eq!(press(&mut state, KeyCode::Char('r')), Wish::Refuse("A12".to_owned()));
    assert_eq!(press(&mut state, KeyCode::Char('w')), Wish::Open("A12".to_owned(), false));
    open(&mut state, "npm publish", false);
    assert_eq!(press(&mut state, KeyCode::Char('r')), Wish::Refuse("A12".to_owned()));
    assert_eq!(press(&mut state, KeyCode::Char('q')), Wish::Nothing);
    assert!(state.opened.is_none());
    for end in [KeyCode::Char('q'), KeyCode::Esc] {
        assert_eq!(press(&mut state, end), Wish::End);
    }
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    open(&mut state, "npm publish", true);
    assert_eq!(state.press(control_c), Wish::End);
    assert_eq!(state.press(KeyEvent::new(KeyCode::Char('r'), KeyModifiers::CONTROL)), Wish::Nothing);
}

/// News of the daemon never move the selection to another call, and an ended call is not shown any more.
#[test]
fn news_keep_the_selected_call() {
    let mut state = state(80, 10, calls());
    press(&mut state, KeyCode::End);
    let mut fewer = calls();
    fewer.remove(0);
    state.update(fewer);
    assert_eq!(state.calls[state.selected].id, "B3");
    open(&mut state, "x", false);
    state.update(calls()[..2].to_vec());
    assert!(state.opened.is_none() && plain(&state).contains("B3 waits no more"));
    state.update(Vec::new());
    assert_eq!(press(&mut state, KeyCode::Char('a')), Wish::Nothing);
    press(&mut state, KeyCode::Down);
    assert_eq!(state.selected, 0);
}
