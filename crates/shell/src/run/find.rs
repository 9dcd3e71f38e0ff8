//! `find`: its output and its `-exec` commands, for unknown files in known directories. This module must not know
//! files.

use castellan_event::Why;
use castellan_programs::{Arg, Piece, invoke};

use super::Call;
use super::lists::replaced;
use crate::found::{Origin, Wrapped};
use crate::limits::SEARCH_STARTS_MAX;
use crate::scope::Scope;
use crate::state::State;
use crate::text::Text;
use crate::walk::Walker;

impl Walker<'_> {
    pub(super) fn find(&mut self, state: &mut State, scope: &Scope, call: &Call) {
        self.emit(state, scope, call);
        let clauses = clauses(&call.argv);
        let starts = starts(&call.argv);
        for (own, in_place, several, command) in clauses {
            if !self.goes_on(scope, call.span) {
                break;
            }
            let name = call.argv.first().map(|name| name.written().into_owned()).unwrap_or_default();
            let name = castellan_programs::base_name(&name).to_owned();
            let told = found(&call.argv, own.len().saturating_sub(1));
            let wrapper = Wrapped { name, argv: own, neutral: false };
            let Some(mut scope) = self.around(scope, wrapper, call) else { break };
            scope.origin = Origin::Wrapped;
            let all = || Piece::Unknown { why: Why::Glob, written: "**".to_owned() };
            let unknown = || Piece::Unknown { why: Why::Glob, written: "{}".to_owned() };
            self.work.spend((starts.len() * command.len()) as u64);
            let files: Vec<Arg> = match told {
                _ if in_place => vec![Arg::from_pieces([Piece::Text("./".to_owned()), unknown()], several)],
                Some(found) => {
                    found.iter().map(|one| Arg::from_pieces(one.pieces().to_vec(), several)).collect()
                }
                None => starts.iter().map(|start| below(start, all(), several)).collect(),
            };
            let mut calls: Vec<Vec<Arg>> = files.iter().map(|file| replaced(&command, "{}", file)).collect();
            calls.dedup();
            self.subshell(state, &scope, |walker, state| {
                if in_place {
                    state.directories = vec![None];
                }
                walker.each_started(state, &scope, call, calls);
            });
        }
        match printed(&call.argv) {
            Some(text) => self.deliver(state, scope, &text),
            None => self.unknown_output(state, scope, call, Why::File),
        }
        state.status = None;
    }
}

/// Returns the paths for the action at this position, if the tests restrict their names.
fn found(argv: &[Arg], action: usize) -> Option<Vec<Arg>> {
    let read = invoke(castellan_programs::find("find")?, argv);
    let found = read.found(argv, action);
    let is_told =
        !found.is_empty() && found.len() <= SEARCH_STARTS_MAX && found.iter().all(|one| !one.is_all);
    is_told.then(|| found.into_iter().map(|one| one.arg).collect())
}

/// Returns the printed paths, as patterns below the start paths.
fn printed(argv: &[Arg]) -> Option<Text> {
    let read = invoke(castellan_programs::find("find")?, argv);
    let mut text = Text::default();
    for found in read.printed(argv)? {
        let any = || Piece::Unknown { why: Why::Glob, written: "**".to_owned() };
        let arg = if found.is_all { below(&found.arg, any(), false) } else { found.arg };
        text.push(&Text::from(&arg));
        text.push_str("\n");
    }
    Some(text)
}

fn below(start: &Arg, unknown: Piece, several: bool) -> Arg {
    let mut pieces = start.pieces().to_vec();
    if !start.as_str().is_some_and(|path| path.ends_with('/')) {
        pieces.push(Piece::Text("/".to_owned()));
    }
    pieces.push(unknown);
    Arg::from_pieces(pieces, several || start.splits())
}

/// Returns the start paths.
fn starts(argv: &[Arg]) -> Vec<Arg> {
    let mut at = 1;
    while let Some(text) = argv.get(at).and_then(Arg::as_str) {
        match text {
            "-H" | "-L" | "-P" => at += 1,
            "-D" => at += 2,
            text if text.starts_with("-O") => at += 1,
            _ => break,
        }
    }
    let begins = |arg: &Arg| arg.prefix().starts_with(['-', '(', '!', ')', ',']);
    let mut paths: Vec<Arg> = argv.iter().skip(at).take_while(|arg| !begins(arg)).cloned().collect();
    if paths.len() > SEARCH_STARTS_MAX {
        paths.truncate(SEARCH_STARTS_MAX);
        paths.push(Arg::unknown(Why::Budget, "find", false));
    }
    if paths.is_empty() { vec![Arg::known(".")] } else { paths }
}

/// Returns the `-exec` clauses: words before, true for `-execdir`, true for several files at once, and the command.
fn clauses(argv: &[Arg]) -> Vec<(Vec<Arg>, bool, bool, Vec<Arg>)> {
    let mut found = Vec::new();
    let mut at = 1;
    while let Some(arg) = argv.get(at) {
        at += 1;
        let in_place = match arg.as_str() {
            Some("-exec" | "-ok") => false,
            Some("-execdir" | "-okdir") => true,
            _ => continue,
        };
        let begin = at;
        let mut several = false;
        while let Some(arg) = argv.get(at) {
            let before = at.checked_sub(1).and_then(|before| argv.get(before));
            match arg.as_str() {
                Some(";") => break,
                Some("+") if before.and_then(Arg::as_str) == Some("{}") => {
                    several = true;
                    break;
                }
                _ => at += 1,
            }
        }
        let words = argv.get(begin..at).unwrap_or_default().to_vec();
        at += 1;
        if !words.is_empty() {
            found.push((argv.get(..begin).unwrap_or_default().to_vec(), in_place, several, words));
        }
    }
    found
}
