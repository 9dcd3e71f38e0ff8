//! `apply_patch` text (Codex 0.169.0) → one [`FileTarget`] for each operation and path, with the text of its hunk and
//! its change of the file. This module must not know the contents of files.
//!
//! The reader accepts every line that Codex could read as a file header, also between context lines. An extra target
//! costs a prompt; a missing target would allow a change. Ambiguous text is malformed.

use castellan_event::{
    Change, FILES_PER_CALL_MAX, FileTarget, IntakeProblem, PATH_BYTES_MAX, PatchOp, Replacement,
};

const HEADERS: &[(&str, PatchOp)] = &[
    ("*** Add File:", PatchOp::Add),
    ("*** Update File:", PatchOp::Update),
    ("*** Delete File:", PatchOp::Delete),
    ("*** Move to:", PatchOp::Move),
];

/// Splits a patch. The targets before a problem are returned, so that rules and the record see them.
pub(crate) fn split(patch: &str) -> (Vec<FileTarget>, Vec<IntakeProblem>) {
    let mut reader = Reader::default();
    let mut problems = Vec::new();
    for (number, line) in patch.lines().enumerate() {
        if let Err(problem) = reader.read(line) {
            problems.push(problem.at(number + 1));
            break;
        }
    }
    if problems.is_empty() && reader.place != Place::AfterEnd {
        problems.push(malformed("no `*** End Patch`"));
    } else if problems.is_empty() && reader.hunks.is_empty() {
        problems.push(malformed("no file"));
    }
    (reader.hunks.into_iter().flat_map(Hunk::targets).collect(), problems)
}

/// Splits the patch inside shell text. Codex 0.169.0 applies it itself if the text calls its `apply_patch` (measured
/// with a here-document). `None` without a patch. An extra target is harmless here, too.
pub(crate) fn within_shell_text(text: &str) -> Option<(Vec<FileTarget>, Vec<IntakeProblem>)> {
    const BEGIN: &str = "*** Begin Patch";
    const END: &str = "*** End Patch";
    let begins = |line: &&str| line.trim_end().ends_with(BEGIN);
    let before: usize = text.split_inclusive('\n').take_while(|line| !begins(line)).map(str::len).sum();
    let (command, rest) = text.split_at_checked(before)?;
    let (call, patch) = rest.split_once(BEGIN)?;
    let lines = patch.split_inclusive('\n');
    let body: String = lines.take_while(|line| !line.trim_start().starts_with(END)).collect();
    let (files, mut problems) = split(&format!("{BEGIN}{}\n{END}\n", body.trim_end()));
    if !patch.contains(END) {
        problems.push(malformed("no `*** End Patch`"));
    }
    if patch.split_once(END).is_some_and(|(_, after)| after.contains(BEGIN)) {
        problems.push(malformed("more than one patch in shell text"));
    }
    // Only the shell knows where its relative paths lead.
    if [command, call]
        .concat()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| DIRECTORY_CHANGES.contains(&word))
    {
        problems.push(malformed("a patch in shell text that changes the directory"));
    }
    Some((files, problems))
}

const DIRECTORY_CHANGES: &[&str] = &["cd", "pushd", "popd", "chdir"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    #[default]
    BeforeBegin,
    BeforeFirstHunk,
    InHunk,
    AfterEnd,
}

#[derive(Debug, Default)]
struct Reader {
    place: Place,
    hunks: Vec<Hunk>,
    targets: usize,
}

#[derive(Debug)]
struct Hunk {
    op: PatchOp,
    path: String,
    move_to: Option<String>,
    text: String,
}

enum Stop {
    Malformed(&'static str),
    TooManyPaths,
}

impl Reader {
    fn read(&mut self, line: &str) -> Result<(), Stop> {
        match (self.place, line.trim()) {
            (Place::BeforeBegin | Place::AfterEnd, "") => {}
            (Place::BeforeBegin, "*** Begin Patch") => self.place = Place::BeforeFirstHunk,
            (Place::BeforeBegin, _) => return Err(Stop::Malformed("no `*** Begin Patch` at the beginning")),
            (Place::AfterEnd, _) => return Err(Stop::Malformed("text after `*** End Patch`")),
            (Place::BeforeFirstHunk | Place::InHunk, "*** End Patch") => self.place = Place::AfterEnd,
            (Place::BeforeFirstHunk | Place::InHunk, trimmed) => return self.read_hunk_line(line, trimmed),
        }
        Ok(())
    }

    fn read_hunk_line(&mut self, line: &str, trimmed: &str) -> Result<(), Stop> {
        let header = HEADERS.iter().find_map(|(word, op)| trimmed.strip_prefix(word).map(|path| (*op, path)));
        match header {
            Some((op, path)) => self.open(op, header_path(path)?, line),
            None if self.place == Place::InHunk => self.body(line, trimmed),
            None if trimmed.is_empty() || trimmed.starts_with("*** Environment ID: ") => Ok(()),
            None => Err(Stop::Malformed("text before the first file")),
        }
    }

    fn open(&mut self, op: PatchOp, path: String, line: &str) -> Result<(), Stop> {
        self.targets += 1;
        if self.targets > FILES_PER_CALL_MAX || path.len() > PATH_BYTES_MAX {
            return Err(Stop::TooManyPaths);
        }
        self.place = Place::InHunk;
        if op != PatchOp::Move {
            self.hunks.push(Hunk { op, path, move_to: None, text: format!("{line}\n") });
            return Ok(());
        }
        match self.hunks.last_mut() {
            Some(hunk) if hunk.op == PatchOp::Update && hunk.move_to.is_none() => {
                hunk.move_to = Some(path);
                hunk.push(line);
                Ok(())
            }
            _ => Err(Stop::Malformed("a `*** Move to:` that belongs to no update")),
        }
    }

    fn body(&mut self, line: &str, trimmed: &str) -> Result<(), Stop> {
        let Some(hunk) = self.hunks.last_mut() else {
            return Err(Stop::Malformed("text before the first file"));
        };
        let fits = match (hunk.op, line.chars().next()) {
            _ if trimmed.is_empty() => true,
            (PatchOp::Add, Some('+')) | (PatchOp::Update, Some('+' | '-' | ' ' | '@')) => true,
            (PatchOp::Update, _) => trimmed == "*** End of File",
            (PatchOp::Add | PatchOp::Delete | PatchOp::Move, _) => false,
        };
        hunk.push(line);
        fits.then_some(()).ok_or(Stop::Malformed("a line that belongs to no hunk"))
    }
}

impl Hunk {
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A moved file's content ends at the destination, so both targets have the whole hunk.
    fn targets(self) -> Vec<FileTarget> {
        let change = self.change();
        let target =
            |path, op, patch_text, change| FileTarget { path, patch_op: Some(op), patch_text, change };
        match self.move_to {
            Some(to) => {
                let from = target(self.path, self.op, self.text.clone(), Change::Unsaid);
                vec![from, target(to, PatchOp::Move, self.text, change)]
            }
            None => vec![target(self.path, self.op, self.text, change)],
        }
    }

    /// The file's change: an added file has its lines; in an updated file each part of the hunk replaces its old lines.
    fn change(&self) -> Change {
        let lines = self.text.lines().skip(1);
        match self.op {
            PatchOp::Add => Change::Whole(
                lines.filter_map(|line| line.strip_prefix('+')).flat_map(|line| [line, "\n"]).collect(),
            ),
            PatchOp::Update => {
                let mut replacements = vec![Replacement::default()];
                for line in lines.filter(|line| !line.trim_start().starts_with("*** ")) {
                    if line.starts_with("@@") {
                        replacements.push(Replacement::default());
                    }
                    let Some(part) = replacements.last_mut() else { continue };
                    let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
                    for (side, left_out) in [(&mut part.old, "+"), (&mut part.new, "-")] {
                        if sign != "@" && sign != left_out {
                            side.push_str(text);
                            side.push('\n');
                        }
                    }
                }
                replacements.retain(|part| part.old != part.new);
                Change::Edited { of: self.path.clone(), replacements }
            }
            PatchOp::Delete | PatchOp::Move => Change::Unsaid,
        }
    }
}

impl Stop {
    fn at(&self, line: usize) -> IntakeProblem {
        match self {
            Stop::Malformed(what) => malformed(&format!("{what}, line {line}")),
            Stop::TooManyPaths => IntakeProblem::TooManyPaths,
        }
    }
}

/// Returns the path of a header. Codex cuts white space at its end and removes only one space at its beginning.
fn header_path(rest: &str) -> Result<String, Stop> {
    let path =
        rest.strip_prefix(' ').ok_or(Stop::Malformed("a file header without a space after the colon"))?;
    if path.is_empty() || path.trim_start() != path {
        return Err(Stop::Malformed("a file header whose path is empty or begins with space"));
    }
    Ok(path.to_owned())
}

fn malformed(what: &str) -> IntakeProblem {
    IntakeProblem::MalformedPatch(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(patch: &str, expected: &[(&str, PatchOp, &str)]) {
        let (targets, problems) = split(patch);
        let found: Vec<_> =
            targets.iter().map(|t| (t.path.as_str(), t.patch_op.unwrap(), t.patch_text.as_str())).collect();
        assert_eq!(found, expected);
        assert_eq!(problems, []);
    }

    #[track_caller]
    fn refused(patch: &str, targets: usize, why: &str) {
        let (found, problems) = split(patch);
        assert_eq!(found.len(), targets);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().contains(why), "{problems:?}");
    }

    #[test]
    fn one_target_for_each_operation_and_path() {
        let move_text = "*** Update File: b\n*** Move to: c\n@@ fn x\n a\n-b\n+c\n\n*** End of File\n";
        check(
            "*** Begin Patch\n*** Add File: a b\n+one\n+\n*** Update File: b\n*** Move to: c\n@@ fn x\n a\n-b\n+c\n\n\
             *** End of File\n*** Delete File: /d\n*** End Patch\n",
            &[
                ("a b", PatchOp::Add, "*** Add File: a b\n+one\n+\n"),
                ("b", PatchOp::Update, move_text),
                ("c", PatchOp::Move, move_text),
                ("/d", PatchOp::Delete, "*** Delete File: /d\n"),
            ],
        );
    }

    #[test]
    fn a_hunk_says_what_becomes_of_its_file() {
        let check = |hunks: &str, expected: &[Change]| {
            let (targets, problems) = split(&format!("*** Begin Patch\n{hunks}\n*** End Patch\n"));
            assert_eq!(problems, [], "{hunks}");
            let changes: Vec<Change> = targets.into_iter().map(|target| target.change).collect();
            assert_eq!(changes, expected, "{hunks}");
        };
        let edited = |parts: &[(&str, &str)]| Change::Edited {
            of: "a".to_owned(),
            replacements: parts
                .iter()
                .map(|(old, new)| Replacement {
                    old: (*old).to_owned(),
                    new: (*new).to_owned(),
                    everywhere: false,
                })
                .collect(),
        };
        check("*** Add File: a\n+one\n+\n++two", &[Change::Whole("one\n\n+two\n".to_owned())]);
        check("*** Update File: a\n@@\n-x\n+y", &[edited(&[("x\n", "y\n")])]);
        check(
            "*** Update File: a\n a\n-x\n\n+y\n@@ fn f\n b\n+c\n*** End of File",
            &[edited(&[("a\nx\n\n", "a\n\ny\n"), ("b\n", "b\nc\n")])],
        );
        check("*** Update File: a\n*** Move to: b\n@@\n-x\n+y", &[Change::Unsaid, edited(&[("x\n", "y\n")])]);
        check("*** Delete File: a", &[Change::Unsaid]);
    }

    #[test]
    fn a_patch_inside_shell_text_is_found() {
        let check = |text: &str, expected: Option<(&[&str], usize)>| {
            let found = within_shell_text(text);
            let found = found.map(|(files, problems)| {
                (files.into_iter().map(|file| file.path).collect::<Vec<_>>(), problems.len())
            });
            let expected =
                expected.map(|(paths, n)| (paths.iter().map(|path| (*path).to_owned()).collect(), n));
            assert_eq!(found, expected, "{text}");
        };
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: /b\n*** End Patch";
        check(&format!("apply_patch <<'EOF'\n{patch}\nEOF\n"), Some((&["a", "/b"], 0)));
        check(&format!("applypatch '{patch}'"), Some((&["a", "/b"], 0)));
        check(&format!("cd /etc && apply_patch <<EOF\n{patch}\nEOF"), Some((&["a", "/b"], 1)));
        check(&format!("apply_patch <<A\n{patch}\nA\napply_patch <<B\n{patch}\nB"), Some((&["a", "/b"], 1)));
        check("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\nEOF\n", Some((&["a"], 2)));
        check("apply_patch <<'EOF'\n*** Begin Patch\nnonsense\n*** End Patch\nEOF\n", Some((&[], 1)));
        check("grep -n '*** Begin Patch' notes.md", None);
        check("ls", None);
    }

    #[test]
    fn carriage_returns_and_indented_headers_hide_no_file() {
        check(
            "*** Begin Patch\r\n *** Delete File: a\r\n\t*** Delete File: b\r\n*** End Patch\r\n",
            &[
                ("a", PatchOp::Delete, " *** Delete File: a\n"),
                ("b", PatchOp::Delete, "\t*** Delete File: b\n"),
            ],
        );
        let (targets, _) =
            split("*** Begin Patch\n*** Update File: a\n@@\n *** Delete File: /etc/x\n*** End Patch");
        assert_eq!(targets.last().unwrap().path, "/etc/x");
    }

    #[test]
    fn added_text_is_no_header() {
        let text = "*** Add File: doc\n+*** Delete File: x\n+*** End Patch\n";
        check(&format!("*** Begin Patch\n{text}*** End Patch"), &[("doc", PatchOp::Add, text)]);
    }

    #[test]
    fn what_is_ambiguous_is_malformed() {
        refused("", 0, "`*** End Patch`");
        refused("*** Add File: a\n+x\n*** End Patch", 0, "line 1");
        refused("<<EOF\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF", 0, "line 1");
        refused("*** Begin Patch\n*** End Patch", 0, "no file");
        refused("*** Begin Patch\n*** Add File: a\n+x\n", 1, "`*** End Patch`");
        refused("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", 1, "line 3");
        refused("*** Begin Patch\n*** Add File:  a\n+x\n*** End Patch", 0, "begins with space");
        refused("*** Begin Patch\n*** Add File:a\n+x\n*** End Patch", 0, "without a space");
        refused("*** Begin Patch\n*** Delete File:\n*** End Patch", 0, "without a space");
        refused("*** Begin Patch\n*** Move to: a\n*** End Patch", 0, "no update");
        refused("*** Begin Patch\n*** Delete File: a\n*** Move to: b\n*** End Patch", 1, "no update");
        refused("*** Begin Patch\n*** Delete File: a\n+x\n*** End Patch", 1, "no hunk");
        refused("*** Begin Patch\n*** Rename File: a\n*** End Patch", 0, "before the first file");
        refused("*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** Delete File: b", 1, "text after");
        let many = "*** Delete File: a\n".repeat(FILES_PER_CALL_MAX + 1);
        refused(&format!("*** Begin Patch\n{many}*** End Patch"), FILES_PER_CALL_MAX, "too many");
        let long = "a".repeat(PATH_BYTES_MAX + 1);
        refused(&format!("*** Begin Patch\n*** Delete File: {long}\n*** End Patch"), 0, "too long");
    }

    /// The files that `apply_patch` of Codex 0.169.0 changed with a patch, in a directory with the files a, b and c.
    const MEASURED: &[(&str, &[&str])] = &[
        ("*** Add File: n\n+x\n *** Delete File: b", &["n", "b"]),
        ("\t*** Delete File: b", &["b"]),
        ("*** Delete File: b  ", &["b"]),
        ("*** Delete File: b\u{a0}", &["b"]),
        ("*** Delete File:  b", &[]),
        ("*** Delete File:b", &[]),
        ("*** Update File: a\n*** Move to: m \n@@\n-x\n+y", &["a", "m"]),
        ("*** Update File: a\n*** Move to: m\n*** Move to: n\n@@\n-x\n+y", &[]),
        ("*** Delete File: b\r\n*** Delete File: c\r", &["b", "c"]),
        ("*** Update File: a\n-x\n+y", &["a"]),
        ("*** Update File: a\n@@\n-x\n+y\n*** End of File\n*** Delete File: b", &["a", "b"]),
        ("*** Environment ID: local\n*** Delete File: b", &["b"]),
        ("*** Update File: a\n\n@@\n-x\n+y\n\n*** Delete File: b", &["a", "b"]),
        ("*** Update File: a\n@@\n-x\n+y\r*** Delete File: b", &["a"]),
        ("*** Delete File: b\n*** End Patch\n*** Delete File: c", &[]),
        ("*** add file: n\n+x", &[]),
    ];

    #[test]
    fn every_file_that_codex_touches_is_a_target() {
        for (hunks, touched) in MEASURED {
            let (targets, problems) = split(&format!("\n *** Begin Patch\n{hunks}\n*** End Patch \n"));
            let paths: Vec<_> = targets.iter().map(|target| target.path.as_str()).collect();
            assert!(touched.is_empty() || paths == *touched, "{hunks}: {paths:?}");
            assert_eq!(problems.is_empty(), !touched.is_empty(), "{hunks}: {problems:?}");
        }
    }

    proptest! {
        #[test]
        fn every_header_line_is_a_target_or_a_problem(
            lines in prop::collection::vec(
                prop_oneof![
                    Just("*** Add File: f".to_owned()), Just("*** Delete File: f".to_owned()),
                    Just("*** Update File: f".to_owned()), Just("*** Move to: g".to_owned()),
                    Just("@@".to_owned()), "[+ -].{0,9}", ".{0,9}", Just("*** End Patch".to_owned()),
                ],
                0..12,
            )
        ) {
            let (targets, problems) = split(&format!("*** Begin Patch\n{}\n*** End Patch", lines.join("\n")));
            let headers = lines.iter().filter(|line| line.starts_with("*** ") && line.contains(": ")).count();
            prop_assert!(!problems.is_empty() || targets.len() >= headers);
            prop_assert!(!problems.is_empty() || !targets.is_empty());
        }
    }
}
