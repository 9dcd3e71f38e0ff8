//! [`Profiles`]: the policies of the set in force under other profiles, for runs. A profile of a run takes the place of
//! the user's profile; the other layers still apply. Must not know the processes of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use castellan_policy::{Policy, Profile};

use crate::config::{Config, KeyEdit};
use crate::file_set::FileSet;
use crate::layers::Layers;
use crate::layout::Layout;
use crate::projects::Projects;

/// The profiles below one set in force. Another set has its own.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    /// `None` when nothing is in force.
    base: Option<(Layout, Arc<Layers>)>,
    /// By profile; `None` is the configured one.
    known: Mutex<HashMap<Option<Profile>, Arc<Profiled>>>,
}

/// The set in force under a profile.
#[derive(Debug)]
struct Profiled {
    /// Its files and their configuration, or the reason why they do not load.
    set: Result<(Arc<Layers>, Config), String>,
    /// Compiled at the first call: this takes some hundred milliseconds.
    compiled: OnceLock<(Arc<Policy>, Arc<Projects>)>,
}

impl Profiles {
    pub(crate) fn below(layout: &Layout, set: Arc<Layers>) -> Profiles {
        Profiles { base: Some((layout.clone(), set)), known: Mutex::default() }
    }

    /// Reports whether any value under a profile is milder than under another one; `None` is the configured profile. A
    /// profile that does not load may be milder, except the one without tools.
    pub(crate) fn is_milder(&self, profile: Option<Profile>, than: Option<Profile>) -> bool {
        if profile == than || profile == Some(Profile::Observer) {
            return false;
        }
        let (of, than) = (self.of(profile), self.of(than));
        match (&of.set, &than.set) {
            (Ok((_, config)), Ok((_, than))) => config.needs_person(than),
            (Err(_), _) | (_, Err(_)) => true,
        }
    }

    /// Returns the one profile that is as strict as all of these, which apply together; `None` is the configured one. It
    /// is the observer's if each of two is milder than the other one somewhere.
    pub(crate) fn strictest(&self, profiles: impl IntoIterator<Item = Option<Profile>>) -> Option<Profile> {
        let stricter = |one, other| match (self.is_milder(other, one), self.is_milder(one, other)) {
            (false, _) => other,
            (true, false) => one,
            (true, true) => Some(Profile::Observer),
        };
        profiles.into_iter().reduce(stricter).flatten()
    }

    /// Returns the policy under a profile, and those of workspaces with their own files. A policy that does not load
    /// gives no tools.
    pub(crate) fn policy(&self, profile: Profile) -> (Arc<Policy>, Arc<Projects>) {
        // An observer depends on no rules, so that no file can break it.
        if profile == Profile::Observer {
            return without_tools();
        }
        let of = self.of(Some(profile));
        let compile = || {
            let Some((layout, _)) = &self.base else { return without_tools() };
            let Ok((set, _)) = &of.set else { return without_tools() };
            let Ok((_, compiled)) = set.load(layout) else { return without_tools() };
            (Arc::new(compiled.policy), Arc::new(Projects::below(layout, Arc::clone(set))))
        };
        of.compiled.get_or_init(compile).clone()
    }

    fn of(&self, profile: Option<Profile>) -> Arc<Profiled> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let load = || Arc::new(Profiled { set: self.load(profile), compiled: OnceLock::new() });
        Arc::clone(known.entry(profile).or_insert_with(load))
    }

    fn load(&self, profile: Option<Profile>) -> Result<(Arc<Layers>, Config), String> {
        let (layout, set) = self.base.as_ref().ok_or("nothing is in force")?;
        let set = match profile {
            None => Arc::clone(set),
            Some(profile) => {
                let edit = KeyEdit::word(profile.as_str());
                let config =
                    edit.applied_to(&set.user.config, "profile").map_err(|error| error.to_string())?;
                let user = FileSet { config, rules: set.user.rules.clone() };
                Arc::new(Layers { user, ..Layers::clone(set) })
            }
        };
        let config = set.config(layout).map_err(|error| error.to_string())?;
        Ok((set, config))
    }
}

fn without_tools() -> (Arc<Policy>, Arc<Projects>) {
    (Arc::new(Policy::new(Vec::new(), Profile::Observer.settings())), Arc::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    fn profiles(config: &str) -> (Profiles, tempfile::TempDir) {
        let root = tempfile::tempdir().unwrap();
        let layout = Layout::read(root.path()).unwrap();
        let user = FileSet { config: config.to_owned(), rules: Vec::new() };
        let set = Layers { organisation: None, user, project: None, trial: Trial::new() };
        (Profiles::below(&layout, Arc::new(set)), root)
    }

    #[test]
    fn an_observer_is_milder_than_no_profile_and_every_profile_is_milder_than_an_observer() {
        let (profiles, _root) = profiles("version = 1\n");
        let observer = Some(Profile::Observer);
        for profile in Profile::ALL.into_iter().map(Some).chain([None]) {
            assert!(!profiles.is_milder(observer, profile), "{profile:?}");
            assert_eq!(profiles.is_milder(profile, observer), profile != observer, "{profile:?}");
            assert_eq!(profiles.strictest([profile, observer]), observer);
            assert_eq!(profiles.strictest([observer, profile]), observer);
        }
    }

    #[test]
    fn of_profiles_that_apply_together_the_strictest_holds() {
        let (profiles, _root) = profiles("version = 1\n");
        let [standard, quiet, strict, autonomous, observer] =
            [Profile::Standard, Profile::Quiet, Profile::Strict, Profile::Autonomous, Profile::Observer]
                .map(Some);
        for (together, expected) in [
            (&[][..], None),
            (&[quiet], quiet),
            (&[quiet, standard], standard),
            (&[standard, quiet], standard),
            (&[standard, strict, quiet], strict),
            (&[None, quiet], None),
            (&[None, strict], strict),
            // Each permits something that the other one does not.
            (&[standard, autonomous], observer),
        ] {
            assert_eq!(profiles.strictest(together.iter().copied()), expected, "{together:?}");
        }
    }

    #[test]
    fn a_profile_of_a_run_takes_the_place_of_the_users_profile() {
        let (profiles, _root) = profiles("version = 1\nprofile = \"strict\"\nopaque = \"deny\"\n");
        let (policy, _) = profiles.policy(Profile::Quiet);
        assert_eq!((policy.settings().profile, policy.settings().tools), (Profile::Quiet, true));
        assert_eq!(policy.settings().opaque, castellan_policy::NotAllow::Deny);
        assert!(
            profiles.is_milder(Some(Profile::Quiet), None)
                && !profiles.is_milder(Some(Profile::Strict), None)
        );
        assert!(Arc::ptr_eq(&policy, &profiles.policy(Profile::Quiet).0));
    }

    #[test]
    fn without_a_set_no_run_has_tools() {
        for profiles in [Profiles::default(), profiles("version = 1\nunknown = 1\n").0] {
            for profile in Profile::ALL {
                assert!(!profiles.policy(profile).0.settings().tools, "{profile}");
                assert!(profiles.is_milder(Some(profile), None) || profile == Profile::Observer);
            }
        }
    }
}
