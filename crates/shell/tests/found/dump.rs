//! Prints the found items for the cases, one per line.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};
use castellan_shell::{Files, Found, Item, Run, Start, Stdin, Work};

#[path = "../shared/sign.rs"]
mod sign;

use sign::sign;

/// The initial shell of the cases.
pub(crate) fn start() -> Start {
    Start {
        cwd: Some("/w".into()),
        home: Some("/home/u".into()),
        env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("USER".into(), "u".into())],
        complete_env: false,
        ..Start::default()
    }
}

/// The files of the cases.
const FILES: &[(&str, &str)] = &[
    ("/w/hello.sh", "#!/bin/bash\necho hello \"$1\" from \"$0\"\n"),
    ("/w/lib.sh", "greet() { rm \"$1\"; }\nNAME=value\n"),
    ("/w/plain", "rm -rf build\n"),
    ("/w/cycle.sh", "ls\nsource ./cycle.sh\n"),
    ("/w/tool.py", "#!/usr/bin/env python3\nprint(1)\n"),
    ("/w/sub/where.sh", "cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && rm x\n"),
    ("/w/outer.sh", "./hello.sh inner\n"),
    ("/w/venv/activate", "VENV=/w/venv\nPATH=\"$VENV/bin:$PATH\"\nexport PATH\n"),
];

/// Returns the items found in a text, with the files of the cases.
pub(crate) fn commands(text: &str, start: &Start) -> Found {
    let mut read = |path: &str| match FILES.iter().find(|(one, _)| *one == path) {
        Some((_, text)) => Ok((*text).into()),
        None if path.ends_with(".locked") => Err(Why::Unreadable),
        None => Err(Why::Unresolved),
    };
    let mut work = Work::of_text(text.len());
    castellan_shell::commands_within(text, start, &mut work, Files::new(&mut read))
}

/// Returns one line per item.
pub(crate) fn dump(found: &Found) -> Vec<String> {
    found.items.iter().map(item).collect()
}

fn item(item: &Item) -> String {
    match item {
        Item::Command(command) => run(command),
        Item::Set(set) => format!("set {}={}", set.name, arg(&set.value)),
        Item::Script(script) => {
            format!("script {}{}", script.path, if script.is_made { " as made" } else { "" })
        }
        Item::Hole(gap) => format!("gap {} {} {:?}", gap.role, gap.why, gap.written),
    }
}

fn run(run: &Run) -> String {
    let mut line = args(&run.argv);
    if run.argv.is_empty() {
        line.push_str("()");
    }
    let mut add = |text: String| {
        line.push_str("  | ");
        line.push_str(&text);
    };
    if !run.env.is_empty() {
        let env: Vec<String> = run.env.iter().map(|(name, value)| format!("{name}={}", arg(value))).collect();
        add(format!("env {}", env.join(" ")));
    }
    for redirect in &run.redirects {
        let fd = redirect.fd.map(|fd| fd.to_string()).unwrap_or_default();
        add(format!("{fd}{}{}", sign(redirect.kind), arg(&redirect.target)));
    }
    if !run.wrappers.is_empty() {
        let wrappers: Vec<String> = run
            .wrappers
            .iter()
            .map(|wrapper| if wrapper.neutral { format!("({})", wrapper.name) } else { wrapper.name.clone() })
            .collect();
        add(format!("in {}", wrappers.join(" ")));
    }
    if run.origin.as_str() != "text" {
        add(run.origin.as_str().to_owned());
    }
    match &run.cwd {
        Some(cwd) if cwd == "/w" => {}
        Some(cwd) => add(format!("at {cwd}")),
        None => add("at ?".into()),
    }
    if !run.remote.is_empty() {
        add(format!("on {}", run.remote.join(", ")));
    }
    if let Some(from) = run.pipe_from {
        add(format!("from {from}"));
    }
    match &run.stdin {
        Stdin::Inherited => {}
        Stdin::Text(text) => add(format!("reads {}", arg(text))),
        Stdin::File(path) => add(format!("reads file {}", arg(path))),
    }
    if run.background {
        add("&".into());
    }
    line
}

fn args(args: &[Arg]) -> String {
    args.iter().map(arg).collect::<Vec<_>>().join(" ")
}

/// Prints known text, quoted if needed, and unknown text as `<why written>`; then `...` for no or several arguments.
fn arg(arg: &Arg) -> String {
    let mut text = String::new();
    for piece in arg.pieces() {
        match piece {
            Piece::Text(known) if !known.is_empty() && known.chars().all(plain) => text.push_str(known),
            Piece::Text(known) => text.push_str(&format!("{known:?}")),
            Piece::Unknown { why, written } => text.push_str(&format!("<{why} {written}>")),
        }
    }
    if arg.splits() {
        text.push_str("...");
    }
    text
}

fn plain(one: char) -> bool {
    one.is_alphanumeric() || "_-./:=@%+,~{};*!?[]^#$&()".contains(one)
}
