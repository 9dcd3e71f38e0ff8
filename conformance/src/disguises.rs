//! `conformance disguises`: compares the texts of `corpus/disguises.txt` with castellan's facts. Then counts the
//! everyday commands with an Opaque part, which would cause prompts.

use anyhow::{anyhow, ensure};
use castellan_corpus::{Conditions, Disguises, commands, shell_call};

use crate::forerunners::facts_of;

pub(crate) fn run() -> anyhow::Result<()> {
    let all = Disguises::read().map_err(|error| anyhow!("corpus/disguises.txt: {error}"))?;
    let wrong = all.wrong(facts_of);
    wrong.iter().for_each(|line| println!("{line}"));
    println!("{} texts, {} expectations, {} not met", all.cases.len(), all.expectations(), wrong.len());
    friction()?;
    ensure!(wrong.is_empty(), "{} expectations are not met", wrong.len());
    Ok(())
}

/// Printed, never an error: an everyday command may run something that castellan cannot know in advance.
fn friction() -> anyhow::Result<()> {
    let opaque =
        Conditions::new(["opaque_danger"]).map_err(|error| anyhow!("corpus/macros.yaml: {error}"))?;
    let all = commands();
    let is_opaque = |command: &&String| {
        let call = shell_call(command);
        !opaque.true_of(&call, &facts_of(&call)).is_empty()
    };
    let not_understood: Vec<&String> = all.iter().filter(is_opaque).collect();
    println!(
        "\n{} of {} everyday commands have an Opaque program, code or target:",
        not_understood.len(),
        all.len()
    );
    not_understood.iter().for_each(|command| println!("  {}", command.replace('\n', "⏎")));
    Ok(())
}
