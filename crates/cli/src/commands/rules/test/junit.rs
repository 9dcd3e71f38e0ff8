//! The results as JUnit XML for CI servers: a suite for each rule file, a test for each case and each error.

use std::fmt::Write as _;

use castellan_rules::Problem;
use castellan_trial::RuleCase;

use super::report::{Report, Tested, reported, subject, write_found};

pub(super) fn text(report: &Report<'_>) -> anyhow::Result<String> {
    let mut text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"castellan rules test\">\n".to_owned();
    for tested in &report.tested {
        suite(&mut text, tested)?;
    }
    text.push_str("</testsuites>\n");
    Ok(text)
}

fn suite(text: &mut String, tested: &Tested<'_>) -> anyhow::Result<()> {
    let errors: Vec<&Problem> = tested.errors().collect();
    let file = escaped(tested.cases_file.map_or(&tested.rules.name, |file| &file.name));
    writeln!(
        text,
        "  <testsuite name=\"{file}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
        tested.count + errors.len(),
        tested.failures.len(),
        errors.len(),
    )?;
    for problem in errors {
        let line = escaped(&problem.one_line());
        writeln!(text, "    <testcase classname=\"{file}\" name=\"line {}\">", problem.line)?;
        writeln!(text, "      <error message=\"{line}\"/>\n    </testcase>")?;
    }
    for case in tested.cases.iter().flat_map(|cases| &cases.cases) {
        self::case(text, tested, case, &file)?;
    }
    Ok(writeln!(text, "  </testsuite>")?)
}

fn case(text: &mut String, tested: &Tested<'_>, case: &RuleCase, file: &str) -> anyhow::Result<()> {
    let name = escaped(&format!("line {}: {}", case.line, subject(case)));
    write!(
        text,
        "    <testcase classname=\"{}\" name=\"{name}\" file=\"{file}\" line=\"{}\"",
        escaped(&case.rule),
        case.line
    )?;
    let Some(failure) = tested.failures.iter().find(|failure| std::ptr::eq(failure.case, case)) else {
        return Ok(writeln!(text, "/>")?);
    };
    let mut found = Vec::new();
    write_found(&mut anstream::StripStream::new(&mut found), failure, "")?;
    let found = escaped(&String::from_utf8_lossy(&found));
    writeln!(
        text,
        ">\n      <failure message=\"{}\">{found}</failure>\n    </testcase>",
        escaped(&reported(failure))
    )?;
    Ok(())
}

/// Escapes a text for XML. A character that XML 1.0 cannot represent becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '"' => shown.push_str("&quot;"),
            '\n' => shown.push_str("&#10;"),
            '\t' => shown.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
    }
    shown
}
