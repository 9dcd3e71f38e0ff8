//! Files that the text itself writes: what they hold then, as far as it is known. It must not know what is on any disk.

use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::Arg;

use super::{Descriptor, State};
use crate::limits::WRITTEN_FILES_MAX;
use crate::paths::normal;
use crate::text::Text;

/// What a file may hold; `None` among them: what it held before.
pub(crate) type Held = Vec<Option<Rc<Text>>>;

impl State {
    /// The absolute path of one as written; `None` where the directory is not known.
    pub(crate) fn absolute(&self, path: &str) -> Option<Rc<str>> {
        if path.starts_with('/') {
            return Some(normal(path).into());
        }
        match self.directories.as_slice() {
            [Some(directory)] => Some(normal(&format!("{directory}/{path}")).into()),
            _ => None,
        }
    }

    /// A file is opened to be written. `before`: what it holds already, where that stays. That may fail, as it does for a file
    /// that is write-protected: then it holds what it held. `is_new`: there is none yet, and so nothing to be run.
    pub(crate) fn opens(&mut self, path: &Rc<str>, before: Option<Text>, is_new: bool) {
        let opened = vec![Some(Rc::new(before.unwrap_or_default()))];
        let held = match self.files.get(path) {
            None if is_new => opened,
            held => join(held, Some(&opened)),
        };
        self.files.insert(Rc::clone(path), held);
    }

    /// What is written to a file goes to its end.
    pub(crate) fn written_to(&mut self, path: &str, text: &Text) {
        let absent = || vec![Some(Rc::new(Text::unknown(Why::File, path)))];
        self.files.change(path, absent, |held| {
            for before in held.iter_mut().flatten() {
                Rc::make_mut(before).push(text);
            }
        });
    }

    /// What every file holds that the text has written, as far as that is known: each text that it may be. Over the limit nothing is
    /// known of it.
    pub(crate) fn written(&self) -> Vec<(Rc<str>, Arg)> {
        let each =
            self.files.iter().flat_map(|(path, held)| held.iter().flatten().map(move |text| (path, text)));
        let told = each.enumerate().map(|(number, (path, text))| {
            let is_told = number < WRITTEN_FILES_MAX;
            (Rc::clone(path), if is_told { text.to_arg() } else { Arg::unknown(Why::Budget, &**path, false) })
        });
        told.collect()
    }

    /// What the text has written to a file, if that is known and certain.
    pub(crate) fn certainly_held(&self, path: &str) -> Option<Text> {
        match self.files.get(&self.absolute(path)?)?.as_slice() {
            [Some(text)] => Some((**text).clone()),
            _ => None,
        }
    }

    /// Where a redirect leads that writes to a file with a known name.
    pub(crate) fn writes(&mut self, path: &str, before: Option<Text>, is_new: bool) -> Option<Descriptor> {
        let path = self.absolute(path)?;
        self.opens(&path, before, is_new);
        Some(Descriptor::Written(path))
    }
}

/// What a file may hold after two branches of which one ran.
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
