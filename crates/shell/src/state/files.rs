//! Files that the text itself writes, with their known contents. This module must not read the disk.

use std::rc::Rc;

use castellan_event::{Why, lexical_path};
use castellan_programs::Arg;

use super::{Descriptor, State};
use crate::limits::WRITTEN_FILES_MAX;
use crate::text::Text;

/// Possible contents of a file; a `None` entry means the contents before the text.
pub(crate) type Held = Vec<Option<Rc<Text>>>;

impl State {
    /// Reports whether the text wrote the file.
    pub(crate) fn has_written(&self, path: &str) -> bool {
        self.absolute(path).is_some_and(|path| self.files.contains(&path))
    }

    /// Returns the absolute form of a path; `None` if the directory is unknown.
    pub(crate) fn absolute(&self, path: &str) -> Option<Rc<str>> {
        if path.starts_with('/') {
            return Some(lexical_path("/", path).into());
        }
        match self.directories.as_slice() {
            [Some(directory)] => Some(lexical_path(directory, path).into()),
            _ => None,
        }
    }

    /// Opens a file for writing. `before`: the contents that remain, if the file is not truncated. `is_new`: the file
    /// does not exist yet, so it has no old contents to run. Opening may fail, for example on a write-protected file:
    /// then the old contents remain possible.
    pub(crate) fn opens(&mut self, path: &Rc<str>, before: Option<Text>, is_new: bool) {
        let opened = vec![Some(Rc::new(before.unwrap_or_default()))];
        let held = match self.files.get(path) {
            None if is_new => opened,
            held => join(held, Some(&opened)),
        };
        self.files.insert(Rc::clone(path), held);
    }

    /// Appends text to a file.
    pub(crate) fn written_to(&mut self, path: &str, text: &Text) {
        let absent = || vec![Some(Rc::new(Text::unknown(Why::File, path)))];
        self.files.change(path, absent, |held| {
            for before in held.iter_mut().flatten() {
                Rc::make_mut(before).push(text);
            }
        });
    }

    /// Returns the possible contents of every file that the text wrote. Contents over the limit are unknown.
    pub(crate) fn written(&self) -> Vec<(Rc<str>, Arg)> {
        let each =
            self.files.iter().flat_map(|(path, held)| held.iter().flatten().map(move |text| (path, text)));
        let told = each.enumerate().map(|(number, (path, text))| {
            let is_told = number < WRITTEN_FILES_MAX;
            (Rc::clone(path), if is_told { text.to_arg() } else { Arg::unknown(Why::Budget, &**path, false) })
        });
        told.collect()
    }

    /// Records that a program may have changed each file whose path `is_changed` accepts: its contents are no longer
    /// certain.
    pub(crate) fn change_files(&mut self, is_changed: impl Fn(&str) -> bool) {
        let paths: Vec<Rc<str>> = self.files.iter().map(|(path, _)| Rc::clone(path)).collect();
        for path in paths.iter().filter(|path| is_changed(path)) {
            let mut held = self.files.get(path).cloned().unwrap_or_default();
            if !held.contains(&None) {
                held.push(None);
                self.files.insert(Rc::clone(path), held);
            }
        }
    }

    /// Returns the contents that the text wrote to a file, if exactly one content is possible.
    pub(crate) fn certainly_held(&self, path: &str) -> Option<Text> {
        match self.files.get(&self.absolute(path)?)?.as_slice() {
            [Some(text)] => Some((**text).clone()),
            _ => None,
        }
    }

    /// Returns the target of a redirect that writes to a file with a known name.
    pub(crate) fn writes(&mut self, path: &str, before: Option<Text>, is_new: bool) -> Option<Descriptor> {
        let path = self.absolute(path)?;
        self.opens(&path, before, is_new);
        Some(Descriptor::Written(path))
    }
}

/// Joins the possible contents of a file after two alternative branches.
pub(crate) fn join(first: Option<&Held>, second: Option<&Held>) -> Held {
    let mut all = first.cloned().unwrap_or_else(|| vec![None]);
    for text in second.map_or(&[None][..], Vec::as_slice) {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    if all.len() > crate::limits::VALUES_MAX {
        all = vec![Some(Rc::new(Text::unknown(Why::Budget, "")))];
    }
    all
}
