//! [`Locations`]: located arguments and program files. Each query runs once: the world's answers do not change within a
//! call.

use std::collections::HashMap;

use castellan_event::Recorder;
use castellan_programs::Arg;

use crate::path::{self, Last, Located, Places};

#[derive(Default)]
pub(crate) struct Locations {
    /// Located program files, by path. A script runs the same program many times.
    programs: HashMap<String, Located>,
    /// Located arguments, relative to `seen_from`: with their final link followed, and with it kept.
    followed: HashMap<Arg, Located>,
    kept: HashMap<Arg, Located>,
    seen_from: Option<String>,
}

impl Locations {
    /// Locates a program's file. The caller knows that the path has no further symlinks.
    pub(super) fn program(&mut self, file: &str, places: &Places) -> &Located {
        self.programs.entry(file.to_owned()).or_insert_with(|| path::real(file.to_owned(), places))
    }

    /// Locates an argument relative to a directory.
    pub(super) fn of(
        &mut self,
        arg: &Arg,
        cwd: Option<&str>,
        last: Last,
        places: &Places,
        world: &mut Recorder<'_>,
    ) -> Located {
        if self.seen_from.as_deref() != cwd {
            self.followed.clear();
            self.kept.clear();
            self.seen_from = cwd.map(str::to_owned);
        }
        let known = match last {
            Last::Followed => &mut self.followed,
            Last::Kept => &mut self.kept,
        };
        if let Some(located) = known.get(arg) {
            return located.clone();
        }
        let located = path::find(arg, cwd, places, world, last);
        known.insert(arg.clone(), located.clone());
        located
    }
}
