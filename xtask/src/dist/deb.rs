//! The Debian package, without `dpkg-deb`: an `ar` of a version, the control files and the data. Must not know how the
//! files are made.

use anyhow::{Context, bail};

use super::programs::Programs;
use super::tar::{ar, gzip, tar};
use super::tree::{FILE, PROGRAM, Tree};

const SCRIPTS: &[(&str, &str)] = &[
    ("preinst", include_str!("../../../packaging/deb/preinst")),
    ("postinst", include_str!("../../../packaging/deb/postinst")),
    ("prerm", include_str!("../../../packaging/deb/prerm")),
];

/// The mode of the reader. `castellan install --system` gives it this mode, because the kernel hides a process from its own
/// user whose program that user cannot read. A newer package must not take that back.
const READER: u32 = 0o711;

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: castellan

Files: *
Copyright: the castellan authors
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0. The licences of the crates in the programs are
 in THIRD-PARTY.txt beside this file.
";

/// Returns Debian's name of a platform.
pub(super) fn architecture(platform: &str) -> anyhow::Result<&'static str> {
    match platform.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        _ => bail!("Debian's name of `{platform}` is not known: add it to xtask/src/dist/deb.rs"),
    }
}

/// Returns the package. `files` are those of the archive: `bin/..`, `lib/..` and `share/..`.
pub(super) fn package(programs: &Programs, files: &Tree, time: u64) -> anyhow::Result<Vec<u8>> {
    let data = data(files)?;
    let mut control = Tree::default();
    control.add("control", FILE, control_text(programs, &data)?.into_bytes())?;
    for (name, text) in SCRIPTS {
        control.add(name, PROGRAM, text.replace("@VERSION@", &programs.version).into_bytes())?;
    }
    let parts = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&tar(&control, "./", time)?)?),
        ("data.tar.gz", gzip(&tar(&data, "./", time)?)?),
    ];
    ar(&parts, time)
}

/// Puts the files where Debian has them: man pages are compressed, and completions of zsh have a folder for vendors.
fn data(files: &Tree) -> anyhow::Result<Tree> {
    let mut data = Tree::default();
    for (path, entry) in files.files() {
        let place = path.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/");
        if place.starts_with("share/man/") || place.ends_with("/CHANGELOG.md") {
            data.add(&format!("usr/{place}.gz"), FILE, gzip(&entry.bytes)?)?;
        } else if !place.ends_with("/LICENSE") {
            let mode = if place == "bin/castellan-reader" { READER } else { entry.mode };
            data.add(&format!("usr/{place}"), mode, entry.bytes.clone())?;
        }
    }
    data.add_text("usr/share/doc/castellan/copyright", COPYRIGHT)?;
    Ok(data)
}

fn control_text(programs: &Programs, data: &Tree) -> anyhow::Result<String> {
    let (version, architecture) = (&programs.version, architecture(&programs.platform)?);
    let size: usize = data.files().map(|(_, entry)| entry.bytes.len().div_ceil(1024)).sum();
    let depends = depends(programs)?;
    let depends =
        if depends.is_empty() { String::new() } else { format!("Depends: {}\n", depends.join(", ")) };
    Ok(format!(
        "Package: castellan\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: the castellan authors \
         <castellan@example.invalid>\nInstalled-Size: {size}\n{depends}Section: admin\nPriority: optional\n\
         Description: guards a machine against mistakes of AI coding agents\n castellan judges each tool call of Claude \
         Code, Codex, Gemini CLI and Qwen Code\n by rules before the call runs, and records it. After the installation, \
         each user\n runs `castellan install`.\n"
    ))
}

/// Returns the libraries of Debian that the programs and the plugin are linked with. A static program needs none.
fn depends(programs: &Programs) -> anyhow::Result<Vec<String>> {
    let castellan = programs.tree.get("castellan").context("no castellan")?;
    // The other programs are small, and linked statically where that is possible.
    let linked = || std::iter::once(&castellan.bytes).chain(&programs.library);
    let mut depends = Vec::new();
    if let Some((major, minor)) = linked().filter_map(|bytes| glibc(bytes)).max() {
        depends.push(format!("libc6 (>= {major}.{minor})"));
    }
    if linked().any(|bytes| contains(bytes, b"libgcc_s.so.1\0")) {
        depends.push("libgcc-s1".to_owned());
    }
    Ok(depends)
}

/// Returns the newest version of glibc's symbols that a program names.
fn glibc(program: &[u8]) -> Option<(u32, u32)> {
    const NAME: &[u8] = b"GLIBC_";
    let places = program.windows(NAME.len()).enumerate().filter(|(_, part)| *part == NAME);
    let versions = places.filter_map(|(at, _)| {
        let text: String =
            program.get(at + NAME.len()..)?.iter().take(8).map(|byte| char::from(*byte)).collect();
        let text = text.split('\0').next()?;
        let (major, minor) = text.split_once('.')?;
        Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
    });
    versions.max()
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|part| part == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_symbol_says_which_glibc_is_needed() {
        assert_eq!(glibc(b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_PRIVATE\0GLIBC_2.2.5\0"), Some((2, 34)));
        assert_eq!(glibc(b"static"), None);
    }
}
