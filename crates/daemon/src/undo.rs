//! [`Undo`]: the daemon's store of checkpoints, and its failures. It must not know calls.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use castellan_checkpoint::{Budget, Opened, Store};
use castellan_policy::UndoSettings;

use crate::control::UndoStatus;

/// The store of checkpoints.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    store: OnceLock<Result<Store, String>>,
    failures: AtomicU64,
    last_failure: Mutex<String>,
}

impl Undo {
    /// Opens the store. Returns a text for each checkpoint in it that castellan does not use.
    pub(crate) fn open(&self, dir: &Path) -> Vec<String> {
        let (store, problems) = match Store::open(dir, Budget::default()) {
            Ok(Opened { store, ignored }) => (Ok(store), ignored.iter().map(ToString::to_string).collect()),
            Err(error) => {
                let why = error.to_string();
                self.failed(&why);
                (Err(why.clone()), vec![why])
            }
        };
        let _ = self.store.set(store);
        problems
    }

    /// Returns the store, or the reason why there is none.
    pub(crate) fn store(&self) -> Result<&Store, String> {
        match self.store.get() {
            Some(Ok(store)) => Ok(store),
            Some(Err(why)) => Err(why.clone()),
            None => Err("castellan has no store of checkpoints".to_owned()),
        }
    }

    /// Returns the store, with the limits of the settings.
    pub(crate) fn store_within(&self, settings: UndoSettings) -> Result<&Store, String> {
        let store = self.store()?;
        let ceiling = u64::from(settings.ceiling_mib) * 1024 * 1024;
        store.set_limits(ceiling, Duration::from_secs(u64::from(settings.age_days) * 24 * 60 * 60));
        Ok(store)
    }

    /// Counts a checkpoint that could not be made.
    pub(crate) fn failed(&self, why: &str) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        why.clone_into(&mut self.last_failure.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The state for `castellan status`.
    pub(crate) fn status(&self, settings: UndoSettings) -> UndoStatus {
        let usage = self.store().ok().map(Store::usage);
        UndoStatus {
            is_on: settings.is_on,
            checkpoints: usage.map_or(0, |usage| usage.count),
            bytes: usage.map_or(0, |usage| usage.bytes),
            ceiling: u64::from(settings.ceiling_mib) * 1024 * 1024,
            oldest_s: usage.and_then(|usage| usage.oldest_s).unwrap_or_default(),
            failures: self.failures.load(Ordering::Relaxed),
            last_failure: self.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}
