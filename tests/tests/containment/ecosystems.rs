//! Ordinary work in projects of several ecosystems: edit, build, test, fix. A table for agents of every kind; it must not know
//! who does the work.

use std::io::Write;

use anyhow::{Context, Result, ensure};

use crate::rig::Rig;

/// A step of a session. A command succeeds or not, and its output has a text.
pub(crate) enum Step {
    /// The agent's tool writes a file.
    Edit(&'static str, &'static str),
    /// A command that castellan understands. It runs outside of a sandbox.
    Free(&'static str, bool, &'static str),
    /// Such a command, after a contained one wrote files of the project. It runs contained.
    After(&'static str, bool, &'static str),
    /// A text that castellan does not read. It runs contained.
    Unread(&'static str, bool, &'static str),
}

use Step::{After, Edit, Free, Unread};

/// A session in a project of one ecosystem.
pub(crate) struct Session {
    /// The program that it needs.
    pub(crate) needs: &'static str,
    pub(crate) steps: &'static [Step],
}

/// Sessions that run at least, of [`SESSIONS`].
const LEAST: usize = 6;

pub(crate) const SESSIONS: &[Session] = &[
    Session {
        needs: "cargo",
        steps: &[
            Edit(
                "Cargo.toml",
                "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
            ),
            Edit("src/lib.rs", "pub fn two() -> u32 { 3 }\n#[test]\nfn is_two() { assert_eq!(two(), 2); }\n"),
            Free("cargo test --offline", false, "is_two"),
            Unread("cargo build --offline", true, ""),
            Unread("cargo test --offline", false, "is_two"),
            Edit("src/lib.rs", "pub fn two() -> u32 { 2 }\n#[test]\nfn is_two() { assert_eq!(two(), 2); }\n"),
            Unread("cargo test --offline", true, "1 passed"),
            After("cargo test --offline", true, "1 passed"),
        ],
    },
    Session {
        needs: "node",
        steps: &[
            Edit(
                "package.json",
                "{\"name\":\"a\",\"version\":\"1.0.0\",\"scripts\":{\"build\":\"node build.js\",\"test\":\"node test.js\"}}",
            ),
            Edit("lib.js", "exports.two = () => 3;\n"),
            Edit(
                "build.js",
                "require('fs').mkdirSync('dist', { recursive: true }); require('fs').writeFileSync('dist/lib.js', 'built');\n",
            ),
            Edit(
                "test.js",
                "require('assert').strictEqual(require('./lib').two(), 2); console.log('passed');\n",
            ),
            Free("npm test", false, "AssertionError"),
            Unread("npm run build", true, ""),
            Unread("npm test", false, "AssertionError"),
            Edit("lib.js", "exports.two = () => 2;\n"),
            Unread("npm test", true, "passed"),
            After("npm test", true, "passed"),
            After("node test.js", true, "passed"),
        ],
    },
    Session {
        needs: "python3",
        steps: &[
            Edit("lib.py", "def two(): return 3\n"),
            Edit(
                "test_lib.py",
                "import unittest, lib\nclass T(unittest.TestCase):\n  def test_two(self): self.assertEqual(lib.two(), 2)\n",
            ),
            Free("python3 -m unittest", false, "AssertionError"),
            Unread("python3 -m compileall -q .", true, ""),
            Unread("python3 -m unittest", false, "AssertionError"),
            // Of another length: python trusts compiled code of the same second and length.
            Edit("lib.py", "def two(): return 1 + 1\n"),
            Unread("python3 -m unittest", true, "OK"),
            After("python3 -m unittest", true, "OK"),
        ],
    },
    Session {
        needs: "gcc",
        steps: &[
            Edit("two.c", "int two(void) { return 3; }\n"),
            Edit("test.c", "int two(void);\nint main(void) { return two() != 2; }\n"),
            Edit("Makefile", "test: test.c two.c\n\tgcc -o $@ $^\n\t./test && echo passed\n"),
            Free("gcc -c two.c", true, ""),
            Unread("make -B test", false, "Error"),
            Edit("two.c", "int two(void) { return 2; }\n"),
            Unread("make -B test", true, "passed"),
            After("make -B test", true, "passed"),
        ],
    },
    Session {
        needs: "go",
        steps: &[
            Edit("go.mod", "module a\n\ngo 1.18\n"),
            Edit("two.go", "package a\n\nfunc two() int { return 3 }\n"),
            Edit(
                "two_test.go",
                "package a\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) { if two() != 2 { t.Fatal(\"no\") } }\n",
            ),
            Free("go vet ./...", true, ""),
            Unread("go vet ./...", true, ""),
            Unread("go test ./...", false, "FAIL"),
            Edit("two.go", "package a\n\nfunc two() int { return 2 }\n"),
            Unread("go test ./...", true, "ok"),
            After("go test ./...", true, "ok"),
        ],
    },
    Session {
        needs: "javac",
        steps: &[
            Edit("Two.java", "class Two { static int two() { return 3; } }\n"),
            Edit(
                "Test.java",
                "class Test { public static void main(String[] a) { if (Two.two() != 2) throw new AssertionError(); System.out.println(\"passed\"); } }\n",
            ),
            Free("javac Two.java Test.java && java -cp . Test", false, "AssertionError"),
            Unread("javac Two.java Test.java", true, ""),
            Unread("java -cp . Test", false, "AssertionError"),
            Edit("Two.java", "class Two { static int two() { return 2; } }\n"),
            Unread("javac Two.java Test.java && java -cp . Test", true, "passed"),
            After("javac Two.java Test.java && java -cp . Test", true, "passed"),
        ],
    },
    Session {
        needs: "ruby",
        steps: &[
            Edit("two.rb", "def two = 3\n"),
            Edit("test_two.rb", "require './two'\nraise 'no' unless two == 2\nputs 'passed'\n"),
            Free("ruby test_two.rb", false, "no"),
            Unread("ruby test_two.rb", false, "no"),
            Edit("two.rb", "def two = 2\n"),
            Unread("ruby test_two.rb", true, "passed"),
            Free("ruby test_two.rb", true, "passed"),
        ],
    },
    Session {
        needs: "perl",
        steps: &[
            Edit("Two.pm", "package Two; sub two { 3 } 1;\n"),
            Edit("test.pl", "use lib '.'; use Two; die 'no' unless Two::two() == 2; print \"passed\\n\";\n"),
            Free("perl test.pl", false, "no at"),
            Unread("perl -c test.pl", true, "syntax OK"),
            Unread("perl test.pl", false, "no at"),
            Edit("Two.pm", "package Two; sub two { 2 } 1;\n"),
            Unread("perl test.pl", true, "passed"),
            Free("perl test.pl", true, "passed"),
        ],
    },
];

impl Session {
    /// Reports whether the program is installed.
    fn is_possible(&self) -> Result<bool> {
        let rig = Rig::stopped("", "")?;
        let there =
            rig.shell(&format!("command -v {} && {{ {0} --version || {0} version; }}", self.needs))?;
        Ok(there.code == Some(0))
    }
}

/// Plays each session whose program is installed, and names the others on the terminal, past the test runner's capture. Fewer
/// than six sessions are an error.
pub(crate) fn play_each(play: impl Fn(&Session) -> Result<()>) -> Result<()> {
    let mut missing = Vec::new();
    for session in SESSIONS {
        match session.is_possible()? {
            true => play(session).with_context(|| session.needs)?,
            false => missing.push(session.needs),
        }
    }
    if !missing.is_empty() {
        writeln!(std::io::stderr(), "\n*** not played, because they are not installed: {missing:?}\n")?;
    }
    ensure!(
        SESSIONS.len() - missing.len() >= LEAST,
        "fewer than {LEAST} ecosystems: {missing:?} are missing"
    );
    Ok(())
}
