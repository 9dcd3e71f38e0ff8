//! `castellan review`: tries the reviewer of the settings. It must not know how a reviewer is asked.

use std::io::Write;

use anyhow::{Context, anyhow, bail};
use castellan_daemon::{Config, evidence_of, reviewer_of};
use castellan_event::Code;
use castellan_review::{Evidence, PROMPT_VERSION, Prompt, Request, Reviewed, Reviewer};

use crate::asked_call::AskedCall;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{FAINT, counted, printable, printable_lines};

/// Subcommands of `castellan review`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Review one command: show the request, the answer and the cost. Sends only the texts given here and the effects of
    /// the command
    Test(Test),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// Shell command to review
    #[arg(long, value_name = "TEXT", default_value = "git push origin main")]
    command: String,

    /// Prompt of the user
    #[arg(long, value_name = "TEXT", default_value = "Push the branch main to origin.")]
    prompt: String,
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Test(options) => test(global, options),
    }
}

/// Makes the reviewer of a configuration.
pub(super) fn reviewer(config: &Config) -> anyhow::Result<Reviewer> {
    reviewer_of(&config.settings.review).map_err(|why| anyhow!(why))
}

fn test(global: &Global, options: &Test) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let reviewer = reviewer(&config)?;
    let judged = AskedCall::of_command(&options.command).judge(&layout, &config)?;
    let findings = judged.decision.findings.iter().filter(|finding| finding.code == Code::ReviewRule);
    let known = evidence_of(&judged.call, &judged.facts, findings, &judged.session);
    let prompts = vec![Prompt { text: options.prompt.clone(), age_s: 0 }];
    let evidence = Evidence { prompts, ..known };
    let request = Request::about(&evidence);
    let mut out = anstream::stdout();
    writeln!(out, "{FAINT}Instructions, version {PROMPT_VERSION}{FAINT:#}\n{}", request.instructions)?;
    writeln!(out, "{FAINT}Evidence{FAINT:#}\n{}\n", printable(&request.document))?;
    let reviewed = reviewer.review(&evidence);
    write_answer(&mut out, &reviewed)?;
    match reviewed.opinion {
        Ok(_) => Ok(Exit::Done),
        Err(error) => bail!(error),
    }
}

fn write_answer(out: &mut impl Write, reviewed: &Reviewed) -> anyhow::Result<()> {
    if let Some(said) = &reviewed.said {
        writeln!(out, "{FAINT}Text of the model{FAINT:#}\n{}\n", printable_lines(said))?;
    }
    if let Ok(opinion) = &reviewed.opinion {
        writeln!(out, "Answer: {}. {}", opinion.answer, printable(&opinion.reason))?;
    }
    let cost = match reviewed.cost {
        Some(cost) => format!(
            "{} in, {} out",
            counted(cost.input_tokens, "token"),
            counted(cost.output_tokens, "token")
        ),
        None if reviewed.asked_bytes == 0 => "none, because the provider was not asked".to_owned(),
        None => format!("not reported; castellan takes {}", counted(reviewed.tokens(), "token")),
    };
    writeln!(out, "Cost: {cost}. Time: {} ms.", reviewed.took.as_millis()).context("standard output")
}
