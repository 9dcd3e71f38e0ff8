//! Reads the models in `models/*.toml` and the tables in `knowledge/`, checks them, and writes them as static tables of the
//! types in `src/program.rs`, `src/system.rs` and `src/traits.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

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
    /// Names of groups whose options the program takes.
    #[serde(default, rename = "use")]
    uses: Vec<String>,
    #[serde(default)]
    options: Vec<String>,
    /// The operands if no form's condition holds.
    operands: Option<Vec<String>>,
    handler: Option<String>,
    #[serde(default)]
    form: Vec<Form>,
    #[serde(default)]
    effect: Vec<Effect>,
    #[serde(default)]
    sub: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
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
    settings: Vec<String>,
    #[serde(default)]
    settings_file: String,
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
    write_out("systems.rs", &systems(&fs::read_to_string("knowledge/systems.toml")?)?)?;
    write_out("traits.rs", &traits(&fs::read_to_string("knowledge/traits.toml")?)?)?;
    write_out("lexicons.rs", &lexicons(&fs::read_to_string("knowledge/lexicons.toml")?)?)?;
    write_out("programs.rs", &programs()?)
}

fn write_out(name: &str, text: &str) -> Result<()> {
    let out = env::var_os("OUT_DIR").context("OUT_DIR")?;
    Ok(fs::write(Path::new(&out).join(name), text)?)
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
        settings,
        settings_file,
        tasks_are_read,
        project,
    } in &systems
    {
        ensure!(
            settings.is_empty() == settings_file.is_empty(),
            "`{name}` needs `settings-file` for `settings`"
        );
        let project =
            project.iter().map(|(verb, options)| format!("({verb:?}, Options::{}),", pascal(options)));
        let project: String = project.collect();
        write!(
            table,
            "System {{ name: {name:?}, undoable: &{undoable:?}, changes_tree: &{changes_tree:?}, names: &{names:?}, \
             new_names: &{new_names:?}, local_queries: &{local_queries:?}, settings: &{settings:?}, settings_file: {settings_file:?}, \
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
fn programs() -> Result<String> {
    let mut files: Vec<PathBuf> =
        fs::read_dir("models")?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let mut programs = String::new();
    let mut names = BTreeMap::new();
    let mut count = 0;
    for file in &files {
        let text = fs::read_to_string(file)?;
        let family: Family = toml::from_str(&text).with_context(|| file.display().to_string())?;
        for model in &family.program {
            let written = program(model, &family, &mut Vec::new())
                .with_context(|| format!("{}: {}", file.display(), model.names.join(" ")))?;
            programs.push_str(&written);
            for name in &model.names {
                let before = names.insert(name.clone(), count);
                ensure!(before.is_none(), "{}: `{name}` has two models", file.display());
            }
            count += 1;
        }
    }
    let (patterns, exact): (Vec<_>, Vec<_>) = names.iter().partition(|(name, _)| name.contains(['*', '#']));
    Ok(format!(
        "static PROGRAMS: &[Program] = &[{programs}];\n\
         /// Names in order of their bytes, each with its program's position.\n\
         static NAMES: &[(&str, usize)] = &{exact:?};\n\
         /// Names with `*` (any text) or `#` (digits and dots) at their end.\n\
         static PATTERNS: &[(&str, usize)] = &{patterns:?};\n"
    ))
}

/// Writes one program. `flags`: the flags of the commands above it.
fn program(model: &Model, family: &Family, flags: &mut Vec<String>) -> Result<String> {
    ensure!(!model.names.is_empty(), "a model without a name");
    let above = flags.len();
    let mut lines = Vec::new();
    for name in &model.uses {
        lines.extend(family.groups.get(name).with_context(|| format!("no group `{name}`"))?);
    }
    lines.extend(&model.options);
    let mut options = String::new();
    let mut spellings = BTreeMap::new();
    let mut attributes: BTreeSet<String> = attributes(model.always.iter().map(String::as_str)).collect();
    for (at, line) in lines.into_iter().enumerate() {
        let option = option(line).with_context(|| format!("option `{line}`"))?;
        options.push_str(&option.written);
        for spelling in option.spellings {
            ensure!(
                spellings.insert(spelling.clone(), at).is_none(),
                "option `{spelling}` stands there twice"
            );
            flags.push(spelling);
        }
        attributes.extend(option.attributes);
    }
    let mut forms = String::new();
    for form in &model.form {
        write!(forms, "Form {{ when: &[{}], {} }},", when(&form.when, flags)?, places(&form.operands)?)?;
    }
    if let Some(operands) = &model.operands {
        write!(forms, "Form {{ when: &[], {} }},", places(operands)?)?;
    }
    let mut effects = String::new();
    for row in &model.effect {
        effects.push_str(&effect(row, flags).with_context(|| format!("effect `{} {}`", row.kind, row.verb))?);
    }
    let mut subs = String::new();
    for sub in &model.sub {
        subs.push_str(&program(sub, family, flags).with_context(|| sub.names.join(" "))?);
    }
    flags.truncate(above);
    let always: Vec<_> = self::attributes(model.always.iter().map(String::as_str)).collect();
    let spellings: Vec<_> = spellings.iter().collect();
    let attributes: Vec<_> = attributes.into_iter().collect();
    Ok(format!(
        "Program {{ names: &{:?}, style: Style::{}, builtin: {}, always: &[{}], dashed: {}, wrapper: {}, open: {}, options: &[{options}], \
         spellings: &{spellings:?}, attributes: &[{}], forms: &[{forms}], \
         effects: &[{effects}], subs: &[{subs}], handler: {:?} }},\n",
        model.names,
        pascal(model.style.as_deref().unwrap_or("gnu")),
        model.builtin,
        always.join(","),
        model.dashed,
        model.wrapper.as_deref().map_or("None".to_owned(), |kind| format!("Some(Wrapper::{})", pascal(kind))),
        model.open,
        attributes.join(","),
        model.handler,
    ))
}

/// An option of a model, and its text in the tables.
struct Opt {
    spellings: Vec<String>,
    attributes: Vec<String>,
    written: String,
}

/// Parses `-o --output <write> : force`.
fn option(line: &str) -> Result<Opt> {
    let (grammar, words) = line.split_once(" : ").unwrap_or((line, ""));
    let mut spellings = Vec::new();
    let mut takes = "Nothing";
    let mut value = slot("text")?;
    for word in grammar.split_whitespace() {
        if let Some(role) = word.strip_prefix('<').and_then(|word| word.strip_suffix('>')) {
            (takes, value) = ("Value", slot(role)?);
        } else if let Some(role) = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
            (takes, value) = ("Attached", slot(role)?);
        } else {
            spellings.push(word.to_owned());
        }
    }
    ensure!(!spellings.is_empty(), "no flag");
    let attributes: Vec<_> = attributes(words.split_whitespace()).collect();
    let written = format!(
        "Opt {{ flags: &{spellings:?}, takes: Takes::{takes}, slot: {value}, attributes: &[{}] }},",
        attributes.join(",")
    );
    Ok(Opt { spellings, attributes, written })
}

fn attributes<'w>(words: impl Iterator<Item = &'w str>) -> impl Iterator<Item = String> {
    words.map(|word| format!("Attribute::{}", pascal(word)))
}

/// Writes the operands, and the operands after `--`.
fn places(operands: &[String]) -> Result<String> {
    let dashes = operands.iter().position(|operand| operand == "--").unwrap_or(operands.len());
    let (before, after) = operands.split_at(dashes);
    Ok(format!("operands: &[{}], after: &[{}]", row(before)?, row(after.get(1..).unwrap_or_default())?))
}

fn row(operands: &[String]) -> Result<String> {
    let mut written = String::new();
    let mut repeating = 0;
    for operand in operands {
        let role = operand.strip_suffix("...");
        repeating += usize::from(role.is_some());
        let role_slot = slot(role.unwrap_or(operand))?;
        write!(written, "Place {{ slot: {role_slot}, repeats: {} }},", role.is_some())?;
    }
    ensure!(repeating <= 1, "two operands repeat");
    Ok(written)
}

fn slot(text: &str) -> Result<String> {
    let (role, detail) = text.split_once(':').unwrap_or((text, ""));
    ensure!(role.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "`{text}` is no slot");
    let detail = detail.replace("\\s", " ");
    Ok(format!("Slot {{ role: SlotRole::{}, detail: {detail:?} }}", pascal(role)))
}

/// Parses a condition: terms separated by blanks, which must all hold. `a|b` holds if one of them holds, `!` negates.
fn when(text: &str, flags: &[String]) -> Result<String> {
    let mut written = String::new();
    for term in text.split_whitespace() {
        let (negated, tests) = term.strip_prefix('!').map_or((false, term), |rest| (true, rest));
        let tests: Vec<String> = tests.split('|').map(|one| test(one, flags)).collect::<Result<_>>()?;
        write!(written, "Term {{ negated: {negated}, any: &[{}] }},", tests.join(","))?;
    }
    Ok(written)
}

fn test(text: &str, flags: &[String]) -> Result<String> {
    if let Some(pattern) = text.strip_prefix("operand~") {
        return Ok(format!("Test::Operand({pattern:?})"));
    }
    if let Some(count) = text.strip_prefix("operands>=") {
        return Ok(format!("Test::AtLeast({})", count.parse::<usize>()?));
    }
    if text == "sub" {
        return Ok("Test::Sub".to_owned());
    }
    if let Some(attribute) = text.strip_prefix(':') {
        return Ok(format!("Test::Is(Attribute::{})", pascal(attribute)));
    }
    if let Some((flag, pattern)) = text.split_once("==") {
        known(flag, flags)?;
        return Ok(format!("Test::Value({flag:?}, {pattern:?})"));
    }
    known(text, flags)?;
    Ok(format!("Test::Given({text:?})"))
}

fn known(flag: &str, flags: &[String]) -> Result<()> {
    ensure!(flags.iter().any(|one| one == flag), "`{flag}` is no option of it");
    Ok(())
}

fn effect(row: &Effect, flags: &[String]) -> Result<String> {
    let source = match row.of.as_str() {
        "" => "Source::Nothing".to_owned(),
        "operands" => "Source::Operands".to_owned(),
        of => match of.strip_prefix("operand ") {
            Some(number) => format!("Source::Operand({})", number.parse::<usize>()?),
            None => {
                known(of, flags)?;
                format!("Source::Value({of:?})")
            }
        },
    };
    Ok(format!(
        "EffectRow {{ kind: EffectKind::{}, when: &[{}], system: {:?}, verb: {:?}, of: {source}, path: {:?} }},",
        pascal(&row.kind),
        when(&row.when, flags)?,
        row.system,
        row.verb,
        row.path
    ))
}

/// Converts `url-download` to `UrlDownload`.
fn pascal(word: &str) -> String {
    let mut name = String::new();
    for part in word.split('-') {
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}
