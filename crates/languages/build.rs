//! Reads the library models in `models/*.toml`, checks them, and writes them as static tables of the types in
//! `src/table.rs`. An entry is one line: `name other-name (parameter=part, *rest, *, named) -> type ?why = computation
//! : effect`. `@` means a call of the module itself.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The model of the libraries of one language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    global: String,
    files: Vec<String>,
    escapes: Vec<String>,
    /// Names of modules, separated by blanks.
    inert: Vec<String>,
    methods: Vec<String>,
    module: Vec<Space>,
    #[serde(rename = "type")]
    types: Vec<Space>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Space {
    names: String,
    /// Names of members, separated by blanks.
    #[serde(default)]
    inert: Vec<String>,
    #[serde(default)]
    entries: Vec<String>,
}

const LANGUAGES: &[&str] =
    &["python", "javascript", "perl", "ruby", "php", "lua", "powershell", "batch", "applescript"];

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=models");
    let mut written = String::new();
    for language in LANGUAGES {
        let file = format!("models/{language}.toml");
        let model: Model = toml::from_str(&fs::read_to_string(&file)?).with_context(|| file.clone())?;
        table(language, &model, &mut written).context(file)?;
    }
    let out = env::var_os("OUT_DIR").context("OUT_DIR")?;
    fs::write(Path::new(&out).join("tables.rs"), written)?;
    Ok(())
}

fn table(language: &str, model: &Model, out: &mut String) -> Result<()> {
    let types: Vec<&str> = model.types.iter().flat_map(|one| one.names.split_whitespace()).collect();
    let mut inert: Vec<&str> = words(&model.inert);
    once(inert.clone()).context("inert")?;
    once(model.module.iter().flat_map(|one| one.names.split_whitespace()).collect()).context("modules")?;
    once(types.clone()).context("types")?;
    inert.sort_unstable();
    let modules = spaces(&model.module, &types)?;
    let kinds = spaces(&model.types, &types)?;
    let modules_by_name = by_name(model.module.iter().map(|one| one.names.split_whitespace()));
    let types_by_name = by_name(model.types.iter().map(|one| one.names.split_whitespace()));
    let methods = Space { names: String::new(), inert: Vec::new(), entries: model.methods.clone() };
    writeln!(
        out,
        "static {}: Table = Table {{ global: {:?}, modules: &[{modules}], modules_by_name: &{modules_by_name:?}, \
         types: &[{kinds}], types_by_name: &{types_by_name:?}, inert: &{inert:?}, escapes: &{:?}, methods: {}, files: &{:?} }};",
        language.to_uppercase(),
        model.global,
        words(&model.escapes),
        space(&methods, &types)?,
        model.files,
    )?;
    Ok(())
}

/// Returns every name, sorted, with its index.
fn by_name<'n>(all: impl Iterator<Item = impl Iterator<Item = &'n str>>) -> Vec<(&'n str, usize)> {
    let mut names: Vec<(&str, usize)> =
        all.enumerate().flat_map(|(place, names)| names.map(move |name| (name, place))).collect();
    names.sort_unstable();
    names
}

/// Checks that a name has one meaning: it is inert, or it is one entry.
fn once(mut names: Vec<&str>) -> Result<()> {
    names.sort_unstable();
    let twice: Vec<&str> = names
        .windows(2)
        .filter(|pair| pair.first() == pair.last())
        .flat_map(|pair| pair.first().copied())
        .collect();
    ensure!(twice.is_empty(), "{twice:?} stand there twice");
    Ok(())
}

fn words(lines: &[String]) -> Vec<&str> {
    lines.iter().flat_map(|line| line.split_whitespace()).collect()
}

fn spaces(all: &[Space], types: &[&str]) -> Result<String> {
    all.iter().map(|one| Ok(space(one, types).with_context(|| one.names.clone())? + ",\n")).collect()
}

fn space(space: &Space, types: &[&str]) -> Result<String> {
    let mut entries = String::new();
    let mut names: Vec<(&str, usize)> = Vec::new();
    for (place, line) in space.entries.iter().enumerate() {
        entries.push_str(&entry(line, types).with_context(|| line.clone())?);
        let ends = ["(", " -> ", " = ", " : ", " ?"].iter().filter_map(|end| line.find(end));
        let head = line.get(..ends.min().unwrap_or(line.len())).unwrap_or_default();
        names.extend(head.split_whitespace().map(|name| (name, place)));
    }
    names.sort_unstable();
    let mut inert = words(&space.inert);
    inert.sort_unstable();
    once(names.iter().map(|(name, _)| *name).chain(inert.iter().copied()).collect())?;
    let own: Vec<&str> = space.names.split_whitespace().collect();
    Ok(format!("Space {{ names: &{own:?}, entries: &[{entries}], by_name: &{names:?}, inert: &{inert:?} }}"))
}

fn entry(line: &str, types: &[&str]) -> Result<String> {
    let (head, does) = line.split_once(" : ").unwrap_or((line, ""));
    let (head, computes) = match head.rsplit_once(" = ") {
        Some((head, name)) => (head, name.trim()),
        None => (head, ""),
    };
    let (head, why) = match head.rsplit_once(" ?") {
        Some((head, why)) => (head, format!("Some(Why::{})", pascal(why.trim()))),
        None => (head, "None".to_owned()),
    };
    let (head, gives) = match head.rsplit_once(" -> ") {
        Some((head, kind)) => (head, kind.trim()),
        None => (head, ""),
    };
    ensure!(gives.is_empty() || types.contains(&gives), "no type `{gives}`");
    let (names, given) = match head.split_once('(') {
        Some((names, rest)) => {
            let rest = rest.trim().strip_suffix(')').context("no `)`")?;
            (names, Some(parameters(rest)?))
        }
        None => (head, None),
    };
    let names: Vec<&str> = names.split_whitespace().collect();
    ensure!(!names.is_empty(), "no name");
    let given = given.map_or("None".to_owned(), |given| format!("Some(&[{given}])"));
    let does: Vec<String> = does.split_whitespace().map(effect).collect();
    Ok(format!(
        "Entry {{ names: &{names:?}, parameters: {given}, does: &[{}], gives: {gives:?}, why: {why}, computes: {computes:?} }},\n",
        does.join(",")
    ))
}

/// `a, b=read, *c, *, d=write+tree, e=read|.`
fn parameters(text: &str) -> Result<String> {
    let mut written = String::new();
    let mut takes = "One";
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        if word == "*" {
            takes = "Named";
            continue;
        }
        let (word, default) =
            word.split_once('|').map_or((word, None), |(word, default)| (word, Some(default)));
        let (name, parts) = word.split_once('=').unwrap_or((word, ""));
        let (name, own) = match name.strip_prefix('*') {
            Some(name) => (name, "Rest"),
            None if name == "self" => (name, "Receiver"),
            None => (name, takes),
        };
        let parts: Vec<String> = parts.split('+').filter(|part| !part.is_empty()).map(part).collect();
        write!(
            written,
            "Parameter {{ name: {name:?}, takes: Takes::{own}, parts: &[{}], default: {default:?} }},",
            parts.join(",")
        )?;
    }
    Ok(written)
}

/// `write`, `sql:sqlite`
fn part(word: &str) -> String {
    match word.split_once(':') {
        Some((name, detail)) => format!("Part::{}({detail:?})", pascal(name)),
        None => format!("Part::{}", pascal(word)),
    }
}

/// `kind`, `kind@path`, `kind/system/verb`
fn effect(word: &str) -> String {
    let (word, path) = word.split_once('@').unwrap_or((word, ""));
    let mut words = word.split('/');
    let mut next = || words.next().unwrap_or_default();
    format!(
        "Does {{ kind: EffectKind::{}, system: {:?}, verb: {:?}, path: {path:?} }}",
        pascal(next()),
        next(),
        next(),
    )
}

/// `is-tree` to `IsTree`.
fn pascal(word: &str) -> String {
    let mut name = String::new();
    for part in word.split('-') {
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}
