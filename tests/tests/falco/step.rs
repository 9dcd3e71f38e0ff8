//! [`Step`]: a step of a scripted session, and [`Place`], a home in which sessions are played.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{self, HOOK_LIMIT, understood};
use castellan_tests::process::{Finished, Running};
use castellan_tests::terminal;
use serde_json::{Value as Json, json};

/// A step. In texts, `$W` is the workspace, and `$ID` the last call that was stopped or can be undone.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// An agent asks about a call. The last text is the expected decision.
    Ask(&'static str, Json, &'static str),
    /// Claude asks about the call for the second time.
    AskAgain(Json, &'static str),
    /// The agent reports the end of a call.
    Done(Json),
    /// Claude asks about a shell text that castellan contains, runs the command of the answer, and reports its end.
    Contained(&'static str),
    /// A person writes a prompt to an agent at a terminal, which then asks about a command.
    Prompted(&'static str, &'static str, &'static str),
    /// castellan's command at a person's terminal. Its exit code is expected.
    Person(&'static [&'static str], i32),
    /// castellan's command without a person.
    Program(&'static [&'static str], i32),
    /// Puts a text into a file of the workspace.
    Write(&'static str, &'static str),
    /// Takes the id of the last call that can be undone for `$ID`.
    Undoable,
    /// A file of the workspace has this text.
    Holds(&'static str, &'static str),
}

/// A shell call of Claude in the workspace.
pub(crate) fn bash(command: &str) -> Json {
    in_session("test", command)
}

/// A shell call of Claude in another session.
pub(crate) fn in_session(session: &str, command: &str) -> Json {
    let mut call = call("Bash", &json!({ "command": command }));
    call["session_id"] = session.into();
    call
}

/// A call of one of Claude's tools in the workspace.
pub(crate) fn call(tool: &str, input: &Json) -> Json {
    let mut call = hook::call(tool, input);
    call["cwd"] = "$W".into();
    call
}

/// A home, and the last id.
pub(crate) struct Place {
    pub(crate) home: Home,
    id: String,
}

/// Reads a line as a command of the shell: the agent at a person's terminal.
const AGENT: &str = "BEGIN { while ((getline line < ARGV[1]) > 0) system(line); exit }\n";

impl Place {
    pub(crate) fn new(home: Home) -> Place {
        Place { home, id: String::new() }
    }

    fn filled(&self, text: &str) -> Result<String> {
        let workspace = self.home.workspace().canonicalize()?.display().to_string();
        Ok(text.replace("$W", &workspace).replace("$ID", &self.id))
    }

    /// Takes a step. Returns all that its caller sees.
    pub(crate) fn take(&mut self, step: &Step) -> Result<String> {
        match step {
            Step::Ask(agent, call, expected) => {
                let done = self.hook(agent, "PreToolUse", call)?;
                self.answered(&done, expected)
            }
            Step::AskAgain(call, expected) => {
                let done = hook::ask_again(&self.home, "claude", &self.payload(call)?)?;
                self.answered(&done, expected)
            }
            Step::Done(call) => {
                let done = self.hook("claude", "PostToolUse", &ended(call))?;
                Ok(format!("{:?} {}{}", done.code, done.stdout, done.stderr))
            }
            Step::Contained(script) => self.contained(script),
            Step::Prompted(prompt, command, expected) => self.prompted(prompt, command, expected),
            Step::Person(words, code) => {
                let words = self.words(words)?;
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let done = terminal::run_castellan(&self.home, &words)?;
                self.commanded(&done, *code)
            }
            Step::Program(words, code) => {
                let mut command = self.home.command(&self.home.bin().join("castellan"));
                command.arg("--home").arg(self.home.castellan()).args(self.words(words)?);
                let done = Running::start(&mut command)?.finish(HOOK_LIMIT)?;
                self.commanded(&done, *code)
            }
            Step::Write(file, text) => {
                self.home.write(&self.home.workspace().join(file), text)?;
                Ok(String::new())
            }
            Step::Undoable => {
                let listed = self.home.run_castellan(&["undo", "--json"])?.stdout;
                let listed: Json = serde_json::from_str(&listed)?;
                listed[0]["id"].as_str().context("no call can be undone")?.clone_into(&mut self.id);
                Ok(String::new())
            }
            Step::Holds(file, expected) => {
                let found = std::fs::read_to_string(self.home.workspace().join(file)).unwrap_or_default();
                ensure!(found == *expected, "{file} has {found:?}");
                Ok(found)
            }
        }
    }

    fn words(&self, words: &[&str]) -> Result<Vec<String>> {
        words.iter().map(|word| self.filled(word)).collect()
    }

    fn payload(&self, call: &Json) -> Result<Json> {
        Ok(serde_json::from_str(&self.filled(&call.to_string())?)?)
    }

    fn hook(&self, agent: &str, event: &str, call: &Json) -> Result<Finished> {
        hook::run(&self.home, agent, event, self.payload(call)?.to_string().as_bytes())
    }

    fn answered(&mut self, done: &Finished, expected: &str) -> Result<String> {
        ensure!(understood(done) == expected, "expected {expected}: {done:?}");
        let shown = format!("{:?} {}{}", done.code, done.stdout, done.stderr);
        if matches!(expected, "deny" | "ask") {
            self.id = self.last_request()?;
        }
        Ok(shown)
    }

    /// Returns the id of the last call that was stopped.
    fn last_request(&self) -> Result<String> {
        let records = self.home.records()?;
        let requests = records.iter().rev().filter_map(|record| record["call"]["request"].as_str());
        Ok(requests.map(str::to_owned).next().unwrap_or_default())
    }

    fn commanded(&self, done: &Finished, code: i32) -> Result<String> {
        ensure!(done.code == Some(code), "expected exit code {code}: {done:?}");
        Ok(format!("{}{}", done.stdout, done.stderr))
    }

    /// castellan takes `timeout` for the agent, so the test can be a person.
    fn contained(&self, script: &str) -> Result<String> {
        let name = "steps.sh";
        self.home.write(&self.home.workspace().join(name), script)?;
        let call = self.payload(&in_session("contained", &format!("eval \"$(cat {name})\"")))?;
        let file = |name: &str, json: &Json| -> Result<String> {
            let file = self.home.castellan().join(name);
            self.home.write(&file, &json.to_string())?;
            Ok(file.display().to_string())
        };
        let (asked, ended) = (file("call.json", &call)?, file("ended.json", &ended(&call))?);
        let find =
            "perl -MJSON::PP -0777 -ne 'print decode_json($_)->{hookSpecificOutput}{updatedInput}{command}'";
        let text = format!(
            "run=$({} < {asked} | {find}); [ \"$run\" ] || exit 99; bash -c \"$run\"; code=$?; {} < {ended}; exit $code",
            self.hook_line("PreToolUse"),
            self.hook_line("PostToolUse"),
        );
        let mut agent = self.home.command(Path::new("timeout"));
        agent.args(["60", "bash", "-c", &text]);
        let done = Running::start(&mut agent)?.finish(2 * HOOK_LIMIT)?;
        ensure!(done.code == Some(0), "not contained, or it failed: {done:?}");
        Ok(format!("{}{}", done.stdout, done.stderr))
    }

    fn hook_line(&self, event: &str) -> String {
        let (hook, home) = (self.home.bin().join("castellan-hook"), self.home.castellan());
        format!("{} --agent claude --event {event} --home {}", hook.display(), home.display())
    }

    /// The agent is `awk` at a terminal: only there is a prompt certainly the user's own.
    fn prompted(&mut self, prompt: &str, command: &str, expected: &str) -> Result<String> {
        let folder = self.home.temporary();
        let file = |name: &str, text: &str| -> Result<String> {
            self.home.write(&folder.join(name), text)?;
            Ok(folder.join(name).display().to_string())
        };
        let said = json!({
            "session_id": "prompted", "transcript_path": "/nowhere", "cwd": "$W", "permission_mode": "default",
            "hook_event_name": "UserPromptSubmit", "prompt": prompt,
        });
        let said = file("prompt.json", &self.payload(&said)?.to_string())?;
        let asked = file("asked.json", &self.payload(&in_session("prompted", command))?.to_string())?;
        let out = folder.join("out").display().to_string();
        let steps = [
            format!("{} <{said} >/dev/null", self.hook_line("UserPromptSubmit")),
            // The kernel's start times have steps of 10 ms.
            "sleep 0.1".to_owned(),
            format!(
                "{} <{asked} >{out}.stdout 2>{out}.stderr; echo $? >{out}.code",
                self.hook_line("PreToolUse")
            ),
        ];
        let (agent, steps) = (file("agent.awk", AGENT)?, file("steps", &(steps.join("\n") + "\n"))?);
        let ran = terminal::run(&self.home, Path::new("awk"), &["-f", &agent, &steps])?;
        ensure!(ran.code == Some(0), "the agent fails: {ran:?}");
        let read = |kind: &str| std::fs::read_to_string(format!("{out}.{kind}")).unwrap_or_default();
        let code = read("code").trim().parse().ok();
        let done = Finished { code, stdout: read("stdout"), stderr: read("stderr"), took: ran.took };
        self.answered(&done, expected)
    }
}

/// The report on the end of a call.
fn ended(call: &Json) -> Json {
    let mut ended = call.clone();
    ended["hook_event_name"] = "PostToolUse".into();
    ended["tool_response"] = json!({});
    ended
}
