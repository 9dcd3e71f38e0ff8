//! Programs that want to be Falco, or to read its secrets.

use std::time::Duration;

use anyhow::{Context, ensure};
use castellan_tests::falco::{self, Play};
use castellan_tests::hook::{bash, call};
use castellan_tests::wait::{ended, until};
use serde_json::json;

use super::{LIMIT, answer, denied, falco as falco_of, home, wait_for_state};

/// A process with the key is no Falco if castellan has not started it.
#[test]
fn only_the_process_that_castellan_started_is_falco() -> anyhow::Result<()> {
    let home = home("falco-stranger", &Play::HasNoPlugin)?;
    home.start_daemon()?;
    wait_for_state(&home, "starting")?;
    let config = home.castellan().join("run/falco/falco.yaml");
    let written = until(LIMIT, || Ok(config.exists().then_some(())))?;
    written.context("no configuration")?;
    let started = until(LIMIT, || Ok(falco_of(&home).ok()))?;
    started.context("no Falco")?;
    // This process knows everything that Falco knows.
    let refused = falco::connect(&config)?;
    ensure!(refused.is_err(), "a stranger was let in");
    denied(&home, &bash("ls"))?;
    let told = until(LIMIT, || {
        let records = home.records()?;
        let why = format!("process {} is not the Falco that castellan started", std::process::id());
        Ok(records.iter().any(|record| record.to_string().contains(&why)).then_some(()))
    })?;
    told.context("the record does not name the stranger")
}

/// The folder holds the key and the secrets, and the programs judge: no agent reads or writes any of them.
#[test]
fn agents_neither_read_the_secrets_nor_change_the_judge() -> anyhow::Result<()> {
    let home = home("falco-guarded", &Play::Judges)?;
    home.start_daemon()?;
    wait_for_state(&home, "judging")?;
    let config = home.castellan().join("run/falco/falco.yaml").display().to_string();
    let (program, plugin) = (falco::program(&home), falco::plugin(&home));
    let (program, plugin) = (program.display().to_string(), plugin.display().to_string());
    for hostile in [
        bash(&format!("cat {config}")),
        bash(&format!("cp -r {} /tmp/x", home.castellan().join("run").display())),
        bash(&format!("echo x >> {config}")),
        bash(&format!("rm {}", home.castellan().join("run/falco/s").display())),
        call("Read", &json!({ "file_path": config })),
        call("Write", &json!({ "file_path": program, "content": "#!/bin/sh\n" })),
        bash(&format!("ln -sf /tmp/mine {program}")),
        bash(&format!("cp /tmp/mine.so {plugin}")),
        bash(&format!("mv {plugin} /tmp/")),
        bash(&format!("chmod 777 {plugin}")),
    ] {
        let answer = answer(&home, &hostile)?;
        ensure!(answer != "defer" && answer != "allow", "{answer}: {hostile}");
    }
    // Falco's own program is not castellan's home: reading it is free.
    ensure!(answer(&home, &bash(&format!("ls -l {program}")))? == "defer");
    Ok(())
}

/// A second plugin in the same process is not let in, and the first one judges on.
#[test]
fn a_plugin_that_is_loaded_twice_judges_once() -> anyhow::Result<()> {
    let home = home("falco-twice", &Play::LoadsPluginTwice)?;
    home.start_daemon()?;
    wait_for_state(&home, "judging")?;
    let refused = "a process was not let in as Falco: another engine is connected";
    let told = until(LIMIT, || {
        let records = home.records()?;
        Ok(records.iter().any(|record| record.to_string().contains(refused)).then_some(()))
    })?;
    told.context("the record does not name the second plugin")?;
    for (command, expected) in [("ls", "defer"), ("echo forbidden", "deny"), ("ls", "defer")] {
        let found = answer(&home, &bash(command))?;
        ensure!(found == expected, "{command}: {found}");
    }
    ensure!(wait_for_state(&home, "judging")?["restarts"] == 0);
    Ok(())
}

/// No lock is held while a call waits for Falco: a person can see what happens and end it.
#[test]
fn a_person_can_act_while_calls_wait_for_falco() -> anyhow::Result<()> {
    let home = home("falco-waits", &Play::Judges)?;
    home.start_daemon()?;
    wait_for_state(&home, "judging")?;
    falco::play(&home, &Play::Hangs)?;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| denied(&home, &bash("ls")));
        let halted = || {
            for words in [&["status", "--json"][..], &["engine"], &["halt"]] {
                let done = home.run_castellan(words)?;
                ensure!(done.took < Duration::from_secs(4), "{words:?}: {done:?}");
            }
            Ok(())
        };
        let halted: anyhow::Result<()> = halted();
        waiting.join().expect("no panic")?;
        halted
    })
}

/// A program of the user weakens the rule file and has Falco read it again. The weaker rules judge no call.
#[test]
fn a_falco_that_reads_its_files_again_is_replaced() -> anyhow::Result<()> {
    let home = home("falco-again", &Play::Judges)?;
    home.start_daemon()?;
    wait_for_state(&home, "judging")?;
    let (before, rules) = (falco_of(&home)?, home.castellan().join("run/falco/rules.yaml"));
    let text = std::fs::read_to_string(&rules)?;
    let weaker = text.replace("forbidden", "novel");
    ensure!(weaker != text);
    std::fs::write(&rules, weaker)?;
    falco::play(&home, &Play::ReadsAgain)?;
    ensure!(ended(before, LIMIT)?, "the Falco with the weaker rules stays");
    ensure!(answer(&home, &bash("echo forbidden"))? == "deny");
    let engine = wait_for_state(&home, "judging")?;
    ensure!(engine["restarts"] == 1 && std::fs::read_to_string(&rules)? == text, "{engine}");
    ensure!(answer(&home, &bash("ls"))? == "defer" && answer(&home, &bash("echo forbidden"))? == "deny");
    let records = home.records()?;
    let told = |record: &serde_json::Value| {
        record.to_string().contains("Falco's connection has ended and Falco runs")
    };
    ensure!(records.iter().any(told), "{records:?}");
    Ok(())
}
