//! The two sides of a replay: the rules in force and the tried rules. This module must not know the log.

use castellan_daemon::{Compiled, FileSet, Layers, Layout, compile};
use castellan_policy::Policy;
use castellan_rules::{Severity, Source};

use super::Options;
use crate::case_files;
use crate::commands::rules::write_problems;
use crate::in_force::InForce;

/// The two sides of a comparison.
#[derive(Debug)]
pub(super) struct Sides {
    /// The rules in force; `None` to compare with the recorded verdicts, if no other rules are tried.
    before: Option<Policy>,
    after: Policy,
    /// Description of the tried rules for people.
    pub(super) tried: String,
}

impl Sides {
    /// Reads and compiles both sides. Reports errors and returns `None` if the tried rules do not load.
    pub(super) fn load(layout: &Layout, options: &Options) -> anyhow::Result<Option<Sides>> {
        let in_force = InForce::read(layout)?;
        let before = in_force.compile()?;
        if options.rules.is_empty() && options.profile.is_none() {
            return of_home(layout, &in_force, before);
        }
        let named = case_files::named(&options.rules)?;
        let rules = if options.instead { named.clone() } else { case_files::with(&in_force.rules, &named) };
        let mut config = in_force.config;
        let mut tried: Vec<String> = named.iter().map(|source| source.name.clone()).collect();
        if let Some(profile) = options.profile {
            config = config.with_profile(profile);
            tried.push(format!("profile {profile}"));
        }
        let Some(after) = sound(compile(&rules, &config), &rules)? else { return Ok(None) };
        Ok(Some(Sides { before: Some(before.policy), after, tried: tried.join(", ") }))
    }

    /// Returns the policies to judge by, those in force first.
    pub(super) fn policies(&self) -> Vec<&Policy> {
        self.before.iter().chain([&self.after]).collect()
    }

    /// Reports whether the comparison uses the recorded verdicts instead of the rules in force.
    pub(super) fn is_with_record(&self) -> bool {
        self.before.is_none()
    }
}

/// Compares the home's current files with the set in force, or with the record if they are equal.
fn of_home(layout: &Layout, in_force: &InForce, before: Compiled) -> anyhow::Result<Option<Sides>> {
    if !layout.rules_shipped().is_dir() {
        let tried = "the rules that castellan ships".to_owned();
        return Ok(Some(Sides { before: None, after: before.policy, tried }));
    }
    let now = Layers::above(FileSet::read(layout)?, layout)?;
    if in_force.hash.as_ref().is_none_or(|hash| *hash == now.hash()) {
        return Ok(Some(Sides {
            before: None,
            after: before.policy,
            tried: "the rules in force".to_owned(),
        }));
    }
    let (_, compiled) = now.compile(layout)?;
    let Some(after) = sound(compiled, &now.user.rules)? else { return Ok(None) };
    Ok(Some(Sides { before: Some(before.policy), after, tried: "the edited files of the home".to_owned() }))
}

/// Returns the policy if its rules load; otherwise reports the errors.
fn sound(compiled: Compiled, sources: &[Source]) -> anyhow::Result<Option<Policy>> {
    if compiled.error().is_none() {
        return Ok(Some(compiled.policy));
    }
    let errors = compiled.problems.into_iter().filter(|problem| problem.severity == Severity::Error);
    write_problems(&mut anstream::stderr(), sources, &errors.collect::<Vec<_>>())?;
    Ok(None)
}
