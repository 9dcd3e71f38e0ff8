//! The set in force and its origin. The daemon starts with the applied set. Another set comes into force when a person
//! applies it or, with watched rule files, when the files change. The daemon compiles a set aside and swaps it whole;
//! no call waits for it.

mod checked;
mod first;
mod mode;
mod organisation;
mod switch;
mod trial;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use castellan_audit::Record;
use castellan_event::{Layer, Mode};
use castellan_policy::{Policy, Presence};
use castellan_rules::Problem;

pub(crate) use self::checked::NotPut;
use self::checked::{Aside, UNCHECKED, waits_for_falco, wanted, wanted_events};
use self::first::{Nothing, is_first};
use self::organisation::{Unusable, organisation_now};
pub(crate) use self::switch::listed;
use crate::applied::{self, AppliedError};
use crate::config::{Config, Reload};
use crate::engine::Engine;
use crate::file_set::{FileSet, read_rules};
use crate::judge::{Judge, Terms};
use crate::layers::{Layers, Loaded};
use crate::layout::Layout;
use crate::profiles::Profiles;
use crate::projects::Projects;
use crate::record;
use crate::shipped::write_shipped;
use crate::store::PolicyOrigin;
use crate::trial::Trial;

/// Advice to a person when nothing is in force. Agents read the reason, but not this advice.
const REMEDY: &str = "run `castellan apply`";

/// The action by which a person puts files in force.
const APPLY: &str = "apply";

/// The set in force.
#[derive(Debug)]
pub(crate) struct PolicyState {
    layout: Layout,
    engine: Arc<Engine>,
    /// Held during a change, so that changes happen one at a time.
    changing: Mutex<()>,
    /// Origin of the set at the start; `None` when there was none.
    found: Option<Found>,
    in_force: Mutex<InForce>,
    /// The reason why the organisation's files on disk are not in force.
    organisation: Mutex<Option<String>>,
    /// The user's files of a first start that wait until the organisation's files are repaired.
    first: Mutex<Option<FileSet>>,
    /// Falco still loads the watched rule files.
    is_reload_due: AtomicBool,
    /// The time to put the organisation's files in force again, after Falco has loaded them or could not.
    organisation_due: Mutex<Option<Instant>>,
}

#[derive(Debug, Clone)]
struct InForce {
    /// The files of the policy; `None` when nothing is in force.
    set: Option<Arc<Layers>>,
    /// Hash of the set; empty when nothing is in force.
    hash: String,
    mode: Mode,
    /// The organisation's mode and its place in the files. No request sets a milder mode.
    floor: Option<(Mode, String)>,
    /// Settings without effect, because the organisation has locked them.
    ignored: Vec<String>,
    reload: Reload,
    origin: PolicyOrigin,
    /// Problems of the rule files, one line each.
    problems: Vec<String>,
}

/// Origin of the set of a starting daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// The log names this set as the last in force.
    Recorded,
    /// The log names no set.
    Unrecorded,
    /// The files on disk, at the first start.
    New,
}

/// A set with its compiled form.
pub(crate) type Ready = (Layers, Loaded);

/// The record of a change: action, subject, and the process and user that requested it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause<'a> {
    pub(crate) action: &'static str,
    pub(crate) what: &'a str,
    pub(crate) peer: (u32, u32),
}

/// The policy part of `castellan status`.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) origin: PolicyOrigin,
    pub(crate) problems: Vec<String>,
    /// Hash of the set in force; empty when nothing is.
    pub(crate) applied: String,
    pub(crate) reload: Reload,
    /// Short names of edited files that wait to be applied.
    pub(crate) pending: Vec<String>,
    /// Nothing is in force until the organisation's files are repaired.
    pub(crate) awaits_organisation: bool,
}

impl PolicyState {
    /// Does [`PolicyState::start_with`] without a loaded set.
    #[cfg(test)]
    pub(crate) fn start(layout: &Layout) -> (PolicyState, Config, Terms) {
        PolicyState::start_with(layout, None, Arc::default())
    }

    /// Loads the applied set. The first daemon of a home applies the files as they are. Later, edited files come into
    /// force only with `castellan apply`. `ready` is not loaded again if it is the set to put in force. `engine` gets the
    /// rules of the set.
    pub(crate) fn start_with(
        layout: &Layout,
        mut ready: Option<Ready>,
        engine: Arc<Engine>,
    ) -> (PolicyState, Config, Terms) {
        let mut load = |set: &Layers| match ready.take_if(|(known, _)| known == set) {
            Some((_, loaded)) => Ok(loaded),
            None => set.load(layout),
        };
        let (organisation, refused) = match organisation_now(layout) {
            Ok(organisation) => (Ok(organisation), None),
            Err(Unusable::Distrusted(why)) => (Err(Unusable::Distrusted(why.clone())), Some(why)),
            Err(Unusable::Broken(why)) => (Err(Unusable::Broken(why.clone())), Some(why)),
        };
        let loaded = find(layout, &organisation).and_then(|(kept, loaded, found)| {
            // Uses the organisation's current files if the set loads with them, else its last ones.
            let now = organisation.ok().map(|organisation| Layers { organisation, ..kept.clone() });
            let now = now.filter(|now| *now != kept);
            let fits = now.map(|now| load(&now).map(|loaded| (now, loaded)));
            let (set, (config, compiled), unfit) = match fits {
                // Falco loads new rules first, which would take too long here. Housekeeping puts them in force.
                Some(Ok((_, loaded)))
                    if let Some(loaded) = waits_for_falco(layout, &loaded, || load(&kept)) =>
                {
                    (kept, loaded, Some(UNCHECKED.to_owned()))
                }
                Some(Ok((now, loaded))) => {
                    applied::write(layout, &now).map_err(|error| not_written(layout, &error))?;
                    (now, loaded, None)
                }
                Some(Err(why)) => (kept.clone(), load(&kept)?, Some(why)),
                None => {
                    let loaded = loaded.map_or_else(|| load(&kept), Ok)?;
                    (kept, loaded, None)
                }
            };
            Ok((set, found, config, compiled, unfit))
        });
        let mut first = None;
        let (in_force, found, config, policy, unfit) = match loaded {
            Ok((set, found, config, compiled, unfit)) => {
                engine.want_events(wanted_events(layout, &config));
                engine.want(wanted(layout, &config, &compiled));
                (InForce::of(set, &config, &compiled.problems), Some(found), config, compiled.policy, unfit)
            }
            // Without a set there are no tags and no mode, so the daemon enforces.
            Err(Nothing { why, first: waiting }) => {
                first = waiting;
                (InForce::nothing(&why), None, Config::default(), Policy::missing(why), None)
            }
        };
        let state = PolicyState {
            layout: layout.clone(),
            engine,
            changing: Mutex::new(()),
            found,
            in_force: Mutex::new(in_force),
            organisation: Mutex::new(refused.or(unfit)),
            first: Mutex::new(first),
            is_reload_due: AtomicBool::new(false),
            organisation_due: Mutex::new(None),
        };
        let terms = terms_of(layout, state.set(), policy, config.mode);
        (state, config, terms)
    }

    /// Records the start with the set in force and its origin.
    pub(crate) fn record_start(&self, judge: &Judge) {
        let waits = self.waits();
        let (from, failure) = match (self.found, &self.in_force().origin) {
            // The organisation's problem gives the reason.
            (_, PolicyOrigin::Missing(_)) if waits.is_some() => (waits.as_deref().unwrap_or_default(), None),
            (_, PolicyOrigin::Missing(why)) => {
                ("nothing in force", Some(format!("nothing is in force: {why}: {REMEDY}")))
            }
            (Some(Found::New), _) => ("first start, files as they are", None),
            (Some(Found::Unrecorded), _) => (
                "applied set, not in the log",
                Some(
                    "the log does not say that the applied set was put in force: it is of an earlier castellan, or \
                     somebody has removed it; look at what is in force with `castellan rules list`"
                        .to_owned(),
                ),
            ),
            (Some(Found::Recorded) | None, _) => ("applied set", None),
        };
        let terms = judge.terms();
        let argument = format!("{from}, policy {}, mode {}", terms.policy.hash(), terms.mode);
        let own = (std::process::id(), rustix::process::geteuid().as_raw());
        if let Err(error) = judge.append(&record::control("start", &argument, None, &self.files(), own)) {
            judge.fail("log", &format!("the start could not be recorded: {error}"));
        }
        match (failure, &self.in_force().origin) {
            (None, _) => {}
            // The status reports this while nothing is in force.
            (Some(failure), PolicyOrigin::Missing(_)) => judge.record_problem("policy", &failure),
            (Some(failure), PolicyOrigin::Current | PolicyOrigin::LastGood(_)) => {
                judge.fail("policy", &failure);
            }
        }
        if let Some(why) = self.organisation_problem() {
            judge.record_problem("organisation", &why);
        }
    }

    /// Hash of the set in force; empty when nothing is.
    pub(crate) fn files(&self) -> String {
        self.in_force().hash.clone()
    }

    /// The set in force.
    pub(crate) fn set(&self) -> Option<Arc<Layers>> {
        self.in_force().set.clone()
    }

    /// Puts the files on disk in force if they still have this hash.
    pub(crate) fn apply(&self, judge: &Judge, hash: &str, peer: (u32, u32)) -> Result<(), String> {
        self.checked(|| {
            let _changing = self.changing();
            let set = self.with_trial(judge, self.on_disk(hash)?)?;
            self.put(judge, set, Cause { action: APPLY, what: "", peer })
        })
    }

    /// The user presence setting of the files with this hash, as it will be once they are in force.
    pub(crate) fn presence_on_disk(&self, hash: &str) -> Result<Presence, String> {
        let config = self.on_disk(hash)?.config(&self.layout);
        config.map(|config| config.settings.presence).map_err(|error| error.to_string())
    }

    fn on_disk(&self, hash: &str) -> Result<Layers, String> {
        let user = FileSet::read(&self.layout).map_err(|error| error.to_string())?;
        if user.hash() != hash {
            return Err(format!("the files were edited after they had been shown: {REMEDY} again"));
        }
        let organisation = self.organisation_to_use()?;
        Ok(Layers { organisation, user, project: None, trial: Trial::new() })
    }

    /// Puts watched rule files on disk in force, with the applied configuration. A set that does not load changes only
    /// the status; the error gives the reason. While Falco loads the rules, [`PolicyState::is_reload_due`] is true.
    pub(crate) fn reload(&self, judge: &Judge) -> Result<(), String> {
        let _changing = self.changing();
        let Some(set) = self.watched() else {
            self.is_reload_due.store(false, Ordering::SeqCst);
            return Ok(());
        };
        let put = || -> Result<(), NotPut> {
            // Restores missing shipped rule files: nobody has removed their rules on purpose.
            write_shipped(&self.layout)
                .map_err(|error| format!("`{}`: {error}", self.layout.rules_shipped().display()))?;
            let rules = read_rules(&self.layout).map_err(|error| error.to_string())?;
            let user = FileSet { config: set.user.config.clone(), rules };
            let new = self.with_trial(judge, Layers { user, ..Layers::clone(&set) })?;
            if new == *set {
                // Undoing the edit repairs a bad set.
                let (config, compiled) = new.load(&self.layout)?;
                *self.in_force() = InForce::of(new, &config, &compiled.problems);
                return Ok(());
            }
            self.put(judge, new, Cause { action: "reload", what: "", peer: (0, 0) })
        };
        let done = self.aside(put());
        self.is_reload_due.store(matches!(done, Aside::Checking), Ordering::SeqCst);
        match done {
            Aside::Done | Aside::Checking => Ok(()),
            Aside::Rejected(why) | Aside::Failed(why) => {
                self.in_force().origin = PolicyOrigin::LastGood(why.clone());
                Err(why)
            }
        }
    }

    /// Reports whether Falco was loading the watched rule files at the last reload, which must be tried again.
    pub(crate) fn is_reload_due(&self) -> bool {
        self.is_reload_due.load(Ordering::SeqCst)
    }

    /// Reports whether rule files are watched.
    pub(crate) fn watches(&self) -> bool {
        self.watched().is_some()
    }

    /// Checks that a workspace's own files load below the set in force. The error gives the reason.
    pub(crate) fn check_project(&self, project: &FileSet) -> Result<(), String> {
        let set = self.set().ok_or_else(|| format!("nothing is in force: {REMEDY}"))?;
        let layers = Layers { project: Some(project.clone()), ..Layers::clone(&set) };
        layers.load(&self.layout).map(|_| ())
    }

    /// Reports the current state. Reads the files on disk.
    pub(crate) fn report(&self) -> Report {
        // During a change the files would not match the set in force.
        let _changing = self.changing();
        let InForce { set, hash: applied, reload, origin, mut problems, ignored, .. } =
            self.in_force().clone();
        let awaits_organisation = self.waits().is_some();
        match &origin {
            PolicyOrigin::Current => {}
            PolicyOrigin::LastGood(why) if problems.contains(why) => {}
            PolicyOrigin::LastGood(why) => problems.insert(0, why.clone()),
            PolicyOrigin::Missing(_) if awaits_organisation => {}
            PolicyOrigin::Missing(why) => problems.insert(0, format!("{why}: {REMEDY}")),
        }
        problems.extend(ignored);
        let until = if awaits_organisation { ": nothing is in force until they are mended" } else { "" };
        let of_organisation = |why| format!("the organisation's files{until}: {why}");
        problems.extend(self.organisation_problem().map(of_organisation));
        let mut pending = Vec::new();
        if let Some(set) = &set {
            match FileSet::read(&self.layout) {
                Ok(files) => pending = files.differing(&set.user),
                Err(error) => problems.push(error.to_string()),
            }
            // Watched rule files are never pending: they are in force or do not load.
            pending.retain(|name| reload == Reload::Apply || name == "config.toml");
            // Only castellan writes this file. Another program's change would come into force at the next start.
            if applied::read(&self.layout).ok().as_ref() != Some(&**set) {
                problems.push(format!(
                    "the applied set on disk is not the one in force: {REMEDY} to write it again"
                ));
            }
        }
        Report { origin, problems, applied, reload, pending, awaits_organisation }
    }

    /// Compiles, stores, records and swaps in a set, in this order. So every set in force is recorded and found again. New
    /// rules for Falco are an error until Falco has loaded them ([`PolicyState::checked`]).
    fn put(&self, judge: &Judge, set: Layers, cause: Cause<'_>) -> Result<(), NotPut> {
        let (config, compiled) = set.load(&self.layout)?;
        let wanted = wanted(&self.layout, &config, &compiled);
        if let Some(why) = wanted.as_ref().and_then(|wanted| wanted.refusal) {
            return Err(NotPut::Failed(why.to_owned()));
        }
        if let Some(wanted) = wanted.as_ref().filter(|wanted| self.engine.is_to_check(wanted)) {
            return Err(NotPut::Unchecked(Box::new(wanted.clone())));
        }
        let events = wanted_events(&self.layout, &config);
        let InForce { set: before, mode: said, .. } = self.in_force().clone();
        // A stricter live mode that could not be stored stays, unless a person applies files.
        let seen = judge.terms().mode;
        let live = Some(seen).filter(|live| *live > said && cause.action != APPLY);
        let mode = live.map_or(config.mode, |live| config.mode.max(live));
        applied::write(&self.layout, &set).map_err(|error| self.not_written(&error))?;
        if let Err(error) = judge.append(&change(judge, &set, &compiled.policy, mode, cause)) {
            let restored = match before {
                Some(before) => applied::write(&self.layout, &before),
                None => applied::remove(&self.layout),
            };
            let restored = restored.err().map(|error| format!("; {}", self.not_written(&error)));
            let restored = restored.unwrap_or_default();
            return Err(NotPut::Failed(format!("it could not be recorded: {error}{restored}")));
        }
        let in_force = InForce::of(set, &config, &compiled.problems);
        let set = in_force.set.clone();
        *self.in_force() = in_force;
        self.engine.want_events(events);
        // Before the first call under the new rules, which waits for this Falco.
        self.engine.want(wanted);
        judge.put(seen, terms_of(&self.layout, set, compiled.policy, mode));
        *self.first.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// The set in force if its rule files are watched.
    fn watched(&self) -> Option<Arc<Layers>> {
        let in_force = self.in_force();
        in_force.set.clone().filter(|_| in_force.reload == Reload::Watch)
    }

    fn not_written(&self, error: &std::io::Error) -> String {
        not_written(&self.layout, error)
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_force(&self) -> MutexGuard<'_, InForce> {
        self.in_force.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InForce {
    fn of(set: Layers, config: &Config, problems: &[Problem]) -> InForce {
        InForce {
            hash: set.hash(),
            set: Some(Arc::new(set)),
            mode: config.mode,
            floor: config.mode_said_by(Layer::Organisation),
            ignored: config.ignored(),
            reload: config.reload,
            origin: PolicyOrigin::Current,
            problems: problems.iter().map(Problem::one_line).collect(),
        }
    }

    fn nothing(why: &str) -> InForce {
        InForce {
            set: None,
            hash: String::new(),
            mode: Mode::Enforce,
            floor: None,
            ignored: Vec::new(),
            reload: Reload::Apply,
            origin: PolicyOrigin::Missing(why.to_owned()),
            problems: Vec::new(),
        }
    }
}

/// Returns the terms of a set, or those without one.
fn terms_of(layout: &Layout, set: Option<Arc<Layers>>, policy: Policy, mode: Mode) -> Terms {
    let profiles = set.clone().map(|set| Profiles::below(layout, set)).unwrap_or_default();
    let projects = set.map(|set| Projects::below(layout, set)).unwrap_or_default();
    let (projects, profiles) = (Arc::new(projects), Arc::new(profiles));
    Terms { policy: Arc::new(policy), mode, projects, profiles, in_pause: false }
}

fn not_written(layout: &Layout, error: &std::io::Error) -> String {
    format!("the applied set could not be written: `{}`: {error}", layout.applied().display())
}

/// Returns the set for a starting daemon, already loaded if that was necessary, or the reason why there is none.
fn find(
    layout: &Layout,
    organisation: &Result<Option<FileSet>, Unusable>,
) -> Result<(Layers, Option<Loaded>, Found), Nothing> {
    let set = match applied::read(layout) {
        Err(AppliedError::None) if is_first(layout) => {
            let organisation = match organisation {
                Ok(organisation) => organisation.clone(),
                Err(Unusable::Distrusted(_)) => None,
                Err(Unusable::Broken(why)) => return Err(Nothing::until_mended(layout, why)),
            };
            let (set, loaded) = first_set(layout, organisation)?;
            return Ok((set, Some(loaded), Found::New));
        }
        read => read.map_err(|error| error.to_string())?,
    };
    match castellan_audit::last_files(&layout.log()) {
        Ok(Some(files)) if files == set.hash() => Ok((set, None, Found::Recorded)),
        // Without this check, a program that can write the file could put any set in force by ending the daemon.
        Ok(Some(_)) => {
            Err("the applied set on disk is not the one that the log says was last in force, so somebody \
                            else has changed it"
                .to_owned()
                .into())
        }
        Ok(None) => Ok((set, None, Found::Unrecorded)),
        Err(error) => Err(format!("the log does not say what was last in force: {error}").into()),
    }
}

/// Reports whether a daemon has served this home before. Then there was an applied set. Files that anyone may have
/// edited since must not replace it.
pub(crate) fn has_records(layout: &Layout) -> bool {
    let entries = std::fs::read_dir(layout.log());
    // A folder that cannot be read may hold records.
    entries.map_or(true, |mut entries| entries.next().is_some())
}

/// Reads the files on disk and applies them if they are sound.
fn first_set(layout: &Layout, organisation: Option<FileSet>) -> Result<(Layers, Loaded), String> {
    let user = FileSet::read(layout).map_err(|error| error.to_string())?;
    let set = Layers { organisation, user, project: None, trial: Trial::new() };
    let loaded = set.load(layout)?;
    applied::write(layout, &set).map_err(|error| format!("`{}`: {error}", layout.applied().display()))?;
    Ok((set, loaded))
}

/// Builds the record of a change, with the policy before and after.
fn change(judge: &Judge, set: &Layers, policy: &Policy, mode: Mode, cause: Cause<'_>) -> Record {
    let before = judge.terms();
    let mut argument = format!("policy {} -> {}", before.policy.hash(), policy.hash());
    let (profile, old) = (policy.settings().profile, before.policy.settings().profile);
    if profile != old {
        argument.push_str(&format!(", profile {old} -> {profile}"));
    }
    if !cause.what.is_empty() {
        argument = format!("{}, {argument}", cause.what);
    }
    if mode != before.mode {
        argument.push_str(&format!(", mode {} -> {mode}", before.mode));
    }
    record::control(cause.action, &argument, None, &set.hash(), cause.peer)
}

#[cfg(test)]
mod tests;
