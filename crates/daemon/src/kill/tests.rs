//! Trees of processes that end by themselves, that ignore the request, and that start others meanwhile.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::*;

/// A shell script that writes a line as soon as everything runs.
struct Tree {
    shell: Child,
    lines: BufReader<ChildStdout>,
}

impl Tree {
    fn start(script: &str) -> Tree {
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(shell.stdout.take().unwrap());
        let mut tree = Tree { shell, lines };
        assert_eq!(tree.line(), "ready");
        tree
    }

    /// Returns the next line; an empty one after the end of all processes.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn root(&self) -> AgentProcess {
        process(self.shell.id())
    }

    /// Ends the tree. Returns the names and whether they were forced.
    fn end(&self) -> Vec<(String, bool)> {
        let endings = end_trees(&Targets { roots: vec![self.root()], ..Targets::default() });
        assert_eq!(endings.left, []);
        endings.ended.into_iter().map(|ending| (ending.name, ending.is_forced)).collect()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

fn process(pid: u32) -> AgentProcess {
    AgentProcess { pid, started: Process::read(pid).unwrap().started }
}

#[test]
fn a_tree_ends_at_the_request() {
    let mut tree = Tree::start("sleep 600 & (sleep 600 & setsid sleep 600 & echo ready; wait) & wait");
    let ended = tree.end();
    assert!(ended.len() >= 4 && ended.iter().all(|(_, is_forced)| !is_forced), "{ended:?}");
    // Nothing holds the other end of the pipe.
    assert_eq!(tree.line(), "");
}

#[test]
fn processes_that_ignore_the_request_are_killed() {
    let mut tree = Tree::start("trap '' TERM; sleep 600 & (trap '' TERM; sleep 600) & echo ready; wait");
    let ended = tree.end();
    assert!(
        ended.len() >= 3 && ended.iter().any(|(name, is_forced)| name == "sh" && *is_forced),
        "{ended:?}"
    );
    assert_eq!(tree.line(), "");
}

#[test]
fn processes_that_are_started_at_the_request_end_too() {
    let mut tree = Tree::start(
        "trap 'sleep 600 & sleep 600 & wait; wait' TERM; echo ready; while :; do sleep 0.05; done",
    );
    let ended = tree.end();
    assert!(ended.iter().filter(|(name, _)| name == "sleep").count() >= 2, "{ended:?}");
    assert_eq!(tree.line(), "");
}

#[test]
fn a_hook_is_ended_after_its_agent() {
    let dir = tempfile::tempdir().unwrap();
    let hook = dir.path().join(HOOK);
    std::fs::copy("/bin/sleep", &hook).unwrap();
    // Before its start, the hook is a shell.
    let started = format!("until [ \"$(cat /proc/$!/comm)\" = {HOOK} ]; do :; done");
    let mut tree = Tree::start(&format!("{} 600 & {started}; echo ready; wait", hook.display()));
    let ended = tree.end();
    let of_hook: Vec<_> = ended.iter().filter(|(name, _)| name == HOOK).collect();
    assert_eq!(of_hook, [&(HOOK.to_owned(), true)], "{ended:?}");
    assert_eq!(tree.line(), "");
}

#[test]
fn what_is_spared_and_what_has_another_start_time_runs_on() {
    let mut tree = Tree::start("sleep 600 & echo ready; echo $!; wait");
    let sleeping = process(tree.line().parse().unwrap());
    let reused = AgentProcess { started: tree.root().started + 1, ..tree.root() };
    let endings = end_trees(&Targets { roots: vec![reused], ..Targets::default() });
    assert_eq!(endings, Endings::default());
    let above = Targets { above: vec![tree.root()], spared: vec![sleeping], ..Targets::default() };
    assert_eq!(end_trees(&above), Endings::default());
    assert!(runs(&sleeping) && runs(&tree.root()));
    // Below the shell, but not the shell.
    let below = Targets { above: vec![tree.root()], ..Targets::default() };
    let ended: Vec<_> = end_trees(&below).ended.into_iter().map(|ending| ending.pid).collect();
    assert_eq!(ended, [sleeping.pid]);
}
