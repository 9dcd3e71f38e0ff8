//! Calls that castellan understands, and that a rule with the tag `coding_agent_contain` sends to a sandbox: the policy `effects`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::{self, Claude, Codex};
use castellan_tests::agents::not_run;
use castellan_tests::run::Options;
use serde_json::Value as Json;

use crate::rig::{CANARY, Rig};
use crate::stage::{Stage, waited_shell};

/// A rule about a word, which a comment of a command has.
const RULES: &str = r#"
- rule: Contain a word
  desc: A test.
  condition: tool.input contains "contained-word"
  output: the test contains this
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_contain]
"#;

/// Prints the namespace of its processes, which is another one in a sandbox.
const WHERE: &str = "touch made; readlink /proc/self/ns/pid";

fn outside() -> Result<String> {
    Ok(std::fs::read_link("/proc/self/ns/pid")?.display().to_string())
}

/// Returns the policy of the last recorded call; empty if it ran outside of a sandbox.
fn policy(rig: &Rig) -> Result<String> {
    let records = rig.home.records()?;
    let call = records.iter().rev().find(|record| record["type"] == "call").context("no call")?;
    Ok(policy_of(&call["call"]))
}

fn policy_of(call: &Json) -> String {
    let obligations = call["obligations"].as_array().into_iter().flatten();
    let contain = obligations.filter(|one| one["kind"] == "contain").find_map(|one| one["detail"].as_str());
    contain.unwrap_or_default().to_owned()
}

#[test]
fn a_rule_contains_a_call_that_castellan_understands() -> Result<()> {
    let rig = Rig::with_rules("", RULES)?;
    ensure!(rig.ask(WHERE)?.is_free(), "it proves nothing");
    rig.done(WHERE, WHERE)?;
    let done = rig.contained(&format!("{WHERE} # contained-word"))?;
    ensure!(policy(&rig)? == "effects", "{}", policy(&rig)?);
    ensure!(done.code == Some(0) && rig.file("made").exists(), "{done:?}");
    ensure!(done.stdout.starts_with("pid:[") && done.stdout.trim() != outside()?, "{done:?}");
    // Code that castellan did not read has the narrower policy.
    let done = rig.contained(&format!("{} # contained-word", rig.unread("cat .env; echo ran")?))?;
    ensure!(policy(&rig)? == "unread" && done.stdout == "ran\n", "{done:?}");
    // The finding of another rule keeps its say.
    let answer = rig.ask("cat .env # contained-word")?;
    ensure!(!answer.is_contained() && !answer.is_free(), "{answer:?}");
    Ok(())
}

/// Of the effects only the hosts are in the policy: the sandbox keeps a command to the workspace, whatever it was to write.
#[test]
fn a_call_that_a_rule_contains_writes_the_workspace_alone() -> Result<()> {
    let rig = Rig::with_rules("", RULES)?;
    let write = "echo x > ../outside";
    for command in [format!("{write} # contained-word"), format!("touch made; {write} # contained-word")] {
        let answer = rig.ask(&command)?;
        ensure!(!answer.is_free(), "{answer:?}");
        if let Some(rewrite) = answer.rewrite {
            rig.shell(&rewrite)?;
            rig.done(&command, &rewrite)?;
        }
        ensure!(!rig.file("../outside").exists(), "{command}");
    }
    Ok(())
}

/// A server on loopback at the port of HTTP, which answers with a redirection and then with a text.
fn serve(listener: TcpListener, answer: String) {
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let _some = stream.read(&mut request);
            let _gone = stream.write_all(answer.as_bytes());
        }
    });
}

#[test]
fn a_call_that_a_rule_contains_reaches_the_hosts_of_its_effects_alone() -> Result<()> {
    // The policy names hosts without ports, so they have the port of HTTP.
    let listeners = ["127.93.30.1:80", "127.93.30.2:80"].map(TcpListener::bind);
    let [Ok(named), Ok(other)] = listeners else {
        return not_run("this user may not listen on the port of HTTP");
    };
    let end = "Connection: close\r\nContent-Length:";
    serve(named, format!("HTTP/1.1 302 Found\r\nLocation: http://127.93.30.2/\r\n{end} 6\r\n\r\nnamed\n"));
    serve(other, format!("HTTP/1.1 200 OK\r\n{end} 6\r\n\r\nother\n"));
    let rig = Rig::with_rules("", RULES)?;
    let fetch = |options: &str| format!("curl -s {options} http://127.93.30.1/ # contained-word");
    let outside = rig.shell(&fetch("-L"))?;
    ensure!(outside.stdout == "other\n", "it proves nothing: {outside:?}");
    let done = rig.contained(&fetch(""))?;
    ensure!(policy(&rig)? == "effects" && done.stdout == "named\n", "{done:?}");
    let done = rig.contained(&fetch("-L"))?;
    ensure!(!done.stdout.contains("other"), "{done:?}");
    // Code that castellan did not read reaches none.
    let done = rig.inside(&fetch(""))?;
    ensure!(policy(&rig)? == "unread" && !done.stdout.contains("named"), "{done:?}");
    Ok(())
}

fn obeys_the_rule(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::with(agent, "", RULES)? else { return Ok(()) };
    let commands = [WHERE.to_owned(), format!("{WHERE} # contained-word")];
    let calls = commands.iter().map(|command| waited_shell(agent, command)).collect();
    let played = stage.play(calls, &Options::default())?;
    let policies: Vec<String> = stage.calls()?.iter().map(policy_of).collect();
    ensure!(policies == ["", "effects"], "{agent:?}: {policies:?}");
    let (free, contained) = (played.heard(0)?, played.heard(1)?);
    let outside = outside()?;
    ensure!(free.contains(&outside) && !contained.contains(&outside), "{agent:?}: {free} {contained}");
    ensure!(contained.contains("pid:[") && !contained.contains(CANARY), "{agent:?}: {contained}");
    ensure!(stage.ungoverned()?.is_empty(), "{agent:?}: {:?}", stage.ungoverned()?);
    Ok(())
}

#[test]
fn a_rule_contains_an_understood_call_of_claude_and_codex() -> Result<()> {
    obeys_the_rule(Claude)?;
    obeys_the_rule(Codex)
}
