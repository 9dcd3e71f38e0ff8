//! The tools for macOS: a Rust toolchain with the sources of its standard library, and zig as C compiler and linker.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

pub(super) struct Tools {
    pub(super) cargo: PathBuf,
    pub(super) rustc: PathBuf,
    /// The command that runs zig.
    zig: &'static [&'static str],
}

/// Places of a toolchain: the one in use, and Debian's packages.
const TOOLCHAINS: &[&str] = &["", "/usr/bin/"];

/// Ways to run zig: a program on `PATH`, and the package of PyPI.
const ZIGS: &[&[&str]] = &[&["zig"], &["python3", "-m", "ziglang"]];

const NO_SOURCES: &str = "no Rust toolchain with the sources of its standard library: install Debian's `rustc-web`, \
     `cargo-web` and `rust-web-src`, or `rustup component add rust-src`";
const NO_ZIG: &str = "no `zig` as C compiler and linker: `pip install ziglang`, or put zig on PATH";
const NO_AR: &str = "no `ar`: install Debian's `binutils`";

impl Tools {
    /// Finds all tools; the error names each missing one and its remedy.
    pub(super) fn find() -> Result<Tools, Vec<String>> {
        let toolchain = TOOLCHAINS.iter().map(|at| (format!("{at}cargo"), format!("{at}rustc")));
        let toolchain = toolchain.into_iter().find(|(cargo, rustc)| works(&[cargo]) && has_sources(rustc));
        let zig = ZIGS.iter().find(|zig| works(&[zig, &["version"][..]].concat()));
        let missing = [(toolchain.is_none(), NO_SOURCES), (zig.is_none(), NO_ZIG), (!works(&["ar"]), NO_AR)];
        match (toolchain, zig) {
            (Some((cargo, rustc)), Some(zig)) if works(&["ar"]) => {
                Ok(Tools { cargo: cargo.into(), rustc: rustc.into(), zig })
            }
            _ => Err(missing.iter().filter(|(is, _)| *is).map(|(_, text)| (*text).to_owned()).collect()),
        }
    }

    /// Writes a program that calls zig as the compiler for `target`. The words that cargo, rustc and build scripts add for
    /// Apple's compiler are left out: zig knows its target already. So is `libiconv`, which the `libc` crate names and zig
    /// lacks: a program that calls it does not link.
    pub(super) fn write_compiler(&self, folder: &Path, target: &str) -> anyhow::Result<PathBuf> {
        let file = folder.join(format!("cc-{target}"));
        let zig = self.zig.join(" ");
        let text = format!(
            "#!/bin/sh\n\
             # Written by `cargo xtask check-macos`: zig as C compiler and linker for {target}.\n\
             skip=\n\
             for word; do\n\
             \x20 shift\n\
             \x20 if [ \"$skip\" ]; then skip=; continue; fi\n\
             \x20 case $word in\n\
             \x20   --target=* | -mmacosx-version-min=* | -liconv) continue ;;\n\
             \x20   -arch) skip=yes; continue ;;\n\
             \x20 esac\n\
             \x20 set -- \"$@\" \"$word\"\n\
             done\n\
             exec {zig} cc -target {target} \"$@\"\n"
        );
        std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
        Ok(file)
    }
}

/// Reports whether a command succeeds; a single word gets `--version`.
fn works(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let arguments = if arguments.is_empty() { &["--version"] } else { arguments };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn has_sources(rustc: &str) -> bool {
    let Ok(output) = Command::new(rustc).args(["--print", "sysroot"]).output() else { return false };
    let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    sysroot.join("lib/rustlib/src/rust/library/std/Cargo.toml").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The written program runs `echo` in place of zig.
    #[test]
    fn the_words_for_apples_compiler_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let tools = Tools { cargo: "cargo".into(), rustc: "rustc".into(), zig: &["echo"] };
        let compiler = tools.write_compiler(dir.path(), "aarch64-macos").unwrap();
        let check = |words: &[&str], expected: &str| {
            let output = Command::new("sh").arg(&compiler).args(words).output().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(said, format!("cc -target aarch64-macos{expected}\n"), "{words:?}");
        };
        check(&["-c", "a b.c"], " -c a b.c");
        check(&["-arch", "arm64", "-O1", "--target=arm64-apple-macosx", "x.c"], " -O1 x.c");
        check(&["-mmacosx-version-min=11.0", "-o", "out"], " -o out");
        check(&["x.o", "-liconv", "-lSystem"], " x.o -lSystem");
        check(&[], "");
    }
}
