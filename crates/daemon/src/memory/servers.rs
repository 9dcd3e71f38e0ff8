//! MCP servers without a question: configured before castellan, approved by a person, or used in a session with a
//! person's consent. Does not depend on how a server is configured.

use std::collections::{BTreeSet, HashMap};

use crate::limits::{MCP_SERVERS_MAX, SERVERS_PER_SESSION_MAX};
use crate::session_key::SessionKey;

#[derive(Debug, Default)]
pub(crate) struct Servers {
    /// Names known in every session. `None`: the servers that existed before castellan are still to be read.
    known: Option<BTreeSet<String>>,
    /// Names known in one session while the daemon runs.
    of_session: HashMap<SessionKey, BTreeSet<String>>,
}

impl Servers {
    /// Reports whether the servers that existed before castellan are still to be read.
    pub(crate) fn is_open(&self) -> bool {
        self.known.is_none()
    }

    /// Adds servers for every session. castellan asks about servers for which there is no room.
    pub(super) fn know(&mut self, names: impl IntoIterator<Item = String>) {
        let known = self.known.get_or_insert_default();
        for name in names {
            if known.len() < MCP_SERVERS_MAX {
                known.insert(name);
            }
        }
    }

    /// Adds a server for one session.
    pub(crate) fn use_in(&mut self, root: SessionKey, name: &str) {
        let used = self.of_session.entry(root).or_default();
        if used.len() < SERVERS_PER_SESSION_MAX {
            used.insert(name.to_owned());
        }
    }

    /// Reports whether a session may use a server without a question.
    pub(crate) fn knows(&self, root: &SessionKey, name: &str) -> bool {
        self.known.as_ref().is_some_and(|known| known.contains(name))
            || self.of_session.get(root).is_some_and(|used| used.contains(name))
    }

    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        for name in self.of_session.remove(from).unwrap_or_default() {
            self.use_in(into, &name);
        }
    }

    pub(super) fn forget(&mut self, root: &SessionKey) {
        self.of_session.remove(root);
    }

    /// The servers known in every session; `None` before they were read.
    pub(super) fn known(&self) -> Option<Vec<String>> {
        self.known.as_ref().map(|known| known.iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_everywhere_or_in_one_session() {
        let (a, b) = (SessionKey([1; 32]), SessionKey([2; 32]));
        let mut servers = Servers::default();
        assert!(servers.is_open());
        servers.know(["old".to_owned()]);
        servers.use_in(a, "new");
        let known =
            |servers: &Servers, of: &SessionKey| ["old", "new", "other"].map(|name| servers.knows(of, name));
        assert_eq!(
            (servers.is_open(), known(&servers, &a), known(&servers, &b)),
            (false, [true, true, false], [true, false, false])
        );
        servers.merge(&a, b);
        assert_eq!(known(&servers, &b), [true, true, false]);
        servers.forget(&b);
        assert_eq!(known(&servers, &b), [true, false, false]);
        assert_eq!(servers.known(), Some(vec!["old".to_owned()]));
    }

    #[test]
    fn what_there_is_no_room_for_is_asked_about() {
        let root = SessionKey([1; 32]);
        let mut servers = Servers::default();
        servers.know((0..=MCP_SERVERS_MAX).map(|number| format!("{number:09}")));
        assert!(!servers.knows(&root, &format!("{MCP_SERVERS_MAX:09}")));
        for number in 0..=SERVERS_PER_SESSION_MAX {
            servers.use_in(root, &format!("s{number}"));
        }
        assert!(!servers.knows(&root, &format!("s{SERVERS_PER_SESSION_MAX}")));
    }
}
