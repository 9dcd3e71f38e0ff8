//! The configuration of each original, as settings and rules of castellan. Independent of the shipped profiles.

use anyhow::{Context, anyhow, bail};
use castellan_event::{AccessLevel, FIELDS, Layer};
use castellan_policy::{
    AllowOrDefer, AskOrDeny, LayerRules, NotAllow, Operator, Policy, Profile, Settings, Tags,
};
use castellan_rules::{Options, Source, load};
use serde_json::Value as Json;

use crate::forerunners::row::Row;

/// Rules of the originals that have any.
#[derive(Debug)]
pub(crate) struct Profiles {
    gatekeeper: Source,
    gatekeeper_allows: Vec<String>,
    claw: Source,
}

impl Profiles {
    pub(crate) fn read() -> anyhow::Result<Profiles> {
        let text = include_str!("../../profiles/gatekeeper.yaml").to_owned();
        let gatekeeper = Source { name: "conformance/profiles/gatekeeper.yaml".into(), text };
        let allows: Vec<String> = include_str!("../../profiles/gatekeeper_allows.txt")
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_owned)
            .collect();
        let text = include_str!("../../profiles/claw.yaml").to_owned();
        let claw = Source { name: "conformance/profiles/claw.yaml".into(), text };
        Ok(Profiles { gatekeeper, gatekeeper_allows: allows, claw })
    }

    /// Returns the policy under which the original judged a row.
    pub(crate) fn policy(&self, row: &Row) -> anyhow::Result<Policy> {
        match row.system.as_str() {
            "gatekeeper" => {
                let operator = Operator::parse(&[], &[], &self.gatekeeper_allows)?;
                let opaque = NotAllow::Defer;
                compiled(
                    std::slice::from_ref(&self.gatekeeper),
                    Settings { operators: operator.into(), opaque, ..Settings::default() },
                )
            }
            "claude-mem" => compiled(&[], Profile::Observer.settings()),
            system if system.starts_with("claw-") => compiled(std::slice::from_ref(&self.claw), claw(row)?),
            system => bail!("no profile for `{system}`"),
        }
    }
}

/// claw-code: a mode, and lists of rules. Calls within its mode's level are allowed.
fn claw(row: &Row) -> anyhow::Result<Settings> {
    let lists = ["deny", "denied_tools", "ask", "allow"].map(|key| texts(row.config.get(key)));
    let [deny, denied_tools, ask, allow] = lists;
    let operator = Operator::parse(&[deny, denied_tools].concat(), &ask, &allow)?;
    // A call that the level stage cannot read needs full access.
    let open = Settings {
        default_verdict: AllowOrDefer::Allow,
        operators: operator.into(),
        opaque: NotAllow::Defer,
        ..Profile::Standard.settings()
    };
    let said = row.says();
    let is_read_only = said
        .iter()
        .any(|word| word.starts_with("validate_command@read-only=") || word.starts_with("read-only="));
    let mode = row.config.get("mode").and_then(Json::as_str);
    let asks = match mode {
        Some("prompt") => "prompt_ask",
        // claw-code's validators warn in every mode.
        None if row.system == "claw-bash-validation" => "warning_ask",
        Some(_) | None => "none",
    };
    let tags = |deny: &str| Tags { deny: deny.to_owned(), ask: asks.to_owned(), ..Tags::default() };
    let bounded = |level, on_insufficient| Settings {
        level: Some(level),
        on_insufficient,
        tags: tags("bounded_deny"),
        ..open.clone()
    };
    Ok(match mode {
        Some("read-only") => bounded(AccessLevel::ReadOnly, AskOrDeny::Deny),
        None if is_read_only => bounded(AccessLevel::ReadOnly, AskOrDeny::Deny),
        // claw-code asks its user only from the middle level up.
        Some("workspace-write") => bounded(AccessLevel::WorkspaceWrite, AskOrDeny::Ask),
        Some("danger-full-access" | "allow" | "none" | "prompt") | None => {
            Settings { tags: tags("none"), ..open }
        }
        Some(mode) => bail!("the mode `{mode}` is not known"),
    })
}

fn texts(list: Option<&Json>) -> Vec<String> {
    let texts = list.and_then(Json::as_array).into_iter().flatten();
    texts.filter_map(Json::as_str).map(str::to_owned).collect()
}

fn compiled(sources: &[Source], settings: Settings) -> anyhow::Result<Policy> {
    let options = Options::default();
    let loaded = load(sources, FIELDS, &options);
    if loaded.has_errors() {
        let problem = loaded.problems.first().map(|problem| format!("{problem:?}"));
        return Err(anyhow!("{}", problem.unwrap_or_default())).context("the profile's rules do not load");
    }
    let layer = LayerRules { layer: Layer::User, rules: loaded.rules, sources, options: &options };
    Ok(Policy::new(vec![layer], settings))
}
