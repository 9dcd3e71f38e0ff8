//! The difference between Falco's and this engine's answers. Codes of problems must be equal, messages need not.

use castellan_rules::Severity;

use crate::answer::Answer;
use crate::case::{Case, LoadedFile, Said};

/// Returns the first difference, in words.
pub(crate) fn difference(case: &Case, ours: &Answer) -> Option<String> {
    if ours.loaded.has_errors() == case.falco.ok {
        let word = if case.falco.ok { "loads" } else { "does not load" };
        return Some(format!("in Falco it {word}: {}{}", codes_of(case), problems(ours)));
    }
    let codes = case.falco.load.iter().find_map(|file| codes(file, ours));
    codes.or_else(|| if ours.loaded.has_errors() { None } else { alerts(case, ours) })
}

/// Falco stops at the first error of a file, and reports unused names in files that load. This engine reports that error
/// first, and then everything, so it may report more for a file with errors.
fn codes(file: &LoadedFile, ours: &Answer) -> Option<String> {
    let here = |severity: Severity| {
        let all = ours.loaded.problems.iter();
        let here = all.filter(|problem| problem.severity == severity && problem.file == file.name);
        here.map(|problem| problem.code).filter(|code| !is_own(code)).collect::<Vec<_>>()
    };
    let theirs = |said: &'_ [Said]| {
        let mut codes: Vec<String> = said.iter().map(|said| said.code.clone()).collect();
        codes.sort_unstable();
        codes
    };
    let (errors, warnings) = (theirs(&file.errors), theirs(&file.warnings));
    let (our_errors, mut our_warnings) = (here(Severity::Error), here(Severity::Warning));
    our_warnings.sort_unstable();
    let agree = if errors.is_empty() {
        our_errors.is_empty() && our_warnings == warnings
    } else {
        errors.first().map(String::as_str) == our_errors.first().copied()
            && warnings.iter().all(|code| our_warnings.contains(&code.as_str()))
    };
    let text = || format!("`{}`: Falco has {errors:?} {warnings:?}{}", file.name, problems(ours));
    if agree { None } else { Some(text()) }
}

/// Codes that Falco 0.43 does not have; this engine may report them in addition.
fn is_own(code: &str) -> bool {
    code.starts_with("CASTELLAN_") || code == "LOAD_UNKNOWN_KEY"
}

fn alerts(case: &Case, ours: &Answer) -> Option<String> {
    let theirs = &case.falco.alerts;
    let at = (0..theirs.len().max(ours.alerts.len())).find(|at| theirs.get(*at) != ours.alerts.get(*at))?;
    let text = format!("alert {at}:\n  falco {:?}\n  ours  {:?}", theirs.get(at), ours.alerts.get(at));
    Some(text)
}

fn codes_of(case: &Case) -> String {
    let said = case.falco.load.iter().flat_map(|file| file.errors.iter().chain(&file.warnings));
    said.map(|said| said.code.as_str()).collect::<Vec<_>>().join(" ")
}

fn problems(ours: &Answer) -> String {
    ours.loaded.problems.iter().map(|problem| format!("\n  ours  {}", problem.one_line())).collect()
}
