//! `castellan profile`: shows the profile in force with its settings and their sources, or changes the profile
//! permanently. A milder profile requires a person.

use std::io::Write;

use castellan_daemon::{Config, Setting, Sourced, pack_names, presets, read_applied};
use castellan_policy::{Profile, RuleState};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, Cell, FAINT, PLAIN, WARNING};
use crate::values;

/// Options of `castellan profile`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// standard: deny catastrophic calls, ask about irreversible or opaque ones, leave the rest to the agent; quiet: the
    /// same, but run understood and safe calls without a prompt; strict: confine work to the workspace, deny opaque
    /// calls; autonomous: for unattended agents, run understood and safe calls without a prompt; observer: allow no
    /// tools; kit: like Falco's coding-agents-kit
    #[arg(value_parser = values::profile())]
    profile: Option<Profile>,

    /// Show the settings of all profiles side by side
    #[arg(long, conflicts_with = "profile")]
    all: bool,

    /// Print JSON
    #[arg(long, conflicts_with = "profile")]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    match options.profile {
        Some(profile) => switch(global, profile)?,
        None if options.all => show_all(options.json)?,
        None => show(global, options.json)?,
    }
    Ok(Exit::Done)
}

fn switch(global: &Global, profile: Profile) -> anyhow::Result<()> {
    let before = in_force(global)?.settings.profile;
    // Sent even if unchanged: the file on disk may differ.
    global.client()?.switch("profile", profile.as_str())?;
    let now = in_force(global)?.settings.profile;
    let reported = match (now == before, now == profile) {
        (true, true) => format!("the profile is {now} already"),
        (_, true) => format!("the profile is {now} now; it was {before}"),
        // The two profiles are equally strict, and the organisation's has priority.
        (_, false) => format!("your profile is {profile} now; {now} counts, of a higher layer"),
    };
    global.note(&reported)?;
    Ok(())
}

/// Returns the configuration in force. If nothing was applied yet, it returns that of the files.
pub(super) fn in_force(global: &Global) -> anyhow::Result<Config> {
    let layout = global.layout()?;
    match read_applied(&layout) {
        Ok(set) => Ok(set.config(&layout)?),
        Err(_) => Ok(Config::of_home(&layout)?),
    }
}

fn show(global: &Global, as_json: bool) -> anyhow::Result<()> {
    let config = in_force(global)?;
    let profile = config.settings.profile;
    let chosen: Vec<&Setting> =
        config.settled.settings().iter().filter(|setting| is_chosen(setting)).collect();
    let mut out = anstream::stdout();
    if as_json {
        let settings: Vec<Json> = chosen.iter().map(|setting| json_of(setting)).collect();
        let packs = pack_names().map(|pack| (pack.to_owned(), json!(config.packs.state(pack).as_str())));
        let packs: serde_json::Map<String, Json> = packs.collect();
        writeln!(out, "{:#}", json!({ "profile": profile.as_str(), "settings": settings, "packs": packs }))?;
        return Ok(());
    }
    let header = ["", "value", "from", "file and line"].map(|word| Cell::new(word, FAINT)).to_vec();
    let mut rows = vec![header];
    rows.extend(chosen.iter().filter_map(|setting| row(setting)));
    rows.push(packs_row(&config));
    output::write_table(&mut out, &rows)?;
    output::write_messages(&mut out, WARNING, &config.in_vain())?;
    global.note_defaults()
}

/// Reports whether a setting is the profile, or is preset by profiles.
fn is_chosen(setting: &Setting) -> bool {
    let name = setting.key.name;
    name == "profile" || presets(Profile::Standard).iter().any(|(key, _)| key.name == name)
}

fn row(setting: &Setting) -> Option<Vec<Cell>> {
    let sourced = setting.counts.first()?;
    let name = Cell::from(setting.key.name);
    let value = Cell::from(sourced.value.to_string().trim_matches('"'));
    let from = if sourced.is_preset { "profile" } else { layer(sourced) };
    Some(vec![
        name,
        value,
        Cell::new(from, if sourced.is_preset { FAINT } else { PLAIN }),
        Cell::new(place(sourced), FAINT),
    ])
}

fn packs_row(config: &Config) -> Vec<Cell> {
    let in_state = |state: RuleState| {
        let names: Vec<_> = pack_names().filter(|pack| config.packs.state(pack) == state).collect();
        (!names.is_empty()).then(|| match state {
            RuleState::Enforce => format!("{} enforced", names.len()),
            RuleState::Observe | RuleState::Off => format!("{}: {}", state.as_str(), names.join(", ")),
        })
    };
    let mut states: Vec<String> = RuleState::ALL.into_iter().rev().filter_map(in_state).collect();
    states.push("`castellan packs`".to_owned());
    vec![Cell::from("packs"), Cell::from(states.join("; "))]
}

fn layer(sourced: &Sourced) -> &'static str {
    if sourced.at.is_some() { sourced.layer.as_str() } else { "default" }
}

fn place(sourced: &Sourced) -> String {
    sourced.at.as_ref().map(|(file, line)| format!("{file}:{line}")).unwrap_or_default()
}

fn json_of(setting: &Setting) -> Json {
    let sourced = setting.counts.first();
    json!({
        "key": setting.key.name,
        "value": sourced.map(|sourced| sourced.value.to_json()),
        "layer": sourced.map(layer),
        "file": sourced.and_then(|sourced| sourced.at.as_ref()).map(|(file, _)| file.to_string()),
        "line": sourced.and_then(|sourced| sourced.at.as_ref()).map(|(_, line)| line),
        "preset": sourced.is_some_and(|sourced| sourced.is_preset),
    })
}

fn show_all(as_json: bool) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    if as_json {
        let of = |profile: Profile| {
            let words = presets(profile).into_iter().map(|(key, word)| (key.name.to_owned(), json!(word)));
            (profile.as_str().to_owned(), Json::Object(words.collect()))
        };
        let profiles: serde_json::Map<String, Json> = Profile::ALL.map(of).into_iter().collect();
        writeln!(out, "{:#}", Json::Object(profiles))?;
        return Ok(());
    }
    let names = Profile::ALL.map(|profile| Cell::new(profile.as_str(), FAINT));
    let mut rows = vec![[vec![Cell::from("")], names.to_vec()].concat()];
    for (key, _) in presets(Profile::Standard) {
        let word = |profile: Profile| {
            let found = presets(profile).into_iter().find(|(preset, _)| preset.name == key.name);
            Cell::from(found.map_or("", |(_, word)| word))
        };
        rows.push([vec![Cell::from(key.name)], Profile::ALL.map(word).to_vec()].concat());
    }
    Ok(output::write_table(&mut out, &rows)?)
}
