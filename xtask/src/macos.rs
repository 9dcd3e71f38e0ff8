//! `cargo xtask check-macos`: compiles and links castellan for macOS on another system, with the sources of the standard
//! library and zig. Nothing of it runs.

mod mach_o;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use self::mach_o::Processor;
use self::tools::Tools;
use crate::build::target;
use crate::layers::crates;
use crate::root;

/// The systems: Rust's name, zig's name, and the processor of the linked files.
const SYSTEMS: &[System] = &[
    System { rust: "aarch64-apple-darwin", zig: "aarch64-macos", processor: Processor::Arm64 },
    System { rust: "x86_64-apple-darwin", zig: "x86_64-macos", processor: Processor::X86_64 },
];

struct System {
    rust: &'static str,
    zig: &'static str,
    processor: Processor,
}

/// The linked programs and their packages.
const PROGRAMS: &[(&str, &str)] = &[
    ("castellan", "castellan-cli"),
    ("castellan-hook", "castellan-hook"),
    ("castellan-sandbox", "castellan-launcher"),
];

pub(crate) fn check(words: &[&str]) -> anyhow::Result<()> {
    let (mut is_linked, mut if_present) = (false, false);
    for word in words {
        match *word {
            "--link" => is_linked = true,
            "--if-present" => if_present = true,
            other => bail!("unknown option `{other}`: `check-macos` takes `--link` and `--if-present`"),
        }
    }
    let folder = target()?.join("macos");
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(missing) => {
            let text = format!("castellan cannot be compiled for macOS here:\n  {}", missing.join("\n  "));
            ensure!(if_present, "{text}");
            eprintln!("\n!! {text}\n!! NOTHING IS CHECKED FOR macOS\n");
            return Ok(());
        }
    };
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    for system in SYSTEMS {
        let compiler = tools.write_compiler(&folder, system.zig)?;
        layout(&compiler, &folder, system)?;
        cargo(&tools, &compiler, (&folder, system), is_linked)?;
        if is_linked {
            for (program, _) in PROGRAMS {
                let file = folder.join(system.rust).join("debug").join(program);
                mach_o::check(&file, system.processor)?;
                println!("{}: linked `{program}`, {} bytes", system.rust, file.metadata()?.len());
            }
        }
    }
    let done = if is_linked { "compile, and three programs link" } else { "compile" };
    println!(
        "check-macos: {} crates {done}, for {} processors; nothing ran",
        crates().count(),
        SYSTEMS.len()
    );
    Ok(())
}

/// Compiles the assertions about the layout of the kernel's bytes, against Apple's headers.
fn layout(compiler: &Path, folder: &Path, system: &System) -> anyhow::Result<()> {
    let source = root()?.join("crates/darwin/layout.c");
    let mut command = Command::new(compiler);
    command.arg("-Werror").arg("-c").arg(&source).arg("-o").arg(folder.join("layout.o"));
    let status = command.status().with_context(|| compiler.display().to_string())?;
    ensure!(
        status.success(),
        "{}: Apple's headers have another layout than {}",
        system.rust,
        source.display()
    );
    Ok(())
}

/// Checks all crates, or builds the programs. A warning is an error.
fn cargo(
    tools: &Tools,
    compiler: &Path,
    (folder, system): (&PathBuf, &System),
    is_linked: bool,
) -> anyhow::Result<()> {
    // Other work on the machine goes first.
    let mut command = Command::new("nice");
    command.arg(&tools.cargo).arg(if is_linked { "build" } else { "check" });
    command.args([
        "-Zbuild-std=std,panic_unwind,panic_abort",
        "-Zwarnings",
        "--config",
        "build.warnings=\"deny\"",
    ]);
    // Neither fast nor debugged: nothing of it runs.
    for setting in ["debug=false", "package.\"*\".opt-level=0", "build-override.debug=false"] {
        command.arg("--config").arg(format!("profile.dev.{setting}"));
    }
    // rustc has no program that strips Apple's files.
    for (_, package) in PROGRAMS {
        command.arg("--config").arg(format!("profile.dev.package.{package}.strip=\"none\""));
    }
    command.args(["--locked", "--jobs", "1", "--target", system.rust, "--target-dir"]).arg(folder);
    match is_linked {
        true => PROGRAMS.iter().for_each(|(_, package)| _ = command.args(["--package", package])),
        false => crates().for_each(|name| _ = command.args(["--package", name])),
    }
    let of_target = system.rust.replace('-', "_");
    command.env(format!("CC_{of_target}"), compiler).env(format!("AR_{of_target}"), "ar");
    command.env(format!("CARGO_TARGET_{}_LINKER", of_target.to_uppercase()), compiler);
    // The compiler of this toolchain, which is a stable one: `-Z` needs the second variable.
    command.env("RUSTC", &tools.rustc).env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTFLAGS");
    // zig has its own libraries of macOS. rustc only wants to see a folder.
    command.env("SDKROOT", folder);
    let status = command.current_dir(root()?).status().context("`nice` cannot be started")?;
    ensure!(status.success(), "{}: castellan does not compile", system.rust);
    Ok(())
}
