//! [`Plan`]: the permitted commands, paths, hosts and branches, the budget, and the steps. It knows no format.

use std::collections::HashMap;

use crate::pattern::{BranchPattern, CommandPattern, HostPattern, PathPattern};

/// A plan. Its scope is the union of its own lists and those of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    parts: PlanParts,
    union: Allowed,
    /// Positions in `union.commands` by the program's name.
    heads: HashMap<String, Vec<usize>>,
    /// The step of each of `union.commands`.
    owners: Vec<Option<usize>>,
}

/// The parts of a plan, as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanParts {
    /// The name.
    pub name: String,
    /// The time from which the plan permits nothing, in Unix seconds.
    pub expires_s: Option<i64>,
    /// The budget.
    pub budget: Budget,
    /// The plan's own lists.
    pub own: Allowed,
    /// The steps, or the arms of an experiment.
    pub steps: Vec<Step>,
}

/// The budget of a plan. `None` sets no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Number of calls.
    pub calls: Option<u64>,
    /// Minutes from the plan's start.
    pub minutes: Option<u64>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Step {
    /// The description, or the name of the arm.
    pub text: String,
    /// The lists of the step.
    pub allowed: Allowed,
}

/// Lists of patterns. `None` sets no limit; an empty list permits nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allowed {
    /// Commands.
    pub commands: Option<Vec<CommandPattern>>,
    /// Paths that may be written, deleted, linked, and have their permissions changed.
    pub writes: Option<Vec<PathPattern>>,
    /// Hosts.
    pub hosts: Option<Vec<HostPattern>>,
    /// Branches that may be changed or pushed.
    pub branches: Option<Vec<BranchPattern>>,
}

/// Makes a plan of its parts.
impl From<PlanParts> for Plan {
    fn from(parts: PlanParts) -> Plan {
        let mut union = Allowed::default();
        let mut owners = Vec::new();
        let own = std::iter::once((None, &parts.own));
        for (step, allowed) in
            own.chain(parts.steps.iter().enumerate().map(|(at, step)| (Some(at), &step.allowed)))
        {
            add(&mut union.commands, &allowed.commands);
            add(&mut union.writes, &allowed.writes);
            add(&mut union.hosts, &allowed.hosts);
            add(&mut union.branches, &allowed.branches);
            owners.resize(union.commands.as_ref().map_or(0, Vec::len), step);
        }
        let mut heads: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, command) in union.commands.iter().flatten().enumerate() {
            heads.entry(command.name().to_owned()).or_default().push(at);
        }
        Plan { parts, union, heads, owners }
    }
}

fn add<T: Clone>(list: &mut Option<Vec<T>>, more: &Option<Vec<T>>) {
    if let Some(more) = more {
        list.get_or_insert_default().extend(more.iter().cloned());
    }
}

impl Plan {
    /// Returns the parts, as they are written.
    pub fn parts(&self) -> &PlanParts {
        &self.parts
    }

    /// Returns the union of the plan's own lists and those of its steps.
    pub fn scope(&self) -> &Allowed {
        &self.union
    }

    /// Returns the commands with this name of the program.
    pub(crate) fn commands_of(&self, name: &str) -> impl Iterator<Item = &CommandPattern> {
        let commands = self.union.commands.as_deref().unwrap_or_default();
        self.heads.get(name).into_iter().flatten().filter_map(|at| commands.get(*at))
    }

    /// Returns the names of the programs, each once, in the order of the plan.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let commands = self.union.commands.iter().flatten().enumerate();
        let is_first = |at: usize, name: &str| self.heads.get(name).and_then(|all| all.first()) == Some(&at);
        commands
            .map(|(at, command)| (at, command.name()))
            .filter(move |(at, name)| is_first(*at, name))
            .map(|(_, name)| name)
    }

    /// Returns the text of the step that has a command, or the command's own text if no step has it.
    pub(crate) fn label_of(&self, command: &CommandPattern) -> String {
        let places = self.heads.get(command.name()).into_iter().flatten();
        let is_it = |at: &&usize| self.union.commands.iter().flatten().nth(**at) == Some(command);
        let owner = places.into_iter().find(is_it).and_then(|at| self.owners.get(*at).copied().flatten());
        match owner.and_then(|step| self.parts.steps.get(step)) {
            Some(step) if !step.text.is_empty() => step.text.clone(),
            Some(_) | None => command.text(),
        }
    }
}

impl Allowed {
    /// Returns the lists by their keys, entries as they are written.
    pub(crate) fn texts(&self) -> [(&'static str, Option<Vec<String>>); 4] {
        fn texts<T>(list: &Option<Vec<T>>, text: fn(&T) -> String) -> Option<Vec<String>> {
            list.as_ref().map(|list| list.iter().map(text).collect())
        }
        [
            ("commands", texts(&self.commands, |one| one.text())),
            ("writes", texts(&self.writes, |one| one.text())),
            ("hosts", texts(&self.hosts, |one| one.text())),
            ("branches", texts(&self.branches, |one| one.text())),
        ]
    }
}
