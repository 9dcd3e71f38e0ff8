//! Rule files: no panic in loading, rendering problems and evaluating.
#![no_main]

use castellan_event::{FIELDS, Row, Value};
use castellan_rules::{Options, Source, load};
use libfuzzer_sys::fuzz_target;

struct Fixed;

impl Row for Fixed {
    fn value(&self, field: usize, _arg: Option<&str>) -> Value<'_> {
        if field % 3 == 0 { Value::U64(7) } else { Value::Text(b"rm -rf / \xff\0".as_slice().into()) }
    }
}

fuzz_target!(|text: &str| {
    let sources = [Source { name: "fuzz.yaml".to_owned(), text: text.to_owned() }];
    let loaded = load(&sources, FIELDS, &Options::default());
    for problem in &loaded.problems {
        let _ = problem.render(Some(text));
    }
    let _ = loaded.rules.evaluate(&Fixed);
});
