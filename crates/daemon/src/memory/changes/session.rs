//! The open calls of one session. It must not know other sessions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Begun, Changed, Ended, Open, REST_IN_BACKGROUND, REST_WAITED_FOR, Session, keep_within};
use crate::limits::{CHANGED_PATHS_PER_SESSION_MAX, OPEN_CALLS_PER_SESSION_MAX};

impl Session {
    pub(super) fn but(&self, call: Option<u64>) -> Changed {
        let own = self.open.iter().find(|open| Some(open.call) == call);
        let written = match own {
            Some(own) => Arc::new(self.written.difference(&own.alone).cloned().collect()),
            None => Arc::clone(&self.written),
        };
        let others = self.open.iter().filter(|open| Some(open.call) != call);
        let changing = others.flat_map(|open| &open.paths).cloned().collect();
        let (has_tunnel, is_full) = (self.has_tunnel, self.is_full);
        Changed {
            written,
            origins: self.origins.clone(),
            has_tunnel,
            is_full,
            changing,
            ..Changed::default()
        }
    }

    /// `room`: number of paths that all sessions together may still add.
    pub(super) fn begin(&mut self, begun: Begun<'_>, room: usize) -> Option<Ended> {
        self.has_tunnel |= begun.opens_tunnel;
        self.is_full |= !self.origins.add(begun.origins);
        let mut open = Open {
            call: begun.call,
            id: begun.id.to_owned(),
            alone: begun.paths.difference(&self.written).cloned().collect(),
            paths: begun.paths,
            scripts: begun.scripts,
            code: begun.code,
            copying: begun.copying,
            in_background: begun.in_background,
            outlasts: begun.outlasts,
            start: begun.start,
            is_reported: false,
        };
        let call = open.call;
        let again = self.open.iter().position(|open| open.call == call);
        if let Some(before) = again.and_then(|at| self.open.remove(at)) {
            open.lasts_as(&before);
            open.id = before.id;
            open.paths.extend(before.paths);
            open.alone.extend(before.alone);
            open.code.extend(before.code);
            open.copying.add(before.copying);
            open.in_background |= before.in_background;
        }
        for other in &mut self.open {
            other.alone.retain(|path| !open.paths.contains(path));
        }
        let most = CHANGED_PATHS_PER_SESSION_MAX.min(self.written.len() + room);
        for path in &open.paths {
            if self.written.contains(path) {
                continue;
            }
            self.is_full |= self.written.len() >= most;
            if !self.is_full {
                Arc::make_mut(&mut self.written).insert(path.clone());
            }
        }
        self.open.push_back(open);
        self.make_room()
    }

    /// Over the limit, drops the oldest call: first one that the agent waits for, then one in the background. Its paths
    /// stay in the changing set, as part of a rest.
    fn make_room(&mut self) -> Option<Ended> {
        let is_kept = |open: &Open| !matches!(open.call, REST_WAITED_FOR | REST_IN_BACKGROUND);
        if self.open.iter().filter(|open| is_kept(open)).count() <= OPEN_CALLS_PER_SESSION_MAX {
            return None;
        }
        let waited_for = self.open.iter().position(|open| is_kept(open) && !open.in_background);
        let mut oldest = self.open.remove(waited_for.or_else(|| self.open.iter().position(is_kept))?)?;
        let call = if oldest.in_background { REST_IN_BACKGROUND } else { REST_WAITED_FOR };
        let mut rest = match self.open.iter().position(|open| open.call == call) {
            Some(at) => self.open.remove(at)?,
            None => Open::rest(call, &oldest),
        };
        rest.lasts_as(&oldest);
        rest.paths.extend(oldest.paths.iter().cloned());
        rest.copying.add(oldest.copying.clone());
        for paths in [&mut rest.paths, &mut rest.copying.into] {
            self.is_full |= !keep_within(paths, CHANGED_PATHS_PER_SESSION_MAX);
        }
        rest.code.extend(oldest.code.iter().cloned());
        if rest.code.len() > CHANGED_PATHS_PER_SESSION_MAX {
            rest.code = BTreeSet::from(["/".to_owned()]);
        }
        self.open.push_front(rest);
        Some(oldest.end())
    }
}
