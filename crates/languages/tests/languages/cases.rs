//! Programs and their expected acts, in `*.cases`. A block is a program and, after `=>`, its acts, one a line. `<why>`
//! marks an unknown part, `␍` a carriage return in a program. A program of one line may have its acts on the same line.
use castellan_event::EffectKind;
use castellan_languages::{Act, Language, Operand, Start, What, read};
use castellan_programs::{Arg, Piece};

fn start() -> Start {
    Start {
        file: None,
        args: Some(vec![Arg::known("first"), Arg::known("second")]),
        cwd: Some("/project".into()),
        home: Some("/home/u".into()),
        env: vec![("TARGET".into(), Arg::known("/srv"))],
    }
}

fn arg(arg: &Arg) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.replace('\n', "\\n"),
        Piece::Unknown { why, .. } => format!("<{why}>"),
    };
    arg.pieces().iter().map(piece).collect()
}

fn operand(on: &Operand) -> String {
    match on {
        Operand::Nothing => String::new(),
        Operand::Path(path) => arg(path),
        Operand::Into { path, source } => format!("{} <- {}", arg(path), arg(source)),
        Operand::Link { path, to } => format!("{} -> {}", arg(path), arg(to)),
        Operand::Host { host, port: Some(port) } => format!("host {}:{}", arg(host), arg(port)),
        Operand::Host { host, port: None } => format!("host {}", arg(host)),
        Operand::Url(url) => arg(url),
        Operand::Process(process) => arg(process),
        Operand::System { system, verb } => format!("{system} {verb}"),
    }
}

fn around(cwd: Option<&Arg>, env: &[(String, Arg)], stdin: Option<&Arg>) -> String {
    let mut text = String::new();
    text.extend(cwd.map(|cwd| format!(" in {}", arg(cwd))));
    text.extend(env.iter().map(|(name, value)| format!(" with {name}={}", arg(value))));
    let from = |stdin: &Arg| if stdin.as_str() == Some("") { "nothing".to_owned() } else { arg(stdin) };
    text.extend(stdin.map(|stdin| format!(" from {}", from(stdin))));
    text
}

fn dump(act: &Act) -> String {
    match &act.what {
        What::Effect { kind, on, recursive } => {
            let tree = if *recursive && *kind != EffectKind::Opaque { "-tree" } else { "" };
            format!("{kind}{tree}[{}]", operand(on))
        }
        What::Command { argv, cwd, env, stdin } => {
            let argv: Vec<String> = argv.iter().map(arg).collect();
            format!("command[{}]{}", argv.join(" "), around(cwd.as_ref(), env, stdin.as_ref()))
        }
        What::Shell { text, cwd, env, stdin } => {
            format!("shell[{}]{}", arg(text), around(cwd.as_ref(), env, stdin.as_ref()))
        }
        What::Script { path, .. } => format!("script[{}]", arg(path)),
        What::Module { name, .. } => format!("module[{name}]"),
        What::Sql { system, text } => format!("sql[{system} {}]", arg(text)),
        What::Directory(path) => format!("directory[{}]", arg(path)),
        What::Variable { name, value } => format!("variable[{}={}]", arg(name), arg(value)),
        What::Hole { role, why, .. } => format!("hole[{role} {why}]"),
        What::Request { method, url, .. } => {
            format!("request[{} {}]", arg(method), url.as_ref().map(arg).unwrap_or_default())
        }
        What::Call { name, url } => {
            format!("call[{name}{}]", url.as_ref().map(|url| format!(" {}", arg(url))).unwrap_or_default())
        }
    }
}

fn check(language: Language, cases: &str) {
    let mut wrong = String::new();
    let mut count = 0;
    for block in cases.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let block: String =
            block.lines().filter(|line| !line.starts_with("## ")).map(|line| format!("{line}\n")).collect();
        for (program, expected) in programs(&block) {
            count += 1;
            let reading = read(language, &program, &start());
            let inside = |act: &Act| program.get(act.span.clone()).is_some();
            assert!(reading.acts.iter().all(inside), "an act outside of {program}");
            let got: Vec<String> = reading.acts.iter().map(dump).collect();
            if got != expected {
                wrong.push_str(&format!("{program}\n   expected {expected:#?}\n   got      {got:#?}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    println!("{count} {language} programs");
    assert!(count >= 40, "only {count} programs");
}

/// Splits a block into programs with their acts: one program before `=>` lines, or one program a line.
fn programs(block: &str) -> Vec<(String, Vec<String>)> {
    if block.lines().any(|line| line.starts_with("=>")) {
        let (acts, lines): (Vec<&str>, Vec<&str>) = block.lines().partition(|line| line.starts_with("=>"));
        let acts = acts.iter().map(|act| act.trim_start_matches("=>").trim().to_owned());
        return vec![(lines.join("\n").replace('␍', "\r"), acts.filter(|act| !act.is_empty()).collect())];
    }
    let lines = block.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (program, acts) = line.rsplit_once(" =>").unwrap_or_else(|| panic!("no `=>` in {line}"));
            let acts = acts.split(" ; ").map(|act| act.trim().to_owned());
            (program.replace('␍', "\r"), acts.filter(|act| !act.is_empty()).collect())
        })
        .collect()
}

#[test]
fn python_programs_do_what_is_expected() {
    check(Language::Python, include_str!("python.cases"));
}

#[test]
fn javascript_programs_do_what_is_expected() {
    check(Language::JavaScript, include_str!("javascript.cases"));
}

/// Programs that hide their acts, and programs that only look as if they did.
#[test]
fn disguised_python_programs_are_not_silent() {
    check(Language::Python, include_str!("python_disguised.cases"));
}

#[test]
fn disguised_javascript_programs_are_not_silent() {
    check(Language::JavaScript, include_str!("javascript_disguised.cases"));
}

#[test]
fn php_programs_do_what_is_expected() {
    check(Language::Php, include_str!("php.cases"));
}

#[test]
fn lua_programs_do_what_is_expected() {
    check(Language::Lua, include_str!("lua.cases"));
}

#[test]
fn powershell_programs_do_what_is_expected() {
    check(Language::PowerShell, include_str!("powershell.cases"));
}

#[test]
fn batch_files_do_what_is_expected() {
    check(Language::Batch, include_str!("batch.cases"));
}

#[test]
fn applescripts_do_what_is_expected() {
    check(Language::AppleScript, include_str!("applescript.cases"));
}

#[test]
fn perl_programs_do_what_is_expected() {
    check(Language::Perl, include_str!("perl.cases"));
}

#[test]
fn disguised_perl_programs_are_not_silent() {
    check(Language::Perl, include_str!("perl_disguised.cases"));
}

#[test]
fn ruby_programs_do_what_is_expected() {
    check(Language::Ruby, include_str!("ruby.cases"));
}

#[test]
fn disguised_ruby_programs_are_not_silent() {
    check(Language::Ruby, include_str!("ruby_disguised.cases"));
}
