//! A program in Falco's place, made of the parts of `castellan_scripted_falco`: `stand_in -c FALCO_YAML`. Unlike the other
//! scripted Falcos it loads the real plugin through its C interface, and takes events, values and reports from it. It never
//! fails on purpose. So it shows plugin, channel and alerts at work where no Falco is installed, and shows nothing about
//! Falco's own reading of a rule.
//!
//! It understands the configuration that castellan writes, and the arguments with which castellan calls Falco.
#![expect(unsafe_code, reason = "a library is loaded")]

mod judge;
#[path = "../../tests/plugin/library.rs"]
mod library;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use castellan_rules::{Loaded, Options};
use castellan_scripted_falco::Config;
use serde_json::json;

/// The version whose rule language castellan's engine has.
const VERSION: &str = "\
Falco version: 0.43.1 (castellan's stand-in)
Plugin API:    3.12.0
Engine:        0.58.0
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<ExitCode, Box<dyn Error>> {
    match words {
        ["--version"] => {
            print!("{VERSION}");
            Ok(ExitCode::SUCCESS)
        }
        ["-c", config] => {
            let config = Config::read(Path::new(config))?;
            let loaded = load(&config.rules)?;
            judge::serve(&config, &loaded)
        }
        ["-c", _, "-V", rules] => {
            let loaded = load(Path::new(rules));
            let errors: Vec<_> = loaded.as_ref().err().map(ToString::to_string).into_iter().collect();
            let errors: Vec<_> = errors.iter().map(|error| json!({ "code": "", "message": error })).collect();
            let result = json!({ "name": rules, "successful": errors.is_empty(), "errors": errors });
            println!("{}", json!({ "falco_load_results": [result] }));
            Ok(if loaded.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        words => Err(format!("unknown arguments: {words:?}").into()),
    }
}

fn load(rules: &Path) -> std::io::Result<Loaded> {
    castellan_scripted_falco::load(&[&std::fs::read_to_string(rules)?], Options::default())
}
