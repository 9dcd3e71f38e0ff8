//! Reads the models in `models/*.toml` and the tables in `knowledge/`, and checks them. Writes the models into one image of
//! the types in `src/program.rs`, and the other tables as static ones of the types in `src/system.rs` and `src/traits.rs`.

#[expect(dead_code, unreachable_pub, reason = "the library uses and exports the rest of it")]
#[path = "src/program.rs"]
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error as UnknownWord;

use crate::program::{Attribute, EffectRow, Form, Opt, Place, Program, Slot, Source, Takes, Term, Test};

/// One file of models: a family of programs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    /// Options that several programs of the family share, by group name.
    #[serde(default)]
    groups: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    program: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    names: Vec<String>,
    style: Option<String>,
    wrapper: Option<String>,
    #[serde(default)]
    builtin: bool,
    /// Attributes of the program without any option.
    #[serde(default)]
    always: Vec<String>,
    #[serde(default)]
    dashed: bool,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    selects: bool,
    /// Variables that hold further options.
    #[serde(default)]
    environment: Vec<String>,
    /// Names of groups whose options the program takes.
    #[serde(default, rename = "use")]
    uses: Vec<String>,
    #[serde(default)]
    options: Vec<String>,
    /// The operands if no form's condition holds.
    operands: Option<Vec<String>>,
    handler: Option<String>,
    #[serde(default)]
    form: Vec<FormLine>,
    #[serde(default)]
    effect: Vec<Effect>,
    #[serde(default)]
    sub: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormLine {
    when: String,
    operands: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Effect {
    kind: String,
    #[serde(default)]
    when: String,
    #[serde(default)]
    system: String,
    #[serde(default)]
    verb: String,
    #[serde(default)]
    of: String,
    #[serde(default)]
    path: String,
}

/// `knowledge/systems.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Systems {
    system: Vec<System>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct System {
    name: String,
    #[serde(default)]
    undoable: Vec<String>,
    #[serde(default)]
    changes_tree: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    new_names: Vec<String>,
    #[serde(default)]
    local_queries: Vec<String>,
    #[serde(default)]
    host_queries: Vec<String>,
    #[serde(default)]
    file_changes: Vec<String>,
    #[serde(default)]
    shared_branches: Vec<String>,
    #[serde(default)]
    settings: Vec<String>,
    #[serde(default)]
    tasks_are_read: bool,
    #[serde(default)]
    project: BTreeMap<String, String>,
}

/// A key in `knowledge/lexicons.toml`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Words(Vec<String>),
    Groups(BTreeMap<String, Vec<String>>),
}

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=models");
    println!("cargo::rerun-if-changed=knowledge");
    write_out("systems.rs", systems(&fs::read_to_string("knowledge/systems.toml")?)?.as_bytes())?;
    write_out("traits.rs", traits(&fs::read_to_string("knowledge/traits.toml")?)?.as_bytes())?;
    write_out("lexicons.rs", lexicons(&fs::read_to_string("knowledge/lexicons.toml")?)?.as_bytes())?;
    programs()
}

fn write_out(name: &str, bytes: &[u8]) -> Result<()> {
    let out = env::var_os("OUT_DIR").context("OUT_DIR")?;
    Ok(fs::write(Path::new(&out).join(name), bytes)?)
}

/// Writes the table of systems, in order of their names.
fn systems(text: &str) -> Result<String> {
    let mut systems = toml::from_str::<Systems>(text)?.system;
    systems.sort_by(|a, b| a.name.cmp(&b.name));
    let mut table = String::from("static SYSTEMS: &[System] = &[");
    for System {
        name,
        undoable,
        changes_tree,
        names,
        new_names,
        local_queries,
        host_queries,
        file_changes,
        shared_branches,
        settings,
        tasks_are_read,
        project,
    } in &systems
    {
        let project =
            project.iter().map(|(verb, options)| format!("({verb:?}, Options::{}),", pascal(options)));
        let project: String = project.collect();
        write!(
            table,
            "System {{ name: {name:?}, undoable: &{undoable:?}, changes_tree: &{changes_tree:?}, names: &{names:?}, \
             new_names: &{new_names:?}, local_queries: &{local_queries:?}, host_queries: &{host_queries:?}, \
             file_changes: &{file_changes:?}, shared_branches: &{shared_branches:?}, settings: &{settings:?}, \
             tasks_are_read: {tasks_are_read}, project: &[{project}] }},"
        )?;
    }
    Ok(table + "];")
}

/// Writes the tables of traits, each in order of the programs' names.
fn traits(text: &str) -> Result<String> {
    let traits: BTreeMap<String, Vec<String>> = toml::from_str(text)?;
    let mut table = String::from(
        "type Entry = (&'static str, &'static [&'static str]);\nstatic TRAITS: &[(&str, &[Entry])] = &[",
    );
    for (key, entries) in &traits {
        let words = |entry: &str| entry.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut entries: Vec<Vec<String>> = entries.iter().map(|entry| words(entry)).collect();
        entries.sort();
        let rows = entries.iter().map(|words| {
            let (name, signs) = words.split_first().context("an empty entry")?;
            Ok(format!("({name:?}, &{signs:?}),"))
        });
        write!(table, "({key:?}, &[{}]),", rows.collect::<Result<String>>()?)?;
    }
    Ok(table + "];")
}

/// Converts a word of the models into the name of a variant: `url-upload` becomes `UrlUpload`.
fn pascal(word: &str) -> String {
    let mut name = String::new();
    for part in word.split('-') {
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// Writes a module for each lexicon, and in it a constant for each key.
fn lexicons(text: &str) -> Result<String> {
    let lexicons: BTreeMap<String, BTreeMap<String, Entry>> = toml::from_str(text)?;
    let mut modules = String::new();
    for (lexicon, entries) in &lexicons {
        let mut constants = String::new();
        for (key, entry) in entries {
            let (ty, value) = match entry {
                Entry::Words(words) => ("&[&str]", format!("&{words:?}")),
                Entry::Groups(groups) if key.starts_with("kinds") => ("&[(&str, EffectKind)]", kinds(groups)),
                Entry::Groups(groups) => {
                    let rows: String =
                        groups.iter().map(|(name, words)| format!("({name:?}, &{words:?}),")).collect();
                    ("&[(&str, &[&str])]", format!("&[{rows}]"))
                }
            };
            let name = key.to_uppercase().replace('-', "_");
            write!(constants, "/// Key `{key}` of the lexicon.\npub const {name}: {ty} = {value};\n")?;
        }
        let import = if constants.contains("EffectKind") { "use super::EffectKind;" } else { "" };
        write!(modules, "/// Lexicon `{lexicon}`.\npub mod {lexicon} {{ {import} {constants} }}\n")?;
    }
    Ok(modules)
}

/// Writes pairs of a word and its kind of effect, in order of the words.
fn kinds(groups: &BTreeMap<String, Vec<String>>) -> String {
    let pairs = groups.iter().flat_map(|(kind, words)| words.iter().map(move |word| (word, pascal(kind))));
    let pairs: BTreeMap<&String, String> = pairs.collect();
    let rows: String = pairs.iter().map(|(word, kind)| format!("({word:?}, EffectKind::{kind}),")).collect();
    format!("&[{rows}]")
}

/// Writes the tables of the programs.
fn programs() -> Result<()> {
    let mut files: Vec<PathBuf> =
        fs::read_dir("models")?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let (mut image, mut starts) = (Vec::new(), Vec::new());
    let mut names: BTreeMap<String, u16> = BTreeMap::new();
    for file in &files {
        let text = fs::read_to_string(file)?;
        let family: Family = toml::from_str(&text).with_context(|| file.display().to_string())?;
        for model in &family.program {
            let built = program(model, &family, &mut Vec::new())
                .with_context(|| format!("{}: {}", file.display(), model.names.join(" ")))?;
            for name in &model.names {
                let before = names.insert(name.clone(), u16::try_from(starts.len())?);
                ensure!(before.is_none(), "{}: `{name}` has two models", file.display());
            }
            starts.push(u32::try_from(image.len())?);
            image.extend(postcard::to_allocvec(&built)?);
        }
    }
    let (patterns, exact): (Vec<_>, Vec<_>) = names.iter().partition(|(name, _)| name.contains(['*', '#']));
    let (mut text, mut ends, mut owners) = (String::new(), Vec::new(), Vec::new());
    for (name, owner) in exact {
        text.push_str(name);
        ends.push(u32::try_from(text.len())?);
        owners.push(owner);
    }
    let written = format!(
        "/// The models, one after the other.\n\
         static IMAGE: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/programs.image\"));\n\
         /// The start of each model in it.\n\
         static STARTS: [u32; {}] = {starts:?};\n\
         /// Names in order of their bytes, one after the other.\n\
         static NAMES: &str = {text:?};\n\
         /// The end of each name in it.\n\
         static NAME_ENDS: [u32; {count}] = {ends:?};\n\
         /// The position of each name's program.\n\
         static OWNERS: [u16; {count}] = {owners:?};\n\
         /// Names with `*` (any text) or `#` (digits and dots) at their end.\n\
         static PATTERNS: &[(&str, u16)] = &{patterns:?};\n",
        starts.len(),
        count = ends.len(),
    );
    write_out("programs.image", &image)?;
    write_out("programs.rs", written.as_bytes())
}

/// Builds one program. `flags`: the flags of the commands above it.
fn program(model: &Model, family: &Family, flags: &mut Vec<String>) -> Result<Program> {
    ensure!(!model.names.is_empty(), "a model without a name");
    let above = flags.len();
    let mut lines = Vec::new();
    for name in &model.uses {
        lines.extend(family.groups.get(name).with_context(|| format!("no group `{name}`"))?);
    }
    lines.extend(&model.options);
    let always = attributes(model.always.iter().map(String::as_str))?;
    let mut all: BTreeSet<Attribute> = always.iter().copied().collect();
    let mut options = Vec::new();
    let mut spellings = BTreeMap::new();
    for (at, line) in lines.into_iter().enumerate() {
        let option = option(line).with_context(|| format!("option `{line}`"))?;
        for (place, spelling) in option.flags.iter().enumerate() {
            let place = (u16::try_from(at)?, u8::try_from(place)?);
            ensure!(spellings.insert(*spelling, place).is_none(), "option `{spelling}` stands there twice");
            flags.push((*spelling).to_owned());
        }
        all.extend(option.attributes);
        options.push(option);
    }
    let mut forms = Vec::new();
    for form in &model.form {
        forms.push(self::form(when(&form.when, flags)?, &form.operands)?);
    }
    if let Some(operands) = &model.operands {
        forms.push(form(&[], operands)?);
    }
    let effect =
        |row: &Effect| effect(row, flags).with_context(|| format!("effect `{} {}`", row.kind, row.verb));
    let effects: Vec<_> = model.effect.iter().map(effect).collect::<Result<_>>()?;
    let mut subs = Vec::new();
    for sub in &model.sub {
        subs.push(program(sub, family, flags).with_context(|| sub.names.join(" "))?);
    }
    flags.truncate(above);
    Ok(Program {
        names: model.names.iter().map(|name| kept(name)).collect::<Vec<_>>().leak(),
        style: model.style.as_deref().map_or(Ok(program::Style::Gnu), word)?,
        builtin: model.builtin,
        always,
        dashed: model.dashed,
        wrapper: model.wrapper.as_deref().map(word).transpose()?,
        open: model.open,
        selects: model.selects,
        environment: model.environment.iter().map(|name| kept(name)).collect::<Vec<_>>().leak(),
        options: options.leak(),
        spellings: spellings.into_values().collect::<Vec<_>>().leak(),
        attributes: all.into_iter().collect::<Vec<_>>().leak(),
        forms: forms.leak(),
        effects: effects.leak(),
        subs: subs.leak(),
        handler: model.handler.as_deref().map(kept),
    })
}

/// Returns the value of an enum that has this word.
fn word<'w, T: Deserialize<'w>>(word: &'w str) -> Result<T> {
    T::deserialize(word.into_deserializer()).map_err(|error: UnknownWord| error.into())
}

/// Returns a text of the build script's whole run.
fn kept(text: &str) -> &'static str {
    text.to_owned().leak()
}

/// Parses `-o --output <write> : force`.
fn option(line: &str) -> Result<Opt> {
    let (grammar, words) = line.split_once(" : ").unwrap_or((line, ""));
    let mut flags = Vec::new();
    let mut takes = Takes::Nothing;
    let mut value = slot("text")?;
    for word in grammar.split_whitespace() {
        if let Some(role) = word.strip_prefix('<').and_then(|word| word.strip_suffix('>')) {
            (takes, value) = (Takes::Value, slot(role)?);
        } else if let Some(role) = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
            (takes, value) = (Takes::Attached, slot(role)?);
        } else {
            flags.push(kept(word));
        }
    }
    ensure!(!flags.is_empty(), "no flag");
    Ok(Opt { flags: flags.leak(), takes, slot: value, attributes: attributes(words.split_whitespace())? })
}

fn attributes<'w>(words: impl Iterator<Item = &'w str>) -> Result<&'static [Attribute]> {
    Ok(words.map(word).collect::<Result<Vec<_>>>()?.leak())
}

/// Builds a form of the operands, and of the operands after `--`.
fn form(when: &'static [Term], operands: &[String]) -> Result<Form> {
    let dashes = operands.iter().position(|operand| operand == "--").unwrap_or(operands.len());
    let (before, after) = operands.split_at(dashes);
    Ok(Form { when, operands: row(before)?, after: row(after.get(1..).unwrap_or_default())? })
}

fn row(operands: &[String]) -> Result<&'static [Place]> {
    let mut places = Vec::new();
    for operand in operands {
        let role = operand.strip_suffix("...");
        places.push(Place { slot: slot(role.unwrap_or(operand))?, repeats: role.is_some() });
    }
    ensure!(places.iter().filter(|place| place.repeats).count() <= 1, "two operands repeat");
    Ok(places.leak())
}

fn slot(text: &str) -> Result<Slot> {
    let (role, detail) = text.split_once(':').unwrap_or((text, ""));
    let role = word(role).with_context(|| format!("`{text}` is no slot"))?;
    Ok(Slot { role, detail: kept(&detail.replace("\\s", " ")) })
}

/// Parses a condition: terms separated by blanks, which must all hold. `a|b` holds if one of them holds, `!` negates.
fn when(text: &str, flags: &[String]) -> Result<&'static [Term]> {
    let mut terms = Vec::new();
    for term in text.split_whitespace() {
        let (negated, tests) = term.strip_prefix('!').map_or((false, term), |rest| (true, rest));
        let any: Vec<Test> = tests.split('|').map(|one| test(one, flags)).collect::<Result<_>>()?;
        terms.push(Term { negated, any: any.leak() });
    }
    Ok(terms.leak())
}

fn test(text: &str, flags: &[String]) -> Result<Test> {
    if let Some(pattern) = text.strip_prefix("operand~") {
        return Ok(Test::Operand(kept(pattern)));
    }
    if let Some(count) = text.strip_prefix("operands>=") {
        return Ok(Test::AtLeast(count.parse()?));
    }
    if text == "sub" {
        return Ok(Test::Sub);
    }
    if let Some(attribute) = text.strip_prefix(':') {
        return Ok(Test::Is(word(attribute)?));
    }
    if let Some((flag, pattern)) = text.split_once("==") {
        known(flag, flags)?;
        return Ok(Test::Value(kept(flag), kept(pattern)));
    }
    known(text, flags)?;
    Ok(Test::Given(kept(text)))
}

fn known(flag: &str, flags: &[String]) -> Result<()> {
    ensure!(flags.iter().any(|one| one == flag), "`{flag}` is no option of it");
    Ok(())
}

fn effect(row: &Effect, flags: &[String]) -> Result<EffectRow> {
    let of = match row.of.as_str() {
        "" => Source::Nothing,
        "operands" => Source::Operands,
        of => match of.strip_prefix("operand ") {
            Some(number) => Source::Operand(number.parse()?),
            None => {
                known(of, flags)?;
                Source::Value(kept(of))
            }
        },
    };
    Ok(EffectRow {
        kind: word(&row.kind)?,
        when: when(&row.when, flags)?,
        system: kept(&row.system),
        verb: kept(&row.verb),
        of,
        path: kept(&row.path),
    })
}
