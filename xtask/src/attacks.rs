//! `cargo xtask attacks`: the same attacks on castellan's sandbox and on others, as a page.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::build::{cargo, target};
use crate::root;
use crate::suites::sandboxes;

/// The installation of other sandboxes ends within this.
const INSTALLATION: Duration = Duration::from_secs(600);

pub(crate) fn table(words: &[&str]) -> anyhow::Result<()> {
    let writes = match words {
        [] => false,
        ["--write"] => true,
        _ => bail!("attacks takes --write"),
    };
    sandboxes::install(Instant::now() + INSTALLATION)?;
    cargo(&["build", "--workspace"], "")?;
    let output = Command::new(target()?.join("debug/castellan-attacks"))
        .arg("table")
        .arg(sandboxes::runtime()?)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("the attacks cannot be started")?;
    ensure!(output.status.success(), "the attacks failed: {}", output.status);
    let page = String::from_utf8(output.stdout).context("the attacks wrote no text")?;
    if writes {
        let file = root()?.join("docs/sandbox-attacks.md");
        std::fs::write(&file, page).with_context(|| file.display().to_string())?;
        println!("wrote {}", file.display());
    } else {
        print!("{page}");
    }
    Ok(())
}
