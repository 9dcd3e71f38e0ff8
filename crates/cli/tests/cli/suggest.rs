//! `castellan suggest` and `castellan report`, on a log written with the daemon's own log crate.

use castellan_audit::{
    CallRecord, ControlRecord, FindingRecord, GapRecord, Record, SessionRecord, UngovernedRecord,
};
use serde_json::{Value as Json, json};

use crate::home::{Done, Home, skipped};
use crate::records::{self, NOON, write_log};

/// The time of the first record: an hour before midnight.
const FIRST: u64 = NOON + 11 * 60 * 60;

const MINE: &str = r#"- rule: Ask before word counts
  desc: Hm.
  condition: cmd.name = wc
  output: Counting is asked about
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]

- rule: Ask before frobbing
  desc: Hm.
  condition: cmd.name = frob
  output: Frobbing is asked about
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]

- rule: Deny the frobnicator
  desc: No.
  condition: cmd.name = frobnicate
  output: Nobody frobnicates here
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

/// The records of a log in order.
#[derive(Default)]
struct Story {
    records: Vec<Record>,
    calls: u64,
}

impl Story {
    fn call(&mut self, command: &str, verdict: &str, code: &str, rule: &str, lifted: &str) -> u64 {
        self.calls += 1;
        let finding = FindingRecord {
            verdict: if lifted.is_empty() { verdict } else { "ask" }.to_owned(),
            code: code.to_owned(),
            rule: rule.to_owned(),
            layer: "user".to_owned(),
            lifted: lifted.to_owned(),
            ..FindingRecord::default()
        };
        self.records.push(Record::Call(CallRecord {
            correlation_id: self.calls,
            use_id: format!("use-{}", self.calls).into(),
            findings: if code.is_empty() { Vec::new() } else { vec![finding] },
            ..records::call(command, verdict)
        }));
        self.calls
    }

    fn ask(&mut self, command: &str, rule: &str) -> u64 {
        self.call(command, "ask", "ask_rule", rule, "")
    }

    /// Adds the record that the call has run.
    fn ran(&mut self, call: u64) {
        self.records.push(Record::Session(SessionRecord {
            event: "PostToolUse".into(),
            agent: "claude_code".into(),
            session_id: "s".into(),
            tool: "Bash".into(),
            use_id: format!("use-{call}").into(),
            ..SessionRecord::default()
        }));
    }

    fn control(&mut self, action: &str, call: u64) {
        let (action, accepted) = (action.to_owned(), true);
        self.records.push(Record::Control(ControlRecord {
            action: action.into(),
            accepted,
            call,
            ..ControlRecord::default()
        }));
    }

    /// Adds repeated asks that are approved or refused.
    fn habits(&mut self) {
        for file in ["a", "b", "c", "d"] {
            let call = self.ask(&format!("wc words {file}"), "Ask before word counts");
            self.ran(call);
            let call = self.ask(&format!("frob it {file}"), "Ask before frobbing");
            self.control(if file == "d" { "refuse" } else { "approve" }, call);
        }
    }

    fn home(&self) -> Home {
        let home = Home::new();
        write_log(&home, "h", FIRST, &self.records);
        home.write("h/config/rules/user/mine.yaml", MINE);
        std::fs::create_dir_all(home.path("h/config/rules/default")).unwrap();
        home
    }
}

/// Returns true below an agent, where the commands show less.
fn is_below_agent() -> bool {
    let is = castellan_daemon::is_own_within_agent();
    if is {
        skipped("the tests run below an agent");
    }
    is
}

fn run(home: &Home, arguments: &[&str]) -> Done {
    let dir = home.path("h").display().to_string();
    home.run(&[&["--home", &dir], arguments].concat())
}

fn json_of(home: &Home, arguments: &[&str]) -> (Option<i32>, Json) {
    let done = run(home, &[arguments, &["--json"]].concat());
    (done.code, serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}")))
}

#[test]
fn what_is_always_approved_is_proposed_as_an_exception() {
    if is_below_agent() {
        return;
    }
    let mut story = Story::default();
    story.habits();
    story.call("wc words e", "defer", "", "", "");
    let home = story.home();
    let (code, json) = json_of(&home, &["suggest"]);
    assert_eq!(code, Some(0), "{json}");
    let expected = json!([{
        "by": ["Ask before word counts"], "approved": 4, "example": "wc words d",
        "allow": "Bash(wc words:*)", "others_let_through": 1,
    }]);
    assert_eq!(json["always_approved"], expected, "{json}");
    let done = run(&home, &["suggest"]);
    insta::assert_snapshot!("suggest_exception", done.stdout);
}

/// Loosening proposals are only for a person: `suggest` and `report` give an agent only their number.
#[test]
fn an_agent_is_told_no_way_to_loosen() {
    if is_below_agent() {
        return;
    }
    let mut story = Story::default();
    story.habits();
    story.call("x", "defer", "unknown_tool", "", "");
    story.call("y", "defer", "ask_rule", "Ask before y", "observe");
    let home = story.home();
    let dir = home.path("h").display().to_string();
    let agent = |arguments: &[&str]| {
        let done = home.run_below("claude", &[&["--home", &dir], arguments].concat());
        assert!(matches!(done.code, Some(0 | 6)), "{done:?}");
        assert!(done.stderr.is_empty(), "{done:?}");
        done.stdout
    };
    let since = ["--since", "2026-01-25T00:00:00Z"];
    for arguments in [
        &["suggest"][..],
        &["suggest", "--json"],
        &["report", since[0], since[1]],
        &["report", since[0], since[1], "--json"],
    ] {
        let (reported, shown) = (agent(arguments), run(&home, arguments).stdout);
        for hint in ["wc words:*", "approve ID", "config.toml"] {
            assert!(!reported.contains(hint), "{arguments:?}: {hint}: {reported}");
        }
        assert!(shown.contains("wc words:*"), "{arguments:?}: a person is told: {shown}");
    }
    let reported = agent(&["suggest"]);
    assert_eq!(
        reported,
        "10 calls looked at\n1 kind of calls always approved, 0 rules that stop often, 1 tool not known, 0 calls not understood\n\
         what to change is told to a person only, and this runs within a guarded agent\n"
    );
    assert!(
        agent(&["report", since[0], since[1]])
            .contains("2 proposals: what to change is told to a person only")
    );
    // The names of rules in observe state are not shown either.
    for arguments in [&["report", since[0], since[1]][..], &["report", since[0], since[1], "--json"]] {
        let (reported, shown) = (agent(arguments), run(&home, arguments).stdout);
        assert!(
            !reported.contains("Ask before y") && reported.contains("observed"),
            "{arguments:?}: {reported}"
        );
        assert!(shown.contains("Ask before y"), "{arguments:?}: a person is told: {shown}");
    }
}

/// A short rule is tried before it is proposed, and dropped if it would allow a refused call, or allows nothing.
#[test]
fn an_exception_that_does_not_hold_on_the_log_is_not_proposed() {
    if is_below_agent() {
        return;
    }
    let allow = |story: &Story| {
        let (_, json) = json_of(&story.home(), &["suggest"]);
        let proposed = json["always_approved"].as_array().unwrap().clone();
        proposed.iter().map(|one| one["allow"].clone()).collect::<Vec<_>>()
    };
    let mut story = Story::default();
    for _ in 0..3 {
        let call = story.ask("wc words a", "Ask before word counts");
        story.ran(call);
    }
    assert_eq!(allow(&story), [json!("Bash(wc words:*)")]);
    // In another group, for another reason as well, and refused.
    let refused = story.call("wc words b", "ask", "ask_rule", "Ask before frobbing", "");
    story.control("refuse", refused);
    assert_eq!(allow(&story), [Json::Null]);

    // A deny overrides every allow, so the call would still be stopped.
    let mut story = Story::default();
    for _ in 0..3 {
        let call = story.ask("frobnicate all", "Ask before word counts");
        story.ran(call);
    }
    assert_eq!(allow(&story), [Json::Null]);
}

#[test]
fn nothing_is_excepted_from_what_denies_or_guards_castellan() {
    if is_below_agent() {
        return;
    }
    let own = castellan_daemon::organisation_rules();
    let name =
        own.iter().flat_map(|source| source.text.lines()).find_map(|line| line.strip_prefix("- rule: "));
    for rule in [name.unwrap().trim_matches('"'), "Deny the frobnicator", "A rule that is gone"] {
        let mut story = Story::default();
        for _ in 0..5 {
            let call = story.ask("wc words a", rule);
            story.ran(call);
        }
        let (_, json) = json_of(&story.home(), &["suggest"]);
        assert_eq!(json["always_approved"], json!([]), "{rule}");
    }
}

#[test]
fn what_fires_too_often_or_never_and_what_is_not_known() {
    if is_below_agent() {
        return;
    }
    let mut story = Story::default();
    for _ in 0..12 {
        story.call("frobnicate", "deny", "deny_rule", "Deny the frobnicator", "");
    }
    for _ in 0..200 {
        story.call("ls", "defer", "", "", "");
    }
    story.call("x", "defer", "unknown_tool", "", "");
    story.call("\"$X\" y", "ask", "opaque", "", "");
    let home = story.home();
    let (code, json) = json_of(&home, &["suggest"]);
    assert_eq!((code, &json["calls"]), (Some(0), &json!(214)));
    let often = &json["too_often"][0];
    assert_eq!((&often["rule"], &often["stopped"]), (&json!("Deny the frobnicator"), &json!(12)));
    assert_eq!(often["can_be_changed"], json!(false));
    let never: Vec<&str> =
        json["never_fired"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert_eq!(never, ["Ask before word counts", "Ask before frobbing"]);
    assert_eq!(json["unknown_tools"], json!([{ "agent": "claude_code", "tool": "Bash", "calls": 1 }]));
    assert_eq!(json["not_understood"], json!({ "calls": 1, "example": "\"$X\" y" }));
    insta::assert_snapshot!("suggest_counts", run(&home, &["suggest"]).stdout);
}

#[test]
fn few_calls_say_nothing_of_what_never_fires() {
    if is_below_agent() {
        return;
    }
    let mut story = Story::default();
    story.call("ls", "defer", "", "", "");
    let home = story.home();
    let (_, json) = json_of(&home, &["suggest"]);
    assert_eq!((&json["never_fired"], &json["too_often"]), (&Json::Null, &json!([])));
    assert!(run(&home, &["suggest"]).stdout.starts_with("1 call looked at: nothing to change\n"));
}

#[test]
fn a_report_has_charts_and_what_to_change() {
    if is_below_agent() {
        return;
    }
    let mut story = Story::default();
    story.habits();
    for _ in 0..60 {
        story.call("ls", "defer", "", "", "");
    }
    story.call("frobnicate", "deny", "deny_rule", "Deny the frobnicator", "");
    story.call("wc x", "defer", "ask_rule", "Ask before word counts", "observe");
    let ungoverned = UngovernedRecord { why: "no_decision".into(), ..UngovernedRecord::default() };
    story.records.push(Record::Ungoverned(ungoverned));
    story.records.push(Record::Gap(GapRecord { count: 2, ..GapRecord::default() }));
    let home = story.home();
    let since = ["--since", "2026-01-25T00:00:00Z"];
    let done = run(&home, &[&["report"][..], &since].concat());
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(!done.stdout.contains('\u{1b}'), "no colour where there is no terminal");
    let (first, rest) = done.stdout.split_once('\n').unwrap();
    assert!(first.starts_with("2026-01-25 to 20") && first.ends_with(", 70 calls"), "{first}");
    insta::assert_snapshot!("report", rest);

    let (code, json) = json_of(&home, &[&["report"][..], &since].concat());
    assert_eq!((code, &json["calls"]), (Some(6), &json!(70)));
    assert_eq!(json["verdicts"], json!({ "deny": 1, "ask": 8, "allow": 0, "defer": 61 }));
    let days = json["days"].as_object().unwrap();
    let of_day = |day: &str| days[day].as_object().unwrap().values().filter_map(Json::as_u64).sum::<u64>();
    assert_eq!((days.len(), of_day("2026-01-31") + of_day("2026-02-01")), (2, 70));
    assert_eq!(json["waited"], json!({ "answers": 4, "median_s": 60, "longest_s": 60, "all_s": 240 }));
    assert_eq!(json["ungoverned"], json!({ "no_decision": 1 }));
    assert_eq!(json["observed"], json!([{ "rule": "Ask before word counts", "verdicts": { "ask": 1 } }]));
    assert_eq!(json["log"]["unrecorded_events"], json!(2));
    assert_eq!(json["asked_most"][0]["asked"], json!(4));

    // A week without records in the log.
    let (code, json) = json_of(&home, &["report", "--week"]);
    assert_eq!((code, &json["calls"]), (Some(0), &json!(0)));
    let none = run(&home, &["report", "--week"]).stdout;
    assert!(none.ends_with(", 0 calls\n\nnothing needs changing\n"), "{none}");
}

/// A report ends with one change: the proposal that helps most, in steps that fit the terminal.
#[test]
fn a_report_ends_with_one_change() {
    if is_below_agent() {
        return;
    }
    let since = ["report", "--since", "2026-01-25"];
    let end = |story: &Story, columns: &str| {
        let home = story.home().with_variable("COLUMNS", columns.into());
        let shown = run(&home, &since).stdout;
        let (_, end) = shown.rsplit_once("\n\n").unwrap();
        assert!(
            shown.lines().all(|line| line.chars().count() <= columns.parse::<usize>().unwrap()),
            "{shown}"
        );
        end.to_owned()
    };
    let mut habits = Story::default();
    habits.habits();
    for columns in ["60", "80", "120"] {
        insta::assert_snapshot!(format!("report_end_{columns}"), end(&habits, columns));
    }
    let mut often = Story::default();
    let mut calls = Story::default();
    for _ in 0..12 {
        often.ask("frob it", "Ask before frobbing");
        calls.call("ls", "defer", "", "", "");
    }
    let of_rule = "        Ask before frobbing stops 100 % of all calls, such as `frob it`\n          castellan rules describe 'Ask before frobbing'\n";
    assert_eq!(end(&often, "120"), format!("what to change\n{of_rule}"));
    assert_eq!(end(&calls, "120"), "nothing needs changing\n");
    calls.records.push(Record::Ungoverned(UngovernedRecord::default()));
    assert_eq!(
        end(&calls, "120"),
        "what to change\n        calls ran that castellan did not decide\n          castellan doctor\n"
    );
}

#[test]
fn without_a_log_there_is_nothing_to_report() {
    if is_below_agent() {
        return;
    }
    let home = Home::new();
    for command in ["suggest", "report"] {
        let none = run(&home, &[command]);
        assert_eq!((none.code, none.stdout.as_str()), (Some(7), ""), "{none:?}");
        assert!(none.stderr.contains("there is no log in `"), "{}", none.stderr);
    }
    assert_eq!(run(&home, &["report", "--week", "--since", "7d"]).code, Some(2));
}

/// Days are local, as the times of the log are: the first call is a minute before midnight in the second zone.
#[test]
fn a_report_groups_by_local_day() {
    let mut story = Story::default();
    story.call("ls", "deny", "", "", "");
    story.call("ls", "ask", "", "", "");
    for (zone, expected) in [
        ("UTC", json!({ "2026-01-31": 2 })),
        ("XXX-0:59", json!({ "2026-01-31": 1, "2026-02-01": 1 })),
        ("XXX-13", json!({ "2026-02-01": 2 })),
    ] {
        let home = story.home().with_variable("TZ", zone.into());
        let (_, json) = json_of(&home, &["report", "--since", "2026-01-01"]);
        let days = json["days"].as_object().unwrap();
        let calls =
            |counts: &Json| counts.as_object().unwrap().values().filter_map(Json::as_u64).sum::<u64>();
        let days: serde_json::Map<_, _> =
            days.iter().map(|(day, counts)| (day.clone(), calls(counts).into())).collect();
        assert_eq!(Json::from(days), expected, "{zone}");
        let shown = run(&home, &["report", "--since", "2026-01-01"]).stdout;
        for (day, count) in expected.as_object().unwrap() {
            assert!(shown.contains(&format!("\n{day}  {:>6}  ", count.as_u64().unwrap())), "{zone}: {shown}");
        }
    }
}
