//! Plans as they are read: `data/reading.txt` has texts, each with the plan or the error.

use castellan_plans::{Fault, render};

use crate::support::{check_file, read};

/// Begins a case; the text of the plan follows.
const CASE: &str = "=== ";
/// Begins the expected lines of a case.
const EXPECTED: &str = ">>>";

#[test]
fn plans_are_read_strictly() {
    let file = include_str!("data/reading.txt");
    let (head, cases) = file.split_once(CASE).unwrap();
    let mut found = head.to_owned();
    for case in cases.split(&format!("\n{CASE}")) {
        let (name, rest) = case.split_once('\n').unwrap();
        let (yaml, _) = rest.split_once(EXPECTED).unwrap();
        let said = match read(yaml) {
            Ok(plan) => render(&plan),
            Err(error) => format!("{error}\n"),
        };
        found.push_str(&format!("{CASE}{name}\n{yaml}{EXPECTED}\n{said}\n"));
    }
    check_file("reading.txt", file, &format!("{}\n", found.trim_end()));
}

#[test]
fn bytes_that_are_no_text_are_an_error_with_its_place() {
    let check = |bytes: &[u8], line: usize, column: usize| {
        let error = castellan_plans::read(bytes, &|_| Vec::new()).unwrap_err();
        assert_eq!((error.line, error.column, error.fault), (line, column, Fault::Encoding), "{bytes:?}");
    };
    check(b"\xff", 1, 1);
    check(b"castellan_plan: 1\nname: \xc3\x28\n", 2, 7);
    check("castellan_plan: 1\n# é\n# é".as_bytes().strip_suffix(b"\xa9").unwrap(), 3, 3);
}
