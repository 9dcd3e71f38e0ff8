//! `cargo xtask dist`: castellan's packages, with the same bytes for the same programs: an archive with an install
//! script, a Debian package, and the agents' own forms. `docs/packages.md` describes them.

mod archive;
mod check;
mod deb;
mod library;
mod licences;
mod linked;
mod plugins;
mod programs;
mod sbom;
mod tar;
mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use self::programs::{Origin, Programs};
use self::tree::{Tree, sha256};
use crate::build::target;
use crate::root;

#[derive(Debug)]
struct Options {
    origin: Origin,
    platform: Option<String>,
    out: Option<PathBuf>,
    check: bool,
}

pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    let options = parse(words)?;
    if options.check {
        return check::check(&options.origin);
    }
    let programs = Programs::of(&options.origin, options.platform.as_deref())?;
    let out = match &options.out {
        Some(out) => std::path::absolute(out)?,
        None => target()?.join("dist"),
    };
    std::fs::create_dir_all(&out).with_context(|| format!("`{}` cannot be made", out.display()))?;
    let packages = packages(&programs, time()?)?;
    for (name, entry) in packages.files() {
        write(&out.join(name), &entry.bytes)?;
        println!("{}  {}", sha256(&entry.bytes), out.join(name).display());
    }
    write(&out.join("SHA256SUMS"), packages.checksums().as_bytes())
}

/// Returns the packages by their names. `time` is that of every file in them, in seconds since 1970.
fn packages(programs: &Programs, time: u64) -> anyhow::Result<Tree> {
    let linked = linked::linked(&programs.platform)?;
    let bill = sbom::text(programs, &linked, time)?;
    let mut legal = Tree::default();
    legal.add("LICENSE", tree::FILE, std::fs::read(root()?.join("LICENSE")).context("LICENSE")?)?;
    legal.add_text("THIRD-PARTY.txt", &licences::text(&linked)?)?;
    legal.add_text("sbom.cdx.json", &bill)?;
    let installed = archive::installed(programs, &legal)?;
    let (version, platform) = (&programs.version, &programs.platform);
    let mut packages = Tree::default();
    let pack = |packages: &mut Tree, name: &str, files: &Tree| {
        let made = tar::gzip(&tar::tar(files, &format!("{name}/"), time)?)?;
        packages.add(&format!("{name}.tar.gz"), tree::FILE, made)
    };
    let archive = archive::archive(programs, &installed)?;
    pack(&mut packages, &format!("castellan-{version}-{platform}"), &archive)?;
    for agent in plugins::AGENTS {
        let name = format!("castellan-{}-{version}-{platform}", agent.word());
        pack(&mut packages, &name, &plugins::files(agent, programs, &legal)?)?;
    }
    if platform.contains("linux") {
        let name = format!("castellan_{version}_{}.deb", deb::architecture(platform)?);
        packages.add(&name, tree::FILE, deb::package(programs, &installed, time)?)?;
    }
    packages.add_text(&format!("castellan-{version}-{platform}.cdx.json"), &bill)?;
    Ok(packages)
}

fn parse(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options { origin: Origin::Release, platform: None, out: None, check: false };
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut value =
            || words.next().map(|value| (*value).to_owned()).with_context(|| format!("{word} needs a value"));
        match word {
            "--debug" => options.origin = Origin::Debug,
            "--programs" => options.origin = Origin::Folder(PathBuf::from(value()?)),
            "--platform" => options.platform = Some(value()?),
            "--out" => options.out = Some(PathBuf::from(value()?)),
            "--check" => options.check = true,
            _ => bail!("unknown option `{word}` of dist"),
        }
    }
    let is_folder = matches!(options.origin, Origin::Folder(_));
    ensure!(options.platform.is_none() || is_folder, "--platform is that of ready programs: give --programs");
    Ok(options)
}

/// Returns the time of the files: `SOURCE_DATE_EPOCH`, or that of the commit.
fn time() -> anyhow::Result<u64> {
    let given = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(given) => given,
        Err(_) => {
            let output = Command::new("git")
                .args(["log", "-1", "--format=%ct"])
                .current_dir(root()?)
                .output()
                .context("git cannot be started: set SOURCE_DATE_EPOCH to the seconds since 1970")?;
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
    };
    let time = given.trim().parse().ok().filter(|time| *time < 1 << 33);
    time.with_context(|| {
        format!("`{}` is no time: set SOURCE_DATE_EPOCH to the seconds since 1970", given.trim())
    })
}

/// Writes a file whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let at = || format!("`{}` cannot be written", path.display());
    let partial = path.with_extension("partial");
    std::fs::write(&partial, bytes).with_context(at)?;
    std::fs::rename(&partial, path).with_context(at)
}
