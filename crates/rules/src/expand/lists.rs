//! Substitutes lists in the text of a condition. A name is replaced between blanks, commas, parentheses, `=` or the
//! ends, inside quoted strings too. Lists are substituted one after the other, in the order of their definition.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use crate::definitions::{Definition, Definitions};
use crate::exceptions::push_quoted;
use crate::lex::is_blank;
use crate::limits::{CONDITION_BYTES_MAX, ODD_LISTS_MAX, SET_SUBSTITUTED_BYTES_MAX, SUBSTITUTED_BYTES_MAX};
use crate::problem::Fault;
use crate::text::Text;

#[derive(Debug, Default)]
pub(crate) struct Lists {
    all: Vec<List>,
    /// Positions by name, to look up every word of a condition.
    by_name: HashMap<Box<[u8]>, usize, FxBuildHasher>,
    /// Lists with delimiters in their names. Such a name is not a word, so every text is searched for it.
    odd: BTreeSet<usize>,
    /// Hashes of looked-up words that named no list at that time.
    unknown: RefCell<HashSet<u64, FxBuildHasher>>,
    /// Bytes copied so far for conditions of this set.
    copied: Cell<usize>,
}

#[derive(Debug)]
struct List {
    name: String,
    /// The items, joined by commas.
    body: Text,
    /// The lists that the body names, computed on first use.
    named: OnceCell<BTreeSet<usize>>,
    used: Cell<bool>,
}

impl Lists {
    /// Reports whether earlier substitutions stay valid with the new lists: no condition has named them yet.
    pub(crate) fn can_grow(&self, definitions: &Definitions) -> bool {
        let unknown = self.unknown.borrow();
        let is_new_to_all = |name: &str| {
            !name.bytes().any(delimits) && !unknown.contains(&self.by_name.hasher().hash_one(name.as_bytes()))
        };
        definitions.lists.iter().skip(self.all.len()).all(|list| is_new_to_all(&list.name.text))
    }

    /// Adds the new lists, items joined. An item that names a list is replaced by that list's items, one level deep.
    pub(crate) fn grow(&mut self, definitions: &Definitions) {
        let lists = &definitions.lists;
        let mut used = Vec::new();
        for list in lists.iter().skip(self.all.len()) {
            let mut body = Text::default();
            for item in &list.value {
                match inner(definitions, list, item) {
                    Some(inner) => {
                        inner.value.iter().for_each(|item| push_item(&mut body, item));
                        used.extend(lists.position(item.as_str()));
                    }
                    None => push_item(&mut body, item),
                }
            }
            self.push(List::new(list.name.text.clone(), body));
        }
        for list in used.into_iter().filter_map(|at| self.all.get(at)) {
            list.used.set(true);
        }
    }

    fn push(&mut self, list: List) {
        if list.name.bytes().any(delimits) {
            self.odd.insert(self.all.len());
        }
        self.by_name.insert(list.name.as_bytes().into(), self.all.len());
        self.all.push(list);
    }

    /// Substitutes the lists in a condition.
    pub(crate) fn put_into(&self, condition: &Text) -> Result<Text, Fault> {
        if self.odd.len() > ODD_LISTS_MAX {
            let message = format!(
                "more than {ODD_LISTS_MAX} lists with a blank, comma, `=` or parenthesis in the name"
            );
            return Err(Fault::new("CASTELLAN_LIMIT", condition.place(0..1), message).help("rename them"));
        }
        if self.copied.get() > SET_SUBSTITUTED_BYTES_MAX {
            return Err(too_many(condition, "too many conditions with lists as long as these"));
        }
        let (text, _) = self.put_in_order(condition)?;
        if text.as_str().len() > condition.as_str().len() {
            self.copied.set(self.copied.get().saturating_add(text.as_str().len()));
        }
        Ok(text)
    }

    /// Returns the names of the lists that are substituted in a condition.
    pub(crate) fn named_in(&self, condition: &Text) -> BTreeSet<&str> {
        self.put_in_order(condition).map(|(_, named)| named).unwrap_or_default()
    }

    /// Substitutes the lists in order. Skips lists that do not occur: the text may be long and the lists many.
    fn put_in_order(&self, condition: &Text) -> Result<(Text, BTreeSet<&str>), Fault> {
        let mut text = condition.clone();
        let mut named = BTreeSet::new();
        let mut copied = 0;
        let mut next = self.candidates(text.as_str());
        while let Some(at) = next.pop_first() {
            let Some(list) = self.all.get(at) else { continue };
            let Some(replaced) = list.put_into(&text)? else { continue };
            list.used.set(true);
            named.insert(list.name.as_str());
            let inner = list.named.get_or_init(|| self.candidates(list.body.as_str()));
            next.extend(inner.range(at + 1..));
            text = replaced;
            copied += text.as_str().len();
            if copied > SUBSTITUTED_BYTES_MAX {
                return Err(too_many(condition, "too many lists in a condition as long as this one"));
            }
        }
        Ok((text, named))
    }

    /// Returns the lists whose names may occur in a text.
    fn candidates(&self, text: &str) -> BTreeSet<usize> {
        let mut unknown = self.unknown.borrow_mut();
        let mut named = self.odd.clone();
        for word in text.as_bytes().split(|byte| delimits(*byte)).filter(|word| !word.is_empty()) {
            match self.by_name.get(word) {
                Some(list) => {
                    named.insert(*list);
                }
                None => {
                    unknown.insert(self.by_name.hasher().hash_one(word));
                }
            }
        }
        named
    }

    /// Returns the names of the lists that no condition and no list names.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter(|list| !list.used.get()).map(|list| list.name.as_str())
    }
}

/// Returns the items of a list with nested lists expanded, quoted as in a condition.
pub(crate) fn items(definitions: &Definitions, list: &Definition<Vec<Text>>) -> Vec<String> {
    let quoted = |item: &Text| {
        let mut text = Text::default();
        push_quoted(&mut text, item);
        text.as_str().to_owned()
    };
    let of_one = |item| match inner(definitions, list, item) {
        Some(inner) => inner.value.iter().map(quoted).collect(),
        None => vec![quoted(item)],
    };
    list.value.iter().flat_map(of_one).collect()
}

/// Returns the list that an item names, if the list was defined early enough.
fn inner<'d>(
    definitions: &'d Definitions,
    list: &Definition<Vec<Text>>,
    item: &Text,
) -> Option<&'d Definition<Vec<Text>>> {
    definitions.lists.get(item.as_str()).filter(|inner| inner.index < list.visibility)
}

fn too_many(condition: &Text, message: &str) -> Fault {
    Fault::new("CASTELLAN_LIMIT", condition.place(0..1), message).help("use the lists in macros")
}

fn push_item(body: &mut Text, item: &Text) {
    if !body.as_str().is_empty() {
        body.push_derived(", ", item.place(0..1));
    }
    push_quoted(body, item);
}

impl List {
    fn new(name: String, body: Text) -> Self {
        Self { name, body, named: OnceCell::new(), used: Cell::new(false) }
    }

    /// Returns the text with every occurrence replaced; `None` if there is none.
    fn put_into(&self, text: &Text) -> Result<Option<Text>, Fault> {
        let source = text.as_str();
        let mut out = Text::default();
        let mut done = 0;
        let mut from = 0;
        while let Some(found) = find(source, &self.name, from) {
            let end = found + self.name.len();
            from = next_char(source, found);
            if !is_delimited(source, found, end) || found < done {
                continue;
            }
            let (start, mut after) = without_blanks(source, found, end, done);
            let mut kept = start;
            if self.body.as_str().is_empty() {
                // An empty list removes one of its commas.
                let bytes = source.as_bytes();
                if kept > done && bytes.get(kept - 1) == Some(&b',') {
                    kept -= 1;
                } else if bytes.get(after) == Some(&b',') {
                    after += 1;
                }
            }
            let place = text.place(found..end);
            out.push_range(text, done..kept);
            out.push_derived(" ", place);
            out.push_derived(self.body.as_str(), place);
            out.push_derived(" ", place);
            if out.as_str().len() > CONDITION_BYTES_MAX {
                let message = format!(
                    "more than {CONDITION_BYTES_MAX} bytes after the list `{}` is inserted",
                    self.name
                );
                return Err(Fault::new("CASTELLAN_LIMIT", place, message).help("use a shorter list"));
            }
            done = after;
            from = after.max(from);
        }
        if out.as_str().is_empty() {
            return Ok(None);
        }
        out.push_range(text, done..source.len());
        Ok(Some(out))
    }
}

fn find(source: &str, name: &str, from: usize) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    source.get(from..).and_then(|rest| rest.find(name)).map(|at| from + at)
}

fn next_char(source: &str, at: usize) -> usize {
    let len = source.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    at + len
}

fn is_delimited(source: &str, start: usize, end: usize) -> bool {
    let delimited = |byte: &u8| delimits(*byte);
    let before = start.checked_sub(1).and_then(|at| source.as_bytes().get(at));
    before.is_none_or(delimited) && source.as_bytes().get(end).is_none_or(delimited)
}

/// Reports whether a byte delimits words. No byte of a multi-byte character does.
fn delimits(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'(' | b')' | b',' | b'=')
}

/// Returns the range of a name with the blanks around it.
fn without_blanks(source: &str, start: usize, end: usize, done: usize) -> (usize, usize) {
    let blanks = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| is_blank(**byte)).count();
    let bytes = source.as_bytes();
    let before = blanks(&mut bytes.get(done..start).unwrap_or_default().iter().rev());
    let after = blanks(&mut bytes.get(end..).unwrap_or_default().iter());
    (start - before, end + after)
}

#[cfg(test)]
mod tests {
    use super::{List, Lists};
    use crate::text::{Place, Text};

    #[test]
    fn only_lists_whose_names_occur_are_put_in_and_in_their_order() {
        let place = Place { file: 0, start: 0, end: 0 };
        let text = |text: &str| Text::derived(text, place);
        let table = [("c", "z"), ("a", "b, x"), ("b", "c"), ("odd name", "y"), ("é", "w"), ("unnamed", "v")];
        let mut lists = Lists::default();
        table.iter().for_each(|(name, body)| lists.push(List::new((*name).to_owned(), text(body))));
        for (condition, expected) in [
            // A list does not see names that a later list's body brings in.
            ("f.g in (a)", " a b "),
            ("f.g in (b)", " b "),
            ("f.g in (c,a)", " a b c "),
            ("f.g contains \"an odd name here\"", " odd name "),
            ("f.g in (é)", " é "),
            ("f.g in (aa, \"b\", éa)", " "),
        ] {
            // As in Falco: searches for every list.
            let mut naive = text(condition);
            for list in &lists.all {
                naive = list.put_into(&naive).unwrap().unwrap_or(naive);
            }
            let (found, named) = lists.put_in_order(&text(condition)).unwrap();
            assert_eq!(found.as_str(), naive.as_str(), "{condition}");
            assert_eq!(
                format!(" {} ", named.into_iter().collect::<Vec<_>>().join(" ")).replace("  ", " "),
                expected
            );
        }
    }

    #[test]
    fn substitution() {
        let place = Place { file: 0, start: 0, end: 0 };
        for (condition, body, expected) in [
            ("a.b in (l)", "rm, ls", Some("a.b in ( rm, ls )")),
            ("a.b in ( x , l , y )", "rm", Some("a.b in ( x , rm , y )")),
            ("a.b contains \"x l y\"", "z", Some("a.b contains \"x z y\"")),
            ("a.b = l", "z", Some("a.b = z ")),
            ("l", "z", Some(" z ")),
            ("a.b in (x, l)", "", Some("a.b in (x  )")),
            ("a.b in (l, x)", "", Some("a.b in (   x)")),
            ("a.b in (l l)", "z", Some("a.b in ( z  z )")),
            ("a.b in (\"l\", lx, xl)", "z", None),
        ] {
            let list = List::new("l".to_owned(), Text::derived(body, place));
            let replaced = list.put_into(&Text::verbatim(condition, place)).unwrap();
            assert_eq!(replaced.as_ref().map(Text::as_str), expected, "{condition}");
        }
    }
}
