//! YAML files beside rule files, such as their cases: a tree with places, parsed like rule files and within their
//! limits. It must not know their content.

use std::ops::Range;
use std::rc::Rc;

use crate::problem::{Fault, Problem, Report, Severity};
use crate::source::{self, Node, NodeKind};
use crate::source_text::Source;
use crate::text::Place;

/// A part of a YAML file.
#[derive(Debug, Clone)]
pub struct Yaml {
    /// The value.
    pub value: YamlValue,
    /// Its bytes in the file.
    pub span: Range<usize>,
}

/// The value of a part of a YAML file.
#[derive(Debug, Clone)]
pub enum YamlValue {
    /// Nothing, `~` or `null`.
    Null,
    /// A word without quotes, which may mean a number, true or false.
    Plain(String),
    /// A text in quotes or a block.
    Text(String),
    /// A list.
    List(Vec<Yaml>),
    /// A map, in the order of the file, without duplicate keys. A key that is not a text is empty.
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    /// Parses a file of one document. Returns the errors of its YAML, with their places.
    pub fn read(file: &Source) -> Result<Yaml, Vec<Problem>> {
        let (documents, mut faults) = source::parse(0, &file.text);
        match documents.as_slice() {
            [document] if faults.is_empty() => return Ok(yaml(document)),
            [] | [_] => {}
            [_, second, ..] => {
                faults.push(Fault::new("CASTELLAN_CASES", second.place, "a second document: use one"));
            }
        }
        if faults.is_empty() {
            faults.push(Fault::new(
                "CASTELLAN_CASES",
                Place { file: 0, start: 0, end: 0 },
                "the file is empty",
            ));
        }
        Err(problems(file, faults))
    }

    /// Returns the value under a key of a map.
    pub fn get(&self, key: &str) -> Option<&Yaml> {
        let YamlValue::Map(entries) = &self.value else { return None };
        entries.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }
}

impl Problem {
    /// Returns a problem in a file beside rule files, at a range of bytes.
    pub fn beside(
        file: &Source,
        severity: Severity,
        code: &'static str,
        span: &Range<usize>,
        message: &str,
    ) -> Problem {
        let fault = Fault::new(code, Place { file: 0, start: span.start, end: span.end }, message);
        Report::new(std::slice::from_ref(file)).problem(severity, "", fault)
    }
}

fn problems(file: &Source, faults: Vec<Fault>) -> Vec<Problem> {
    let mut report = Report::new(std::slice::from_ref(file));
    for fault in faults {
        report.error("", fault);
    }
    report.finish()
}

/// Converts a node. [`source::parse`] bounds levels and size.
fn yaml(node: &Node) -> Yaml {
    let value = match &node.kind {
        NodeKind::Null => YamlValue::Null,
        NodeKind::Scalar(scalar) => {
            let made = if node.is_plain { YamlValue::Plain } else { YamlValue::Text };
            made(scalar.as_str().to_owned())
        }
        NodeKind::List(nodes) => YamlValue::List(nodes.iter().map(|node| yaml(node)).collect()),
        NodeKind::Map(entries) => {
            let name = |key: &Rc<Node>| key.scalar().map(|text| text.as_str().to_owned()).unwrap_or_default();
            let entry = |entry: &source::Entry| (name(&entry.key), yaml(&entry.value));
            YamlValue::Map(entries.iter().map(entry).collect())
        }
    };
    Yaml { value, span: node.place.start..node.place.end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "x_cases.yaml".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn what_stands_in_quotes_is_text() {
        let kind = |text: &str| match Yaml::read(&source(text)).unwrap().value {
            YamlValue::Null => "null",
            YamlValue::Plain(_) => "plain",
            YamlValue::Text(_) => "text",
            YamlValue::List(_) => "list",
            YamlValue::Map(_) => "map",
        };
        for (text, expected) in [
            ("true", "plain"),
            ("'true'", "text"),
            ("\"5\"", "text"),
            ("|\n  a\n", "text"),
            (">-\n  a\n", "text"),
            ("~", "null"),
            ("[a]", "list"),
            ("{a: 1}", "map"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let check = |text: &str, line: usize| {
            let problems = Yaml::read(&source(text)).unwrap_err();
            assert_eq!(problems.first().map(|problem| problem.line), Some(line), "{text}: {problems:?}");
        };
        check("", 1);
        check("a: 1\nb: [\n", 3);
        check("a: 1\na: 2\n", 2);
        check("a: 1\n---\nb: 1\n", 3);
    }
}
