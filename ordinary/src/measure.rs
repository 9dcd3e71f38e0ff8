//! Judges the calls of projects by the shipped rules under a profile, and counts interruptions. Must not know how the
//! projects are made.

use castellan_daemon::{Config, compile, shipped_rules};
use castellan_event::{Finding, Verdict};
use castellan_policy::{Policy, Profile};
use castellan_trial::{Asked, Judged, Trial};

use crate::project::Project;

/// The measured profiles: name, profile, and true if nobody can be asked.
const PROFILES: [(&str, Profile, bool); 5] = [
    ("standard", Profile::Standard, false),
    ("quiet", Profile::Quiet, false),
    ("strict", Profile::Strict, false),
    ("autonomous", Profile::Autonomous, false),
    ("autonomous, unattended", Profile::Autonomous, true),
];

/// The shipped rules, compiled for each measured profile.
#[derive(Debug)]
pub struct Profiles(Vec<(&'static str, Policy, bool)>);

/// The counts of a profile.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The profile.
    pub profile: &'static str,
    /// Number of calls and of interruptions, by project.
    pub projects: Vec<(usize, usize)>,
    /// Number of calls that castellan allowed.
    pub allowed: usize,
    /// Calls that were denied or asked about.
    pub interruptions: Vec<Interruption>,
    /// Interrupted calls that castellan runs in a sandbox where that is possible, by project.
    pub contained: Vec<usize>,
}

/// A call that was denied or asked about.
#[derive(Debug, Clone)]
pub struct Interruption {
    /// The project's ecosystem and directory.
    pub place: String,
    /// Numbers of the session in its project and of the call in its session, from 1.
    pub at: (usize, usize),
    /// The call.
    pub asked: Asked,
    /// The answer.
    pub verdict: Verdict,
    /// The rule of the first of the strictest findings, or its code with its message without values from outside.
    pub cause: String,
    /// The messages of the strictest findings.
    pub because: Vec<String>,
    /// The call runs in a sandbox where that is possible.
    pub is_contained: bool,
}

impl Profiles {
    /// Compiles the shipped rules. Returns an error if they do not load.
    pub fn compiled() -> anyhow::Result<Profiles> {
        let sources = shipped_rules();
        let compiled = PROFILES.iter().map(|(name, profile, is_unattended)| {
            let compiled = compile(&sources, &Config::default().with_profile(*profile));
            anyhow::ensure!(compiled.error().is_none(), "the shipped rules: {:?}", compiled.error());
            Ok((*name, compiled.policy, *is_unattended))
        });
        Ok(Profiles(compiled.collect::<anyhow::Result<_>>()?))
    }

    /// Judges all calls under each profile. Returns an error if no agent would report one of the calls so.
    pub fn measure(&self, projects: &[Project]) -> anyhow::Result<Vec<Measured>> {
        let measured = self.0.iter().map(|(profile, policy, is_unattended)| {
            let trial = Trial::new(policy);
            let trial = if *is_unattended { trial.unattended() } else { trial };
            let (projects_of, allowed, interruptions, contained) = Default::default();
            let mut measured = Measured { profile, projects: projects_of, allowed, interruptions, contained };
            projects.iter().try_for_each(|project| measured.add(project, trial))?;
            Ok(measured)
        });
        measured.collect()
    }
}

impl Measured {
    /// Returns the number of calls.
    pub fn calls(&self) -> usize {
        self.projects.iter().map(|(calls, _)| calls).sum()
    }

    /// Returns the number of calls and of interruptions, by project, where castellan runs calls in a sandbox.
    pub fn with_containment(&self) -> Vec<(usize, usize)> {
        let pairs = self.projects.iter().zip(&self.contained);
        pairs.map(|((calls, interrupted), contained)| (*calls, interrupted - contained)).collect()
    }

    /// Returns the number of calls with a verdict among the interrupted ones.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.interruptions.iter().filter(|one| one.verdict == verdict).count()
    }

    fn add(&mut self, project: &Project, trial: Trial<'_>) -> anyhow::Result<()> {
        let mut sequence = trial.sequence(&project.case());
        let before = self.interruptions.len();
        for (session_at, session) in project.sessions.iter().enumerate() {
            for (at, step) in session.iter().enumerate() {
                let judged = sequence.run(&step.asked).map_err(|why| {
                    anyhow::anyhow!(
                        "{}: {} {:?}: {why}",
                        project.directory,
                        step.asked.tool,
                        step.asked.input
                    )
                })?;
                step.made.iter().for_each(|(path, text)| sequence.put(path, text));
                match judged.decision.answer {
                    Verdict::Allow => self.allowed += 1,
                    Verdict::Defer => {}
                    verdict @ (Verdict::Ask | Verdict::Deny) => self.interruptions.push(Interruption {
                        place: format!("{} {}", project.ecosystem, project.directory),
                        at: (session_at + 1, at + 1),
                        asked: step.asked.clone(),
                        verdict,
                        cause: cause(&judged),
                        because: judged.because(),
                        is_contained: judged.contained.is_some(),
                    }),
                }
            }
            sequence.end_session();
        }
        let new = self.interruptions.iter().skip(before);
        self.contained.push(new.filter(|one| one.is_contained).count());
        self.projects.push((project.calls(), self.interruptions.len() - before));
        Ok(())
    }
}

/// Returns the cause of an interruption, equal for calls that only differ in their values.
fn cause(judged: &Judged) -> String {
    let verdict = judged.decision.verdict;
    let strictest = judged.decision.findings.iter().find(|one| one.verdict == verdict && one.counts());
    // An unattended call is denied without a finding if nothing allows it.
    let without = || "(nothing allows it)".to_owned();
    strictest.map_or_else(without, |finding| match finding.rule.as_str() {
        "" => format!("({}) {}", finding.code.as_str(), without_values(finding)),
        rule => rule.to_owned(),
    })
}

/// Returns the first part of a message, without values from outside. A value at the end keeps its first two words, such
/// as `upload git`: they name what the call needs.
fn without_values(finding: &Finding) -> String {
    let mut text = finding.message.clone();
    for value in finding.values.iter().rev() {
        let is_last = value.end == finding.message.len();
        let words = finding.message.get(value.clone()).unwrap_or_default().split(' ').take(2);
        let words = words.filter(|word| !word.contains('/'));
        let kept = if is_last { words.collect::<Vec<_>>().join(" ") } else { String::new() };
        text.replace_range(value.clone(), &format!("{kept}…"));
    }
    // The remedy, or the number of further reasons.
    let counted = text.match_indices(", and ").find(|(at, and)| {
        text.get(at + and.len()..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    let ends = [text.find(". Instead"), counted.map(|(at, _)| at)];
    let end = ends.into_iter().flatten().min().unwrap_or(text.len());
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_read_and_judged() {
        let projects = crate::projects(1).unwrap();
        let mut profiles = Profiles::compiled().unwrap();
        profiles.0.truncate(1);
        let measured = profiles.measure(&projects).unwrap();
        let calls: usize = projects.iter().map(Project::calls).sum();
        assert_eq!(measured.iter().map(Measured::calls).collect::<Vec<_>>(), [calls]);
    }

    #[test]
    fn interruptions_have_their_place_and_cause() {
        let asked = |command: &str| {
            let step = serde_json::json!({ "command": command });
            let asked = Asked { tool: "Bash".to_owned(), input: step.as_object().unwrap().clone() };
            crate::Step { asked, made: Vec::new() }
        };
        let project = Project {
            ecosystem: "none",
            directory: "/home/dev/src/x".to_owned(),
            files: std::collections::BTreeMap::new(),
            sessions: vec![vec![asked("ls")], vec![asked("ls"), asked("rm -rf \"$nothing\"/"), asked("ls")]],
        };
        let measured = Profiles::compiled().unwrap().measure(&[project]).unwrap();
        for one in measured {
            let found: Vec<_> =
                one.interruptions.iter().map(|call| (call.at, call.cause.is_empty())).collect();
            assert_eq!((one.projects, found), (vec![(4, 1)], vec![((2, 2), false)]), "{}", one.profile);
        }
    }
}
