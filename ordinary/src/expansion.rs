//! Expansion of a text of a grammar: `«name»` is a word, `«a ¦ b»` a choice, `«#3-9»` a number. Must not know what the
//! text is used for.

use std::collections::BTreeMap;

use fastrand::Rng;

use crate::grammar::Grammar;

/// Words within words. More is a word that names itself.
const DEPTH_MAX: usize = 8;

/// The meanings of words in a project and its current flow.
#[derive(Debug)]
pub(crate) struct Words<'g> {
    grammar: &'g Grammar,
    project: BTreeMap<String, String>,
    flow: BTreeMap<String, String>,
}

impl<'g> Words<'g> {
    /// Chooses the project's words.
    pub(crate) fn of_project(grammar: &'g Grammar, rng: &mut Rng) -> Words<'g> {
        let mut words = Words { grammar, project: BTreeMap::new(), flow: BTreeMap::new() };
        for (name, text) in &grammar.project {
            let meaning = words.expand(text, rng);
            words.project.insert(name.clone(), meaning);
        }
        words
    }

    /// Forgets the meanings of words in the last flow.
    pub(crate) fn begin_flow(&mut self) {
        self.flow.clear();
    }

    /// Returns the text with every word, choice and number replaced.
    pub(crate) fn expand(&mut self, text: &str, rng: &mut Rng) -> String {
        self.expanded(text, rng, 0)
    }

    fn expanded(&mut self, text: &str, rng: &mut Rng, depth: usize) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('«') {
            let (inside, next) = closed(after);
            out.push_str(before);
            out.push_str(&self.meaning(inside, rng, depth + 1));
            rest = next;
        }
        out + rest
    }

    fn meaning(&mut self, inside: &str, rng: &mut Rng, depth: usize) -> String {
        if depth > DEPTH_MAX {
            return String::new();
        }
        let choices = choices(inside);
        if let [_, _, ..] = choices.as_slice() {
            let chosen = choices.get(rng.usize(0..choices.len())).copied().unwrap_or_default();
            return self.expanded(chosen, rng, depth);
        }
        if let Some(range) = inside.strip_prefix('#') {
            let (least, most) = range.split_once('-').unwrap_or((range, range));
            let (least, most) = (least.parse().unwrap_or(1), most.parse().unwrap_or(9));
            return rng.u32(least..=most).to_string();
        }
        if let Some(name) = inside.strip_suffix('^') {
            return pascal(&self.word(name, rng, depth));
        }
        if let Some(name) = inside.strip_suffix('_') {
            return self.word(name, rng, depth).replace('-', "_");
        }
        self.word(inside, rng, depth)
    }

    /// Returns the meaning of a word. A text that names no word is its own meaning.
    fn word(&mut self, name: &str, rng: &mut Rng, depth: usize) -> String {
        if let Some(meaning) = self.project.get(name).or_else(|| self.flow.get(name)) {
            return meaning.clone();
        }
        let grammar = self.grammar;
        if let Some(text) = grammar.flow.get(name) {
            let meaning = self.expanded(text, rng, depth);
            self.flow.insert(name.to_owned(), meaning.clone());
            return meaning;
        }
        match grammar.any.get(name) {
            Some(text) => self.expanded(text, rng, depth),
            None => self.expanded(name, rng, depth),
        }
    }
}

/// Returns the text before the closing mark, and the text after it.
fn closed(text: &str) -> (&str, &str) {
    let mut open = 1;
    for (at, c) in text.char_indices() {
        open += match c {
            '«' => 1,
            '»' => -1,
            _ => 0,
        };
        if open == 0 {
            let (inside, rest) = text.split_at_checked(at).unwrap_or((text, ""));
            return (inside, rest.strip_prefix('»').unwrap_or(rest));
        }
    }
    (text, "")
}

/// Splits a text at `¦`, but not within marks. Blanks around the mark separate only.
fn choices(text: &str) -> Vec<&str> {
    let (mut open, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '«' => open += 1,
            '»' => open -= 1,
            '¦' if open == 0 => {
                parts.extend(text.get(start..at));
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    match parts.as_slice() {
        [_] => parts,
        _ => parts.into_iter().map(str::trim).collect(),
    }
}

/// Returns `user-store` as `UserStore`.
fn pascal(word: &str) -> String {
    let parts = word.split(['-', '_']).map(|part| {
        let mut chars = part.chars();
        chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choices_and_numbers_are_expanded() {
        let text = "== project\nname: my-app\n== words\nmod: store ¦ cache\n== any\nany: «mod»s\n";
        let grammar = Grammar::read(&[text]).unwrap();
        let mut rng = Rng::with_seed(1);
        let mut words = Words::of_project(&grammar, &mut rng);
        for (text, expected) in [
            ("a «name» b", "a my-app b"),
            ("«name^» «name_»", "MyApp my_app"),
            ("«#4-4»", "4"),
            ("«x»", "x"),
            ("«a «name» ¦ a «name»»", "a my-app"),
            ("no words: ${x} | y", "no words: ${x} | y"),
        ] {
            assert_eq!(words.expand(text, &mut rng), expected, "{text}");
        }
        let one = words.expand("«mod» «mod» «any»", &mut rng);
        assert!(["store store stores", "cache cache caches"].contains(&one.as_str()), "{one}");
    }
}
