//! The cost of each language in a daemon: time and memory of the first call that runs a program of the language, beside
//! a first call without a program. A daemon builds nothing of a language at its start.
//! `cargo xtask bench languages`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

use std::time::Instant;

use castellan_daemon::{FileSystem, facts_of};
use castellan_event::{Agent, Call, Recorder, Tool, ToolKind};

/// A call without a program, then one for each language that has a grammar or a reader.
const COMMANDS: &[(&str, &str)] = &[
    ("no program", "ls"),
    ("python", "python3 -c 'print(1)'"),
    ("javascript", "node -e 'console.log(1)'"),
    ("typescript", "deno eval 'const x: number = f<T>(1)'"),
    ("perl", "perl -e 'print 1'"),
    ("ruby", "ruby -e 'puts 1'"),
    ("php", "php -r 'echo 1;'"),
    ("lua", "lua -e 'print(1)'"),
    ("powershell", "pwsh -Command 'Write-Output 1'"),
    ("cmd", "cmd /c 'echo 1'"),
    ("applescript", "osascript -e 'display dialog \"1\"'"),
];

fn main() {
    let start = memory();
    println!(
        "| first call | µs | the second, µs | resident KiB | private dirty KiB |\n|---|---|---|---|---|"
    );
    println!("| before any | | | {} | {} |", start.0, start.1);
    for (name, command) in COMMANDS {
        let first = time_us(command);
        let second = time_us(command);
        let (resident, dirty) = memory();
        println!("| {name} | {first} | {second} | {resident} | {dirty} |");
    }
    let end = memory();
    println!(
        "\nAll of it: {} KiB resident, {} KiB of them private and dirty.",
        end.0 - start.0,
        end.1 - start.1
    );
}

fn time_us(command: &str) -> u128 {
    let call = call(command);
    let started = Instant::now();
    let machine = FileSystem::default();
    let mut world = Recorder::new(&machine);
    std::hint::black_box(facts_of(&call, &[], &mut world));
    started.elapsed().as_micros()
}

/// Resident memory of this process, and what of it no other could share, in KiB.
fn memory() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    (of("Rss:"), of("Private_Dirty:"))
}

fn call(command: &str) -> Call {
    let cwd = std::env::current_dir().unwrap().display().to_string();
    Call {
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
        command: Some(command.to_owned()),
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    }
}
