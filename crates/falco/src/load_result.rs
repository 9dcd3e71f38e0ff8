//! The result of loading as `falco --validate` prints it in JSON (Falco 0.43): one entry for each file. Falco counts
//! lines, columns and bytes from 0. `help` is castellan's own key.

use castellan_rules::{Problem, Severity, Source};
use serde_json::{Value as Json, json};

use crate::limits::{SNIPPET_BEFORE_MAX, SNIPPET_CHARS_MAX};

/// The meaning of each code.
const CODES: &[(&str, &str)] = &[
    ("LOAD_ERR_FILE_READ", "the file cannot be read"),
    ("LOAD_ERR_YAML_PARSE", "the file is not YAML"),
    ("LOAD_ERR_YAML_VALIDATE", "the YAML is not what a rule file consists of"),
    ("LOAD_ERR_COMPILE_CONDITION", "the condition does not compile"),
    ("LOAD_ERR_COMPILE_OUTPUT", "the output does not compile"),
    ("LOAD_ERR_VALIDATE", "the item contradicts itself or an earlier one"),
    ("LOAD_ERR_EXTENSION", "an extension of the rule file is wrong"),
    ("LOAD_UNKNOWN_SOURCE", "the rule's event source is not known here"),
    ("LOAD_UNSAFE_NA_CHECK", "the comparison with `<NA>` can never hold"),
    ("LOAD_NO_EVTTYPE", "the condition does not restrict the type of the event"),
    ("LOAD_UNKNOWN_FILTER", "the condition names a field that does not exist"),
    ("LOAD_UNUSED_MACRO", "nothing names the macro"),
    ("LOAD_UNUSED_LIST", "nothing names the list"),
    ("LOAD_UNKNOWN_ITEM", "the item is of no known kind"),
    ("LOAD_DEPRECATED_ITEM", "the way in which this is written is out of use"),
    ("LOAD_WARNING_EXTENSION", "an extension of the rule file is doubtful"),
    ("LOAD_APPEND_NO_VALUES", "the exception that is appended to brings no values"),
    ("LOAD_EXCEPTION_NAME_NOT_UNIQUE", "two exceptions of the rule have one name"),
    ("LOAD_INVALID_MACRO_NAME", "a condition cannot name the macro"),
    ("LOAD_INVALID_LIST_NAME", "a condition cannot name the list"),
    ("LOAD_COMPILE_CONDITION", "the condition probably does not mean what it says"),
    ("LOAD_UNKNOWN_KEY", "the key is not known"),
    ("CASTELLAN_PLUGIN_VERSION", "the rules need another plugin"),
    ("CASTELLAN_LIMIT", "larger or deeper than castellan reads"),
    ("CASTELLAN_DUPLICATE_KEY", "an item has a key twice"),
    ("CASTELLAN_DUPLICATE_RULE", "a file has a rule twice"),
    ("CASTELLAN_REGEX", "Falco never matches this pattern"),
    ("CASTELLAN_MIXED_LEVELS", "the condition names fields of several levels without need"),
    ("CASTELLAN_ALWAYS", "the condition is always true"),
    ("CASTELLAN_NEVER", "the condition is never true"),
    ("CASTELLAN_UNKNOWN_WORD", "a word that the field never has"),
    ("CASTELLAN_LIST_IN", "`in` wants every element of a list"),
    ("CASTELLAN_NEGATED_PATH", "the negated test of a path is true of what has no path"),
    ("CASTELLAN_PATH_BOUNDARY", "the prefix of a path ends within a name"),
    ("CASTELLAN_REDEFINED", "a definition of this name is replaced"),
    ("CASTELLAN_REGEX_ONE_LINE", "the pattern never matches text of several lines"),
    ("CASTELLAN_SHADOWED", "an earlier rule fires on everything that this one does"),
    ("CASTELLAN_TRANSFORMED_LIST", "no element of a transformed list equals a text"),
];

/// The text for castellan's own codes, which the table does not contain.
const OWN: &str = "castellan advises against this";

/// Returns the result of loading some files: `{"falco_load_results": [...]}`, an entry for each file in their order.
pub fn json(sources: &[Source], problems: &[Problem]) -> Json {
    let results: Vec<Json> = sources.iter().map(|source| of_file(source, problems)).collect();
    json!({ "falco_load_results": results })
}

fn of_file(source: &Source, problems: &[Problem]) -> Json {
    let of = |severity| -> Vec<Json> {
        let found =
            problems.iter().filter(|problem| problem.file == source.name && problem.severity == severity);
        found.map(|problem| of_problem(problem, &source.text)).collect()
    };
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    json!({ "name": source.name, "successful": errors.is_empty(), "errors": errors, "warnings": warnings })
}

fn of_problem(problem: &Problem, text: &str) -> Json {
    let (line, column) = (problem.line.saturating_sub(1), problem.column.saturating_sub(1));
    let offset = problem.span.as_ref().map_or(0, |span| span.start);
    let location = |(item_type, item_name): (&str, &str), [line, column, offset]: [usize; 3]| {
        let position = json!({ "name": problem.file, "line": line, "column": column, "offset": offset });
        json!({ "item_type": item_type, "item_name": item_name, "position": position })
    };
    let mut locations = vec![location(("rules content", ""), [0, 0, 0])];
    if !problem.item.is_empty() {
        locations.push(location(item(&problem.item), [line, column, offset]));
    } else if let Some(content) = locations.first_mut() {
        *content = location(("rules content", ""), [line, column, offset]);
    }
    json!({
        "code": problem.code,
        "codedesc": described(problem.code),
        "message": problem.message,
        "help": problem.help,
        "context": { "locations": locations, "snippet": snippet(text, line, column) },
    })
}

fn described(code: &str) -> &'static str {
    CODES.iter().find(|(name, _)| *name == code).map_or(OWN, |(_, described)| described)
}

/// Splits an item such as `rule 'x'` into kind and name.
fn item(written: &str) -> (&str, &str) {
    let (kind, name) = written.split_once(" '").unwrap_or((written, ""));
    (kind, name.strip_suffix('\'').unwrap_or(name))
}

/// Returns the line with a caret below the column. A long line is cut around the column.
fn snippet(text: &str, line: usize, column: usize) -> String {
    let line = text.lines().nth(line).unwrap_or_default();
    let first = column.saturating_sub(SNIPPET_BEFORE_MAX);
    let shown: String = line.chars().skip(first).take(SNIPPET_CHARS_MAX).collect();
    format!("{shown}\n{:caret$}^\n", "", caret = column - first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use castellan_event::FIELDS;
    use castellan_rules::{Options, load};

    fn result(texts: &[&str]) -> Json {
        let named =
            |(at, text): (usize, &&str)| Source { name: format!("{at}.yaml"), text: (*text).to_owned() };
        let sources: Vec<Source> = texts.iter().enumerate().map(named).collect();
        json(&sources, &load(&sources, FIELDS, &Options::default()).problems)
    }

    #[test]
    fn every_file_has_an_entry() {
        let sound = "- list: l\n  items: [a]\n- rule: r\n  desc: d\n  condition: tool.name in (l)\n  output: o\n  priority: INFO\n  source: coding_agent\n";
        let doubtful = "- something: m\n";
        let results = result(&[sound, doubtful, "- rule: x\n\tdesc: d\n"]);
        let results = results["falco_load_results"].as_array().unwrap();
        let brief: Vec<_> = results
            .iter()
            .map(|one| {
                let count = |key: &str| one[key].as_array().unwrap().len();
                (
                    one["name"].as_str().unwrap(),
                    one["successful"] == json!(true),
                    count("errors"),
                    count("warnings"),
                )
            })
            .collect();
        assert_eq!(brief, [("0.yaml", true, 0, 0), ("1.yaml", true, 0, 1), ("2.yaml", false, 1, 0)]);
    }

    #[test]
    fn places_are_counted_from_0() {
        let text = "- rule: r\n  desc: d\n  condition: tool.nam = x\n  output: o\n  priority: INFO\n  source: coding_agent\n";
        let result = result(&[text]);
        let error = &result["falco_load_results"][0]["errors"][0];
        assert_eq!(error["code"], "LOAD_ERR_COMPILE_CONDITION");
        assert_eq!(error["codedesc"], "the condition does not compile");
        assert_eq!(error["help"], "did you mean `tool.name`?");
        let at = &error["context"]["locations"][1];
        assert_eq!((&at["item_type"], &at["item_name"]), (&json!("rule"), &json!("r")));
        assert_eq!(at["position"], json!({ "name": "0.yaml", "line": 2, "column": 13, "offset": 33 }));
        let snippet = format!("  condition: tool.nam = x\n{}^\n", " ".repeat(13));
        assert_eq!(error["context"]["snippet"], snippet);
    }

    #[test]
    fn each_code_is_described_once() {
        let mut codes: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), CODES.len());
        assert_eq!(described("CASTELLAN_SOMETHING_NEW"), OWN);
    }
}
