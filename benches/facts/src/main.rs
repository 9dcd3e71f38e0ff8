//! `castellan-bench-facts`: prints Markdown tables of the cost of analysing a call, for `cargo xtask bench facts`. With
//! `corpus ITEMS SAMPLE N SEED` it measures the understood share of a collection, for `cargo xtask corpus shell`. With
//! `witness ITEMS PROGRAM` it compares a second parser with castellan's, for `cargo xtask corpus witness`.

mod analysis;
mod corpus;
mod holes;
mod hostile;
mod instructions;
mod ordinary;
mod programs;
mod sample;
mod shapes;
mod table;
mod witness;
mod written;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [] => table::print(),
        ["--shape", name, bytes] => shapes::run_one(name, bytes),
        ["--programs"] => programs::print(),
        ["--hostile", language, seconds, seed] => hostile::search(language, seconds, seed),
        ["--first", language] => programs::run_first(language),
        ["--count", set] => instructions::run_counted(set),
        ["corpus", items, sample, number, seed] => corpus::print(items, sample, number, seed),
        ["witness", items, program] => witness::print(items, program),
        _ => Err(anyhow::anyhow!("castellan-bench-facts takes no arguments")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-bench-facts: {error:#}");
            ExitCode::FAILURE
        }
    }
}
