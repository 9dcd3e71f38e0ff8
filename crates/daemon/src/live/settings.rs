//! [`HookSettings`]: the files with an agent's hooks. Detects changes after which castellan is no longer asked, or
//! other hooks can change a judged call. It must not know the consequences.
//!
//! The files are polled, not watched with inotify. Most do not exist, so every folder above them would need a watch,
//! through every symbolic link. A watch that the system refuses would be a gap. A check costs a `stat` per file.

mod levels;
mod own;
mod plugins;
mod rendered;
mod said;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use castellan_agents::{self as agents, AgentId, Foreign, HookFile, HookFileReport, Place};
use castellan_event::Call;

use self::levels::{Levels, levels};
pub(crate) use self::own::Own;
use self::own::real;
use self::said::Said;
pub(crate) use self::said::SettingsChange;
use super::agent_start::AgentStart;
use super::sources::{FoundText, Sources, command_line};
use super::watched::{Owners, Watched};
use crate::limits::SETTINGS_LEVELS_MAX;
use crate::sight::read_text;

/// The files with an agent's hooks, as they were at the last check.
#[derive(Debug)]
pub struct HookSettings {
    agent: AgentId,
    own: Own,
    files: Vec<Watched>,
    start: AgentStart,
    levels: Vec<PathBuf>,
    /// True if there may be more levels than the limit.
    is_cut: bool,
    sources: Sources,
    /// Their contents at the last check.
    said: Said,
    /// Changes to report at the next check.
    pending: Vec<SettingsChange>,
}

impl HookSettings {
    /// Reads the files of an agent with these start data. `own` are castellan's files and folders, including the home.
    pub fn of(agent: AgentId, start: AgentStart, own: &[String]) -> HookSettings {
        HookSettings::new(agent, start, &Own::of(own))
    }

    pub(crate) fn new(agent: AgentId, start: AgentStart, own: &Own) -> HookSettings {
        let Levels { directories: levels, is_cut } = levels(&start.cwd);
        let place = |file: &'static HookFile| -> Vec<PathBuf> {
            match file.place {
                Place::Machine => vec![PathBuf::from(file.path)],
                Place::User => start.dir.iter().map(|dir| dir.join(file.path)).collect(),
                Place::Workspace => levels.iter().map(|level| level.join(file.path)).collect(),
                // Not in this table.
                Place::CommandLine | Place::Plugin => Vec::new(),
            }
        };
        let mut seen = BTreeSet::new();
        let all = agents::hook_files(agent)
            .iter()
            .chain(agents::variable_files(agent))
            .flat_map(|file| place(file).into_iter().map(move |path| (file, path)));
        // The user's own directory may be above a repository without belonging to it.
        let files = all.filter(|(_, path)| seen.insert(path.clone()));
        let files = files.map(|(file, path)| Watched::new(*file, path, None)).collect();
        let (sources, said, pending) = Default::default();
        let mut settings =
            HookSettings { agent, own: own.clone(), files, start, levels, is_cut, sources, said, pending };
        settings.find_sources();
        settings.look();
        settings
    }

    /// Reports the differences from another start of the same session at the next check.
    pub(crate) fn follow(&mut self, before: &HookSettings) {
        self.pending = self.said.since(&before.said);
    }

    /// Finds the hooks of plugins, skills and the command line.
    fn find_sources(&mut self) {
        let mut sources = Sources::of(self.agent, &self.start, &self.levels);
        if self.is_cut {
            let what = format!("more than {SETTINGS_LEVELS_MAX} directories up to the repository's root");
            sources.unread.push((self.start.cwd.clone(), what));
        }
        let mut found = std::mem::take(&mut sources.files);
        self.files.retain_mut(|watched| {
            let Some(owners) = &mut watched.owners else { return true };
            let key = (watched.path.clone(), watched.file);
            found.remove(&key).map(|still| *owners = still).is_some()
        });
        let new = found.into_iter().map(|((path, file), owners)| Watched::new(file, path, Some(owners)));
        self.files.extend(new);
        self.sources = sources;
    }

    /// Checks the files again. Returns the changes since the last check.
    pub(crate) fn look(&mut self) -> Vec<SettingsChange> {
        let mut is_other = self.sources.is_outdated();
        if is_other {
            self.find_sources();
        }
        for watched in &mut self.files {
            is_other |= watched.look(self.agent);
        }
        let mut changes = std::mem::take(&mut self.pending);
        if is_other {
            let said = self.merged();
            changes.extend(said.since(&self.said));
            self.said = said;
        }
        changes
    }

    fn merged(&self) -> Said {
        let settings = || self.files.iter().filter(|watched| watched.file.place != Place::Plugin);
        let unread = |watched: &Watched| Some((watched.path.clone(), watched.report().unread.clone()?));
        Said {
            off: settings()
                .filter_map(|watched| Some((watched.path.clone(), self.switch(watched)?)))
                .collect(),
            unread: settings().filter_map(unread).collect(),
            registering: self.registering().map(|watched| watched.path.clone()).collect(),
            foreign: self.foreign().into_iter().collect(),
            distrusted: self.distrusted(),
        }
    }

    /// Reports whether castellan's hook is registered where no user and no repository can switch it off.
    pub(crate) fn is_managed(&self) -> bool {
        self.registering().any(|watched| watched.report().is_binding)
    }

    /// Returns the reason in the settings why this agent does not ask castellan; `None` if it does.
    pub(crate) fn unguarded(&self) -> Option<String> {
        if self.is_managed() {
            return None;
        }
        if self.start.arguments.is_none() {
            return Some("its command line cannot be read".to_owned());
        }
        let given = self.sources.texts.iter().filter(|text| text.place == command_line());
        let given = given.filter_map(|text| text.says.off).map(str::to_owned);
        if let Some(variable) = self.start.off_variable {
            return Some(format!("its environment has `{variable}`"));
        }
        if let Some(switch) = self.sources.off.iter().cloned().chain(given).next() {
            return Some(format!("its command line has `{switch}`"));
        }
        let off = self.files.iter().find_map(|watched| Some((watched, self.switch(watched)?)));
        match off {
            Some((watched, switch)) => Some(format!("`{}` has `{switch}`", watched.path.display())),
            None if self.registering().next().is_none() => {
                Some("no settings of it register castellan's hook".to_owned())
            }
            None => self.said.distrusted.as_ref().map(|(file, why)| format!("`{}`: {why}", file.display())),
        }
    }

    /// Returns the reason why the agent does not run castellan's hook, if only the user's settings register it.
    fn distrusted(&self) -> Option<(PathBuf, &'static str)> {
        let mut registering = self.registering();
        let (only, None) = (registering.next()?, registering.next()) else { return None };
        if !agents::needs_trust(self.agent) || only.file.place != Place::User {
            return None;
        }
        let dir = self.start.dir.as_deref()?;
        let config_file = dir.join(agents::TRUST_FILE);
        let read = |file: &Path| read_text(file, agents::SETTINGS_BYTES_MAX as u64).unwrap_or_default();
        // The path under which the agent stores its trust.
        let known_as = real(dir)?.join(only.path.file_name()?);
        let (config, hooks, trusts_all) = (read(&config_file), read(&only.path), self.sources.trusts_all);
        let why = agents::distrust(&config, known_as.to_str()?, &hooks, trusts_all)?;
        Some((config_file, why))
    }

    /// Returns the files of user, repository and machine that switch the user's hooks off, with the switch.
    pub fn switched_off(&self) -> Vec<(&Path, &'static str)> {
        let all = self.files.iter();
        all.filter_map(|watched| Some((watched.path.as_path(), self.switch(watched)?))).collect()
    }

    /// Returns the programs of castellan's hooks in the machine's settings, which no user can switch off.
    pub fn managed_programs(&self) -> impl Iterator<Item = &str> {
        let binding = self.files.iter().map(Watched::report).filter(|report| report.is_binding);
        binding.flat_map(|says| &says.ours).map(|hook| hook.program.as_str())
    }

    /// Reports whether a program is the hook beside this program, or a copy of it. False if there is no hook beside it, and
    /// for a relative path, which leads elsewhere in another directory.
    pub fn is_own_program(&self, program: &str) -> bool {
        let program = Path::new(program);
        self.own.hook.is_some() && program.is_absolute() && self.own.is_program(program)
    }

    /// Returns foreign hooks that get the same calls, with the files that register them.
    pub fn foreign(&self) -> Vec<(PathBuf, Foreign)> {
        let off = self.plugins_off();
        let is_off = |owners: &Owners| {
            owners.iter().all(|owner| owner.as_ref().is_some_and(|name| off.contains(name)))
        };
        let counts = self.files.iter().filter(|watched| !watched.owners.as_ref().is_some_and(is_off));
        let of_files = counts.flat_map(|watched| {
            let of_plugin = watched.file.place == Place::Plugin;
            watched.counts().flat_map(move |says| self.others(says, of_plugin, &watched.path))
        });
        let is_on = |text: &&FoundText| text.owner.as_ref().is_none_or(|owner| !off.contains(owner));
        let texts = self.sources.texts.iter().filter(is_on);
        let of_texts = texts.flat_map(|text| self.others(&text.says, true, &text.place));
        // An unreadable source may contain any hook.
        let unread = self.sources.unread.iter().map(|(place, what)| (place.clone(), self.question(what)));
        let all: BTreeSet<_> = of_files.chain(of_texts).chain(unread).collect();
        all.into_iter().collect()
    }

    /// Returns the foreign hooks in a text, also those with castellan's name. `with_unread`: an unreadable part counts
    /// as one.
    fn others(&self, says: &HookFileReport, with_unread: bool, path: &Path) -> Vec<(PathBuf, Foreign)> {
        let named = says.named.iter().filter(|named| !self.is_own(&named.hook, path));
        let named = named.map(|named| named.shown.clone());
        let unread = says.unread.iter().filter(|_| with_unread);
        let unread = unread.map(|why| self.question(&format!("it cannot be told what is in it: {why}")));
        let all = says.foreign.iter().cloned().chain(named).chain(unread);
        all.map(|hook| (path.to_owned(), hook)).collect()
    }

    fn question(&self, what: &str) -> Foreign {
        Foreign { event: agents::question_event(self.agent).to_owned(), command: what.to_owned() }
    }

    /// Returns the switch in a file that switches hooks off, directly or by the profile of the command line.
    fn switch(&self, watched: &Watched) -> Option<&'static str> {
        let profile = self.sources.profile.as_ref();
        watched.counts().find_map(|says| {
            let is_chosen = profile.is_some_and(|profile| says.off_profiles.contains(profile));
            says.off.or(is_chosen.then_some("a profile with `features.hooks = false`"))
        })
    }

    /// Returns the reason why the agent's own rules might stop a call; `None` if they do not. A rule that castellan cannot
    /// find out about is a reason.
    pub(crate) fn own_rule_against(&self, call: &Call) -> Option<String> {
        if let Some(why) = self.unseen() {
            return Some(why);
        }
        if self.start.arguments.as_ref().is_none_or(|given| agents::gives_own_rules(given)) {
            return Some("the agent's command line has rules of its own".to_owned());
        }
        let files = self.files.iter().flat_map(|watched| watched.counts().map(|says| (&watched.path, says)));
        let texts = self.sources.texts.iter().map(|text| (&text.place, &text.says));
        let rules =
            files.chain(texts).flat_map(|(path, says)| says.own_rules.iter().map(move |rule| (path, rule)));
        let mut against = rules.filter(|(_, rule)| agents::may_match_own_rule(self.agent, rule, call));
        against.next().map(|(path, rule)| format!("`{}` has the rule `{rule}`", path.display()))
    }

    /// Returns the reason why the agent's hooks cannot be determined, if there is one.
    pub(crate) fn unseen(&self) -> Option<String> {
        if self.start.dir.is_none() {
            return Some("it cannot be seen where the agent has its settings".to_owned());
        }
        if self.start.arguments.is_none() {
            return Some("the agent's command line cannot be read".to_owned());
        }
        let unread = self.said.unread.iter().next();
        unread.map(|(path, why)| format!("`{}`: {why}", path.display()))
    }

    /// Returns the files that register castellan's hook.
    fn registering(&self) -> impl Iterator<Item = &Watched> {
        let on = self.plugins_on();
        self.files
            .iter()
            .filter(move |watched| self.is_on(watched, &on) && self.ours(watched).next().is_some())
    }
}

#[cfg(test)]
mod tests;
