//! `castellan explain`: the effects of one call as the rules see them: its commands with their effects, its Opaque
//! parts, and the rules that fired on each.

pub(crate) mod tree;

use std::io::Write;

use castellan_daemon::{Config, Explanation};
use castellan_event::rows;
use serde_json::{Value as Json, json};

use crate::asked_call::{AskedCall, JudgedCall};
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, FAINT, printable, verdict_style, verdict_word};

/// Options of `castellan explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    call: AskedCall,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let judged = options.call.judge(&layout, &config)?;
    // If the decision could not be completed, the machine had no answer for it, and there are no rows.
    let rows = rows(&judged.call, &judged.facts, &judged.session, &judged.answers).unwrap_or_default();
    let explanation = Explanation::of(&judged.facts, &rows, &judged.decision);
    let mut out = anstream::stdout();
    if options.json {
        output::write_json(&mut out, &json_of(&judged, &explanation)?)?;
    } else {
        write(&mut out, &judged, &explanation)?;
    }
    Ok(Exit::Done)
}

fn write(out: &mut impl Write, judged: &JudgedCall, explanation: &Explanation) -> anyhow::Result<()> {
    let JudgedCall { call, decision, .. } = judged;
    let subject = call.command.as_deref().unwrap_or(&call.input_text);
    writeln!(out, "{}  {FAINT}{}{FAINT:#}", tree::line(subject), call.tool.name)?;
    tree::write(out, explanation, "")?;
    let verdict = decision.verdict.as_str();
    let (word, style) = (verdict_word(verdict), verdict_style(verdict));
    Ok(writeln!(out, "\n{style}{word}{style:#}  {}", printable(&decision.reason))?)
}

fn json_of(judged: &JudgedCall, explanation: &Explanation) -> anyhow::Result<Json> {
    let JudgedCall { call, decision, .. } = judged;
    let mut answer = json!({
        "version": 1,
        "agent": call.agent.name,
        "tool": call.tool.name,
        "cwd": call.agent.cwd,
    });
    if let (Json::Object(answer), Json::Object(explanation)) =
        (&mut answer, serde_json::to_value(explanation)?)
    {
        answer.extend(explanation);
        answer.insert("verdict".to_owned(), decision.verdict.as_str().into());
        answer.insert("reason".to_owned(), decision.reason.clone().into());
    }
    Ok(answer)
}
