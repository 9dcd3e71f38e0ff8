//! `castellan rules describe`: the compiled form and the parts of rules, like `falco -L`.

use std::io::{self, Write};
use std::path::PathBuf;

use castellan_daemon::Config;
use castellan_event::Layer;
use castellan_falco::description::{self, Described};
use castellan_policy::Tags;
use castellan_rules::{Rule, RuleDescription, did_you_mean};

use crate::commands::rules::language::Language;
use crate::commands::rules::sources;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, Cell, FAINT, PLAIN, verdict_style};

/// Options of `castellan rules describe`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Rule name; default, or with `*`: all rules, macros and lists
    rule: Option<String>,

    /// Files to read, in load order; default: those in force (of the home and built in)
    files: Vec<PathBuf>,

    /// Print JSON like `falco -L`
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    language: Language,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let known = sources::describe(&options.files, &options.language, &layout, &config)?;
    let Some((loaded, _)) = known else { return Ok(Exit::No) };
    let layers = loaded.described()?;
    let tags = &config.settings.tags;
    match options.rule.as_deref().filter(|name| *name != "*") {
        None => all(&layers, tags, options.json),
        Some(name) => named(&layers, tags, name, options.json),
    }
}

fn all(layers: &[Described<'_>], tags: &Tags, json: bool) -> anyhow::Result<Exit> {
    let mut out = anstream::stdout();
    if json {
        writeln!(out, "{:#}", description::json(layers))?;
        return Ok(Exit::Done);
    }
    for of in layers {
        write_layer(&mut out, of, tags)?;
    }
    Ok(Exit::Done)
}

fn write_layer(out: &mut impl Write, of: &Described<'_>, tags: &Tags) -> io::Result<()> {
    for (rule, described) in of.rules.rules().iter().zip(&of.description.rules) {
        write_rule(out, of.layer, rule, described, tags)?;
        writeln!(out)?;
    }
    for found in &of.description.macros {
        writeln!(
            out,
            "macro {}\n  {}\n",
            output::printable(&found.name),
            output::printable(&found.compiled)
        )?;
    }
    for list in &of.description.lists {
        let items = output::printable(&list.items.join(", "));
        writeln!(out, "list {}\n  {items}\n", output::printable(&list.name))?;
    }
    Ok(())
}

/// Writes the rule with this name, from each layer that has one.
fn named(layers: &[Described<'_>], tags: &Tags, name: &str, json: bool) -> anyhow::Result<Exit> {
    let found = layers.iter().filter_map(|of| {
        let mut pairs = of.rules.rules().iter().zip(&of.description.rules);
        let (rule, described) = pairs.find(|(rule, _)| rule.name == name)?;
        Some((of.layer, rule, described))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        let names = layers.iter().flat_map(|of| of.rules.rules()).map(|rule| rule.name.as_str());
        let advice = did_you_mean(name, names).unwrap_or_else(|| "see `castellan rules list`".to_owned());
        let said = format!("there is no rule `{name}`: {advice}");
        writeln!(anstream::stderr(), "{} {}", output::ERROR, output::printable(&said))?;
        return Ok(Exit::No);
    }
    let mut out = anstream::stdout();
    for (layer, rule, described) in found {
        if json {
            writeln!(out, "{:#}", description::of_rule(layer, rule, described))?;
        } else {
            write_rule(&mut out, layer, rule, described, tags)?;
        }
    }
    Ok(Exit::Done)
}

/// Writes a rule for people, without empty rows.
fn write_rule(
    out: &mut impl Write,
    layer: Option<Layer>,
    rule: &Rule,
    described: &RuleDescription,
    tags: &Tags,
) -> io::Result<()> {
    // Other layers' settings cannot change the meaning of the organisation's tags.
    let own = Tags::default();
    let tags = if layer == Some(Layer::Organisation) { &own } else { tags };
    let verdict = tags.verdict_of(rule).as_str();
    let place = format!("{}:{}", rule.file, rule.line);
    let state = if rule.enabled { "" } else { "disabled" };
    let rows = [
        ("verdict", verdict.to_owned(), verdict_style(verdict)),
        ("state", state.to_owned(), FAINT),
        ("layer", layer.map(Layer::as_str).unwrap_or_default().to_owned(), PLAIN),
        ("priority", rule.priority.as_str().to_owned(), PLAIN),
        ("source", rule.source.to_string(), PLAIN),
        ("level", described.level.as_str().to_owned(), PLAIN),
        ("tags", rule.tags.join(", "), PLAIN),
        ("place", place, PLAIN),
        ("condition", rule.condition.clone(), PLAIN),
        ("output", described.output.clone(), PLAIN),
        ("macros", described.macros.join(", "), PLAIN),
        ("lists", described.lists.join(", "), PLAIN),
        ("fields", described.condition_fields.join(", "), PLAIN),
        ("operators", described.operators.join(", "), PLAIN),
        ("output fields", described.output_fields.join(", "), PLAIN),
        ("exceptions", described.exceptions.join(", "), PLAIN),
    ];
    writeln!(out, "{}", output::printable(&rule.name))?;
    for line in rule.desc.trim().lines() {
        writeln!(out, "  {}", output::printable(line))?;
    }
    let rows = rows.into_iter().filter(|(_, value, _)| !value.is_empty());
    let rows: Vec<Vec<Cell>> = rows
        .map(|(name, value, style)| vec![Cell::new(format!("  {name}"), FAINT), Cell::new(value, style)])
        .collect();
    output::write_table(out, &rows)
}
