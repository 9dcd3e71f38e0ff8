//! `cargo xtask gen`: documents that are made from the code. With `--check` it fails when one is stale.

use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::build::{cargo, target};
use crate::root;

const FIELDS_HEAD: &str = "\
# Fields

What a rule's condition and output can name. Made by `cargo xtask gen` from the field table; do not edit.

Level `call`: describes the whole call; a call that names several files, such as a patch, is tested once for each of them.

";

pub(crate) fn generate(words: &[&str]) -> anyhow::Result<()> {
    let check = match words {
        [] => false,
        ["--check"] => true,
        _ => bail!("gen takes --check"),
    };
    let file = root()?.join("docs/fields.md");
    let wanted = format!("{FIELDS_HEAD}{}", fields()?);
    if std::fs::read_to_string(&file).is_ok_and(|present| present == wanted) {
        println!("docs/fields.md is as the code says");
        return Ok(());
    }
    ensure!(!check, "docs/fields.md is stale: run `cargo xtask gen`");
    std::fs::write(&file, wanted).with_context(|| format!("`{}` cannot be written", file.display()))?;
    println!("wrote docs/fields.md");
    Ok(())
}

fn fields() -> anyhow::Result<String> {
    cargo(&["build", "--workspace"], "")?;
    let output = Command::new(target()?.join("debug/castellan"))
        .args(["rules", "fields", "--markdown"])
        .output()
        .context("castellan cannot be started")?;
    ensure!(
        output.status.success(),
        "`castellan rules fields` failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).context("`castellan rules fields` wrote no text")
}
