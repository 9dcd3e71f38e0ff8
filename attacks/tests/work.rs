//! Ordinary development in castellan's sandbox with the tools of this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use castellan_attacks::harness::{Job, Level, develop};

/// The program that tries an attack; castellan's launcher is beside it.
const ATTACK: &str = env!("CARGO_BIN_EXE_castellan-attack");

/// Runs a job at each level, unless a tool is missing, which it says.
fn works(tools: &[&str], job: Job<'_>, wanted: &str) -> anyhow::Result<()> {
    let is_missing = |tool: &&&str| {
        let looked = Command::new("/bin/sh").args(["-c", &format!("{tool} --version")]).output();
        !looked.is_ok_and(|looked| looked.status.success())
    };
    if let Some(tool) = tools.iter().find(is_missing) {
        println!("SKIPPED: {tool} is missing");
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "in CI each tool must be there: {tool}"
        );
        return Ok(());
    }
    for level in [Level::Full, Level::Namespaces, Level::Landlock] {
        let said = develop(job, level, Path::new(ATTACK))?;
        assert!(said.contains(wanted), "{level:?}: {said}");
    }
    Ok(())
}

fn job<'a>(before: &'a str, inside: &'a str) -> Job<'a> {
    Job { before, inside, port: 9 }
}

#[test]
fn git_commits_branches_and_merges() {
    let before =
        "rm -rf .git && git init -q . && git config user.name a && git config user.email a@example.com";
    let inside = "git add src && git commit -qm one && git checkout -qb other && echo x >> src/main.rs \
                  && git commit -qam two && git checkout -q - && git merge -q other && git stash list && git log --oneline";
    works(&["git"], job(before, inside), "two").unwrap();
}

#[test]
fn cargo_builds_and_tests() {
    let before = "cargo init -q --vcs none --lib --name inside crate";
    let inside = "export CARGO_HOME=$PWD/cargo-home CARGO_TARGET_DIR=$PWD/target; cd crate && cargo test --offline 2>&1";
    works(&["cargo"], job(before, inside), "test result: ok. 1 passed").unwrap();
}

#[test]
fn make_runs_a_compiler() {
    let before = "printf 'int main(void){return 0;}' > a.c && printf 'a: a.c\\n\\tcc -o a a.c\\n' > Makefile";
    works(&["make", "cc"], job(before, "make && ./a && echo built"), "built").unwrap();
}

#[test]
fn python_tests() {
    let before = "printf 'import unittest, tempfile, subprocess, sys\\nclass T(unittest.TestCase):\\n def test_a(self):\\n  \
                  with tempfile.TemporaryDirectory() as d:\\n   open(d+\"/x\",\"w\").close()\\n  \
                  subprocess.run([sys.executable,\"-c\",\"pass\"],check=True)\\n' > test_a.py";
    works(&["python3"], job(before, "python3 -m unittest test_a 2>&1"), "OK").unwrap();
    works(&["pytest"], job(before, "pytest -q test_a.py 2>&1"), "1 passed").unwrap();
}

#[test]
fn npm_installs_from_an_allowed_host() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("package");
    std::fs::create_dir(&package).unwrap();
    let manifest = r#"{"name":"tiny","version":"1.0.0","main":"index.js"}"#;
    std::fs::write(package.join("package.json"), manifest).unwrap();
    std::fs::write(package.join("index.js"), "module.exports = 'tiny works'").unwrap();
    let packed =
        Command::new("tar").args(["-czf", "tiny.tgz", "package"]).current_dir(folder.path()).status();
    assert!(packed.unwrap().success());
    let port = registry(std::fs::read(folder.path().join("tiny.tgz")).unwrap()).unwrap();
    let inside = format!(
        "export npm_config_cache=$PWD/cache npm_config_update_notifier=false; \
         npm install --no-audit --no-fund --registry http://allowed.test:{port} tiny && node -p \"require('tiny')\""
    );
    works(&["npm", "node"], Job { before: "echo '{}' > package.json", inside: &inside, port }, "tiny works")
        .unwrap();
}

/// A registry with one package; its thread ends with the process.
fn registry(archive: Vec<u8>) -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let document = format!(
        r#"{{"name":"tiny","dist-tags":{{"latest":"1.0.0"}},"versions":{{"1.0.0":{{"name":"tiny","version":"1.0.0",
        "dist":{{"tarball":"http://allowed.test:{port}/tiny.tgz"}}}}}}}}"#
    );
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let Ok(read) = stream.try_clone() else { continue };
            let mut lines = BufReader::new(read).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.find(|line| line.is_empty());
            let body = if first.contains("tiny.tgz") { archive.as_slice() } else { document.as_bytes() };
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    Ok(port)
}
