//! `castellan-bench-sandbox LAUNCHER`: starts `true` in turns without a sandbox, by `unshare`, by bubblewrap and by
//! castellan's launcher, and sends bytes with and without the proxy. Prints tables in Markdown.

mod proxy;
mod starts;

use std::path::Path;

use anyhow::Context;

fn main() -> anyhow::Result<()> {
    let launcher = std::env::args_os().nth(1).context("usage: castellan-bench-sandbox LAUNCHER")?;
    print!("{}", starts::table(Path::new(&launcher))?);
    print!("{}", proxy::table()?);
    Ok(())
}
