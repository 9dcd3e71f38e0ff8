//! Rule files: YAML and items, and the grammar of conditions.

use castellan_event::{FIELDS, FieldDef, FieldType, Row, Value};
use castellan_rules::{Engine, Loaded, Matching, Options, Plain, Source, load};

/// A row with a value of its type for every field.
struct Typed;

impl Row for Typed {
    fn value(&self, field: usize, _arg: Option<&str>) -> Value<'_> {
        let Some(field) = FIELDS.get(field) else { return Value::Absent };
        if field.list { Value::List(vec![one(field), one(field)]) } else { one(field) }
    }
}

fn one(field: &FieldDef<'_>) -> Value<'static> {
    match field.ty {
        FieldType::U64 => Value::U64(7),
        FieldType::Bool => Value::Bool(true),
        FieldType::Text | FieldType::Bytes => Value::Text(b"rm -rf / \xff\0".as_slice().into()),
        FieldType::Ip | FieldType::Net => Value::Absent,
    }
}

/// Loads a rule file with all options, renders its problems, describes and evaluates it. There must be no panic. Every
/// problem has a place, castellan's own warnings do not prevent loading, and the engine and the plain evaluator agree.
pub fn rules_yaml(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let plain = load_text(text, &Options::default());
    let every = Options {
        engine: Engine::V0_44,
        matching: Matching::First,
        regex_compat_falco: true,
        lints: true,
        describe: true,
        ..Options::default()
    };
    for loaded in [&plain, &load_text(text, &every)] {
        for problem in &loaded.problems {
            assert!(problem.line >= 1 && problem.column >= 1, "{problem:?}");
            let _ = problem.render(Some(text));
        }
        let hits = loaded.rules.evaluate(&Typed);
        if let Ok(plain) = Plain::new(&loaded.rules) {
            assert_eq!(plain.evaluate(&Typed), hits);
        }
    }
    let linted = load_text(text, &Options { lints: true, ..Options::default() });
    assert_eq!(linted.has_errors(), plain.has_errors(), "lints only warn");
}

/// Reads the text as the condition of a rule. A printed condition must load, and print as itself.
pub fn rules_condition(bytes: &[u8]) {
    let Ok(condition) = str::from_utf8(bytes) else { return };
    let Some(once) = printed(condition) else { return };
    let again = printed(&once);
    assert_eq!(again.as_deref(), Some(once.as_str()), "of {condition}");
}

/// Returns the condition in a form that can be loaded again; `None` if it does not load.
fn printed(condition: &str) -> Option<String> {
    let text = rule("r", condition, "");
    let options = Options { engine: Engine::V0_44, lints: true, describe: true, ..Options::default() };
    let loaded = load_text(&text, &options);
    for problem in &loaded.problems {
        let _ = problem.render(Some(&text));
    }
    let _ = loaded.rules.evaluate(&Typed);
    let described = loaded.description.as_ref()?.rules.first()?;
    (!loaded.has_errors()).then(|| described.reparsable.clone())
}

/// Returns a rule as YAML. JSON strings are YAML strings.
pub(crate) fn rule(name: &str, condition: &str, tags: &str) -> String {
    let condition = serde_json::Value::from(condition);
    format!(
        "- rule: {name}\n  desc: d\n  condition: {condition}\n  output: o\n  priority: NOTICE\n  \
         source: coding_agent\n  tags: [{tags}]\n"
    )
}

fn load_text(text: &str, options: &Options) -> Loaded {
    load(&[Source { name: "fuzz.yaml".to_owned(), text: text.to_owned() }], FIELDS, options)
}
