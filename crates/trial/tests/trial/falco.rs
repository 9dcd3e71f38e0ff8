//! The shipped rules as a Falco has them: exported, on events, without levels. On each row of each case the same rules
//! must match as in castellan's own engine.

use castellan_daemon::{Config, compile};
use castellan_event::{CallRow, FIELDS, rows};
use castellan_falco::description::Described;
use castellan_falco::export::for_engine;
use castellan_rows::{CallRows, Event, Generation, Nonce, PlainRow, encode, plain_fields};
use castellan_rules::{Engine, Loaded, Options, Part, Source, load};
use castellan_trial::{CaseFile, Trial, shipped_cases};

struct Engines {
    native: Vec<Loaded>,
    falco: Loaded,
    generation: Generation,
    count: usize,
}

impl Engines {
    fn load() -> Engines {
        let options = Options { describe: true, ..Options::default() };
        let packs: Vec<Source> = shipped_cases().into_iter().map(|(rules, _)| rules).collect();
        // Two layers, of which the second has a rule with a name of the first.
        let again = Source { name: "again.yaml".to_owned(), text: packs[0].text.clone() };
        let native = vec![load(&packs, FIELDS, &options), load(&[again], FIELDS, &options)];
        let described: Vec<_> = native
            .iter()
            .map(|loaded| Described {
                layer: None,
                rules: &loaded.rules,
                description: loaded.description.as_ref().unwrap(),
            })
            .collect();
        let exported = for_engine(&described, Engine::V0_43);
        let source = Source { name: "exported.yaml".to_owned(), text: exported.yaml };
        let falco = load(&[source], &plain_fields(), &Options { lints: false, ..Options::default() });
        assert!(falco.problems.is_empty(), "{:?}", falco.problems);
        let generation = Generation::parse(&exported.generation).unwrap();
        assert_eq!(falco.rules.rules().len(), exported.count + 1);
        Engines { native, falco, generation, count: exported.count }
    }

    /// The rules that match each row, and the row that they match, in castellan's engine.
    fn native(&self, rows: &[CallRow<'_>]) -> Vec<Vec<usize>> {
        let mut found = vec![Vec::new(); rows.len()];
        let mut first = 0;
        for loaded in &self.native {
            for hit in loaded.rules.evaluate_rows(rows, |_| Part::In) {
                for row in hit.rows {
                    found[row].push(first + hit.hit.rule);
                }
            }
            first += loaded.rules.rules().len();
        }
        found
    }

    fn falco(&self, rows: &[CallRow<'_>], keys: &[&str]) -> Vec<Vec<usize>> {
        let nonces = vec![Nonce([7; 16]); rows.len()];
        let call = encode(rows, keys, self.generation, &nonces).unwrap();
        let mut call = CallRows::read(call).unwrap();
        let mut found = Vec::new();
        while let Some(event) = call.next_event().unwrap() {
            let hits = self.falco.rules.evaluate(&PlainRow(Event::read(&event).unwrap()));
            let mut rules: Vec<usize> = hits.iter().map(|hit| hit.rule).collect();
            assert_eq!(rules.pop(), Some(self.count), "the row is reported");
            found.push(rules);
        }
        found
    }
}

#[test]
fn exported_rules_match_the_same_rows_of_all_cases() {
    let engines = Engines::load();
    let policy = compile(&[], &Config::default()).policy;
    let (mut judged_rows, mut matched, mut differ) = (0, 0, Vec::new());
    for (_, cases) in shipped_cases() {
        for case in CaseFile::read(&cases).unwrap().cases {
            let judged = Trial::new(&policy).judge(&case.case).unwrap();
            let rows = rows(&judged.call, &judged.facts, &judged.session, &judged.answers).unwrap();
            let keys: Vec<&str> = judged.session.marks.keys().map(String::as_str).collect();
            let (native, falco) = (engines.native(&rows), engines.falco(&rows, &keys));
            judged_rows += rows.len();
            matched += native.iter().flatten().count();
            if native != falco {
                differ.push(format!("{}:{}: {native:?}, Falco {falco:?}", cases.name, case.line));
            }
        }
    }
    assert!(judged_rows > 5_000 && matched > 1_500, "{judged_rows} rows, {matched} matches");
    assert!(differ.is_empty(), "{} cases:\n{}", differ.len(), differ.join("\n"));
}
