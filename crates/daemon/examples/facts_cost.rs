//! What it costs to understand a call on this machine, the looks at its file system included.
//! `cargo run --release -p castellan-daemon --example facts_cost [COMMAND]`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

use std::time::Instant;

use castellan_daemon::{FileSystem, facts_of};
use castellan_event::{Agent, Call, Recorder, Tool, ToolKind};

const ROUNDS: u32 = 2_000;

fn main() {
    let command = std::env::args().nth(1).unwrap_or_else(|| "ls".to_owned());
    let cwd = std::env::current_dir().unwrap().display().to_string();
    let call = Call {
        correlation_id: 1,
        agent: Agent { name: "claude_code".to_owned(), pid: std::process::id(), cwd, ..Agent::default() },
        tool: Tool {
            name: "Bash".to_owned(),
            name_raw: "Bash".to_owned(),
            use_id: String::new(),
            kind: ToolKind::Shell,
            mcp: None,
        },
        input: serde_json::Value::Null,
        input_text: String::new(),
        command: Some(command),
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    };
    let mut times_us: Vec<u128> = Vec::new();
    let mut answers = 0;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let machine = FileSystem::default();
        let mut world = Recorder::new(&machine);
        let facts = facts_of(&call, &[], &mut world);
        times_us.push(started.elapsed().as_micros());
        std::hint::black_box(facts);
        answers = world.answers().iter().count();
    }
    times_us.sort_unstable();
    let at = |percent: usize| times_us.get((times_us.len() - 1) * percent / 100).copied().unwrap_or_default();
    println!("p50 {} µs, p90 {} µs, p99 {} µs; {answers} answers", at(50), at(90), at(99));
}
