//! Reads `agents/*.toml` and `payloads.toml`, checks them, and writes static tables for `src/spec.rs` and
//! `src/whose.rs`.

#[path = "build/payloads.rs"]
mod payloads;
#[path = "build/read.rs"]
mod read;
#[path = "build/shape.rs"]
mod shape;
#[path = "build/write.rs"]
mod write;

use std::path::Path;
use std::{env, fs};

use anyhow::{Context, Result};

/// The build's environment variable for a folder with more agents.
const MORE: &str = "CASTELLAN_MORE_AGENTS";

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=agents");
    println!("cargo::rerun-if-changed={}", payloads::FILE);
    println!("cargo::rerun-if-env-changed={MORE}");
    let mut paths = Vec::new();
    for folder in [Some("agents".into()), env::var_os(MORE)].into_iter().flatten() {
        for entry in fs::read_dir(&folder).with_context(|| Path::new(&folder).display().to_string())? {
            paths.push(entry?.path());
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    let mut files = Vec::new();
    for path in paths {
        files.push((path.display().to_string(), fs::read_to_string(&path)?));
    }
    let agents = read::read(&files)?;
    let out = env::var_os("OUT_DIR").context("OUT_DIR")?;
    fs::write(Path::new(&out).join("table.rs"), write::table(&agents))?;
    fs::write(Path::new(&out).join("ids.rs"), write::ids(&agents))?;
    let rows = payloads::table(&fs::read_to_string(payloads::FILE)?, &agents)?;
    fs::write(Path::new(&out).join("payloads.rs"), rows)?;
    Ok(())
}
