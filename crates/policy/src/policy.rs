//! [`Policy`]: the compiled rules of every layer, the settings for decisions, and the hash of both for the record. Does
//! not depend on the effect of a match.

mod hash;
mod remote;

use std::ops::Range;

use castellan_event::{Call, CallRow, Layer, ToolKind, Verdict};
use castellan_rules::{Hit, Options, Part, RowsHit, Rule, RuleSet, Source};

use crate::rule_state::RuleState;
use crate::settings::Settings;
use crate::tags::{LIFTABLE, RuleVerdict, Tags};

/// The rules of one layer, loaded separately: their lists and macros are not visible to other layers.
#[derive(Debug)]
pub struct LayerRules<'s> {
    /// Layer of the rules.
    pub layer: Layer,
    /// The compiled rules.
    pub rules: RuleSet,
    /// The source texts.
    pub sources: &'s [Source],
    /// The options for loading.
    pub options: &'s Options,
}

/// The basis of decisions. Immutable: a reload builds another.
#[derive(Debug)]
pub struct Policy {
    layers: Vec<Ruled>,
    settings: Settings,
    hash: String,
    missing: Option<String>,
    remote: Option<Remote>,
}

/// A program beside castellan that tests rules on the rows of one call, such as Falco.
pub trait Tester: std::fmt::Debug {
    /// Returns for each row the numbers of the rules that match it, ascending; the number of a rule is its position
    /// among the rules of the policy. `generation`: [`Policy::tested_elsewhere`]. `marks`: the labels of the session's
    /// marks. An error is the reason why there is no answer; the call is then denied.
    fn test(
        &self,
        generation: Option<&str>,
        rows: &[CallRow<'_>],
        marks: &[&str],
    ) -> Result<Vec<Vec<u64>>, String>;
}

/// The rules that another program tests.
#[derive(Debug, Clone)]
struct Remote {
    /// The hash of the rules as that program has them; `None` if they cannot be written for it.
    generation: Option<String>,
    /// Number of layers, from the first one. castellan tests the rules of the other ones itself.
    layers: usize,
}

/// A layer's rules with their verdicts, in the same order.
#[derive(Debug)]
struct Ruled {
    layer: Layer,
    rules: RuleSet,
    meanings: Vec<RuleMeaning>,
}

/// The meaning of a rule by its layer's tags, and its state.
#[derive(Debug)]
struct RuleMeaning {
    verdict: RuleVerdict,
    is_firm: bool,
    marks: Vec<String>,
    state: RuleState,
}

/// A rule of the policy.
#[derive(Debug, Clone, Copy)]
pub struct PolicyRule<'p> {
    /// Layer of the rule.
    pub layer: Layer,
    /// The rule.
    pub rule: &'p Rule,
    /// Its verdict.
    pub verdict: RuleVerdict,
    /// Nothing exempts its findings.
    pub is_firm: bool,
    /// Labels of the marks that it sets.
    pub marks: &'p [String],
    /// Its state.
    pub state: RuleState,
}

/// A rule that fired on a call, with the rows on which it fired.
#[derive(Debug)]
pub(crate) struct RuleMatch<'p> {
    pub(crate) of: PolicyRule<'p>,
    /// The output, rendered on the first row.
    pub(crate) message: String,
    /// See [`castellan_rules::Hit::remedy_at`].
    pub(crate) remedy_at: Option<usize>,
    /// See [`castellan_rules::Hit::values`].
    pub(crate) values: Vec<Range<usize>>,
    /// Positions of the rows on which it fired, ascending.
    pub(crate) rows: Vec<usize>,
}

impl Policy {
    /// Returns the policy of loaded rules, the highest layer first. Matches of all layers apply; the strictest decides.
    pub fn new(layers: Vec<LayerRules<'_>>, settings: Settings) -> Policy {
        let hash = hash::policy_hash(&layers, &settings);
        let layers = layers.into_iter().map(|LayerRules { layer, rules, .. }| Ruled {
            layer,
            meanings: meanings(layer, &rules, &settings),
            rules,
        });
        Policy { layers: layers.collect(), settings, hash, missing: None, remote: None }
    }

    /// Returns the policy for the case that none loads: it denies all but reading. `problem`: reason, file and line.
    pub fn missing(problem: impl Into<String>) -> Policy {
        Policy { missing: Some(problem.into()), ..Policy::new(Vec::new(), Settings::default()) }
    }

    /// Returns the same policy with other rule states. `state_of` returns the state of a rule.
    #[must_use]
    pub fn with_states(mut self, state_of: impl Fn(&PolicyRule<'_>) -> RuleState) -> Policy {
        for ruled in &mut self.layers {
            let states: Vec<RuleState> = (0..ruled.meanings.len())
                .map(|rule| ruled.rule(rule).map_or(RuleState::Enforce, |of| state_of(&of)))
                .collect();
            for (meaning, state) in ruled.meanings.iter_mut().zip(states) {
                meaning.state = state;
            }
        }
        self.hash = hash::with_states(&self.hash, self.rules());
        self
    }

    /// Returns the same policy with the rules of all layers but the project's tested by another program, the `tester` of
    /// the state. Without one, calls are denied. A project's rules hold in one workspace only, and castellan tests them
    /// itself. `generation`: the hash of the rules as that program has them; `None` if they cannot be written for it.
    #[must_use]
    pub fn tested_elsewhere(mut self, generation: Option<String>) -> Policy {
        let layers = self.layers.iter().take_while(|ruled| ruled.layer != Layer::Project).count();
        self.remote = Some(Remote { generation, layers });
        self
    }

    /// Reports whether castellan does not test all rules itself.
    pub(crate) fn is_tested_elsewhere(&self) -> bool {
        self.remote.is_some()
    }

    /// Returns the hash of the rules that another program tests.
    pub(crate) fn generation(&self) -> Option<&str> {
        self.remote.as_ref()?.generation.as_deref()
    }

    /// Hex SHA-256 over rule files (names, texts), their options, settings and rule states: the record's `policy`.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The rules of every layer in the order of evaluation, including disabled ones.
    pub fn rules(&self) -> impl Iterator<Item = PolicyRule<'_>> {
        self.layers.iter().flat_map(|ruled| (0..ruled.meanings.len()).filter_map(|rule| ruled.rule(rule)))
    }

    /// The reason why there is no policy, if there is none.
    pub fn problem(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// The settings of the decision.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the verdict without findings. An unknown tool is never allowed by default.
    pub(crate) fn default_for(&self, call: &Call, headless: bool) -> Verdict {
        let Settings { default_verdict, headless_default, .. } = self.settings;
        let default = if headless { headless_default.verdict() } else { default_verdict.verdict() };
        let is_unknown = call.tool.kind == ToolKind::Unknown;
        if is_unknown && default == Verdict::Allow { Verdict::Defer } else { default }
    }

    /// Tests every rule on every row. `found` is the answer of the program that tests rules beside castellan. Reports
    /// each rule that fired once, in the order of layers and rules.
    pub(crate) fn matches(&self, rows: &[CallRow<'_>], found: Option<&[Vec<u64>]>) -> Vec<RuleMatch<'_>> {
        // Without an answer castellan tests all rules, so that none is left out.
        let layers = self.remote.as_ref().filter(|_| found.is_some()).map_or(0, |remote| remote.layers);
        let (theirs, own) = self.layers.split_at_checked(layers).unwrap_or((&[], self.layers.as_slice()));
        let mut matches = remote::matches(theirs, rows, found.unwrap_or_default());
        matches.extend(own.iter().flat_map(|ruled| ruled.matches(rows)));
        matches
    }
}

impl Ruled {
    fn matches(&self, rows: &[CallRow<'_>]) -> impl Iterator<Item = RuleMatch<'_>> {
        let hits = self.rules.evaluate_rows(rows, |rule| self.part_of(rule)).into_iter();
        hits.filter_map(|RowsHit { hit, rows }| self.fired(hit, rows))
    }

    fn fired(&self, hit: Hit, rows: Vec<usize>) -> Option<RuleMatch<'_>> {
        let Hit { rule, message, remedy_at, values } = hit;
        Some(RuleMatch { of: self.rule(rule)?, message, remedy_at, values, rows })
    }

    fn part_of(&self, rule: usize) -> Part {
        match self.meanings.get(rule).map_or(RuleState::Enforce, |meaning| meaning.state) {
            RuleState::Enforce => Part::In,
            RuleState::Observe => Part::Aside,
            RuleState::Off => Part::Out,
        }
    }

    fn rule(&self, position: usize) -> Option<PolicyRule<'_>> {
        let RuleMeaning { verdict, is_firm, marks, state } = self.meanings.get(position)?;
        let rule = self.rules.rules().get(position)?;
        let (verdict, is_firm, state) = (*verdict, *is_firm, *state);
        Some(PolicyRule { layer: self.layer, rule, verdict, is_firm, marks, state })
    }
}

fn meanings(layer: Layer, rules: &RuleSet, settings: &Settings) -> Vec<RuleMeaning> {
    let default = Tags::default();
    let tags = match layer {
        // A project's tags mean the same for every user who trusts the project.
        Layer::Organisation | Layer::Project => &default,
        Layer::User => &settings.tags,
    };
    let of = |rule: &Rule| RuleMeaning {
        verdict: tags.verdict_of(rule),
        is_firm: layer == Layer::Organisation && !rule.tags.iter().any(|tag| tag == LIFTABLE),
        marks: tags.marks_of(rule),
        state: RuleState::Enforce,
    };
    rules.rules().iter().map(of).collect()
}
