//! `conformance rules`: real rule files load without error or warning, every condition prints exactly as in Falco, and
//! the other output of `falco -L` about rules, macros and lists is the same.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use castellan_falco::{FieldTable, TableText};
use castellan_rules::{Loaded, Options, Source, load};

use serde_json::Value as Json;

use crate::described::Described;
use crate::{files, read};

/// A table of fields beside rule files. Such rules are for its source, not for castellan's.
const TABLE: &str = "syscall_fields.json";

/// Fields missing in such a table.
const ADDITIONS: TableText<'static> =
    TableText { name: "conformance/syscall_fields.json", text: include_str!("../syscall_fields.json") };

pub(crate) fn run(path: &Path, verbose: bool) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    let mut compared = 0;
    println!("| file | rules | conditions equal | rules equal | macros equal | lists equal | lints |");
    println!("|---|---|---|---|---|---|---|");
    for folder in folders(path)? {
        let rule_files = files(&folder, "yaml")?;
        compared += rule_files.len();
        if !rule_files.is_empty() {
            run_folder(&rule_files, verbose, &mut wrong)?;
        }
    }
    ensure!(compared > 0, "`{}` holds no rule files (*.yaml)", path.display());
    if wrong.is_empty() {
        return Ok(());
    }
    println!("\n{}", wrong.join("\n"));
    bail!("{} differences", wrong.len())
}

/// Returns a folder and the folders in it.
fn folders(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = vec![path.to_owned()];
    if path.is_dir() {
        for entry in std::fs::read_dir(path).with_context(|| format!("`{}`", path.display()))? {
            folders.push(entry?.path());
        }
        folders.retain(|folder| folder.is_dir());
    }
    folders.sort();
    Ok(folders)
}

/// Runs the files of a folder, each alone and then all together.
fn run_folder(files: &[PathBuf], verbose: bool, wrong: &mut Vec<String>) -> anyhow::Result<()> {
    let folder = files.first().and_then(|file| file.parent()).unwrap_or(Path::new("."));
    let table = table(folder)?;
    let sources: Vec<Source> = files.iter().map(|file| source(file)).collect::<anyhow::Result<_>>()?;
    for (file, source) in files.iter().zip(&sources) {
        let source = std::slice::from_ref(source);
        let theirs = Described::read(&file.with_extension("described.json"))?;
        let loaded = loaded(source, &table, wrong);
        let ours = Described::of(&loaded)?;
        wrong.extend(read_back(&loaded, &table)?);
        let conditions = equal(&ours.rules, &theirs.rules, |rule| (&rule.name, &rule.condition_compiled));
        let whole = [
            equal(&ours.rules, &theirs.rules, |rule| rule),
            equal(&ours.macros, &theirs.macros, |found| found),
            equal(&ours.lists, &theirs.lists, |list| list),
        ];
        let shown: Vec<&str> = whole.iter().map(|(shown, _)| shown.as_str()).collect();
        let (name, rules) = (file.file_name().unwrap_or_default().to_string_lossy(), ours.rules.len());
        println!(
            "| {name} | {rules} | {} | {} | {} |",
            conditions.0,
            shown.join(" | "),
            lints(source, &table)
        );
        wrong.extend(whole.into_iter().flat_map(|(_, different)| different));
        if verbose {
            ours.rules.iter().for_each(|rule| println!("  {}: {}", rule.name, rule.condition_compiled));
        }
    }
    if sources.len() > 1 {
        let rules = loaded(&sources, &table, wrong).rules.rules().len();
        println!("| all of these, in this order | {rules} | | | | | {} |", lints(&sources, &table));
    }
    Ok(())
}

/// Returns the number of Falco's parts that are equal here, and the others.
fn equal<'d, T, P: PartialEq + Debug>(
    ours: &'d [T],
    theirs: &'d [T],
    part: impl Fn(&'d T) -> P,
) -> (String, Vec<String>) {
    let mut different = Vec::new();
    let mut count = 0;
    for at in 0..ours.len().max(theirs.len()) {
        match (ours.get(at).map(&part), theirs.get(at).map(&part)) {
            (ours, theirs) if ours == theirs => count += 1,
            (ours, theirs) => different.push(format!("ours  {ours:?}\nfalco {theirs:?}")),
        }
    }
    (format!("{count}/{}", theirs.len()), different)
}

/// Loads files; a problem of any kind is an error.
fn loaded(sources: &[Source], table: &FieldTable, wrong: &mut Vec<String>) -> Loaded {
    let loaded = load(sources, &table.fields(), &Options { describe: true, ..options(table) });
    wrong.extend(loaded.problems.iter().map(|problem| problem.one_line()));
    loaded
}

/// Loads the printed conditions as another file, which must give the same conditions. Returns the difference.
fn read_back(first: &Loaded, table: &FieldTable) -> anyhow::Result<Option<String>> {
    let description = first.description.as_ref().context("the rules were not described")?;
    let rules = first.rules.rules().iter().zip(&description.rules).map(|(rule, described)| {
        let keys = [
            ("rule", &rule.name),
            ("condition", &described.reparsable),
            ("source", &rule.source.to_string()),
        ];
        let keys = keys.map(|(key, value)| format!("{key}: {}", Json::from(value.as_str())));
        format!("- {{{}, desc: d, output: o, priority: INFO}}\n", keys.join(", "))
    });
    let source = Source { name: "read back".to_owned(), text: rules.collect() };
    let again = load(&[source], &table.fields(), &options(table));
    let conditions =
        |loaded: &Loaded| loaded.rules.rules().iter().map(|rule| rule.condition.clone()).collect::<Vec<_>>();
    let problems: String = again.problems.iter().map(|problem| problem.one_line() + "\n").collect();
    let same = !again.has_errors() && conditions(&again) == conditions(first);
    Ok(if same {
        None
    } else {
        Some(format!("conditions that are not read back as they print:\n{problems}"))
    })
}

fn lints(sources: &[Source], table: &FieldTable) -> usize {
    load(sources, &table.fields(), &Options { lints: true, ..options(table) }).problems.len()
}

fn options(table: &FieldTable) -> Options {
    table.options(Options { redefined_in_file: true, ..Options::default() })
}

fn table(folder: &Path) -> anyhow::Result<FieldTable> {
    let file = folder.join(TABLE);
    if !file.exists() {
        return Ok(FieldTable::castellan());
    }
    let text = read(&file)?;
    Ok(FieldTable::read(&[TableText { name: TABLE, text: &text }, ADDITIONS])?)
}

fn source(file: &Path) -> anyhow::Result<Source> {
    Ok(Source { name: file.display().to_string(), text: read(file)? })
}
