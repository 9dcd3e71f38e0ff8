//! Programs of the corpus that are cut off at each place.
use castellan_languages::{Language, read};

use super::shapes::{around, is_reported, start};

/// Ends after which the command is an operand or a member of what was cut off, not a command.
const TAKES_IT: &[(Language, &[&str])] = &[
    (Language::Ruby, &["."]),
    (Language::Php, &["->"]),
    // `use system` loads a module of this name, `$system` is a handle, and Perl rejects `local system`.
    (Language::Perl, &["use", "use ", "$", "local"]),
];

fn reports(language: Language, text: &str) -> bool {
    let reading = read(language, text, &start(language));
    assert!(reading.acts.iter().all(|act| text.get(act.span.clone()).is_some()), "outside of {text:?}");
    is_reported(&reading)
}

/// A command after each prefix is found, or the prefix is reported.
#[test]
fn no_prefix_of_a_program_hides_what_follows() {
    for language in Language::ALL {
        let Some(program) = castellan_corpus::program(language.as_str()) else { continue };
        let takes_it = TAKES_IT.iter().filter(|(one, _)| one == language).flat_map(|(_, ends)| *ends);
        let takes_it: Vec<&str> = takes_it.copied().collect();
        let (_, after) = around(*language);
        let mut hidden = Vec::new();
        for (at, _) in program.char_indices() {
            let prefix = program.get(..at).unwrap();
            // Before its tag, PHP writes the text.
            let is_output = *language == Language::Php && !prefix.contains("<?");
            let is_taken = is_output || takes_it.iter().any(|end| prefix.ends_with(end));
            let after = after.trim_start_matches(';');
            if !reports(*language, &format!("{prefix}{after}")) && !is_taken {
                hidden.push(prefix.get(prefix.len().saturating_sub(30)..));
            }
        }
        assert!(hidden.is_empty(), "{language}: {hidden:?}");
    }
}
