//! Files with code: at the end of a call, castellan compares the run file with the judged file.

use std::fs;
use std::path::Path;

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, bash, judge, run, understood};
use castellan_tests::process::Running;
use castellan_tests::wait::until;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::LIMIT;

const CALM: &str = "echo hello\n";
const OTHER: &str = "echo other\n";

fn hash(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text))
}

/// Makes a call that may run, does something meanwhile, and reports the call's end by the event `over`.
fn play(home: &Home, id: &str, command: &str, meanwhile: impl FnOnce(), over: &str) -> anyhow::Result<()> {
    let mut call = bash(command);
    call["tool_use_id"] = id.into();
    // Nobody has read some of the code; the user lets it run.
    let answer = understood(&judge(home, &call)?);
    assert!(["defer", "ask"].contains(&answer.as_str()), "{command}: {answer}");
    meanwhile();
    call["hook_event_name"] = over.into();
    match over {
        "UserPromptSubmit" => call["prompt"] = "go on".into(),
        "PostToolUseFailure" => call["error"] = "exit 1".into(),
        _ => call["tool_response"] = json!({}),
    }
    let done = run(home, "claude", over, call.to_string().as_bytes())?;
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{command}");
    Ok(())
}

/// Returns the log's entries about the files that a call ran; empty if the files are unchanged.
fn script_records(home: &Home, id: &str) -> anyhow::Result<Vec<Json>> {
    let records = home.records()?;
    Ok(records
        .into_iter()
        .map(|record| record["session"].clone())
        .filter(|session| session["use_id"] == id && session["scripts"].is_array())
        .collect())
}

/// Returns the entry of a changed file.
fn changed(path: &Path, was: &str, found: &str, message: &str) -> Json {
    json!([{ "path": path, "sha256": was, "found": found, "message": message }])
}

fn waits(home: &Home, id: &str) -> anyhow::Result<Json> {
    let found = until(LIMIT, || Ok(script_records(home, id)?.pop()))?;
    found.ok_or_else(|| anyhow::anyhow!("nothing is told of {id}"))
}

#[test]
fn what_is_swapped_while_a_call_runs_is_recorded() -> anyhow::Result<()> {
    let home = Home::with_castellan("scripts", ENFORCE, "")?;
    let at = |name: &str| home.workspace().join(name);
    let write = |file: &Path, text: &str| fs::write(file, text).unwrap();
    let script = at("x.sh");
    let bash_it = format!("bash {}", script.display());
    let source_it = format!(". {}", script.display());
    write(&script, CALM);
    play(&home, "same", &bash_it, || (), "PostToolUse")?;

    for over in ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit"] {
        write(&script, CALM);
        // A script in its own shell may continue in the background, so a prompt does not show its end.
        let command = if over == "UserPromptSubmit" { &source_it } else { &bash_it };
        play(&home, over, command, || write(&script, OTHER), over)?;
        let session = waits(&home, over)?;
        assert_eq!(session["message"], "script_changed");
        assert_eq!(session["event"], over);
        let expected = changed(&script, &hash(CALM), &hash(OTHER), "it is not what was judged");
        assert_eq!(session["scripts"], expected);
    }

    // Another file, renamed over the judged one.
    write(&script, CALM);
    write(&at("other.sh"), OTHER);
    play(&home, "renamed", &bash_it, || fs::rename(at("other.sh"), &script).unwrap(), "PostToolUse")?;
    let expected = changed(&script, &hash(CALM), &hash(OTHER), "it is not what was judged");
    assert_eq!(waits(&home, "renamed")?["scripts"], expected);

    write(&script, CALM);
    play(&home, "gone", &bash_it, || fs::remove_file(&script).unwrap(), "PostToolUse")?;
    let expected = changed(&script, &hash(CALM), "", "it cannot be read any more");
    assert_eq!(waits(&home, "gone")?["scripts"], expected);

    // castellan does not block on the replacement file, or read it without limit.
    let made = |program: &str, arguments: &[&str]| {
        fs::remove_file(&script).unwrap();
        let mut command = home.command(Path::new(program));
        let done = Running::start(command.args(arguments).arg(&script)).unwrap().finish(LIMIT).unwrap();
        assert_eq!(done.code, Some(0), "{done:?}");
    };
    for (id, program, arguments) in [("fifo", "mkfifo", &[][..]), ("huge", "truncate", &["-s", "100M"])] {
        write(&script, CALM);
        play(&home, id, &bash_it, || made(program, arguments), "PostToolUse")?;
        assert_eq!(waits(&home, id)?["scripts"], expected);
        fs::remove_file(&script)?;
    }

    write(&script, CALM);
    let itself = format!("{bash_it}; echo x >> {}", script.display());
    play(&home, "itself", &itself, || write(&script, "echo hello\nx\n"), "PostToolUse")?;
    let message = "it is not what was judged; the call itself writes it";
    let expected = changed(&script, &hash(CALM), &hash("echo hello\nx\n"), message);
    assert_eq!(waits(&home, "itself")?["scripts"], expected);

    // castellan never read the file that runs.
    let copied = format!("cp {} {1}; bash {1}", at("y.sh").display(), script.display());
    play(&home, "copied", &copied, || write(&script, OTHER), "PostToolUse")?;
    let session = waits(&home, "copied")?;
    assert_eq!(session["message"], "script_unchecked");
    let expected = changed(&script, "", &hash(OTHER), "the call itself put there what ran");
    assert_eq!(session["scripts"], expected);
    // No later record reports the files of an earlier call.
    assert_eq!(script_records(&home, "same")?, Vec::<Json>::new());
    let shown = home.run_castellan(&["log"])?.stdout;
    assert!(shown.contains("script_changed"), "{shown}");
    for line in home.run_castellan(&["log", "verify"])?.stdout.lines() {
        assert!(!line.contains("broken"), "{line}");
    }
    Ok(())
}

#[test]
fn other_kinds_of_code_are_compared_too() -> anyhow::Result<()> {
    let home = Home::with_castellan("kinds", ENFORCE, "")?;
    for (name, command, text) in
        [("p.py", "python3 p.py", "print(1)\n"), ("Makefile", "make", "all:\n\techo hello\n")]
    {
        let file = home.workspace().join(name);
        fs::write(&file, text)?;
        let command = format!("cd {}; {command}", home.workspace().display());
        play(&home, name, &command, || fs::write(&file, OTHER).unwrap(), "PostToolUse")?;
        let expected = changed(&file, &hash(text), &hash(OTHER), "it is not what was judged");
        assert_eq!(waits(&home, name)?["scripts"], expected);
    }
    Ok(())
}
