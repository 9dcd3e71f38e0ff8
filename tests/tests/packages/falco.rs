//! Falco's plugin in a package: castellan finds it there, and a Falco loads it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{self, bash, understood};
use castellan_tests::process::{Finished, Running};
use castellan_tests::terminal;
use serde_json::Value as Json;

use crate::rig::{LIMIT, PACKED_PLUGIN, PLUGIN, Packages, falco_plugin, real, run};

/// The program in Falco's place loads the library through Falco's interface, and hands on what it reports.
#[test]
fn an_installed_castellan_judges_by_the_plugin_of_its_package() -> Result<()> {
    let home = Home::new("packed-plugin")?;
    let archive = real()?.unpack_archive(&home.user().join("unpacked"))?;
    let done = Running::start(&mut home.command(&archive.join("install.sh")))?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let prefix = home.user().join(".local");
    let falco = home.user().join("falco");
    fs::copy(falco_plugin()?.join("examples/stand_in"), &falco)?;
    fs::set_permissions(&falco, Permissions::from_mode(0o755))?;
    home.write(&home.castellan().join("config/rules/user/test.yaml"), hook::RULES)?;
    let at = home.castellan().display().to_string();
    let castellan = |words: &[&str]| -> Result<Finished> {
        let words = [&["--home", &at], words].concat();
        terminal::run(&home, &prefix.join("bin/castellan"), &words)
    };
    let done = castellan(&["install", "--no-agents"])?;
    ensure!(done.code == Some(0), "{done:?}");
    let plugin = prefix.join(PACKED_PLUGIN).display().to_string();
    // An agent that changes the library would judge after the next command.
    for command in [format!("cp mine.so {plugin}"), format!("mv {} elsewhere", prefix.join("lib").display())]
    {
        let done = castellan(&["check", &command])?;
        ensure!(done.stdout.contains("Deny changing castellan's files"), "{done:?}");
    }
    let done = castellan(&["engine", "falco", "--falco", &falco.display().to_string(), "--yes"])?;
    ensure!(done.code == Some(0), "{done:?}");
    let config = fs::read_to_string(home.castellan().join("config/config.toml"))?;
    ensure!(config.contains(&format!("\"{plugin}\"")), "{config}");
    // castellan takes `timeout` for the agent.
    let mut asked = home.command(Path::new("timeout"));
    asked.arg("60").arg(prefix.join("bin/castellan-hook"));
    asked.args(["--agent", "claude", "--event", "PreToolUse", "--home", &at]);
    let payload = bash("echo forbidden").to_string();
    let done = Running::start_with_input(&mut asked, payload.as_bytes())?.finish(LIMIT)?;
    ensure!(understood(&done) == "deny", "{done:?}");
    let mut log = home.command(&prefix.join("bin/castellan"));
    let log = Running::start(log.args(["--home", &at, "log", "--json"]))?.finish(LIMIT)?.stdout;
    let records: Vec<Json> = log.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let call = records.iter().rfind(|record| record["type"] == "call").context("no call in the log")?;
    ensure!(call["call"]["engine"] == "falco", "{call}");
    let done = castellan(&["engine", "native", "--yes"])?;
    ensure!(done.code == Some(0), "{done:?}");
    let done = castellan(&["uninstall", "--purge"])?;
    ensure!(done.code == Some(0), "{done:?}");
    Ok(())
}

#[test]
fn the_bill_and_the_licences_cover_the_plugin() -> Result<()> {
    let packages = Packages::of_scripts("0.1.0")?;
    let place = tempfile::tempdir()?;
    let archive = packages.unpack_archive(place.path())?;
    let documents = archive.join("share/doc/castellan");
    let bill: Json = serde_json::from_slice(&fs::read(documents.join("sbom.cdx.json"))?)?;
    let parts = bill["metadata"]["component"]["components"].as_array().context("no parts")?;
    let library = parts.iter().find(|part| part["name"] == PLUGIN).context("no library")?;
    let sum = run(Command::new("sha256sum").arg(archive.join(PACKED_PLUGIN)))?.stdout;
    ensure!(sum.split_whitespace().next() == library["hashes"][0]["content"].as_str(), "{library}");
    let crates = bill["components"].as_array().context("no crates")?;
    let named = |name: &str| crates.iter().find(|one| one["name"] == name);
    ensure!(named("castellan-falco-plugin").is_some());
    // Falco's own kit is linked into the plugin only.
    let kit = named("falco_plugin").context("no falco_plugin")?;
    let dependencies = bill["dependencies"].as_array().context("no dependencies")?;
    let needs =
        |of: &str| dependencies.iter().find(|one| one["ref"] == of).map(|one| one["dependsOn"].to_string());
    let own = named("castellan-falco-plugin").map(|one| one["purl"].as_str().unwrap_or_default());
    let kit = kit["purl"].as_str().unwrap_or_default();
    ensure!(own.and_then(needs).is_some_and(|needs| needs.contains(kit)), "{kit}");
    ensure!(needs("castellan").is_some_and(|needs| needs.contains("castellan-falco-plugin")));
    let licences = fs::read_to_string(documents.join("THIRD-PARTY.txt"))?;
    ensure!(licences.lines().any(|line| line.starts_with("falco_plugin ")), "no licence of falco_plugin");
    Ok(())
}

#[test]
fn no_package_for_linux_is_made_without_the_plugin() -> Result<()> {
    let packages = Packages::of_scripts("0.1.0")?;
    let place = tempfile::tempdir()?;
    let archive = packages.unpack_archive(place.path())?;
    fs::remove_dir_all(archive.join("lib"))?;
    let error = Packages::of(&archive.join("bin"), |_| {}).err().context("it was packed")?;
    ensure!(error.to_string().contains("Falco's plugin is missing"), "{error:#}");
    // castellan starts no Falco on another system.
    let other = Packages::of(&archive.join("bin"), |dist| {
        dist.args(["--platform", "aarch64-apple-darwin"]);
    })?;
    let unpacked = other.unpack("castellan-0.1.0", &place.path().join("other"))?;
    ensure!(!unpacked.join("lib").exists());
    let bill = fs::read_to_string(unpacked.join("share/doc/castellan/sbom.cdx.json"))?;
    ensure!(!bill.contains("falco_plugin") && !bill.contains(PLUGIN));
    Ok(())
}
