//! `castellan-oracle`: compares the real effects of commands with castellan's predictions. `cargo xtask oracle effects`
//! builds and runs it. It predicts every command of `commands.txt`, then runs it under strace, in its own namespaces
//! and directory. `castellan-oracle one TEXT` shows a single command. `castellan-oracle shell` compares the commands that
//! shells run with those that the walk finds. Must not depend on the analysis.

mod commands;
mod compare;
mod enclosure;
mod inside;
mod observed;
mod pattern;
mod predicted;
mod private;
mod server;
mod shell;
mod strace;
mod table;

use std::process::ExitCode;

use anyhow::bail;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["effects"] => table::print(),
        ["one", text] => table::print_one(text),
        ["shell"] => shell::print("0"),
        ["shell", seed] => shell::print(seed),
        [enclosure::INSIDE, shell::TEXTS, tried, kind, seed, first, count] => {
            shell::run(tried, kind, seed, first, count)
        }
        [enclosure::INSIDE, enclosure::FIXTURE] => inside::make_fixture(),
        [enclosure::INSIDE, text] => inside::run(text),
        _ => bail_usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-oracle: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn bail_usage() -> anyhow::Result<()> {
    bail!("castellan-oracle takes `effects`, `shell [SEED]`, or `one TEXT`")
}
