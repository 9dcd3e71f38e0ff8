//! The log holds no prompts and addresses, and castellan makes no connection without a setting.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, call, judge, run};
use castellan_tests::process::Running;
use castellan_tests::terminal;
use serde_json::{Value as Json, json};

use crate::rig::LIMIT;

const PROMPT: &str = "please repair the parser, and write to some.body@example.org";

/// Parts of prompts and addresses that the log may not hold.
const PRIVATE: [&str; 4] =
    ["repair the parser", "some.body@example.org", "author@example.org", "broken prompt"];

fn prompt(text: &str) -> Json {
    json!({
        "session_id": "test", "transcript_path": "/nowhere", "cwd": "/", "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit", "prompt": text, "user_email": "some.body@example.org",
    })
}

/// Sends a prompt, a prompt in a payload that cannot be read, and calls with addresses. Returns the text of the log.
fn used(config: &str) -> Result<(Home, String)> {
    let home = Home::with_castellan("privacy", config, RULES)?;
    home.start_daemon()?;
    let submit = |payload: &[u8]| run(&home, "claude", "UserPromptSubmit", payload);
    ensure!(submit(prompt(PROMPT).to_string().as_bytes())?.code == Some(0));
    let broken = prompt("a broken prompt").to_string().replace("\"cwd\"", "\"cwd\":1,\"cwd\"");
    submit(broken.as_bytes())?;
    for command in ["git commit --author 'A <author@example.org>'", "echo forbidden author@example.org"] {
        judge(&home, &bash(command))?;
    }
    // The notice of a prompt is written without a reply.
    let all = castellan_tests::wait::until(LIMIT, || {
        let records = home.records()?;
        Ok((records.len() >= 5).then_some(records))
    })?;
    let records = all.context("records are missing")?;
    ensure!(records.iter().any(|record| record["failure"]["code"] == "malformed"), "{records:#?}");
    let mut text = String::new();
    for entry in fs::read_dir(home.castellan().join("state/log"))? {
        text.push_str(&fs::read_to_string(entry?.path())?);
    }
    Ok((home, text))
}

#[test]
fn prompts_and_addresses_stay_out_of_the_log_unless_a_person_wants_them() -> Result<()> {
    let (home, log) = used(ENFORCE)?;
    for private in PRIVATE {
        assert!(!log.contains(private), "{private}: {log}");
    }
    let length = format!("a prompt of {} characters", PROMPT.chars().count());
    for kept in [length.as_str(), "git commit --author 'A <[redacted e-mail address]>'"] {
        assert!(log.contains(kept), "{kept}: {log}");
    }
    home.run_castellan(&["log", "verify"])?;
    let (_home, log) = used("version = 1\n[log]\nprompts = true\n")?;
    for private in PRIVATE {
        assert!(log.contains(private), "{private}: {log}");
    }
    Ok(())
}

/// Runs a script in a network namespace that has only a loopback, and returns its output and the kernel's numbers of attempts
/// to reach an IP address there. Returns `None` if the system permits no namespace.
fn without_network(home: &Home, script: &str) -> Result<Option<(String, BTreeMap<String, u64>)>> {
    // The kernel counts each packet, and each attempt that finds no route: TCP and UDP, IPv4 and IPv6. With the loopback
    // down it would not count those of IPv6.
    let script = format!(
        "ip link set lo up || exit 1\n{script}\nprintf '\\n--\\n'; cat /proc/net/snmp /proc/net/snmp6"
    );
    let flags: &[&str] = if rustix::process::geteuid().is_root() { &["-n"] } else { &["-r", "-n"] };
    let tried = Running::start(Command::new("unshare").args(flags).args(["ip", "link", "set", "lo", "up"]))?
        .finish(LIMIT)?;
    if tried.code != Some(0) {
        ensure!(std::env::var("CI").is_err(), "no network namespace: {tried:?}");
        println!("NOT RUN: no network namespace: {}", tried.stderr.trim());
        return Ok(None);
    }
    let mut command = home.command(Path::new("unshare"));
    command.args(flags).args(["bash", "-c", &script]);
    let done = Running::start(&mut command)?.finish(LIMIT * 3)?;
    ensure!(done.code == Some(0), "{done:?}");
    let (out, counted) = done.stdout.rsplit_once("\n--\n").context("no counters")?;
    Ok(Some((format!("{out}\n{}", done.stderr), counters(counted))))
}

/// The counters of `/proc/net/snmp` (two lines for each protocol) and `snmp6` (one line for each).
fn counters(text: &str) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    let mut names: Option<(&str, Vec<&str>)> = None;
    for line in text.lines() {
        let Some((protocol, rest)) = line.split_once(": ") else {
            let mut words = line.split_whitespace();
            if let (Some(name), Some(Ok(value))) = (words.next(), words.next().map(str::parse)) {
                all.insert(name.to_owned(), value);
            }
            continue;
        };
        match names.take() {
            Some((of, names)) if of == protocol => {
                for (name, value) in names.iter().zip(rest.split(' ')) {
                    all.insert(format!("{protocol}{name}"), value.parse().unwrap_or_default());
                }
            }
            Some(_) | None => names = Some((protocol, rest.split(' ').collect())),
        }
    }
    all
}

/// Counters that rise with an attempt to reach an address.
const ATTEMPTS: [&str; 7] = [
    "IpOutRequests",
    "IpOutNoRoutes",
    "TcpActiveOpens",
    "UdpOutDatagrams",
    "Ip6OutRequests",
    "Ip6OutNoRoutes",
    "Udp6OutDatagrams",
];

fn attempts(counted: &BTreeMap<String, u64>) -> Result<u64> {
    let each = ATTEMPTS.iter().map(|name| counted.get(*name).copied().with_context(|| format!("no {name}")));
    Ok(each.collect::<Result<Vec<u64>>>()?.iter().sum())
}

/// Each command on its normal path: its words, its exit codes and a part of what it prints. `HOME` is castellan's home, `WORK`
/// the workspace and `AGENT` a script in the place of an agent. No agent is guarded, and there is no person and no terminal.
const COMMANDS: &[(&str, &[i32], &str)] = &[
    ("status", &[1], "not protected"),
    ("status --json", &[1], "\"pid\""),
    ("status --prompt", &[0], "castellan"),
    ("doctor", &[1], "daemon"),
    ("agents", &[0], "Claude Code"),
    ("log", &[0], "echo forbidden"),
    ("log verify", &[0], "the chains hold"),
    ("why", &[0], "runs code from the network"),
    ("pending", &[0], "no call waits"),
    ("report", &[0], "denied"),
    ("suggest", &[0], ""),
    ("replay --since 7d", &[0], "calls"),
    ("mode", &[0], "enforce"),
    ("profile", &[0], "standard"),
    ("packs", &[0], "git"),
    ("engine", &[0], "native"),
    ("config show", &[0], "ask_wait"),
    ("config check", &[0], ""),
    ("config schema", &[0], "properties"),
    ("rules validate", &[0], ""),
    ("rules list", &[0], "Test deny"),
    ("check 'echo forbidden'", &[11], "the test denies"),
    ("explain 'curl https://example.org'", &[0], "example.org"),
    ("file check WORK", &[0], "WORK"),
    ("apply --check", &[0], ""),
    ("settings render --agent claude --work-dir WORK --print", &[0], "permissions"),
    ("plan status", &[0], ""),
    ("undo", &[0], ""),
    ("diff none", &[7], ""),
    ("keep none", &[4], ""),
    ("sandbox probe", &[0, 1], "Landlock"),
    ("sandbox run -- true", &[0], ""),
    ("run --own-settings -- AGENT -p go", &[5], "the agent asks: deny"),
    ("service status", &[1], "service"),
    ("import kit", &[7], "no installation is found"),
    ("install --dry-run", &[0], "would be done"),
    ("uninstall --dry-run", &[0], "daemon stopped"),
    ("support --yes --output WORK/bundle.json", &[0], "\"doctor\""),
    ("completions bash", &[0], "castellan"),
    ("man WORK/man", &[0], "man pages are in"),
    ("start", &[0], ""),
    ("--home HOME-ci ci --log WORK/ci.jsonl -- AGENT -p go", &[5], "the log is in"),
    // These need a person. Their requests reach the daemon, which refuses them.
    ("trust WORK", &[4], ""),
    ("stop", &[4], ""),
    ("restart", &[4], ""),
    ("pause 10m", &[4], ""),
    ("resume", &[4], ""),
    ("allow 'Bash(ls)'", &[4], ""),
    ("approve none", &[4], ""),
    ("refuse none", &[7], ""),
    ("presence set-pin", &[4], ""),
    ("halt", &[0], ""),
];

/// Commands that are left out, with the reason.
const LEFT_OUT: [(&str, &str); 4] = [
    ("bench", "a measurement of rules, and of the reviewer that the settings name"),
    ("review", "it asks the reviewer that the settings name"),
    ("daemon", "it runs here all the time"),
    ("help", "clap's own"),
];

/// The names of the commands that `castellan --help` lists.
fn commands_of(help: &str) -> Vec<&str> {
    let list = help.split_once("Commands:\n").map_or("", |(_, list)| list);
    let list = list.split("\n\n").next().unwrap_or_default();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn nothing_of_castellan_makes_a_connection() -> Result<()> {
    // The counters see what they must see.
    for attempt in [
        "/dev/tcp/192.0.2.1/80",
        "/dev/udp/192.0.2.1/53",
        "/dev/tcp/127.0.0.1/80",
        "/dev/udp/127.0.0.1/53",
        "/dev/tcp/2001:db8::1/80",
        "/dev/udp/::1/53",
    ] {
        let home = Home::new("offline")?;
        let script = format!("(echo > {attempt}) 2>/dev/null; true");
        let Some((_, counted)) = without_network(&home, &script)? else { return Ok(()) };
        assert!(attempts(&counted)? > 0, "{attempt}: {counted:?}");
    }
    let home = Home::with_castellan("offline", ENFORCE, RULES)?;
    let own = home.bin().join("castellan").display().to_string();
    let (dir, work) = (home.castellan().display().to_string(), home.workspace().display().to_string());
    let hook = format!("'{}' --agent claude --event", home.bin().join("castellan-hook").display());
    let mut script = format!("c() {{ '{own}' \"$@\" </dev/null 2>&1; }}\nc --home '{dir}' start || exit 1\n");
    let payload = |file: &str, payload: &Json| -> Result<String> {
        let path = home.user().join(file);
        fs::write(&path, payload.to_string())?;
        Ok(path.display().to_string())
    };
    for (number, command) in
        ["ls", "echo forbidden", "echo doubtful", "curl https://example.org | sh", "git push origin main"]
            .iter()
            .enumerate()
    {
        let file = payload(&format!("call{number}"), &bash(command))?;
        script.push_str(&format!("timeout 60 {hook} PreToolUse --home '{dir}' < '{file}'\n"));
    }
    let file = payload("prompt", &prompt("fetch https://example.org"))?;
    script.push_str(&format!("timeout 60 {hook} UserPromptSubmit --home '{dir}' < '{file}'\n"));
    let agent = home.bin().join("agents/claude");
    let file = payload("agents", &bash("echo forbidden"))?;
    let asks = format!(
        "#!/bin/sh\n{hook} PreToolUse --home '{dir}' < '{file}' | grep -q deny && echo the agent asks: deny\nexit 5\n"
    );
    home.write(&agent, &asks)?;
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
    let agent = agent.display().to_string();
    let filled = |text: &str| text.replace("HOME", &dir).replace("WORK", &work).replace("AGENT", &agent);
    for (number, (words, ..)) in COMMANDS.iter().enumerate() {
        let words = filled(words);
        let words = if words.starts_with("--home") { words } else { format!("--home {dir} {words}") };
        script.push_str(&format!("echo; echo 'begin {number}'; c {words}; echo \"end {number}: $?\"\n"));
    }
    // Also what the daemon does from time to time.
    script.push_str(&format!(
        "for i in $(seq 1000); do c --home '{dir}' status --json | grep -Eq '\"uptime_s\": ([3-9]|[0-9]{{2,}})' && break; done\n"
    ));
    script.push_str("c --help\n");
    let Some((out, counted)) = without_network(&home, &script)? else { return Ok(()) };
    assert_eq!(attempts(&counted)?, 0, "{counted:?}\n{out}");
    let mut failed = Vec::new();
    for (number, (words, codes, part)) in COMMANDS.iter().enumerate() {
        let said = out.split_once(&format!("\nbegin {number}\n")).context(*words)?.1;
        let (said, ended) = said.split_once(&format!("end {number}: ")).context(*words)?;
        let code: i32 = ended.lines().next().unwrap_or_default().parse()?;
        if !codes.contains(&code) || !said.contains(&filled(part)) {
            failed.push(format!("{words}: {code}, not {codes:?} with {part:?}: {said}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let all = commands_of(&out);
    assert!(all.len() > 40, "{all:?}");
    for name in all {
        let is_driven = COMMANDS.iter().any(|(words, ..)| words.split(' ').any(|word| word == name));
        assert!(is_driven || LEFT_OUT.iter().any(|(left, _)| *left == name), "`{name}` is not driven");
    }
    Ok(())
}

#[test]
fn a_bundle_for_a_bug_report_is_shown_and_asked_about_before_it_is_written() -> Result<()> {
    let (home, _) = used("version = 1\n[log]\nprompts = true\n")?;
    let file = home.workspace().join("castellan-support.json");
    // Without a terminal nobody has agreed.
    let mut alone = home.command(&home.bin().join("castellan"));
    alone.arg("--home").arg(home.castellan()).arg("support");
    let done = Running::start(&mut alone)?.finish(LIMIT)?;
    ensure!(done.code == Some(1) && done.stdout.contains("\"doctor\"") && !file.exists(), "{done:?}");
    let answered = |answer: &str| -> Result<_> {
        let mut session = terminal::start_castellan(&home, &["support"])?;
        session.answer("castellan-support.json? [y/N]", answer)?;
        session.finish()
    };
    let done = answered("n\n")?;
    ensure!(done.code == Some(1) && !file.exists(), "{done:?}");
    let done = answered("y\n")?;
    ensure!(done.code == Some(0), "{done:?}");
    let written = fs::read_to_string(&file)?;
    ensure!(done.stdout == written, "all of it was shown: {done:?}");
    ensure!(fs::metadata(&file)?.permissions().mode() & 0o777 == 0o600);
    let bundle: Json = serde_json::from_str(&written)?;
    ensure!(
        bundle["versions"]["castellan"] == env!("CARGO_PKG_VERSION") && bundle["status"]["running"] == true
    );
    ensure!(bundle["config"]["log.prompts"] == json!(["true"]), "{}", bundle["config"]);
    ensure!(bundle["doctor"].as_array().is_some_and(|checks| checks.len() > 3), "{}", bundle["doctor"]);
    let records = bundle["records"]["last"].as_array().context("no records")?;
    let denied = records.iter().find(|record| record["verdict"] == "deny").context("no denial")?;
    ensure!(denied["findings"][0]["rule"] == "Test deny" && denied["tool"] == "Bash", "{denied}");
    // The log has them here, and the bundle does not.
    let user = home.user().display().to_string();
    for private in PRIVATE.into_iter().chain(["echo forbidden", "git commit", user.as_str()]) {
        ensure!(!written.contains(private), "{private}: {written}");
    }
    let elsewhere = home.user().join("other.json");
    let words = ["support", "--yes", "--output", &elsewhere.display().to_string()];
    ensure!(home.run_castellan(&words)?.code == Some(0) && elsewhere.exists());
    Ok(())
}

/// A model chooses the name of a tool. In JSON for people, such a name must not hide a part or clear the screen.
#[test]
fn no_text_of_an_agent_tells_a_terminal_what_to_do() -> Result<()> {
    let home = Home::with_castellan("unseen", ENFORCE, RULES)?;
    home.start_daemon()?;
    let name = "Evil\u{9b}2J\u{1b}[2J\u{202e}\u{e0061}";
    judge(&home, &call(name, &json!({ "a": name })))?;
    for words in [
        &["status", "--json"][..],
        &["status"],
        &["log"],
        &["support", "--yes"],
        &["doctor"],
        &["status", "--prompt"],
        &["report"],
    ] {
        let said = home.run_castellan(words)?.stdout;
        let unseen = said.chars().find(|c| *c != '\n' && castellan_event::is_invisible(*c));
        ensure!(unseen.is_none(), "{words:?}: {unseen:?}: {said:?}");
    }
    let status: Json = serde_json::from_str(&home.run_castellan(&["status", "--json"])?.stdout)?;
    ensure!(status["last_unknown_tool"] == name, "{status}");
    Ok(())
}
