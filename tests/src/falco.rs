//! A program that a daemon starts as `falco`, made of the parts of [`castellan_scripted_falco`]. It speaks the plugin's end of
//! the channel by itself, and fails as a whole: its folder has a file with the way in which it does. Single alerts that are
//! lost or forged are the work of `crates/engine/tests`, and the real plugin that of `plugins/falco/examples/stand_in`.

mod play;

use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context, Result};
use castellan_rows::{Generation, Identity, Receiver};
use castellan_rules::Options;
use castellan_scripted_falco::{Config, load};
use serde_json::json;

pub use self::play::Play;
use self::play::{PLAY_FILE, current};
use crate::home::Home;

/// The version that it prints.
const VERSION: &str = "0.43.1";

/// Puts a scripted Falco and a file in the place of its plugin into a home, and makes it the engine of the home's
/// configuration.
pub fn install(home: &Home, config: &str) -> Result<()> {
    install_beside(home)?;
    configure(home, config, &program(home), &plugin(home))
}

/// Puts the Falco that `CASTELLAN_TEST_FALCO` names, with the plugin that `CASTELLAN_TEST_FALCO_PLUGIN` names, into a home's
/// configuration. Without the variables it is a scripted one.
pub fn install_named(home: &Home, config: &str) -> Result<()> {
    match std::env::var_os("CASTELLAN_TEST_FALCO") {
        None => install(home, config),
        Some(program) => {
            let plugin = std::env::var_os("CASTELLAN_TEST_FALCO_PLUGIN").context("it has no plugin")?;
            configure(home, config, Path::new(&program), Path::new(&plugin))
        }
    }
}

/// Makes Falco the engine. Containment is off where the configuration does not name it.
fn configure(home: &Home, config: &str, program: &Path, plugin: &Path) -> Result<()> {
    let containment = if config.contains("containment") { "" } else { "[containment]\nmode = \"off\"\n" };
    let engine =
        format!("[engine]\nkind = \"falco\"\nfalco = {}\nplugin = {}\n", json!(program), json!(plugin));
    home.write(&home.castellan().join("config/config.toml"), &format!("{config}\n{containment}{engine}"))
}

/// Puts a scripted Falco and a file in the place of its plugin into a home.
pub fn install_beside(home: &Home) -> Result<()> {
    home.copy_as("castellan-test-falco", "falco")?;
    home.write(&plugin(home), "a library")?;
    play(home, &Play::Judges)
}

/// Connects as Falco does, with all that its configuration holds. The inner error is the refusal.
pub fn connect(config: &Path) -> Result<std::result::Result<(), String>> {
    let mut receiver = receiver(&Config::read(config)?, None);
    Ok(match receiver.receive(std::time::Duration::from_millis(500)) {
        Ok(_) if receiver.is_connected() => Ok(()),
        Ok(_) => Err("not connected".to_owned()),
        Err(error) => Err(error.to_string()),
    })
}

/// Returns the plugin's end of the channel, with the rules of the configuration or those of another generation.
fn receiver(config: &Config, other: Option<Generation>) -> Receiver {
    let generation = other.unwrap_or(config.identity.generation);
    let identity = Identity { generation, ..config.identity };
    Receiver::new(config.socket.clone(), identity, config.user, |stream: &UnixStream| {
        Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
    })
}

/// The path of the scripted Falco in a home.
pub fn program(home: &Home) -> std::path::PathBuf {
    home.bin().join("falco")
}

/// The path of the file in the place of the plugin.
pub fn plugin(home: &Home) -> std::path::PathBuf {
    home.bin().join("libcoding_agent.so")
}

/// Makes the scripted Falco behave so from now on.
pub fn play(home: &Home, play: &Play) -> Result<()> {
    // Whole at once: the program may read it now.
    let new = home.bin().join("play.new");
    home.write(&new, &serde_json::to_string(&play.words())?)?;
    Ok(std::fs::rename(new, home.bin().join(PLAY_FILE))?)
}

/// Runs the scripted Falco. Returns its exit code.
pub fn run(arguments: &[String]) -> Result<u8> {
    let program = std::env::current_exe()?;
    let folder = program.parent().context("a program without a folder")?;
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--version"] => print_version(folder),
        ["-c", config, "-V", rules] => validate(folder, Path::new(config), Path::new(rules)),
        ["-c", config] => play::serve(folder, Path::new(config)),
        words => anyhow::bail!("unknown arguments: {words:?}"),
    }
}

fn print_version(folder: &Path) -> Result<u8> {
    let play = current(folder)?;
    if play == Play::HangsAtVersion {
        play::hang();
    }
    let version = if let Play::HasVersion(version) = play { version } else { VERSION.to_owned() };
    println!(
        "Falco version: {version} (x86_64)\nLibs version:  0.23.1\nPlugin API:    3.12.0\nEngine:        0.58.0"
    );
    Ok(0)
}

/// Loads rules as `falco --validate` does.
fn validate(folder: &Path, config: &Path, rules: &Path) -> Result<u8> {
    let config = Config::read(config)?;
    anyhow::ensure!(config.rules == rules, "the configuration names other rules");
    let text = std::fs::read_to_string(rules)?;
    let loads = load(&[&text], Options::default()).is_ok();
    let rejected = if let Play::Rejects(rule) = current(folder)? { Some(rule) } else { None };
    let rejected = rejected.filter(|rule| text.contains(&format!("- rule: {}", json!(rule))));
    let errors: Vec<_> = rejected
        .iter()
        .map(|rule| {
            json!({
                "code": "LOAD_ERR_COMPILE_CONDITION", "message": "filter error",
                "context": { "locations": [{ "item_type": "rule", "item_name": rule }] },
            })
        })
        .collect();
    let is_good = loads && errors.is_empty();
    println!(
        "{}",
        json!({ "falco_load_results": [{ "name": rules, "successful": is_good, "errors": errors }] })
    );
    Ok(u8::from(!is_good))
}
