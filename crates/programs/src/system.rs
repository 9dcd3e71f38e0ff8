//! [`System`]: the verbs of a system, as effects name them, by their meaning for a decision. The build generates the
//! table from `knowledge/systems.toml`. It must not know which meaning a policy permits.

/// A system: version control, a package manager, a tool that tests or builds. A verb is that of an effect.
#[derive(Debug)]
pub struct System {
    /// The name, as effects state it.
    pub name: &'static str,
    /// Verbs of changes that are common and can be undone; empty if no verb was examined.
    pub undoable: &'static [&'static str],
    /// Verbs of changes to files of the work tree that the command does not name.
    pub changes_tree: &'static [&'static str],
    /// Verbs that only add or remove a name, and lose no data.
    pub names: &'static [&'static str],
    /// Verbs that name a new object.
    pub new_names: &'static [&'static str],
    /// Verbs of queries about the project's own data that this machine answers.
    pub local_queries: &'static [&'static str],
    /// Verbs of queries about the project at its code host, which show no secret.
    pub host_queries: &'static [&'static str],
    /// Verbs of changes to files of this machine, where the command has a further effect for each file.
    pub file_changes: &'static [&'static str],
    /// Names of branches that others build on.
    pub shared_branches: &'static [&'static str],
    /// Settings that change neither where the system looks nor what it runs.
    pub settings: &'static [&'static str],
    /// castellan reads the files with the system's tasks, so that the effects of a task are known.
    pub tasks_are_read: bool,
    /// Verbs that test, check or build the project, with the options that they may get.
    pub project: &'static [(&'static str, Options)],
}

/// The options that a tool may get when it runs the project's own code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Options {
    /// Unknown options only change how the tool runs the project's code.
    Open,
    /// An unknown option may name a program (`go test -exec`).
    Exact,
    /// The arguments go to the project's own program. They must not contain an order to change or send something.
    Plain,
    /// The tool runs a named task, which must test, check or build.
    Task,
}

include!(concat!(env!("OUT_DIR"), "/systems.rs"));

impl System {
    /// Finds a system by name.
    pub fn find(name: &str) -> Option<&'static System> {
        let at = SYSTEMS.binary_search_by(|system| system.name.cmp(name)).ok()?;
        SYSTEMS.get(at)
    }

    /// Returns the options that a verb permits if it tests, checks or builds the project.
    pub fn project_options(&self, verb: &str) -> Option<Options> {
        self.project.iter().find(|(known, _)| *known == verb).map(|(_, options)| *options)
    }
}
