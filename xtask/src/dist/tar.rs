//! Writes `tar` (POSIX ustar), `ar` and gzip so that equal files give equal bytes: sorted, one time for all, owner 0.
//! A few lines, so that no crate decides about times and owners. Must not know the packages.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context, ensure};
use flate2::{Compression, GzBuilder};

use super::tree::Tree;

const BLOCK: usize = 512;

/// Returns a `tar` of a tree and the folders above its files. `prefix` begins each path; `time` is in seconds since 1970.
pub(super) fn tar(tree: &Tree, prefix: &str, time: u64) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut folders = BTreeSet::new();
    for (path, entry) in tree.files() {
        let path = format!("{prefix}{path}");
        for (at, _) in path.match_indices('/') {
            let folder = path.get(..=at).unwrap_or_default();
            if folder != "./" && folders.insert(folder.to_owned()) {
                out.extend(header(folder, 0o755, 0, time, b'5')?);
            }
        }
        out.extend(header(&path, entry.mode, entry.bytes.len(), time, b'0')?);
        out.extend_from_slice(&entry.bytes);
        out.resize(out.len().next_multiple_of(BLOCK), 0);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    Ok(out)
}

fn header(path: &str, mode: u32, size: usize, time: u64, kind: u8) -> anyhow::Result<Vec<u8>> {
    let (prefix, name) = split(path)?;
    let mut header = Vec::with_capacity(BLOCK);
    field(&mut header, name.as_bytes(), 100)?;
    for number in [format!("{mode:07o}"), "0000000".into(), "0000000".into()] {
        field(&mut header, number.as_bytes(), 8)?;
    }
    field(&mut header, format!("{size:011o}").as_bytes(), 12)?;
    field(&mut header, format!("{time:011o}").as_bytes(), 12)?;
    // The checksum is made with spaces in its own place.
    header.extend_from_slice(b"        ");
    header.push(kind);
    header.resize(header.len() + 100, 0);
    header.extend_from_slice(b"ustar\x0000");
    field(&mut header, b"root", 32)?;
    field(&mut header, b"root", 32)?;
    header.resize(header.len() + 16, 0);
    field(&mut header, prefix.as_bytes(), 155)?;
    header.resize(BLOCK, 0);
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    let place = header.get_mut(148..156).context("no place for the checksum")?;
    place.copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

/// Splits a long path into the prefix and the name of a header.
fn split(path: &str) -> anyhow::Result<(&str, &str)> {
    if path.len() <= 100 {
        return Ok(("", path));
    }
    let fits = |(at, _): &(usize, &str)| *at <= 155 && path.len() - at - 1 <= 100;
    let place = path.match_indices('/').find(fits);
    let (at, _) = place.with_context(|| format!("`{path}` is too long for a tar"))?;
    path.split_at_checked(at)
        .and_then(|(prefix, name)| Some((prefix, name.strip_prefix('/')?)))
        .context("no name")
}

fn field(header: &mut Vec<u8>, text: &[u8], width: usize) -> anyhow::Result<()> {
    ensure!(text.len() <= width, "`{}` is too long for a tar", String::from_utf8_lossy(text));
    let end = header.len() + width;
    header.extend_from_slice(text);
    header.resize(end, 0);
    Ok(())
}

/// Returns an `ar` of files with names of at most 16 bytes.
pub(super) fn ar(files: &[(&str, Vec<u8>)], time: u64) -> anyhow::Result<Vec<u8>> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in files {
        ensure!(name.len() <= 16, "`{name}` is too long for an ar");
        let size = bytes.len();
        writeln!(out, "{name:<16}{time:<12}{:<6}{:<6}{:<8}{size:<10}`", 0, 0, "100644")?;
        out.extend_from_slice(bytes);
        if size % 2 == 1 {
            out.push(b'\n');
        }
    }
    Ok(out)
}

/// Compresses, without a name and a time.
pub(super) fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_systems_tar_reads_it() {
        let mut tree = Tree::default();
        let long = format!("{}/{}", "d".repeat(90), "f".repeat(90));
        for (path, mode, text) in [("a/b", 0o755, "x"), ("c", 0o644, ""), (&long, 0o644, "y")] {
            tree.add(path, mode, text.as_bytes()).unwrap();
        }
        let bytes = tar(&tree, "p/", 1_000_000_000).unwrap();
        assert_eq!(bytes.len() % BLOCK, 0);
        let mut list = Command::new("tar");
        list.args(["--numeric-owner", "--utc", "-tvf", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut list = list.spawn().unwrap();
        list.stdin.take().unwrap().write_all(&bytes).unwrap();
        let told = String::from_utf8(list.wait_with_output().unwrap().stdout).unwrap();
        let told: Vec<String> =
            told.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let dir = |path: &str| format!("drwxr-xr-x 0/0 0 2001-09-09 01:46 {path}");
        let file = |mode: &str, size: usize, path: &str| format!("{mode} 0/0 {size} 2001-09-09 01:46 {path}");
        let d = format!("p/{}/", "d".repeat(90));
        assert_eq!(
            told,
            [
                dir("p/"),
                dir("p/a/"),
                file("-rwxr-xr-x", 1, "p/a/b"),
                file("-rw-r--r--", 0, "p/c"),
                dir(&d),
                file("-rw-r--r--", 1, &format!("p/{long}")),
            ]
        );
    }

    #[test]
    fn a_path_that_does_not_fit_is_an_error() {
        let mut tree = Tree::default();
        tree.add_text(&"f".repeat(101), "").unwrap();
        assert!(tar(&tree, "", 0).is_err());
    }

    #[test]
    fn an_ar_has_even_parts() {
        let made = ar(&[("a", b"x".to_vec()), ("b", b"yz".to_vec())], 7).unwrap();
        let head =
            |name: &str, size: usize| format!("{name:<16}7           0     0     100644  {size:<10}`\n");
        assert_eq!(
            String::from_utf8(made).unwrap(),
            format!("!<arch>\n{}x\n{}yz", head("a", 1), head("b", 2))
        );
    }
}
