//! [`Play`]: the ways in which the scripted Falco behaves, and what it does with a call.

use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use castellan_rows::{CallRows, Generation};
use castellan_rules::{Loaded, Options, Selected, Selection};
use castellan_scripted_falco::{Config, Poster, alerts_on, load};
use serde_json::json;

use super::receiver;

/// The file beside the program.
pub(super) const PLAY_FILE: &str = "falco-play.json";

/// A way in which the scripted Falco behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Play {
    /// As Falco does.
    Judges,
    /// It prints another version.
    HasVersion(String),
    /// It does not end when it is asked for its version.
    HangsAtVersion,
    /// It rejects the rule of this name: when it only loads rules, and at its start.
    Rejects(String),
    /// It ends at once.
    CrashesAtStart,
    /// It ends at the first call.
    CrashesAtCall,
    /// It takes calls and posts nothing.
    Hangs,
    /// It runs without the plugin.
    HasNoPlugin,
    /// Its plugin has the rules of another generation.
    HasOtherRules,
    /// It listens at the port for alerts itself, or ends if the port is taken.
    TakesPort,
    /// Another part of its configuration disables a rule.
    LeavesOutRule,
    /// It loads the plugin twice.
    LoadsPluginTwice,
    /// It starts a process that does not end, and ignores the order to end.
    Stays,
    /// It reads its files again and its plugin connects again, as at SIGHUP.
    ReadsAgain,
    /// It reports each row of a call as one that no rule matches.
    FindsNothing,
}

impl Play {
    const PLAIN: &[(&str, Play)] = &[
        ("judges", Play::Judges),
        ("hangs at version", Play::HangsAtVersion),
        ("crashes at start", Play::CrashesAtStart),
        ("crashes at call", Play::CrashesAtCall),
        ("hangs", Play::Hangs),
        ("has no plugin", Play::HasNoPlugin),
        ("has other rules", Play::HasOtherRules),
        ("takes port", Play::TakesPort),
        ("leaves out rule", Play::LeavesOutRule),
        ("loads plugin twice", Play::LoadsPluginTwice),
        ("stays", Play::Stays),
        ("reads again", Play::ReadsAgain),
        ("finds nothing", Play::FindsNothing),
    ];

    /// Returns the words of the file.
    pub(super) fn words(&self) -> Vec<String> {
        let known = Play::PLAIN.iter().find(|(_, play)| play == self).map(|(word, _)| *word);
        match (self, known) {
            (Play::HasVersion(version), _) => vec!["has version".to_owned(), version.clone()],
            (Play::Rejects(rule), _) => vec!["rejects".to_owned(), rule.clone()],
            (_, word) => vec![word.unwrap_or_default().to_owned()],
        }
    }

    fn of(words: &[String]) -> Result<Play> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["has version", version] => Ok(Play::HasVersion((*version).to_owned())),
            ["rejects", rule] => Ok(Play::Rejects((*rule).to_owned())),
            [word] => {
                let known = Play::PLAIN.iter().find(|(known, _)| known == word);
                known.map(|(_, play)| play.clone()).with_context(|| format!("unknown play: {word}"))
            }
            words => anyhow::bail!("unknown play: {words:?}"),
        }
    }
}

/// Returns the present way.
pub(super) fn current(folder: &Path) -> Result<Play> {
    let text = std::fs::read_to_string(folder.join(PLAY_FILE))?;
    Play::of(&serde_json::from_str::<Vec<String>>(&text)?)
}

/// Never ends by itself.
pub(super) fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

/// Judges calls until the end of the process.
pub(super) fn serve(folder: &Path, config: &Path) -> Result<u8> {
    let config = Config::read(config)?;
    println!("a scripted Falco starts");
    let play = current(folder)?;
    if play == Play::CrashesAtStart {
        eprintln!("Error: the scripted Falco crashes at its start");
        return Ok(1);
    }
    if let Play::Rejects(rule) = &play {
        eprintln!("Error: the scripted Falco rejects the rule `{rule}`");
        return Ok(1);
    }
    if play == Play::HasNoPlugin {
        hang();
    }
    if play == Play::TakesPort {
        let taken = TcpListener::bind(config.alerts);
        anyhow::ensure!(taken.is_err(), "the port for alerts was free");
    }
    if play == Play::Stays {
        // Its last word is a path of the home, by which a test finds it.
        let words = ["-c", "trap '' TERM; while :; do sleep 1; done"];
        let _child = std::process::Command::new("sh").args(words).arg(folder).spawn()?;
    }
    let other = (play == Play::HasOtherRules).then_some(Generation([7; 32]));
    let mut rules = rules_of(&config, &play)?;
    let mut has_read_again = play == Play::ReadsAgain;
    let mut plugin = receiver(&config, other);
    let mut poster = Poster::new(config.alerts);
    let mut second = (play == Play::LoadsPluginTwice).then(|| receiver(&config, None));
    let mut told = String::new();
    loop {
        // The daemon lets in one connection, and a second one gets no call. It tries after the first has connected.
        let second = second.as_mut().filter(|_| plugin.is_connected());
        if let Some(Ok(Some(_))) = second.map(|second| second.receive(Duration::from_millis(50))) {
            anyhow::bail!("the second connection got a call, too");
        }
        if !has_read_again && current(folder)? == Play::ReadsAgain {
            has_read_again = true;
            rules = rules_of(&config, &play)?;
            plugin = receiver(&config, None);
        }
        match plugin.receive(Duration::from_millis(50)) {
            Ok(Some(call)) => judge(folder, &rules, call, &config, &mut poster)?,
            Ok(None) => {}
            Err(error) => {
                let error = error.to_string();
                if error != told {
                    // Like Falco, it goes on without its output.
                    let _ = writeln!(std::io::stdout(), "{error}");
                    told = error;
                }
            }
        }
    }
}

/// Loads the exported rules.
fn rules_of(config: &Config, play: &Play) -> Result<Loaded> {
    let text = std::fs::read_to_string(&config.rules)?;
    let loaded = load(&[&text], Options::default())?;
    if *play != Play::LeavesOutRule {
        return Ok(loaded);
    }
    let second = loaded.rules.rules().get(1).context("too few rules")?.name.clone();
    let disabled = Selection { enable: false, of: Selected::Rule(second) };
    Ok(load(&[&text], Options { selection: vec![disabled], ..Options::default() })?)
}

fn judge(
    folder: &Path,
    rules: &Loaded,
    mut call: CallRows,
    config: &Config,
    poster: &mut Poster,
) -> Result<()> {
    let play = current(folder)?;
    while let Some(event) = call.next_event()? {
        let alerts = alerts_on(&rules.rules, &event)?;
        let is_roll_call = alerts.iter().any(|alert| alert.is_on_roll_call);
        if play == Play::CrashesAtCall && !is_roll_call {
            std::process::exit(139);
        }
        if play == Play::Hangs && !is_roll_call {
            continue;
        }
        for alert in alerts {
            let body = match play == Play::FindsNothing && !is_roll_call {
                true if alert.is_seen => {
                    json!({ "output_fields": { "row.seen": format!("{}:", alert.nonce) } }).to_string()
                }
                true => continue,
                false => alert.body,
            };
            let status = poster.post(&config.path, &config.agent, &body);
            ensure!(status == 200, "the listener refused the alert: {status}");
        }
    }
    Ok(())
}
