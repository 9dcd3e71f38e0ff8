//! Changes of the mode alone. One change writes the mode to the applied set and to `config.toml` and applies it to
//! calls. Does not depend on the permission to ask for it.

use std::sync::Arc;

use castellan_event::Mode;

use super::{PolicyState, REMEDY};
use crate::applied;
use crate::config::{Config, KeyEdit, write_mode};
use crate::file_set::FileSet;
use crate::judge::Judge;
use crate::layers::Layers;
use castellan_files::write_private;

impl PolicyState {
    /// Sets a milder mode, but never one below the organisation's. `record` receives the result before the mode
    /// applies: a mode that is not recorded loosens nothing, even after a restart. No other change happens meanwhile.
    pub(crate) fn loosen_mode<E>(
        &self,
        judge: &Judge,
        mode: Mode,
        record: impl FnOnce(Result<(), String>) -> Result<(), E>,
    ) -> Result<(), E> {
        let _changing = self.changing();
        if let Err(why) = self.permits_mode(mode) {
            return record(Err(why));
        }
        let file = self.layout.config_file();
        let before = (self.in_force().set.clone(), Config::read_text(&file));
        let written = self.write_mode(mode);
        let is_written = written.is_ok();
        let kept = written.and_then(|()| self.keep_mode(mode));
        let in_force = kept.as_ref().ok().copied();
        record(kept.map(drop)).inspect_err(|_| {
            // If this cannot be undone, `castellan status` shows a pending edit or a different applied set.
            if let (Some(set), _) = &before {
                let _ = self.keep(Layers::clone(set));
            }
            if let (true, (_, Ok(text))) = (is_written, &before) {
                let _ = write_private(&file, text.as_bytes());
            }
        })?;
        if let Some(mode) = in_force {
            judge.set_mode(mode);
        }
        Ok(())
    }

    /// Returns an error if the organisation's mode is stricter.
    fn permits_mode(&self, mode: Mode) -> Result<(), String> {
        match self.in_force().floor.clone().filter(|(floor, _)| mode < *floor) {
            None => Ok(()),
            Some((floor, place)) => Err(format!("the organisation's configuration says `{floor}`: {place}")),
        }
    }

    /// Returns an error if castellan may not be paused: the organisation sets a mode, or nothing is in force.
    pub(crate) fn permits_pause(&self) -> Result<(), String> {
        if self.set().is_none() {
            return Err(format!("nothing is in force: {REMEDY}"));
        }
        self.permits_mode(Mode::Passthrough)
    }

    /// Ends a pause that is not permitted any more, and records that.
    pub(crate) fn end_forbidden_pause(&self, judge: &Judge) {
        if judge.pause_now().is_none() {
            return;
        }
        if let Err(why) = self.permits_pause() {
            judge.end_pause_of_itself(&why);
        }
    }

    /// Sets a mode that is not milder. It applies at once, even when it cannot be stored for the next start; then that
    /// is the error. Also stores a mode that became stricter meanwhile, because nobody agreed to loosen it.
    pub(crate) fn tighten_mode(&self, judge: &Judge, mode: Mode) -> Result<(), String> {
        judge.tighten(mode);
        let _changing = self.changing();
        let mode = judge.terms().mode;
        let written = self.write_mode(mode);
        self.keep_mode(mode).and(written)
    }

    fn write_mode(&self, mode: Mode) -> Result<(), String> {
        write_mode(&self.layout.config_file(), mode).map_err(|error| error.to_string())
    }

    /// Stores the mode in the applied set for the next start. Returns the resulting mode of all layers.
    fn keep_mode(&self, mode: Mode) -> Result<Mode, String> {
        let set = self.in_force().set.clone();
        let set = set.ok_or_else(|| format!("there is nothing applied that could keep it: {REMEDY}"))?;
        let user = FileSet {
            config: KeyEdit::word(mode.as_str())
                .applied_to(&set.user.config, "mode")
                .map_err(|error| error.to_string())?,
            rules: set.user.rules.clone(),
        };
        self.keep(Layers { user, ..Layers::clone(&set) })
    }

    fn keep(&self, set: Layers) -> Result<Mode, String> {
        applied::write(&self.layout, &set).map_err(|error| self.not_written(&error))?;
        let mode = set.config(&self.layout).map_or(Mode::Enforce, |config| config.mode);
        let mut in_force = self.in_force();
        in_force.mode = mode;
        in_force.hash = set.hash();
        in_force.set = Some(Arc::new(set));
        Ok(mode)
    }
}
