//! `castellan-bench-rules`: prints Markdown tables of the cost of rules. The engine and the plain evaluator judge the
//! same calls by the same rules in the same run. `cargo xtask bench rules` builds and runs it.

mod call;
mod generator;
mod instructions;
mod memory;
mod sets;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [] => table::print(),
        ["--count", set, call, evaluator] => instructions::run_counted(set, call, evaluator),
        _ => Err(anyhow::anyhow!("castellan-bench-rules takes no arguments")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-bench-rules: {error:#}");
            ExitCode::FAILURE
        }
    }
}
