//! Copies of judged calls for a Falco of the user's own. This process is that Falco's plugin.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use castellan_event::field_index;
use castellan_rows::{Event, Found, Generation, HEX, Identity, Receiver};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash};
use castellan_tests::wait::until;

use super::{LIMIT, answer, kill};

const EVENTS: &str = "[engine]\nevents = true\n";

/// The plugin of a Falco that has the fragment in its configuration.
fn plugin(fragment: &Path, key: Option<[u8; 32]>) -> anyhow::Result<Receiver> {
    let found = until(LIMIT, || Ok(std::fs::read_to_string(fragment).ok().filter(|text| !text.is_empty())))?;
    let text = found.context("no fragment")?;
    let value = |begin: &str| -> anyhow::Result<String> {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(begin));
        Ok(serde_json::from_str(line.with_context(|| format!("no `{begin}`: {text}"))?.trim())?)
    };
    ensure!(!text.contains("http_output") && !text.contains("rules_files"), "it decides: {text}");
    let hex = |begin: &str| value(begin)?.strip_prefix(HEX).and_then(Generation::parse).context("no hash");
    let identity = Identity { key: key.unwrap_or(hex("key: ")?.0), generation: hex("generation: ")? };
    let user = rustix::process::geteuid().as_raw();
    Ok(Receiver::new(value("socket: ")?.into(), identity, user, |stream| {
        Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
    }))
}

/// Waits for the connection.
fn connect(plugin: &mut Receiver) -> anyhow::Result<()> {
    let connected =
        until(LIMIT, || Ok((plugin.receive(Duration::ZERO).is_ok() && plugin.is_connected()).then_some(())))?;
    connected.context("not connected")
}

/// The level and the command of each row of the next call.
fn next(plugin: &mut Receiver) -> anyhow::Result<Vec<(String, String)>> {
    let mut call = plugin.receive(LIMIT)?.context("no call")?;
    let mut rows = Vec::new();
    while let Some(event) = call.next_event()? {
        let event = Event::read(&event)?;
        let text = |name: &str| {
            let found = event.value(field_index(name).context("no field")?, None)?;
            let Found::Text(text) = found else { anyhow::bail!("{name}: {found:?}") };
            Ok(String::from_utf8(text.to_vec())?.replace('\0', ""))
        };
        rows.push((text("row.level")?, text("tool.input_command")?));
    }
    Ok(rows)
}

#[test]
fn a_falco_of_the_user_gets_each_judged_call_and_decides_nothing() -> anyhow::Result<()> {
    let home = Home::with_castellan("falco-events", &format!("{ENFORCE}{EVENTS}"), RULES)?;
    let fragment = home.castellan().join("run/falco/events/falco.yaml");
    let daemon = home.start_daemon()?;
    ensure!(answer(&home, &bash("echo forbidden"))? == "deny", "without a Falco");
    let mut falco = plugin(&fragment, None)?;
    connect(&mut falco)?;
    ensure!(answer(&home, &bash("echo forbidden"))? == "deny");
    ensure!(answer(&home, &bash("ls"))? == "defer");
    for command in ["echo forbidden", "ls"] {
        let rows = next(&mut falco)?;
        ensure!(rows.iter().all(|(_, found)| found == command), "{rows:?}");
        ensure!(rows.iter().any(|(level, _)| level == "call") && rows.len() > 1, "{rows:?}");
    }
    // The fragment is installed once, so the key stays.
    kill(daemon)?;
    drop(falco);
    let _daemon = home.start_daemon()?;
    let mut falco = plugin(&fragment, None)?;
    connect(&mut falco)?;
    ensure!(answer(&home, &bash("ls"))? == "defer");
    ensure!(next(&mut falco)?.len() > 1);
    Ok(())
}

#[test]
fn a_falco_that_does_not_read_changes_no_answer() -> anyhow::Result<()> {
    let home = Home::with_castellan("falco-events-slow", &format!("{ENFORCE}{EVENTS}"), RULES)?;
    let _daemon = home.start_daemon()?;
    let long = bash(&format!("echo {}", "x".repeat(300_000)));
    let without = answer(&home, &long)?;
    let mut falco = plugin(&home.castellan().join("run/falco/events/falco.yaml"), None)?;
    connect(&mut falco)?;
    // More than the socket takes.
    for _ in 0..20 {
        ensure!(answer(&home, &long)? == without);
    }
    Ok(())
}

#[test]
fn a_stranger_gets_no_copy() -> anyhow::Result<()> {
    let home = Home::with_castellan("falco-events-stranger", &format!("{ENFORCE}{EVENTS}"), RULES)?;
    let _daemon = home.start_daemon()?;
    let mut stranger = plugin(&home.castellan().join("run/falco/events/falco.yaml"), Some([7; 32]))?;
    let refused = until(LIMIT, || Ok(stranger.receive(Duration::from_millis(20)).err()))?;
    let refused = refused.context("it is let in")?.to_string();
    ensure!(refused.contains("not castellan"), "{refused}");
    Ok(())
}

/// Copies begin before the record receives lines. Their failure is recorded nevertheless, and no call waits for them.
#[test]
fn copies_that_do_not_start_are_recorded_and_calls_go_on() -> anyhow::Result<()> {
    let home = Home::with_castellan("falco-events-key", &format!("{ENFORCE}{EVENTS}"), RULES)?;
    home.write(&home.castellan().join("state/falco_events.key"), "no key")?;
    home.start_daemon()?;
    let told = until(LIMIT, || {
        let records = home.records()?;
        let is_it = |record: &serde_json::Value| {
            let line = record.to_string();
            line.contains("no copies of calls for a Falco: ") && line.contains("falco_events.key")
        };
        Ok(records.iter().any(is_it).then_some(()))
    })?;
    told.with_context(|| format!("{:?}", home.records()))?;
    ensure!(answer(&home, &bash("ls"))? == "defer" && answer(&home, &bash("echo forbidden"))? == "deny");
    Ok(())
}
