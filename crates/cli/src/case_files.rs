//! Case files beside rule files on disk: pairing, and the case errors that block `apply`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_daemon::{CASES_ENDING, Config, is_case_file, pack_of_file, shipped_rules};
use castellan_policy::Policy;
use castellan_rules::{Problem, Source, Yaml, YamlValue};
use castellan_trial::{CaseFile, Trial, known_rules, load_errors};

use crate::limits::RULE_FILE_BYTES_MAX;
use crate::text_file;

/// Returns the case file beside a rule file, if any.
pub(crate) fn beside(rule_file: &str) -> anyhow::Result<Option<Source>> {
    let path = Path::new(rule_file);
    let Some(stem) = path.file_stem() else { return Ok(None) };
    let cases = path.with_file_name(format!("{}{CASES_ENDING}", stem.to_string_lossy()));
    if !cases.is_file() {
        return Ok(None);
    }
    // A rule file may have a name that ends like a case file.
    Ok(Some(source(&cases)?).filter(|source| !is_rules(source)))
}

/// Reports whether a file is a YAML list, as rule files are.
fn is_rules(file: &Source) -> bool {
    Yaml::read(file).is_ok_and(|root| matches!(root.value, YamlValue::List(_)))
}

/// Returns the rule files of a folder, sorted by name, without case files.
pub(crate) fn of_folder(folder: &Path) -> anyhow::Result<Vec<Source>> {
    let shown = folder.display();
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("`{shown}`"))? {
        let path = entry.with_context(|| format!("`{shown}`"))?.path();
        if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            paths.push(path);
        }
    }
    paths.sort();
    let sources: anyhow::Result<Vec<Source>> = paths.iter().map(|path| source(path)).collect();
    Ok(sources?.into_iter().filter(|source| !is_case_file(source)).collect())
}

/// Returns the named rule files. A case file gives its rule file; a folder gives all of its rule files.
pub(crate) fn named(paths: &[PathBuf]) -> anyhow::Result<Vec<Source>> {
    let mut rules: Vec<Source> = Vec::new();
    for path in paths {
        let text = path.to_string_lossy();
        let found = if path.is_dir() {
            of_folder(path)?
        } else {
            let of_cases = text.strip_suffix(CASES_ENDING).map(|stem| PathBuf::from(format!("{stem}.yaml")));
            vec![source(&of_cases.filter(|rules| rules.exists()).unwrap_or_else(|| path.clone()))?]
        };
        if found.is_empty() {
            bail!("`{}` has no rule files", path.display());
        }
        rules.extend(
            found
                .into_iter()
                .filter(|new| !rules.iter().any(|known| known.name == new.name))
                .collect::<Vec<_>>(),
        );
    }
    Ok(rules)
}

/// Reads a rule file or a case file.
pub(crate) fn source(file: &Path) -> anyhow::Result<Source> {
    Ok(Source { name: file.display().to_string(), text: text_file::read_found(file, RULE_FILE_BYTES_MAX)? })
}

/// Returns the shipped rule files followed by the named ones. A named file replaces the shipped pack of the same name.
pub(crate) fn with_shipped(files: &[Source]) -> Vec<Source> {
    with(&shipped_rules(), files)
}

/// Returns `those` rule files followed by the named ones. A named file replaces a file of the same pack name.
pub(crate) fn with(those: &[Source], files: &[Source]) -> Vec<Source> {
    let is_replaced = |name: &str| files.iter().any(|file| pack_of_file(&file.name) == pack_of_file(name));
    let kept = those.iter().filter(|file| !is_replaced(&file.name)).cloned();
    kept.chain(files.iter().cloned()).collect()
}

/// Returns the case files beside `files`, and the errors that block these rules. `policy`: the policy of `all` files.
pub(crate) fn problems(
    files: &[Source],
    all: &[Source],
    config: &Config,
    policy: &Policy,
) -> anyhow::Result<(Vec<Source>, Vec<Problem>)> {
    let (mut case_files, mut problems) = (Vec::new(), Vec::new());
    let mut known = None;
    for file in files {
        let Some(cases_file) = beside(&file.name)? else { continue };
        match CaseFile::read(&cases_file) {
            Ok(cases) => {
                let known = known.get_or_insert_with(|| known_rules(all, config));
                problems.extend(load_errors(Trial::new(policy), known, file, &cases_file, &cases));
            }
            Err(wrong) => problems.extend(wrong),
        }
        case_files.push(cases_file);
    }
    Ok((case_files, problems))
}
