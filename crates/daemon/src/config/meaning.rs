//! Merged keys → [`Config`]: converts the words into the daemon's settings. It must not know layers, except for keys
//! whose value in a single layer has a meaning of its own.

mod boundary;
mod engine;
mod review;
mod sandbox;
mod undo;

use std::collections::BTreeMap;
use std::str::FromStr;

use castellan_audit as audit;
use castellan_event::{AccessLevel, Layer, Mode, UnknownWord};
use castellan_policy::{
    Operator, Operators, PlanSettings, Profile, RuleState, Settings, Tags, Tiers, Ungoverned,
};
use castellan_rules::{Engine, Matching, Options, Priority};

use super::merge::{OFF, Settled, Sourced};
use super::text::Value;
use super::{Config, HooksOnStop, Reload};
use crate::limits::ASK_WAIT_S_MAX;
use crate::packs::Packs;

const HOOKS_ON_STOP: &[(&str, HooksOnStop)] = &[("keep", HooksOnStop::Keep), ("remove", HooksOnStop::Remove)];

const RELOADS: &[(&str, Reload)] = &[("apply", Reload::Apply), ("watch", Reload::Watch)];

/// Builds the configuration. Returns an error if two keys contradict each other.
pub(super) fn config(settled: Settled) -> Result<Config, String> {
    let settings = settings(&settled)?;
    let packs = Packs { states: packs(&settled)?, tiers: settings.tiers, ..Packs::default() };
    Ok(Config {
        mode: parsed(&settled, "mode")?,
        packs,
        rule_options: Options { tags: settings.tags.words(), ..rule_options(&settled)? },
        settings,
        reload: chosen(&settled, "rules.reload", RELOADS)?,
        hooks_on_stop: chosen(&settled, "service.hooks_on_stop", HOOKS_ON_STOP)?,
        log: log(&settled),
        copies_log: word(&settled, "log.outside") != Some(OFF),
        settled,
        organisation_rules: Vec::new(),
        project_rules: Vec::new(),
    })
}

fn settings(settled: &Settled) -> Result<Settings, String> {
    let profile: Profile = parsed(settled, "profile")?;
    let is_true = |name| word(settled, name) == Some("true");
    let level = |word: &str| -> Result<Option<AccessLevel>, String> {
        if word == OFF {
            Ok(None)
        } else {
            word.parse().map(Some).map_err(|error: UnknownWord| error.to_string())
        }
    };
    let session = word(settled, "level.session").unwrap_or(OFF);
    let given = settled
        .said_by(Layer::Organisation, "level.session")
        .and_then(|sourced| sourced.value.word())
        .unwrap_or(OFF);
    let understood = settled.said_by(Layer::Organisation, "allow_understood");
    Ok(Settings {
        profile,
        tools: is_true("tools"),
        default_verdict: parsed(settled, "default")?,
        headless_default: parsed(settled, "headless_default")?,
        level: level(session)?,
        organisation_level: level(given)?,
        organisation_allows_understood: understood.and_then(|said| said.value.word()) == Some("true"),
        unknown_workspace: level(word(settled, "unknown_workspace").unwrap_or(OFF))?,
        on_insufficient: parsed(settled, "level.on_insufficient")?,
        opaque: parsed(settled, "opaque")?,
        headless_opaque: parsed(settled, "headless_opaque")?,
        own_opaque: parsed(settled, "own_opaque")?,
        unknown_tool: parsed(settled, "unknown_tool")?,
        new_server: parsed(settled, "new_mcp_server")?,
        probing: parsed(settled, "probing")?,
        allow_understood: is_true("allow_understood"),
        ungoverned: Ungoverned {
            action: parsed(settled, "on_ungoverned")?,
            level: level(word(settled, "ungoverned_level").unwrap_or(OFF))?,
            blocks_foreign_hooks: is_true("blocks_foreign_hooks"),
            trusted_hooks: texts(settled, "hooks.trusted"),
        },
        plans: PlanSettings { mode: parsed(settled, "plan.mode")?, ad_hoc: parsed(settled, "plan.ad_hoc")? },
        review: review::settings(settled)?,
        sandbox: sandbox::settings(settled)?,
        containment: parsed(settled, "containment.mode")?,
        undo: undo::settings(settled),
        boundary: boundary::settings(settled)?,
        engine: engine::settings(settled)?,
        operators: operators(settled)?,
        presence: parsed(settled, "presence_check")?,
        ask_wait_s: ask_wait(settled)?,
        notify: flag(settled, "notify").unwrap_or(true),
        tiers: Tiers { ask: parsed(settled, "tiers.ask")?, review: parsed(settled, "tiers.review")? },
        tags: tags(settled)?,
    })
}

/// Returns the packs that are not enforced.
fn packs(settled: &Settled) -> Result<BTreeMap<&'static str, RuleState>, String> {
    let mut states = BTreeMap::new();
    for setting in settled.settings() {
        let Some(pack) = setting.key.name.strip_prefix(PACKS) else { continue };
        let state = parsed(settled, setting.key.name)?;
        if state != RuleState::Enforce {
            states.insert(pack, state);
        }
    }
    Ok(states)
}

/// The table of the packs.
const PACKS: &str = "packs.";

fn operators(settled: &Settled) -> Result<Operators, String> {
    let mut operators = Vec::new();
    for layer in Layer::ALL {
        let list = |name| -> Vec<String> {
            let own = settled.counts(name).iter().filter(|sourced| sourced.layer == layer);
            own.filter_map(|sourced| sourced.value.text()).map(str::to_owned).collect()
        };
        let (deny, ask, allow) = (list("deny"), list("ask"), list("allow"));
        if !(deny.is_empty() && ask.is_empty() && allow.is_empty()) {
            let operator = Operator::parse(&deny, &ask, &allow).map_err(|error| error.to_string())?;
            operators.push((layer, operator));
        }
    }
    Ok(Operators::new(operators))
}

/// Reads the tags. Rejects equal tags, because one of them would have no effect.
fn tags(settled: &Settled) -> Result<Tags, String> {
    let default = Tags::default();
    let of = |name: &str, default: String| {
        settled.counts(name).first().and_then(|sourced| sourced.value.text()).map_or(default, str::to_owned)
    };
    let tags = Tags {
        deny: of("tags.deny", default.deny),
        ask: of("tags.ask", default.ask),
        contain: of("tags.contain", default.contain),
        review: of("tags.review", default.review),
        allow: of("tags.allow", default.allow),
        seen: of("tags.seen", default.seen),
        mark: of("tags.mark", default.mark),
    };
    let Tags { deny, ask, contain, review, allow, seen, mark } = &tags;
    let mut rest: &[(&str, &String)] = &[
        ("deny", deny),
        ("ask", ask),
        ("contain", contain),
        ("review", review),
        ("allow", allow),
        ("seen", seen),
        ("mark", mark),
    ];
    while let Some(((key, tag), others)) = rest.split_first() {
        if let Some((other, _)) = others.iter().find(|(_, other)| other == tag) {
            return Err(format!(
                "`tags.{key}` and `tags.{other}` are both `{tag}`: give each a tag of its own"
            ));
        }
        rest = others;
    }
    Ok(tags)
}

fn rule_options(settled: &Settled) -> Result<Options, String> {
    let mut options = Options {
        engine: chosen(settled, "rules.engine", Engine::WORDS)?,
        matching: chosen(settled, "rules.matching", Matching::WORDS)?,
        regex_compat_falco: chosen(settled, "rules.regex_compat", Options::REGEX_COMPAT_WORDS)?,
        priority: word(settled, "rules.priority")
            .unwrap_or_default()
            .parse::<Priority>()
            .map_err(|error| error.to_string())?,
        ..Options::default()
    };
    if let Some(Sourced { value: Value::Selections(selection), .. }) = settled.counts("rules.select").first()
    {
        options.selection.clone_from(selection);
    }
    if let Some(Sourced { value: Value::Outputs(outputs), .. }) =
        settled.counts("rules.append_output").first()
    {
        options.append_output.clone_from(outputs);
    }
    Ok(options)
}

fn log(settled: &Settled) -> audit::Config {
    let default = audit::Config::default();
    let count = |name| count(settled, name);
    let fsync = flag(settled, "log.fsync");
    let mib = |name| count(name).map(|count| u64::from(count) * 1024 * 1024);
    audit::Config {
        routine_segment_bytes: mib("log.routine_segment_mib").unwrap_or(default.routine_segment_bytes),
        routine_segments: count("log.routine_segments").unwrap_or(default.routine_segments),
        notable_days: count("log.notable_days").unwrap_or(default.notable_days),
        notable_bytes: mib("log.notable_mib").unwrap_or(default.notable_bytes),
        fsync: fsync.unwrap_or(default.fsync),
        prompts: flag(settled, "log.prompts").unwrap_or(default.prompts),
        ..default
    }
}

fn ask_wait(settled: &Settled) -> Result<u32, String> {
    let wait = count(settled, "ask_wait").unwrap_or_default();
    if wait > ASK_WAIT_S_MAX {
        return Err(format!(
            "`ask_wait` is {wait}: write at most {ASK_WAIT_S_MAX}, because agents do not wait longer"
        ));
    }
    Ok(wait)
}

fn count(settled: &Settled, name: &str) -> Option<u32> {
    match settled.counts(name).first().map(|sourced| &sourced.value) {
        Some(Value::Count(count)) => Some(*count),
        _ => None,
    }
}

fn flag(settled: &Settled, name: &str) -> Option<bool> {
    settled.counts(name).first().map(|sourced| sourced.value == Value::Flag(true))
}

/// Returns the mode that a layer alone sets.
pub(super) fn mode_said_by(settled: &Settled, layer: Layer) -> Option<(Mode, &Sourced)> {
    let sourced = settled.said_by(layer, "mode")?;
    Some((sourced.value.word()?.parse().ok()?, sourced))
}

fn parsed<T: FromStr<Err = UnknownWord>>(settled: &Settled, name: &str) -> Result<T, String> {
    word(settled, name).unwrap_or_default().parse().map_err(|error| format!("`{name}`: {error}"))
}

fn chosen<T: Copy>(settled: &Settled, name: &str, words: &[(&str, T)]) -> Result<T, String> {
    let given = word(settled, name).unwrap_or_default();
    let known = words.iter().find(|(word, _)| *word == given);
    known.map(|(_, meaning)| *meaning).ok_or_else(|| format!("`{name}`: `{given}` is not a known word"))
}

fn texts(settled: &Settled, name: &str) -> Vec<String> {
    settled.counts(name).iter().filter_map(|sourced| sourced.value.text()).map(str::to_owned).collect()
}

fn text(settled: &Settled, name: &str) -> String {
    texts(settled, name).into_iter().next().unwrap_or_default()
}

fn word(settled: &Settled, name: &str) -> Option<&'static str> {
    settled.counts(name).first().and_then(|sourced| sourced.value.word())
}
