//! What a patch changes: the files that it names. `patch` takes them from it where it is given none, and git always
//! does. It must not know what stands in the hunks.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Invocation};
use castellan_shell::Stdin;

use crate::limits::PATCHED_FILES_MAX;
use crate::sink::Sink;
use crate::targets::is_standard_stream;
use crate::{path, scripts};

/// `patch -pN < FILE`, `patch -pN -i FILE`: without a file to patch the patch names the files.
pub(super) fn patch(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if !read.operands.is_empty() || read.given("-o") || sink.mode.dry {
        return;
    }
    let input = read.values("-i").next().filter(|input| !is_standard_stream(input)).cloned();
    let strip = read.values("-p").next().map(|number| number.as_str().and_then(|text| text.parse().ok()));
    let text = given(input.as_ref(), sink);
    let named = match (text, strip) {
        (Ok(text), Some(strip)) => strip.ok_or(Why::Variable).and_then(|strip| named(&text, Some(strip))),
        (Ok(text), None) => named(&text, None),
        (Err(why), _) => Err(why),
    };
    match named {
        Ok(names) => written(&names, sink),
        Err(why) => sink.opaque(Role::Target, why, &input.as_ref().map(Arg::written).unwrap_or_default()),
    }
}

/// `git apply FILE`: that the work tree changes is known, and here which files. What cannot be read adds nothing to
/// that.
pub(super) fn git_apply(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if ["--stat", "--numstat", "--summary", "--check"].iter().any(|flag| read.given(flag)) {
        return;
    }
    let strip = read.values("-p").next().and_then(Arg::as_str).and_then(|text| text.parse().ok());
    let mut files: Vec<Option<Arg>> = read.operands.iter().map(|one| Some(one.arg.clone())).collect();
    if files.is_empty() {
        files.push(None);
    }
    for file in files {
        let file = file.filter(|file| !is_standard_stream(file));
        let named = text(file.as_ref(), sink).and_then(|text| named(&text, Some(strip.unwrap_or(1))));
        written(&named.unwrap_or_default(), sink);
    }
}

/// Returns the contents of the file, or the command's input if there is no file. `None` for unknown text.
pub(super) fn given_text(file: Option<&Arg>, sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    given(file, sink).ok()
}

/// As [`given_text`], with the reason for unknown text. A file that the call itself writes has unknown text.
fn given(file: Option<&Arg>, sink: &mut Sink<'_, '_, '_, '_>) -> Result<String, Why> {
    let redirected = match (&sink.setup.stdin, file) {
        (Stdin::File(file), None) => Some(file.clone()),
        (Stdin::File(_) | Stdin::Inherited | Stdin::Text(_), _) => file.cloned(),
    };
    let located = redirected.map(|file| sink.locate(&file)).and_then(|located| located.path);
    let is_changed = located.is_some_and(|path| sink.scene.overlay.has_written(&path));
    if is_changed { Err(Why::File) } else { text(file, sink) }
}

/// The patch: what a file holds, or what is read.
fn text(file: Option<&Arg>, sink: &mut Sink<'_, '_, '_, '_>) -> Result<String, Why> {
    let file = match (file, &sink.setup.stdin) {
        (Some(file), _) | (None, Stdin::File(file)) => file.clone(),
        (None, Stdin::Text(text)) => {
            return text.as_str().map(str::to_owned).ok_or(text.why().unwrap_or(Why::Input));
        }
        (None, Stdin::Inherited) => return Err(Why::Input),
    };
    let known = file.as_str().filter(|_| !sink.setup.remote);
    let known = known.and_then(|file| path::collapse(sink.cwd.as_deref(), file)).ok_or(Why::File)?;
    scripts::data(&known, sink.scene).map(|text| text.to_string()).map_err(|_| Why::File)
}

fn written(names: &[String], sink: &mut Sink<'_, '_, '_, '_>) {
    for name in names {
        sink.path(EffectKind::Write, &Arg::known(name.as_str()));
    }
}

/// The files that a patch names, without so many directories; without a number `patch` looks for a file under any part
/// of the name.
fn named(text: &str, strip: Option<usize>) -> Result<Vec<String>, Why> {
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        for name in headers(line) {
            // The empty name before the first slash counts as one, slashes that follow each other as one slash.
            let is_part = |(at, part): &(usize, &str)| *at == 0 || !part.is_empty();
            let parts = name.split('/').enumerate().filter(is_part);
            let parts: Vec<&str> = parts.map(|(_, part)| part).collect();
            let wanted = match strip {
                Some(strip) => strip..=strip,
                None => 0..=parts.len().saturating_sub(1),
            };
            for strip in wanted {
                let stripped = parts.get(strip..).unwrap_or_default().join("/");
                if !stripped.is_empty() && !names.contains(&stripped) {
                    names.push(stripped);
                }
            }
            if names.len() > PATCHED_FILES_MAX {
                return Err(Why::Budget);
            }
        }
    }
    if names.is_empty() { Err(Why::Syntax) } else { Ok(names) }
}

/// The names in a line that begins the part of a file. A line of a hunk may look like one: then it names a file too
/// many.
fn headers(line: &str) -> Vec<&str> {
    if let Some(both) = line.strip_prefix("diff --git ") {
        let halves = both.find(" b/").and_then(|at| both.split_at_checked(at));
        return halves.map(|(old, new)| vec![old, new.trim_start()]).unwrap_or_default();
    }
    let begins = ["--- ", "+++ ", "*** ", "Index: "];
    let name = begins.iter().find_map(|begin| line.strip_prefix(begin));
    let name = name.map(|rest| rest.split('\t').next().unwrap_or_default().trim().trim_matches('"'));
    name.filter(|name| *name != "/dev/null" && !name.ends_with(" ****")).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_its_files() {
        let unified = "--- a/src/x.c\t2024-01-01\n+++ b/src/x.c\n@@ -1 +1 @@\n-a\n+b\n";
        let git = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n";
        let new = "--- /dev/null\n+++ b/.mcp.json\n@@ -0,0 +1 @@\n+{}\n";
        for (text, strip, expected) in [
            (unified, Some(1), Ok(vec!["src/x.c"])),
            (unified, Some(0), Ok(vec!["a/src/x.c", "b/src/x.c"])),
            (unified, None, Ok(vec!["a/src/x.c", "src/x.c", "x.c", "b/src/x.c"])),
            (git, Some(1), Ok(vec!["run.sh"])),
            (new, Some(1), Ok(vec![".mcp.json"])),
            ("--- /etc/x\n+++ /etc/x\n", Some(0), Ok(vec!["/etc/x"])),
            ("--- /etc//x\n+++ /etc/x\n", Some(1), Ok(vec!["etc/x"])),
            ("Index: a/b.c\n", Some(0), Ok(vec!["a/b.c"])),
            ("1c1\n< a\n---\n> b\n", Some(1), Err(Why::Syntax)),
        ] {
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(named(text, strip), expected, "{text}");
        }
    }
}
