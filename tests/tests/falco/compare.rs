//! Plays one session in two homes, one with each engine, and compares all that people, agents and the record see of it.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::not_run;
use castellan_tests::falco::{self, Play};
use castellan_tests::home::Home;
use castellan_tests::hook::{judge, understood};
use castellan_tests::wait::until;
use serde_json::Value as Json;

use crate::steady::Steady;
use crate::step::{Place, Step, in_session};

/// The daemon probes the machine, and Falco loads the rules, in this time.
const LIMIT: Duration = Duration::from_secs(60);

/// Characters on each side of a difference.
const SHOWN: usize = 200;

/// A session as data.
pub(crate) struct Session {
    /// Also a part of the names of the homes.
    pub(crate) name: &'static str,
    pub(crate) config: String,
    pub(crate) rules: &'static str,
    pub(crate) steps: Vec<Step>,
}

/// All that a session shows, without the parts that differ between homes.
struct Played {
    steps: Vec<String>,
    records: Vec<String>,
    /// The engine that each call's record names.
    engines: Vec<Json>,
}

/// Which engine a home has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Native,
    /// The Falco of `CASTELLAN_TEST_FALCO`, or the scripted one.
    Falco,
    /// The scripted one, which reports that no rule matches.
    Blind,
}

/// Plays a session in both engines, and with a Falco that finds nothing. The error is the first difference of the two, or says
/// that the third one would not have shown.
pub(crate) fn compare(session: &Session) -> Result<()> {
    let [native, falco, blind] = std::thread::scope(|scope| {
        let each = [Engine::Native, Engine::Falco, Engine::Blind];
        let each = each.map(|engine| scope.spawn(move || play(session, engine)));
        each.map(|played| played.join().expect("no panic"))
    });
    let (native, falco) = (native.context("castellan's own engine")?, falco.context("Falco")?);
    let (Some(native), Some(falco)) = (native, falco) else { return Ok(()) };
    difference(session, &native, &falco)?;
    ensure!(native.engines.iter().all(Json::is_null), "{:?}", native.engines);
    ensure!(falco.engines.iter().all(|engine| engine == "falco"), "{:?}", falco.engines);
    ensure!(!falco.engines.is_empty(), "no call was judged");
    let is_shown = match blind {
        // It stops at the first decision that is not the expected one.
        Err(error) => format!("{error:#}").contains("expected "),
        Ok(blind) => difference(session, &native, &blind.context("it was not played")?).is_err(),
    };
    ensure!(is_shown, "no step depends on what Falco finds");
    Ok(())
}

fn difference(session: &Session, native: &Played, falco: &Played) -> Result<()> {
    for ((step, own), theirs) in session.steps.iter().zip(&native.steps).zip(&falco.steps) {
        equal(own, theirs).with_context(|| format!("{step:?}"))?;
    }
    for (number, (own, theirs)) in native.records.iter().zip(&falco.records).enumerate() {
        equal(own, theirs).with_context(|| format!("record {number}"))?;
    }
    let records = [native, falco].map(|played| played.records.len());
    ensure!(records[0] == records[1], "{records:?} records: {:?}", falco.records.last());
    Ok(())
}

/// The error shows both texts from a little before their first difference.
fn equal(own: &str, theirs: &str) -> Result<()> {
    let common = own.chars().zip(theirs.chars()).take_while(|(own, theirs)| own == theirs).count();
    let part =
        |text: &str| text.chars().skip(common.saturating_sub(SHOWN)).take(2 * SHOWN).collect::<String>();
    ensure!(own == theirs, "after {common} characters\n{}\n{}", part(own), part(theirs));
    Ok(())
}

/// Plays a session in a new home. `None`, after a warning, if this machine cannot contain calls.
fn play(session: &Session, engine: Engine) -> Result<Option<Played>> {
    // The names of the homes have one length: castellan cuts long messages.
    let home = Home::with_castellan(&format!("engines-{}", session.name), &session.config, session.rules)?;
    let config = session.config.replace("$W", &home.workspace().canonicalize()?.display().to_string());
    match engine {
        Engine::Native => {
            let containment = if is_containing(&config) { "" } else { "[containment]\nmode = \"off\"\n" };
            home.write(&home.castellan().join("config/config.toml"), &format!("{config}\n{containment}"))?;
        }
        Engine::Falco => falco::install_named(&home, &config)?,
        Engine::Blind => {
            falco::install(&home, &config)?;
            falco::play(&home, &Play::FindsNothing)?;
        }
    }
    home.start_daemon()?;
    let judges = || Ok(engine_of(&home)?["judges"].as_bool().filter(|judges| *judges));
    until(LIMIT, judges)?.with_context(|| format!("no engine judges: {:?}", engine_of(&home)))?;
    if is_containing(&config) && !contains(&home)? {
        not_run("castellan contains no call on this machine")?;
        return Ok(None);
    }
    let before = home.records()?.len();
    let mut steady = Steady::of(&home)?;
    let mut place = Place::new(home);
    let mut shown = Vec::new();
    for step in &session.steps {
        let seen = place.take(step).with_context(|| format!("{step:?}"))?;
        shown.push(steady.text(&seen));
    }
    let records: Vec<Json> = place.home.records()?.into_iter().skip(before).collect();
    let calls = records.iter().filter(|record| record["type"] == "call");
    let engines = calls.map(|record| record["call"]["engine"].clone()).collect();
    let records = records.iter().map(|record| steady.record(record)).collect();
    let verified = place.home.run_castellan(&["log", "verify"])?;
    ensure!(verified.code == Some(0), "{verified:?}");
    Ok(Some(Played { steps: shown, records, engines }))
}

fn is_containing(config: &str) -> bool {
    config.contains("containment")
}

fn engine_of(home: &Home) -> Result<Json> {
    let status: Json = serde_json::from_str(&home.run_castellan(&["status", "--json"])?.stdout)?;
    let engine = &status["engine"];
    let is_native = engine["kind"] == "native";
    Ok(serde_json::json!({ "judges": is_native || engine["state"] == "judging", "engine": engine }))
}

/// Waits until the daemon has probed the machine. Asks in a session of its own.
fn contains(home: &Home) -> Result<bool> {
    home.write(&home.workspace().join("probe.sh"), "true\n")?;
    let mut probe = in_session("probe", "eval \"$(cat probe.sh)\"");
    probe["cwd"] = home.workspace().canonicalize()?.display().to_string().into();
    let is_contained = || Ok((understood(&judge(home, &probe)?) == "allow").then_some(()));
    Ok(until(LIMIT, is_contained)?.is_some())
}
