//! Reads what is known of each agent in `agents/*.toml`, checks it, and writes it as a static table of the types in `src/spec.rs`.

#[path = "build/read.rs"]
mod read;
#[path = "build/shape.rs"]
mod shape;
#[path = "build/write.rs"]
mod write;

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=agents");
    let mut paths: Vec<PathBuf> =
        fs::read_dir("agents")?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        files.push((path.display().to_string(), fs::read_to_string(&path)?));
    }
    let agents = read::read(&files)?;
    let out = env::var_os("OUT_DIR").context("OUT_DIR")?;
    fs::write(Path::new(&out).join("table.rs"), write::table(&agents))?;
    fs::write(Path::new(&out).join("ids.rs"), write::ids(&agents))?;
    Ok(())
}
