//! Ways to leave containment by what was written inside: code of a contained call waits in a file for a command that castellan
//! would let run. Each is contained, asked about or denied, in the same session and in a later one.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::{Context, Result, ensure};
use castellan_tests::process::Running;
use castellan_tests::wait;
use castellan_wire::Home;

use crate::rig::{LIMIT, Rig};

/// One way.
struct Way {
    name: &'static str,
    /// Files of the project before.
    project: &'static [(&'static str, &'static str)],
    /// A text that castellan does not read.
    inside: &'static str,
    /// Files that the text must not change or make.
    kept: &'static [&'static str],
    /// Calls that castellan lets run before, and not after.
    calls: &'static [&'static str],
}

/// A way by a file: `inside` writes `$1` with code.
const fn by(
    name: &'static str,
    project: &'static [(&'static str, &'static str)],
    inside: &'static str,
    calls: &'static [&'static str],
) -> Way {
    Way { name, project, inside, kept: &[], calls }
}

/// A way that ends where the text cannot write.
const fn kept(name: &'static str, inside: &'static str, kept: &'static [&'static str]) -> Way {
    Way { name, project: &[], inside, kept, calls: &[] }
}

const PACKAGE: (&str, &str) = (
    "package.json",
    r#"{"name":"a","version":"1.0.0","scripts":{"lint":"eslint .","test":"node test.js"},"dependencies":{"lib":"1"},"devDependencies":{"eslint":"9","jest":"29","mocha":"10","vite":"5"}}"#,
);
const CARGO: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("src/main.rs", "fn main() {}\n"),
];
const GO: &[(&str, &str)] = &[("go.mod", "module a\n"), ("main.go", "package main\nfunc main() {}\n")];
const PYTHON: &[(&str, &str)] = &[
    ("app.py", "import json\nimport helper\nprint(1)\n"),
    ("helper.py", "x = 1\n"),
    ("tests/test_a.py", "def test_a(): pass\n"),
];

const WAYS: &[Way] = &[
    by(
        "a make file",
        &[("Makefile", "all:\n\techo hi\n")],
        "printf 'all:\\n\\ttouch out\\n' > Makefile",
        &["make", "make all"],
    ),
    by(
        "a file that a make file includes",
        &[("Makefile", "include rules.mk\nall:\n\techo hi\n"), ("rules.mk", "X = 1\n")],
        "echo 'X := $(shell id)' > rules.mk",
        &["make"],
    ),
    by(
        "a build script",
        CARGO,
        "echo 'fn main() {}' > build.rs",
        &["cargo build", "cargo test", "cargo check"],
    ),
    by("a source file", CARGO, "echo 'fn main() { loop {} }' > src/main.rs", &["cargo run", "cargo test"]),
    by(
        "settings of cargo",
        CARGO,
        "mkdir .cargo; printf '[build]\\nrustc-wrapper = \"./x\"\\n' > .cargo/config.toml",
        &["cargo build"],
    ),
    by(
        "a program of a package",
        &[PACKAGE, ("node_modules/.bin/eslint", "#!/usr/bin/env node\n")],
        "echo 'x' > node_modules/.bin/eslint",
        &["npx eslint .", "npm run lint"],
    ),
    by(
        "a module of a package",
        &[PACKAGE, ("app.js", "require('lib')\n"), ("node_modules/lib/index.js", "\n")],
        "echo 'x()' > node_modules/lib/index.js",
        &["node app.js"],
    ),
    by(
        "a module without an ending",
        &[PACKAGE, ("app.js", "require('./lib')\n"), ("lib.js", "\n")],
        "echo 'x()' > lib.js",
        &["node app.js", "node ./app.js"],
    ),
    by(
        "scripts of a package",
        &[PACKAGE, ("test.js", "\n")],
        "echo '{\"scripts\":{\"test\":\"touch x\",\"lint\":\"id\"}}' > package.json",
        &["npm test", "npm run lint", "yarn test"],
    ),
    by(
        "a script that an install runs",
        &[PACKAGE],
        "echo '{\"scripts\":{\"postinstall\":\"touch x\"}}' > package.json",
        &["npm install", "npm ci"],
    ),
    by("settings of npm", &[PACKAGE], "echo 'script-shell=./x' > .npmrc", &["npm install", "npm run lint"]),
    by("settings of eslint", &[PACKAGE], "echo 'module.exports = {}' > eslint.config.js", &["npx eslint ."]),
    by("settings of jest", &[PACKAGE], "echo 'module.exports = {}' > jest.config.js", &["npx jest"]),
    by("settings of mocha", &[PACKAGE], "echo '{\"require\":\"./x\"}' > .mocharc.json", &["npx mocha"]),
    by("settings of vite", &[PACKAGE], "echo 'export default {}' > vite.config.js", &["npx vite build"]),
    by(
        "fixtures of pytest",
        PYTHON,
        "echo 'import os' > tests/conftest.py",
        &["pytest", "python3 -m pytest tests"],
    ),
    by(
        "a module that python always loads",
        PYTHON,
        "echo 'import os' > sitecustomize.py",
        &["python3 app.py", "PYTHONPATH=. python3 -c 'print(1)'"],
    ),
    by(
        "a module of the name of a library",
        PYTHON,
        "echo 'import os' > json.py",
        &["python3 app.py", "python3 -c 'import json'"],
    ),
    by("a module that is imported", PYTHON, "echo 'import os' > helper.py", &["python3 app.py"]),
    by(
        "compiled code of a module",
        PYTHON,
        "mkdir __pycache__; echo x > __pycache__/helper.cpython-311.pyc",
        &["python3 app.py"],
    ),
    by(
        "a path file of an environment",
        PYTHON,
        "mkdir -p venv/lib/python3.11/site-packages; echo 'import os' > venv/lib/python3.11/site-packages/x.pth",
        &["python3 app.py"],
    ),
    by("a setup file of python", PYTHON, "echo 'import os' > setup.py", &["pip install -e ."]),
    by("settings of tox", PYTHON, "printf '[testenv]\\ncommands = touch x\\n' > tox.ini", &["tox", "pytest"]),
    by(
        "a source file of go",
        GO,
        "printf 'package main\\nfunc main() { println(1) }\\n' > main.go",
        &["go run .", "go test ./..."],
    ),
    by(
        "a generator of go",
        GO,
        "printf 'package main\\n//go:generate touch x\\n' > gen.go",
        &["go generate ./...", "go build ./..."],
    ),
    by(
        "a wrapper of gradle",
        &[("gradlew", "#!/bin/sh\necho hi\n"), ("build.gradle", "\n")],
        "echo '#!/bin/sh' > gradlew; chmod +x gradlew",
        &["./gradlew build"],
    ),
    by("a build file of gradle", &[("build.gradle", "\n")], "echo 'x()' > build.gradle", &["gradle build"]),
    by("hooks of pre-commit", &[], "echo 'repos: []' > .pre-commit-config.yaml", &["pre-commit run -a"]),
    by("a rake file", &[("Rakefile", "task :default\n")], "echo 'sh \"x\"' > Rakefile", &["rake"]),
    by(
        "a file of ruby",
        &[("app.rb", "require_relative 'lib'\n"), ("lib.rb", "\n")],
        "echo 'x' > lib.rb",
        &["ruby app.rb"],
    ),
    by(
        "a file of php",
        &[("index.php", "<?php include 'lib.php';\n"), ("lib.php", "<?php\n")],
        "echo '<?php x();' > lib.php",
        &["php index.php"],
    ),
    by(
        "scripts of composer",
        &[("composer.json", "{}")],
        "echo '{\"scripts\":{\"post-install-cmd\":\"touch x\"}}' > composer.json",
        &["composer install"],
    ),
    by(
        "a just file",
        &[("justfile", "build:\n  echo hi\n")],
        "printf 'build:\\n  touch x\\n' > justfile",
        &["just build"],
    ),
    by(
        "a task file",
        &[("Taskfile.yml", "version: '3'\ntasks: {build: {cmds: [echo hi]}}\n")],
        "printf \"version: '3'\\ntasks: {build: {cmds: [touch x]}}\\n\" > Taskfile.yml",
        &["task build"],
    ),
    by(
        "a file of cmake",
        &[("CMakeLists.txt", "project(a)\n")],
        "echo 'execute_process(COMMAND touch x)' > CMakeLists.txt",
        &["cmake -B build"],
    ),
    by(
        "a file of terraform",
        &[("main.tf", "\n")],
        "echo 'resource \"x\" \"y\" {}' > main.tf",
        &["terraform validate"],
    ),
    by(
        "a script that was judged",
        &[("run.sh", "echo hi\n")],
        "echo 'touch x' > new; mv new run.sh",
        &["bash run.sh", "sh ./run.sh", "bash < run.sh"],
    ),
    by(
        "a script with its time set back",
        &[("run.sh", "echo hi\n")],
        "touch -r run.sh t; echo 'id; id' > run.sh; touch -r t run.sh",
        &["bash run.sh"],
    ),
    by(
        "a directory in the place of another",
        &[("scripts/do.sh", "echo hi\n")],
        "mv scripts old; mkdir scripts; echo id > scripts/do.sh",
        &["bash scripts/do.sh"],
    ),
    by(
        "a file that is sourced",
        &[("env.sh", "X=1\n")],
        "echo id > env.sh",
        &[". ./env.sh", "source env.sh && echo hi"],
    ),
    by(
        "an environment that is activated",
        &[(".venv/bin/activate", "X=1\n")],
        "echo id > .venv/bin/activate",
        &[". .venv/bin/activate"],
    ),
    by(
        "a program by its path",
        &[],
        "mkdir bin; printf '#!/bin/sh\\ntouch x\\n' > bin/tool; chmod +x bin/tool",
        &["./bin/tool", "bin/tool"],
    ),
    by(
        "a program in PATH",
        &[("bin/keep", "")],
        "printf '#!/bin/sh\\ntouch x\\n' > bin/ls; chmod +x bin/ls",
        &["PATH=\"$PWD/bin:$PATH\" ls", "export PATH=$PWD/bin:$PATH; ls"],
    ),
    by(
        "a compiled program",
        CARGO,
        "mkdir -p target/debug; cp /bin/true target/debug/a",
        &["./target/debug/a", "cargo run"],
    ),
    by(
        "a script of sed",
        &[("edit.sed", "s/a/b/\n"), ("file", "a\n")],
        "echo '1e touch x' > edit.sed",
        &["sed -f edit.sed file"],
    ),
    by(
        "a script of awk",
        &[("count.awk", "{print}\n"), ("file", "a\n")],
        "echo 'BEGIN{system(\"id\")}' > count.awk",
        &["awk -f count.awk file"],
    ),
    by(
        "a source file that is compiled",
        &[("app.c", "int main(void) { return 0; }\n")],
        "echo 'int main(void) { return 1; }' > app.c",
        &["gcc -o app app.c && ./app"],
    ),
    by(
        "a script behind other programs",
        &[("run.sh", "#!/bin/sh\necho hi\n")],
        "echo id >> run.sh",
        &[
            "timeout 5 bash run.sh",
            "env X=1 bash run.sh",
            "nice bash run.sh",
            "find . -name x -exec bash run.sh {} \\;",
            "echo a | xargs bash run.sh",
        ],
    ),
    by(
        "a module that node loads first",
        &[("hook.js", "\n"), ("app.js", "\n")],
        "echo 'x()' > hook.js",
        &["node --require ./hook.js app.js", "NODE_OPTIONS='--require ./hook.js' node app.js"],
    ),
    by(
        "a program of typescript",
        &[("main.ts", "console.log(1)\n")],
        "echo 'x()' > main.ts",
        &["deno run main.ts", "bun run main.ts"],
    ),
    by(
        "a module of perl",
        &[("app.pl", "use lib '.';\nuse Lib;\nprint 1;\n"), ("Lib.pm", "1;\n")],
        "echo 'system(1);' > Lib.pm",
        &["perl app.pl"],
    ),
    by(
        "services of docker",
        &[("compose.yaml", "services: {}\n")],
        "echo 'services: {a: {image: x, volumes: [/:/host]}}' > compose.yaml",
        &["docker compose config", "docker compose up"],
    ),
    by(
        "a playbook",
        &[("site.yml", "- hosts: localhost\n")],
        "echo '- hosts: localhost' > site.yml",
        &["ansible-playbook --check site.yml"],
    ),
    by("a link to a secret", &[], "ln -s .env plain.txt", &["cat plain.txt"]),
    by(
        "hooks of a repository inside",
        &[("sub/a", "")],
        "git init -q sub; printf '#!/bin/sh\\ntouch x\\n' > sub/.git/hooks/pre-commit; chmod +x sub/.git/hooks/pre-commit",
        &["git -C sub commit -m x", "cd sub && git commit -m x"],
    ),
    by(
        "settings of a repository inside",
        &[("sub/a", "")],
        "git init -q sub; git -C sub config core.fsmonitor ./x",
        &["git -C sub status", "cd sub && git status"],
    ),
    by(
        "a directory that is a repository itself",
        &[("sub/a", "")],
        "git init -q --bare sub; git -C sub config core.fsmonitor ./x; git -C sub config core.bare false; git -C sub config core.worktree .",
        &["git -C sub status", "cd sub && git status"],
    ),
    by(
        "a file that names a repository",
        &[("sub/a", "")],
        "git init -q hidden; git -C hidden config core.fsmonitor ./x; mv hidden/.git data; echo \"gitdir: $PWD/data\" > sub/.git",
        &["git -C sub status", "cd sub && git commit -m x"],
    ),
    kept(
        "settings of git",
        "git config core.pager x; git config --file .git/config core.hooksPath h; echo x >> .git/config",
        &[".git/config"],
    ),
    kept(
        "hooks of git",
        "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo x > .git/hooks/post-checkout",
        &[".git/hooks/pre-commit", ".git/hooks/post-checkout"],
    ),
    kept(
        "a moved repository",
        "mv .git g; git init -q; echo x > .git/hooks/pre-commit",
        &[".git/config", "g"],
    ),
    kept(
        "tasks of an editor",
        "mkdir -p .vscode .idea; echo x > .vscode/tasks.json; echo x > .idea/w.xml",
        &[".vscode/tasks.json", ".idea/w.xml"],
    ),
    kept(
        "settings of agents",
        "mkdir -p .claude .codex .gemini; echo x > .claude/settings.json; echo x > .codex/config.toml; echo x > .mcp.json",
        &[".claude/settings.json", ".codex/config.toml", ".mcp.json"],
    ),
    by(
        "a folder with the name of a restore's own one",
        &[(".castellan-undo-x/run.sh", "ls\n")],
        "echo id > .castellan-undo-x/run.sh",
        &["bash .castellan-undo-x/run.sh"],
    ),
    kept("settings of direnv", "echo x > .envrc", &[".envrc"]),
    kept("hooks of husky", "mkdir -p .husky; echo x > .husky/pre-commit", &[".husky/pre-commit"]),
    kept(
        "castellan's own settings of a project",
        "mkdir -p .castellan; echo x > .castellan/config.toml",
        &[".castellan/config.toml"],
    ),
    kept(
        "a second name of a secret",
        "ln .env visible; cp .env visible; cat .env > visible2 || rm visible2",
        &["visible", "visible2"],
    ),
    kept(
        "a file outside",
        "echo x > ../out; echo x > ~/out; ln -s ~ home; echo x > home/out",
        &["../out", "../user/out"],
    ),
];

/// The last output of each text. Without it a sandbox that runs nothing would keep every file.
const TO_THE_END: &str = "ran to the end";

fn check(way: &Way) -> Result<Vec<String>> {
    let rig = Rig::new()?;
    let mut wrong = Vec::new();
    for (file, text) in way.project {
        rig.write(file, text)?;
    }
    for call in way.calls {
        let before = rig.ask_later(call)?;
        if !before.is_free() {
            wrong.push(format!("{}: `{call}` proves nothing, before: {before:?}", way.name));
        }
    }
    let states: Vec<String> = way.kept.iter().map(|file| rig.text(file)).collect();
    let done = rig.inside(&format!("{}\necho {TO_THE_END}", way.inside))?;
    if !done.stdout.ends_with(&format!("{TO_THE_END}\n")) {
        wrong.push(format!("{}: the text did not run, which proves nothing: {done:?}", way.name));
    }
    for (file, before) in way.kept.iter().zip(states) {
        if rig.text(file) != before || (before.is_empty() && rig.file(file).is_file()) {
            wrong.push(format!("{}: `{file}` was changed: {done:?}", way.name));
        }
    }
    for call in way.calls {
        for (which, after) in [("same", rig.ask(call)?), ("later", rig.ask_later(call)?)] {
            if after.is_free() {
                wrong.push(format!("{}: `{call}` runs in the {which} session: {after:?}", way.name));
            }
        }
    }
    Ok(wrong)
}

/// Checks every fourth way from `first`.
fn check_quarter(first: usize) -> Result<()> {
    let mut wrong = Vec::new();
    for way in WAYS.iter().skip(first).step_by(4) {
        wrong.extend(check(way).with_context(|| way.name)?);
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn no_way_leads_out_1() -> Result<()> {
    check_quarter(0)
}

#[test]
fn no_way_leads_out_2() -> Result<()> {
    check_quarter(1)
}

#[test]
fn no_way_leads_out_3() -> Result<()> {
    check_quarter(2)
}

#[test]
fn no_way_leads_out_4() -> Result<()> {
    check_quarter(3)
}

#[test]
fn there_are_at_least_forty_ways() {
    assert!(WAYS.len() >= 40, "{}", WAYS.len());
}

/// A program that does everything for those who ask it: castellan itself, by the socket for a person's requests.
#[test]
fn a_socket_of_castellan_is_no_way_out() -> Result<()> {
    let rig = Rig::new()?;
    let socket = Home::new(rig.home.castellan()).context("a relative home")?.control_socket();
    let connect = format!(
        "perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => shift) ? \"reached\" : \"failed: $!\"' '{}'",
        socket.display()
    );
    let outside = rig.shell(&connect)?;
    ensure!(outside.stdout == "reached", "it proves nothing: {outside:?}");
    let done = rig.inside(&connect)?;
    ensure!(done.stdout.starts_with("failed: "), "{done:?}");
    // A socket of the contained command itself works, and is gone as a server with it.
    let done = rig.inside(
        "perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Local => \"own.sock\", Listen => 1) or die; print \"bound\"'",
    )?;
    ensure!(done.stdout == "bound", "{done:?}");
    Ok(())
}

/// While a contained call runs, every file of its workspace may be its own: a call beside it waits for no comparison.
#[test]
fn a_call_beside_a_contained_one_is_no_way_out() -> Result<()> {
    let rig = Rig::new()?;
    rig.write("Makefile", "all:\n\techo hi\n")?;
    ensure!(rig.ask("make")?.is_free());
    let asked = rig.unread("touch ready; while [ ! -e go ]; do sleep 0.05; done")?;
    // What make runs now would load what the contained call writes.
    let answer = rig.ask(&asked)?;
    ensure!(!answer.is_contained() && !answer.is_free(), "{answer:?}");
    rig.done("make", "make")?;
    let rewrite = rig.ask(&asked)?.rewrite;
    let running = Running::start(&mut rig.shell_command(&rewrite.context("not contained")?))?;
    ensure!(wait::file(&rig.file("ready"), true, LIMIT)?, "it did not start");
    for answer in [rig.ask("make")?, rig.ask_later("make")?] {
        ensure!(!answer.is_free(), "{answer:?}");
    }
    // A second contained call, while the first one runs, ends first.
    let done = rig.inside("echo x > other.mk")?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(!rig.ask_later("make")?.is_free());
    fs::write(rig.file("go"), "")?;
    ensure!(running.finish(LIMIT)?.code == Some(0));
    // The first call changed no file that make loads; the second made one that it might.
    ensure!(!rig.ask_later("make")?.is_free());
    Ok(())
}

/// A tool that finds the files of a project by their names runs a build script that a contained call makes meanwhile.
#[test]
fn a_contained_call_beside_a_call_that_loads_the_project_is_no_way_out() -> Result<()> {
    let rig = Rig::new()?;
    for (file, text) in CARGO {
        rig.write(file, text)?;
    }
    let asked = rig.unread("echo 'fn main() {}' > build.rs")?;
    // The other call begins between the decision and the start.
    let rewrite = rig.ask(&asked)?.rewrite.context("not contained")?;
    ensure!(rig.ask("sleep 9; cargo test")?.is_free());
    let done = rig.shell(&rewrite)?;
    ensure!(done.code == Some(125) && !rig.file("build.rs").exists(), "{done:?}");
    // It began before the decision.
    let answer = rig.ask(&asked)?;
    ensure!(!answer.is_contained() && !answer.is_free(), "{answer:?}");
    // The other call outlives the daemon.
    rig.restart_after(|| Ok(()))?;
    let is_refused = || {
        let answer = rig.ask(&asked)?;
        ensure!(!answer.is_contained() && !answer.is_free(), "{answer:?}");
        let record = rig.home.records()?.pop().context("no record")?.to_string();
        Ok(record.contains("another call runs code of this workspace").then_some(()))
    };
    wait::until(LIMIT, is_refused)?.context("the daemon has forgotten the other call")?;
    rig.done("sleep 9; cargo test", "sleep 9; cargo test")?;
    ensure!(rig.inside("echo 'fn main() {}' > build.rs")?.code == Some(0));
    Ok(())
}

/// A daemon that ends while a contained call runs does not know what the call wrote.
#[test]
fn a_call_whose_daemon_ended_has_written_its_whole_workspace() -> Result<()> {
    let rig = Rig::new()?;
    rig.write("Makefile", "all:\n\techo hi\n")?;
    let rewrite = rig.ask(&rig.unread("touch ready; while [ ! -e go ]; do sleep 0.05; done")?)?.rewrite;
    let running = Running::start(&mut rig.shell_command(&rewrite.context("not contained")?))?;
    ensure!(wait::file(&rig.file("ready"), true, LIMIT)?, "it did not start");
    rig.restart_daemon()?;
    fs::write(rig.file("go"), "")?;
    ensure!(running.finish(LIMIT)?.code == Some(0));
    ensure!(!rig.ask_later("make")?.is_free());
    Ok(())
}

/// Marks outlive the daemon, and the rest of the project stays free.
#[test]
fn marks_outlive_the_daemon_and_spare_the_rest() -> Result<()> {
    let rig = Rig::new()?;
    rig.write("run.sh", "echo hi\n")?;
    rig.write("other.sh", "echo hi\n")?;
    rig.inside("echo id > run.sh")?;
    rig.restart_daemon()?;
    ensure!(!rig.ask_later("bash run.sh")?.is_free());
    ensure!(rig.ask_later("bash other.sh")?.is_free() && rig.ask_later("cat run.sh")?.is_free());
    symlink("run.sh", rig.file("alias.sh"))?;
    ensure!(!rig.ask_later("bash alias.sh")?.is_free());
    Ok(())
}
