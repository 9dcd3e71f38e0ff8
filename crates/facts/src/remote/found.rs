//! [`Found`]: the changes that the parts of a request show. It must not know the machine.

use castellan_programs::lexicons::remote::{
    ENDS, KEYS, NO_RIGHTS, OPENS, OWNERS, PATH_RIGHTS, READS, ROTATES, STOPS,
};

use super::body;
use super::change::Change;
use super::graphql::mutated;
use crate::limits::FIELDS_MAX;
use crate::told::{has, words};

/// The changes of one request: of each kind the first.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) changes: Vec<(Change, String)>,
    /// Fields of mutations so far.
    pub(super) fields: usize,
}

impl Found {
    pub(super) fn add(&mut self, change: Change, name: &str) {
        if !self.changes.iter().any(|(before, _)| *before == change) {
            self.changes.push((change, name.to_owned()));
        }
    }

    fn named(&mut self, name: &str) {
        if let Some(change) = Change::of(name) {
            self.add(change, name);
        }
    }

    /// Adds the fields of a document of GraphQL.
    pub(super) fn of_document(&mut self, text: &str) {
        for field in mutated(text).unwrap_or_default() {
            self.fields += 1;
            if self.fields <= FIELDS_MAX {
                self.named(&field);
            }
        }
    }

    /// Adds the documents in a body: all of it, or a value in it.
    pub(super) fn in_document(&mut self, text: &str) {
        let text = &*body::with_letters(text);
        // Most bodies hold none.
        if text.contains("mutation") {
            self.of_document(text);
            if let Some(at) = text.find("\nmutation") {
                self.of_document(text.get(at..).unwrap_or_default());
            }
            body::values(text, "query").iter().for_each(|document| self.of_document(document));
            // A tagged template is a list.
            body::listed(text).iter().for_each(|document| self.of_document(document));
        }
        // A query that the server has stored is called by its name.
        if text.contains("persistedQuery") {
            body::values(text, "operationName").iter().for_each(|name| self.named(name));
        }
    }

    /// Adds the operation that a protocol names: AWS's `Action`, the target of its JSON, and JSON-RPC's method.
    pub(super) fn in_protocol(&mut self, text: &str) {
        let actions = if text.contains("Action=") { body::values(text, "Action") } else { Vec::new() };
        let methods = if text.contains("jsonrpc") { body::values(text, "method") } else { Vec::new() };
        actions.iter().chain(&methods).for_each(|name| self.named(last_of(name)));
        if let Some((header, target)) = text.split_once(':')
            && header.eq_ignore_ascii_case("x-amz-target")
        {
            self.named(last_of(target.trim()));
        }
    }

    /// Adds the order in a path: `/volumes/1/delete`, `/api-keys/1/rotate`, `/repos/a/b/collaborators/c`.
    pub(super) fn in_path(&mut self, path: &str, place: &str, bodies: &[String]) {
        let is_name = |part: &&str| !part.is_empty() && (!is_id(part) || Change::of(part).is_some());
        let parts: Vec<&str> = path.split('/').filter(is_name).collect();
        let Some(last) = parts.last() else { return };
        let own = words(last_of(last));
        let reads = own.split_whitespace().next().is_some_and(|first| READS.contains(&first));
        // A plural names things: `POST /archives` makes one.
        let change = Change::of_words(&own).filter(|_| !last.ends_with('s'));
        if reads {
            return;
        }
        // The object is one or two parts before: `/keys/1/rotate`.
        let near = |count: usize| {
            words(parts.get(parts.len().saturating_sub(count)..).unwrap_or_default().join(" ").as_str())
        };
        if let Some(change) = change {
            self.add(change, place);
        } else if has(&near(3), ROTATES) && has(&near(3), KEYS) && !has(&near(3), NO_RIGHTS) {
            self.add(Change::Rotate, place);
        } else if has(&near(2), PATH_RIGHTS) && !has(&near(2), NO_RIGHTS) {
            self.add(Change::Rights, place);
        }
        let is_open = |text: &String| {
            let text = text.replace('=', ":");
            let plain: String =
                text.chars().filter(|sign| !sign.is_whitespace() && !"\"'".contains(*sign)).collect();
            OPENS.iter().any(|value| plain.to_ascii_lowercase().contains(value))
        };
        if bodies.iter().any(|text| ends(text, &own)) {
            self.add(Change::Delete, place);
        }
        if bodies.iter().any(is_open) {
            self.add(Change::Publish, place);
        }
    }
}

/// True if a body sets the state of a thing to an end, of an account also to a stop.
fn ends(body: &str, thing: &str) -> bool {
    let states = ["status", "state", "Status", "State"].iter().flat_map(|key| body::values(body, key));
    let is_end = |state: String| {
        let state = state.trim().to_ascii_lowercase();
        ENDS.contains(&state.as_str()) || STOPS.contains(&state.as_str()) && has(thing, OWNERS)
    };
    states.into_iter().any(is_end)
}

/// The last part of a name with points: `admin.users.remove`.
fn last_of(name: &str) -> &str {
    let end = name.rsplit(['.', ':']).next().unwrap_or_default();
    if end.is_empty() { name } else { end }
}

/// True if a part of a path names one thing: it has a digit, or is not known.
fn is_id(part: &str) -> bool {
    part.contains(['$', '{', '@', '%', '`']) || part.chars().any(|letter| letter.is_ascii_digit())
}
