//! `castellan rules new`: makes a rule with cases from a recorded call or a command. The command proposes conditions
//! from the effects of the call, and judges the rule and its cases before writing them.

mod call;
mod cases;
mod propose;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use castellan_agents::AgentId;
use castellan_daemon::{CASES_ENDING, Config, FileSet, Layout, compile};
use castellan_event::{Verdict, is_invisible};
use castellan_policy::RuleVerdict;
use castellan_rules::Source;
use castellan_trial::{Case, Judged, Trial};

use self::cases::Derived;
use self::propose::{Proposal, proposals};
use self::text::NewRule;
use crate::commands::explain::tree;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{FAINT, counted, printable, printable_lines};
use crate::{ask, case_files, presence, values};
use castellan_files::{Access, NewFile};

const VERDICTS: &[(&str, RuleVerdict)] = &[
    ("deny", RuleVerdict::Deny),
    ("ask", RuleVerdict::Ask),
    ("contain", RuleVerdict::Contain),
    ("review", RuleVerdict::Review),
    ("allow", RuleVerdict::Allow),
];

/// Options of `castellan rules new`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Recorded call for the rule: its request id (K7), or the number of its log record
    #[arg(long, value_name = "ID", required_unless_present = "command")]
    from_log: Option<String>,

    /// Shell command for the rule
    #[arg(long, value_name = "TEXT", conflicts_with = "from_log")]
    command: Option<String>,

    /// Agent that makes the call
    #[arg(long, default_value = AgentId::DEFAULT.word(), value_parser = values::agent(), conflicts_with = "from_log")]
    agent: AgentId,

    /// Name of the rule; default: generated
    #[arg(long)]
    name: Option<String>,

    /// Verdict of the rule; default: castellan asks you, or `ask` with --yes
    #[arg(long, value_parser = values::one_of(VERDICTS))]
    verdict: Option<RuleVerdict>,

    /// Condition of the rule; default: one proposed from the effects of the call
    #[arg(long)]
    condition: Option<String>,

    /// Folder for the new files; default: your own rules in the home, which requires a person
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,

    /// Skip the questions and use the first proposal
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let case = match (&options.from_log, &options.command) {
        (Some(id), _) => call::recorded(&layout, id)?,
        (None, command) => call::of_command(options.agent, command.as_deref().unwrap_or_default())?,
    };
    let (others, config) = loaded(&layout)?;
    let before = judged(&others, &config, &case)?;
    let mut out = anstream::stdout();
    writeln!(out, "{}", tree::line(before.call.command.as_deref().unwrap_or(&before.call.input_text)))?;
    tree::write(&mut out, &before.explanation(), "")?;
    writeln!(out)?;
    let rule = rule(&mut out, options, &before)?;
    let derived = cases::derive(&case, &rule, &others, &config)?;
    let (rules, case_text) = (rule.text(), text::cases(&rule.name, &case, derived.verdict, &derived.kept));
    writeln!(out, "{}", printable_lines(&rules))?;
    write_cases(&mut out, &derived)?;
    let folder = match &options.into {
        Some(folder) => folder.clone(),
        None => layout.rules_user(),
    };
    let file = folder.join(format!("{}.yaml", text::slug(&rule.name)));
    if !options.yes && !ask::is_agreed(&format!("write `{}`?", file.display()))? {
        global.note("nothing was written")?;
        return Ok(Exit::No);
    }
    if options.into.is_none() {
        presence::require(&[layout.home().clone()], "rules new")?;
    }
    if let Some(folder) = &options.into {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("the folder `{}` cannot be made", folder.display()))?;
    }
    write(&file, &rules, &case_text)?;
    global.note(&format!(
        "written: `{}` and {} beside it",
        file.display(),
        counted(derived.kept.len() + 1, "case")
    ))?;
    if options.into.is_none() {
        global.note("`castellan apply` puts it in force")?;
    }
    Ok(Exit::Done)
}

/// Returns the existing rules: those of the home, or the shipped ones without a home.
fn loaded(layout: &Layout) -> anyhow::Result<(Vec<Source>, Config)> {
    let config = Config::of_home(layout)?;
    let is_home = layout.rules_shipped().is_dir();
    let sources = if is_home { FileSet::read(layout)?.rules } else { case_files::with_shipped(&[]) };
    Ok((sources, config))
}

fn judged(sources: &[Source], config: &Config, case: &Case) -> anyhow::Result<Judged> {
    let compiled = compile(sources, config);
    if let Some(why) = compiled.error() {
        bail!("the rules that there are do not load: {why}");
    }
    Trial::new(&compiled.policy).judge(case).map_err(anyhow::Error::msg)
}

/// Builds the rule from the options and the person's answers.
fn rule(out: &mut impl Write, options: &Options, before: &Judged) -> anyhow::Result<NewRule> {
    let condition = match &options.condition {
        Some(condition) => condition.clone(),
        None => chosen(out, &proposals(before), options.yes)?,
    };
    let verdict = match options.verdict {
        Some(verdict) => verdict,
        None if options.yes => RuleVerdict::Ask,
        None => asked_verdict()?,
    };
    let made = text::name(verdict, &propose::about(before));
    let name = match &options.name {
        Some(name) => name.clone(),
        None if options.yes => made,
        None => ask::text(&format!("name of the rule [{made}]: "))?
            .filter(|name| !name.is_empty())
            .unwrap_or(made),
    };
    ensure!(!name.chars().any(is_invisible), "the name of a rule is one line of visible text");
    Ok(NewRule { name, condition, verdict, line: before.call.command.clone().unwrap_or_default() })
}

fn chosen(out: &mut impl Write, proposals: &[Proposal], yes: bool) -> anyhow::Result<String> {
    let first =
        proposals.first().context("nothing was found that a rule could be about: give `--condition`")?;
    if yes || proposals.len() == 1 {
        return Ok(first.condition.clone());
    }
    for (at, proposal) in proposals.iter().enumerate() {
        writeln!(
            out,
            "{:>3}  {}  {FAINT}{}{FAINT:#}",
            at + 1,
            printable(&proposal.condition),
            printable(&proposal.of)
        )?;
    }
    let Some(answer) = ask::text("condition [1], or your own: ")? else { return Ok(first.condition.clone()) };
    let number = answer.parse::<usize>().ok();
    Ok(match number.map(|number| number.checked_sub(1).and_then(|at| proposals.get(at))) {
        Some(Some(proposal)) => proposal.condition.clone(),
        Some(None) => bail!("there is no proposal {answer}"),
        None if answer.is_empty() => first.condition.clone(),
        None => answer,
    })
}

fn asked_verdict() -> anyhow::Result<RuleVerdict> {
    let words = VERDICTS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let answer = ask::text(&format!("what it says ({words}) [ask]: "))?.unwrap_or_default();
    let word = if answer.is_empty() { "ask" } else { &answer };
    let found = VERDICTS.iter().find(|(known, _)| *known == word);
    found.map(|(_, verdict)| *verdict).with_context(|| format!("`{word}` is not one of {words}"))
}

fn write_cases(out: &mut impl Write, derived: &Derived) -> anyhow::Result<()> {
    for case in &derived.kept {
        writeln!(out, "{FAINT}{:<10}{FAINT:#}  {}", case.shows, printable(&case.command))?;
    }
    for (command, why) in &derived.left_out {
        writeln!(out, "{FAINT}left out    {}: {}{FAINT:#}", printable(command), printable(why))?;
    }
    Ok(())
}

/// Writes the two files; existing files are never replaced.
fn write(file: &Path, rules: &str, cases: &str) -> anyhow::Result<()> {
    let cases_file = file.with_extension("").display().to_string() + CASES_ENDING;
    let cases_file = PathBuf::from(cases_file);
    for new in [file, &cases_file] {
        ensure!(!new.exists(), "`{}` is there already: use another `--name`", new.display());
    }
    let new = |file: &Path, text: &str| -> anyhow::Result<()> {
        let written = NewFile::write(file, text, &Access::Mode(0o600)).and_then(NewFile::put_where_none_is);
        written.with_context(|| format!("`{}`", file.display()))
    };
    new(&cases_file, cases)?;
    new(file, rules)
}

/// Returns the verdict of a call that matches the rule, without a stricter rule, a sandbox and a reviewer.
fn verdict_of(rule: RuleVerdict) -> Verdict {
    match rule {
        RuleVerdict::Deny => Verdict::Deny,
        RuleVerdict::Ask | RuleVerdict::Contain | RuleVerdict::Review => Verdict::Ask,
        RuleVerdict::Allow => Verdict::Allow,
        RuleVerdict::Seen | RuleVerdict::Notice => Verdict::Defer,
    }
}
