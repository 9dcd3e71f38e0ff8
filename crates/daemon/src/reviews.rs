//! [`Reviews`]: the reviewer of the settings, its budget and its earlier opinions. It must not know calls and verdicts.
//!
//! No lock is held while a reviewer is asked, so a review delays no other call.

mod evidence;

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use castellan_files::{Guard, explained, read_bytes};
use castellan_policy::{ReviewProvider, ReviewSettings};
use castellan_review::{
    Answer, Budget, Cache, CacheKey, Endpoint, Evidence, Limits, Opinion, PROMPT_VERSION, Program, Provider,
    Reviewer, Roots, Secret, suspicious,
};

pub use self::evidence::evidence_of;
use crate::limits::{REVIEW_KEY_BYTES_MAX, REVIEWS_AT_ONCE_MAX};

/// The reviewer in force.
#[derive(Debug, Default)]
pub(crate) struct Reviews {
    in_force: Mutex<Option<InForce>>,
    running: AtomicUsize,
}

/// A reviewer with what was spent on it.
#[derive(Debug)]
struct InForce {
    settings: ReviewSettings,
    reviewer: Arc<Reviewer>,
    budget: Budget,
    cache: Cache,
}

/// A question to the reviewer.
#[derive(Debug)]
pub(crate) struct Question<'q> {
    pub(crate) evidence: &'q Evidence,
    /// Hash of the normalised call.
    pub(crate) call: &'q str,
    /// Hash of the policy.
    pub(crate) policy: &'q str,
    /// Seconds of a clock that does not go back.
    pub(crate) now_s: u64,
}

/// Makes the reviewer of the settings. Reads the key file.
///
/// # Errors
/// The reason and the remedy, for a person.
pub fn reviewer_of(settings: &ReviewSettings) -> Result<Reviewer, String> {
    let endpoint = || -> Result<Endpoint, String> {
        let ReviewSettings { url, model, key_file, .. } = settings;
        let key = if key_file.is_empty() { None } else { Some(key_of(key_file)?) };
        Endpoint::new(url, model, key, Roots::default()).map_err(|why| why.to_string())
    };
    let provider = match settings.provider {
        ReviewProvider::Off => return Err("there is no reviewer: set `review.provider`".to_owned()),
        ReviewProvider::OpenAi => Provider::OpenAi(endpoint()?),
        ReviewProvider::Anthropic => Provider::Anthropic(endpoint()?),
        ReviewProvider::Command => {
            let argv = settings.command.iter().map(OsString::from).collect();
            Provider::Command(Program::new(argv, Vec::new()).map_err(|why| why.to_string())?)
        }
    };
    let time = Duration::from_millis(settings.time_ms.into());
    Ok(Reviewer::new(provider, Limits { time, ..Limits::default() }))
}

/// Reads a key that no other user can read.
fn key_of(file: &str) -> Result<Secret, String> {
    let own = rustix::process::geteuid().as_raw();
    let bytes = read_bytes(Path::new(file), REVIEW_KEY_BYTES_MAX, Guard::Private(own));
    let bytes = bytes.map_err(|why| format!("the key file `{file}` cannot be used: {}", explained(&why)))?;
    Secret::new(&bytes).map_err(|why| format!("`{file}`: {why}"))
}

impl Reviews {
    /// Returns the opinion about a call. The answer is unsure, with a reason for a person, in every case of doubt.
    pub(crate) fn ask(&self, settings: &ReviewSettings, question: &Question<'_>) -> Opinion {
        self.asked(settings, question).unwrap_or_else(|reason| Opinion { answer: Answer::Unsure, reason })
    }

    fn asked(&self, settings: &ReviewSettings, question: &Question<'_>) -> Result<Opinion, String> {
        let Question { evidence, now_s, .. } = *question;
        if evidence.prompts.is_empty() {
            return Err("there is no prompt that certainly is the user's own".to_owned());
        }
        if let Some(reason) = suspicious(evidence) {
            return Err(reason.to_owned());
        }
        let (reviewer, key) = self.with(settings, |in_force| {
            let key = question.key(&in_force.reviewer.model());
            let known = in_force.cache.find(key, now_s).cloned();
            (Arc::clone(&in_force.reviewer), known.ok_or(key))
        })?;
        let key = match key {
            Ok(opinion) => return Ok(opinion),
            Err(key) => key,
        };
        let _place = Place::take(&self.running).ok_or("the reviewer is busy with other calls")?;
        self.with(settings, |in_force| in_force.budget.start(now_s))?.map_err(|spent| spent.to_string())?;
        let reviewed = reviewer.review(evidence);
        self.with(settings, |in_force| {
            in_force.budget.spend(now_s, &reviewed);
            if let Ok(opinion) = &reviewed.opinion {
                in_force.cache.store(key, opinion, now_s);
            }
        })?;
        reviewed.opinion.map_err(|error| error.to_string())
    }

    /// Works with the reviewer of these settings.
    fn with<T>(&self, settings: &ReviewSettings, work: impl FnOnce(&mut InForce) -> T) -> Result<T, String> {
        let mut in_force = self.lock();
        if let Some(in_force) = in_force.as_mut().filter(|in_force| in_force.settings == *settings) {
            return Ok(work(in_force));
        }
        let reviewer = Arc::new(reviewer_of(settings)?);
        let per_hour = usize::try_from(settings.per_hour).unwrap_or(usize::MAX);
        let budget = Budget::new(per_hour, settings.tokens_per_day.into());
        let made = InForce { settings: settings.clone(), reviewer, budget, cache: Cache::default() };
        Ok(work(in_force.insert(made)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<InForce>> {
        self.in_force.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Question<'_> {
    fn key(&self, model: &str) -> CacheKey {
        CacheKey::of(self.call, self.policy, &self.evidence.intent_hash(), PROMPT_VERSION, model)
    }
}

/// A place among the reviews that run at once.
struct Place<'p>(&'p AtomicUsize);

impl Place<'_> {
    fn take(running: &AtomicUsize) -> Option<Place<'_>> {
        let more = |count| (count < REVIEWS_AT_ONCE_MAX).then_some(count + 1);
        running.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok()?;
        Some(Place(running))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests;
