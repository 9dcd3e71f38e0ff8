//! `CASTELLAN_PATH_BOUNDARY`: `startswith` on a path with a prefix that ends within a name: `/tmp/a` is a prefix of
//! `/tmp/ab` too. A prefix that ends in a sign, such as `/tmp/build-`, is treated as intended.

use crate::ast::{Op, Right};
use crate::lint::Linted;
use crate::lint::normal::{field_name, is_basename, words};
use crate::problem::Fault;

/// Words of fields that hold paths.
const PATHS: [&str; 4] = ["path", "cwd", "directory", "dir"];

/// A field that holds a directory, and the field with a `/` at the end of the same directory.
const DIRECTORY: (&str, &str) = ("agent.real_cwd", "agent.real_cwd_prefix");

pub(super) fn check(rule: &Linted<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for literal in rule.normal.literals() {
        let check = literal.check;
        let Some(field) = field_name(&check.left) else { continue };
        let is_path = words(field).any(|word| PATHS.contains(&word)) && !is_basename(&check.left);
        if check.op != Op::StartsWith || !is_path {
            continue;
        }
        match &check.right {
            Right::Value(word) if word.text.ends_with(char::is_alphanumeric) => {
                let prefix = &word.text;
                let message = format!("the prefix ends within a name: `{prefix}` also matches `{prefix}x`");
                let help = format!(
                    "write `startswith {prefix}/`, or `pmatch ({prefix})` for the path and everything below"
                );
                faults.push(Fault::new("CASTELLAN_PATH_BOUNDARY", word.place, message).help(help));
            }
            Right::Val(operand) | Right::Transformed(operand) if field_name(operand) == Some(DIRECTORY.0) => {
                let (from, to) = DIRECTORY;
                let message = format!("`{from}` does not end in `/`: `/a` is also a prefix of `/ab`");
                let known = rule.catalogue.index(to).map(|_| format!("write `startswith val({to})`"));
                faults.push(Fault::new("CASTELLAN_PATH_BOUNDARY", operand.place, message).help_if(known));
            }
            Right::Nothing
            | Right::Value(_)
            | Right::List(_)
            | Right::Each(..)
            | Right::Val(_)
            | Right::Transformed(_) => {}
        }
    }
    faults
}
