//! `conformance disguises`: the texts of `corpus/disguises.txt`, against castellan's facts.

use anyhow::{anyhow, bail};
use castellan_corpus::Disguises;

use crate::forerunners::facts_of;

pub(crate) fn run() -> anyhow::Result<()> {
    let all = Disguises::read().map_err(|error| anyhow!("corpus/disguises.txt: {error}"))?;
    let wrong = all.wrong(facts_of);
    wrong.iter().for_each(|line| println!("{line}"));
    println!("{} texts, {} expectations, {} not met", all.cases.len(), all.expectations(), wrong.len());
    if wrong.is_empty() { Ok(()) } else { bail!("{} expectations are not met", wrong.len()) }
}
