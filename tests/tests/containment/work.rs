//! Ordinary work in projects of several ecosystems: edit, build, test, fix. Each call runs, contained or freely, without a
//! question, and does its work.

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::not_run;
use castellan_tests::process::Finished;

use crate::rig::Rig;

/// A step of a session.
enum Step {
    /// Writes a file, as the agent's own tool does.
    Edit(&'static str, &'static str),
    /// Runs a command: its exit code is 0 or not, and its output has a text.
    Run(&'static str, bool, &'static str),
    /// Runs a text that castellan does not read.
    Unread(&'static str, bool, &'static str),
}

use Step::{Edit, Run, Unread};

struct Session {
    /// The program that it needs.
    needs: &'static str,
    steps: &'static [Step],
}

const SESSIONS: &[Session] = &[
    Session {
        needs: "cargo",
        steps: &[
            Edit(
                "Cargo.toml",
                "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
            ),
            Edit("src/lib.rs", "pub fn two() -> u32 { 3 }\n#[test]\nfn is_two() { assert_eq!(two(), 2); }\n"),
            Unread("cargo build --offline", true, ""),
            Unread("cargo test --offline", false, "is_two"),
            Edit("src/lib.rs", "pub fn two() -> u32 { 2 }\n#[test]\nfn is_two() { assert_eq!(two(), 2); }\n"),
            Unread("cargo test --offline", true, "1 passed"),
            Run("cargo test --offline", true, "1 passed"),
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
            Unread("npm run build", true, ""),
            Unread("npm test", false, "AssertionError"),
            Edit("lib.js", "exports.two = () => 2;\n"),
            Unread("npm test", true, "passed"),
            Run("npm test", true, "passed"),
            Run("node test.js", true, "passed"),
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
            Unread("python3 -m compileall -q .", true, ""),
            Unread("python3 -m unittest", false, "AssertionError"),
            // Of another length: python trusts compiled code of the same second and length.
            Edit("lib.py", "def two(): return 1 + 1\n"),
            Unread("python3 -m unittest", true, "OK"),
            Run("python3 -m unittest", true, "OK"),
        ],
    },
    Session {
        needs: "gcc",
        steps: &[
            Edit("two.c", "int two(void) { return 3; }\n"),
            Edit("test.c", "int two(void);\nint main(void) { return two() != 2; }\n"),
            Edit("Makefile", "test: test.c two.c\n\tgcc -o $@ $^\n\t./test && echo passed\n"),
            Unread("make -B test", false, "Error"),
            Edit("two.c", "int two(void) { return 2; }\n"),
            Unread("make -B test", true, "passed"),
            Run("make -B test", true, "passed"),
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
            Unread("go vet ./...", true, ""),
            Unread("go test ./...", false, "FAIL"),
            Edit("two.go", "package a\n\nfunc two() int { return 2 }\n"),
            Unread("go test ./...", true, "ok"),
            Run("go test ./...", true, "ok"),
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
            Unread("javac Two.java Test.java", true, ""),
            Unread("java -cp . Test", false, "AssertionError"),
            Edit("Two.java", "class Two { static int two() { return 2; } }\n"),
            Unread("javac Two.java Test.java && java -cp . Test", true, "passed"),
            Run("javac Two.java Test.java && java -cp . Test", true, "passed"),
        ],
    },
    Session {
        needs: "ruby",
        steps: &[
            Edit("two.rb", "def two = 3\n"),
            Edit("test_two.rb", "require './two'\nraise 'no' unless two == 2\nputs 'passed'\n"),
            Unread("ruby test_two.rb", false, "no"),
            Edit("two.rb", "def two = 2\n"),
            Unread("ruby test_two.rb", true, "passed"),
            Run("ruby test_two.rb", true, "passed"),
        ],
    },
    Session {
        needs: "perl",
        steps: &[
            Edit("Two.pm", "package Two; sub two { 3 } 1;\n"),
            Edit("test.pl", "use lib '.'; use Two; die 'no' unless Two::two() == 2; print \"passed\\n\";\n"),
            Unread("perl -c test.pl", true, "syntax OK"),
            Unread("perl test.pl", false, "no at"),
            Edit("Two.pm", "package Two; sub two { 2 } 1;\n"),
            Unread("perl test.pl", true, "passed"),
            Run("perl test.pl", true, "passed"),
        ],
    },
];

impl Session {
    fn play(&self) -> Result<bool> {
        let rig = Rig::new()?;
        let there = rig.shell(&format!("command -v {} && {0} --version || {0} version", self.needs))?;
        if there.code != Some(0) {
            not_run(&format!("`{}` is not installed", self.needs))?;
            return Ok(false);
        }
        for step in self.steps {
            let (done, succeeds, text) = match step {
                Edit(file, text) => {
                    rig.write(file, text)?;
                    continue;
                }
                Unread(command, succeeds, text) => (rig.inside(command)?, succeeds, text),
                Run(command, succeeds, text) => (run(&rig, command)?, succeeds, text),
            };
            let output = format!("{}{}", done.stdout, done.stderr);
            ensure!(
                (done.code == Some(0)) == *succeeds && output.contains(text),
                "{}: {text}: {done:?}",
                self.needs
            );
        }
        Ok(true)
    }
}

/// Runs a command as castellan answers, and reports its end. A question is an error.
fn run(rig: &Rig, command: &str) -> Result<Finished> {
    let answer = rig.ask(command)?;
    ensure!(answer.is_contained() || answer.is_free(), "a question about `{command}`: {answer:?}");
    let ran = answer.rewrite.as_deref().unwrap_or(command);
    let done = rig.shell(ran)?;
    rig.done(command, ran)?;
    Ok(done)
}

#[test]
fn work_in_each_ecosystem_needs_no_question() -> Result<()> {
    for session in SESSIONS {
        session.play().with_context(|| session.needs)?;
    }
    Ok(())
}
