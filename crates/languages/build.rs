//! Reads the library models in `models/*.toml`, checks them, and writes them into images of the types in
//! `src/table/types.rs`. An entry is one line: `name other-name (parameter=part, *rest, *, named) -> type ?why = computation
//! : effect`. `@` means a call of the module itself.

#[path = "src/table/types.rs"]
mod types;

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error as UnknownWord;

use crate::types::{Does, Entry, Parameter, Part, Space, Table, Takes};

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
    module: Vec<Members>,
    #[serde(rename = "type")]
    types: Vec<Members>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
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
    let out = env::var_os("OUT_DIR").context("OUT_DIR")?;
    let mut written = String::new();
    for language in LANGUAGES {
        let file = format!("models/{language}.toml");
        let text = fs::read_to_string(&file)?.leak();
        let model: Model = toml::from_str(text).with_context(|| file.clone())?;
        let image = postcard::to_allocvec(&table(Box::leak(Box::new(model))).context(file)?)?;
        fs::write(Path::new(&out).join(format!("{language}.image")), image)?;
        writeln!(
            written,
            "static {}: Image = Image::new(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{language}.image\")));",
            language.to_uppercase()
        )?;
    }
    fs::write(Path::new(&out).join("tables.rs"), written)?;
    Ok(())
}

fn table(model: &'static Model) -> Result<Table> {
    let types: Vec<&str> = model.types.iter().flat_map(|one| one.names.split_whitespace()).collect();
    let mut inert = words(&model.inert);
    once(inert.clone()).context("inert")?;
    once(model.module.iter().flat_map(|one| one.names.split_whitespace()).collect()).context("modules")?;
    once(types.clone()).context("types")?;
    inert.sort_unstable();
    Ok(Table {
        global: &model.global,
        modules: spaces(&model.module, &types)?,
        modules_by_name: by_name(model.module.iter().map(|one| one.names.split_whitespace())),
        types: spaces(&model.types, &types)?,
        types_by_name: by_name(model.types.iter().map(|one| one.names.split_whitespace())),
        inert: inert.leak(),
        escapes: words(&model.escapes).leak(),
        methods: space("", &[], &model.methods, &types)?,
        files: model.files.iter().map(String::as_str).collect::<Vec<_>>().leak(),
    })
}

/// Returns every name, sorted, with its index.
fn by_name(
    all: impl Iterator<Item = impl Iterator<Item = &'static str>>,
) -> &'static [(&'static str, usize)] {
    let mut names: Vec<(&str, usize)> =
        all.enumerate().flat_map(|(place, names)| names.map(move |name| (name, place))).collect();
    names.sort_unstable();
    names.leak()
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

fn words(lines: &'static [String]) -> Vec<&'static str> {
    lines.iter().flat_map(|line| line.split_whitespace()).collect()
}

fn spaces(all: &'static [Members], types: &[&str]) -> Result<&'static [Space]> {
    let space = |one: &'static Members| {
        space(&one.names, &one.inert, &one.entries, types).context(one.names.as_str())
    };
    Ok(all.iter().map(space).collect::<Result<Vec<_>>>()?.leak())
}

fn space(
    names: &'static str,
    inert: &'static [String],
    lines: &'static [String],
    types: &[&str],
) -> Result<Space> {
    let mut entries = Vec::new();
    let mut by_name: Vec<(&str, usize)> = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let entry = entry(line, types).context(line.as_str())?;
        by_name.extend(entry.names.iter().map(|name| (*name, place)));
        entries.push(entry);
    }
    by_name.sort_unstable();
    let mut inert = words(inert);
    inert.sort_unstable();
    once(by_name.iter().map(|(name, _)| *name).chain(inert.iter().copied()).collect())?;
    Ok(Space {
        names: names.split_whitespace().collect::<Vec<_>>().leak(),
        entries: entries.leak(),
        by_name: by_name.leak(),
        inert: inert.leak(),
    })
}

fn entry(line: &'static str, types: &[&str]) -> Result<Entry> {
    let (head, does) = line.split_once(" : ").unwrap_or((line, ""));
    let (head, computes) = match head.rsplit_once(" = ") {
        Some((head, name)) => (head, name.trim()),
        None => (head, ""),
    };
    let (head, why) = match head.rsplit_once(" ?") {
        Some((head, why)) => (head, Some(word(why.trim())?)),
        None => (head, None),
    };
    let (head, gives) = match head.rsplit_once(" -> ") {
        Some((head, kind)) => (head, kind.trim()),
        None => (head, ""),
    };
    ensure!(gives.is_empty() || types.contains(&gives), "no type `{gives}`");
    let (names, parameters) = match head.split_once('(') {
        Some((names, rest)) => {
            let rest = rest.trim().strip_suffix(')').context("no `)`")?;
            (names, Some(parameters(rest)?))
        }
        None => (head, None),
    };
    let names: Vec<&str> = names.split_whitespace().collect();
    ensure!(!names.is_empty(), "no name");
    let does = does.split_whitespace().map(effect).collect::<Result<Vec<_>>>()?;
    Ok(Entry { names: names.leak(), parameters, does: does.leak(), gives, why, computes })
}

/// `a, b=read, *c, *, d=write+tree, e=read|.`
fn parameters(text: &'static str) -> Result<&'static [Parameter]> {
    let mut parameters = Vec::new();
    let mut takes = Takes::One;
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        if word == "*" {
            takes = Takes::Named;
            continue;
        }
        let (word, default) =
            word.split_once('|').map_or((word, None), |(word, default)| (word, Some(default)));
        let (name, parts) = word.split_once('=').unwrap_or((word, ""));
        let (name, takes) = match name.strip_prefix('*') {
            Some(name) => (name, Takes::Rest),
            None if name == "self" => (name, Takes::Receiver),
            None => (name, takes),
        };
        let parts = parts.split('+').filter(|part| !part.is_empty()).map(part);
        let parts = parts.collect::<Result<Vec<_>>>()?.leak();
        parameters.push(Parameter { name, takes, parts, default });
    }
    Ok(parameters.leak())
}

/// `write`, `sql:sqlite`
fn part(text: &'static str) -> Result<Part> {
    text.strip_prefix("sql:").map_or_else(|| word(text), |system| Ok(Part::Sql(system)))
}

/// `kind`, `kind@path`, `kind/system/verb`
fn effect(text: &'static str) -> Result<Does> {
    let (text, path) = text.split_once('@').unwrap_or((text, ""));
    let mut words = text.split('/');
    let mut next = || words.next().unwrap_or_default();
    Ok(Does { kind: word(next())?, system: next(), verb: next(), path })
}

/// Returns the value of an enum that has this word.
fn word<'w, T: Deserialize<'w>>(word: &'w str) -> Result<T> {
    T::deserialize(word.into_deserializer()).map_err(|error: UnknownWord| error.into())
}
