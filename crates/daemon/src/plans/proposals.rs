//! [`Proposals`]: plans that agents or persons propose as Markdown, with the effect scope that castellan compiles them
//! to. They wait in memory for a person. It must not know the user presence check.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use castellan_event::{Facts, Recorder, sha256_hex};
use castellan_plans::{Analysed, SnippetKind, describe, read, render, scope_of, snippets};
use castellan_policy::RequestId;

use super::imagined;
use crate::facts::facts_after;
use crate::limits::PROPOSALS_MAX;
use crate::memory::PlanPlace;
use crate::requests::is_called;
use crate::world::FileSystem;

/// A proposed plan.
#[derive(Debug, Clone)]
pub(crate) struct Proposed {
    pub(crate) id: RequestId,
    pub(crate) place: PlanPlace,
    /// The workspace, or the agent's id of the session, for people.
    pub(crate) of: String,
    /// The plan in castellan's format.
    pub(crate) text: String,
    /// The scope for people: titles and lines.
    pub(crate) scope: Vec<(String, Vec<String>)>,
    /// Parts of the text that the plan does not cover, one line each.
    pub(crate) not_covered: Vec<String>,
}

/// Proposed plans, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    all: Mutex<VecDeque<Proposed>>,
}

impl Proposals {
    /// Stores a proposal. A newer one for the same place replaces the one before.
    pub(crate) fn add(&self, proposed: Proposed) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.place != proposed.place);
        if all.len() >= PROPOSALS_MAX {
            all.pop_front();
        }
        all.push_back(proposed);
    }

    /// The proposal of an id as a person writes it.
    pub(crate) fn called(&self, id: &str) -> Option<Proposed> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|one| is_called(one.id, id)).cloned()
    }

    /// All proposals, oldest first.
    pub(crate) fn all(&self) -> Vec<Proposed> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(crate) fn end(&self, id: RequestId) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| one.id != id);
    }
}

impl Proposed {
    /// Identifies the plan, so that a person agrees exactly to what was shown.
    pub(crate) fn hash(&self) -> String {
        sha256_hex(&self.text)
    }
}

/// Compiles Markdown to the plan that permits what its shell text does in a workspace. `pid`: a process with the
/// environment of the work. `own`: castellan's own files.
pub(crate) fn propose(
    markdown: &str,
    (id, place, of): (RequestId, PlanPlace, &str),
    (root, pid): (&str, u32),
    own: &[String],
) -> Result<Proposed, String> {
    let found = snippets(markdown);
    let machine = FileSystem::default();
    let facts: Vec<Option<Facts>> = found
        .iter()
        .map(|snippet| match snippet.kind {
            SnippetKind::Block | SnippetKind::Inline => {
                let mut world = Recorder::new(&machine);
                Some(facts_after(&imagined(root, pid, &snippet.text), own, root, None, &mut world))
            }
            SnippetKind::Path | SnippetKind::Word | SnippetKind::Unread => None,
        })
        .collect();
    let analysed: Vec<Analysed<'_>> = found
        .iter()
        .zip(&facts)
        .map(|(snippet, facts)| Analysed { snippet, facts: facts.as_ref() })
        .collect();
    let proposal = scope_of(&analysed, root, None);
    let text = render(&proposal.plan);
    // The text is what comes into force.
    let plan = read(text.as_bytes(), &|_| Vec::new()).map_err(|error| error.to_string())?;
    let not_covered = proposal.not_covered.iter().map(|one| {
        let reasons: Vec<&str> = one.outside.iter().map(|departure| departure.kind.meaning()).collect();
        let reasons = if reasons.is_empty() { "it was not read".to_owned() } else { reasons.join(", ") };
        format!("line {}: {}: {reasons}", one.snippet.line, one.snippet.text.replace('\n', "; "))
    });
    Ok(Proposed {
        id,
        place,
        of: of.to_owned(),
        scope: describe(&plan),
        not_covered: not_covered.collect(),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(id: u32, place: &str) -> Proposed {
        Proposed {
            id: RequestId::nth(id),
            place: PlanPlace::Workspace(place.to_owned()),
            of: place.to_owned(),
            text: String::new(),
            scope: Vec::new(),
            not_covered: Vec::new(),
        }
    }

    #[test]
    fn a_newer_proposal_replaces_one_of_the_same_place_and_the_oldest_makes_room() {
        let proposals = Proposals::default();
        proposals.add(proposed(1, "/a"));
        proposals.add(proposed(2, "/a"));
        assert!(proposals.called("A2").is_none() && proposals.called("a3").is_some());
        for number in 0..u32::try_from(PROPOSALS_MAX).unwrap() {
            proposals.add(proposed(10 + number, &format!("/{number}")));
        }
        assert_eq!((proposals.all().len(), proposals.called("A3").is_none()), (PROPOSALS_MAX, true));
    }

    #[test]
    fn the_scope_of_markdown_is_that_of_its_shell_text() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().display().to_string();
        let markdown =
            "# Plan\n\nRun `touch out/a` and then:\n\n```sh\nmkdir -p build\n```\n\nAlso `sh -c \"$X\"`.\n";
        let place = PlanPlace::Workspace(root.clone());
        let done =
            propose(markdown, (RequestId::nth(1), place, "w"), (&root, std::process::id()), &[]).unwrap();
        let lines = |title: &str| {
            let section = done.scope.iter().find(|(one, _)| one == title);
            section.map(|(_, lines)| lines.join(" | ")).unwrap_or_default()
        };
        assert!(lines("commands").contains("mkdir -p build"), "{:?}", done.scope);
        assert!(lines("writes") == "build | out/a", "{:?}", done.scope);
        assert_eq!(done.not_covered.len(), 1, "{:?}", done.not_covered);
        assert!(done.not_covered[0].contains("line 9"), "{:?}", done.not_covered);
    }
}
