//! Lists are substituted in the text of a condition, wherever the name stands between blanks, commas, parentheses, `=` or
//! the ends: inside quoted strings too. One list after the other, in the order of their definition.

use std::cell::Cell;

use crate::definitions::Definitions;
use crate::exceptions::push_quoted;
use crate::lex::is_blank;
use crate::limits::CONDITION_BYTES_MAX;
use crate::problem::Fault;
use crate::text::Text;

/// The lists, ready to be put in.
#[derive(Debug)]
pub(crate) struct Lists {
    all: Vec<List>,
}

#[derive(Debug)]
struct List {
    name: String,
    /// The items, joined by commas.
    body: Text,
    used: Cell<bool>,
}

impl Lists {
    /// Joins the items of each list. An item that names a list is replaced by its items, one level deep.
    pub(crate) fn new(definitions: &Definitions) -> Self {
        let lists = &definitions.lists;
        let mut used = vec![false; lists.iter().len()];
        let mut all = Vec::with_capacity(lists.iter().len());
        for list in lists.iter() {
            let mut body = Text::default();
            for item in &list.value {
                let inner = lists.get(item.as_str()).filter(|inner| inner.index < list.visibility);
                let Some(inner) = inner else {
                    push_item(&mut body, item);
                    continue;
                };
                if let Some(at) = lists.position(item.as_str()) {
                    used.iter_mut().skip(at).take(1).for_each(|used| *used = true);
                }
                for item in &inner.value {
                    push_item(&mut body, item);
                }
            }
            all.push(List { name: list.name.text.clone(), body, used: Cell::new(false) });
        }
        for (list, used) in all.iter().zip(used) {
            list.used.set(used);
        }
        Self { all }
    }

    /// Puts the lists into a condition.
    pub(crate) fn put_into(&self, condition: &Text) -> Result<Text, Fault> {
        let mut text = condition.clone();
        for list in &self.all {
            if let Some(replaced) = list.put_into(&text)? {
                list.used.set(true);
                text = replaced;
            }
        }
        Ok(text)
    }

    /// The names of the lists that no condition and no list names.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter(|list| !list.used.get()).map(|list| list.name.as_str())
    }
}

fn push_item(body: &mut Text, item: &Text) {
    if !body.as_str().is_empty() {
        body.push_derived(", ", item.place(0..1));
    }
    push_quoted(body, item);
}

impl List {
    /// The text with every occurrence replaced; `None` without one.
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
                // An empty list takes one of its commas with it.
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
                let message =
                    format!("more than {CONDITION_BYTES_MAX} bytes with the list `{}` put in", self.name);
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
    let delimits = |byte: &u8| is_blank(*byte) || matches!(byte, b'(' | b')' | b',' | b'=');
    let before = start.checked_sub(1).and_then(|at| source.as_bytes().get(at));
    before.is_none_or(delimits) && source.as_bytes().get(end).is_none_or(delimits)
}

/// The range of a name with the blanks around it.
fn without_blanks(source: &str, start: usize, end: usize, done: usize) -> (usize, usize) {
    let blanks = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| is_blank(**byte)).count();
    let bytes = source.as_bytes();
    let before = blanks(&mut bytes.get(done..start).unwrap_or_default().iter().rev());
    let after = blanks(&mut bytes.get(end..).unwrap_or_default().iter());
    (start - before, end + after)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::List;
    use crate::text::{Place, Text};

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
            let list =
                List { name: "l".to_owned(), body: Text::derived(body, place), used: Cell::new(false) };
            let replaced = list.put_into(&Text::verbatim(condition, place)).unwrap();
            assert_eq!(replaced.as_ref().map(Text::as_str), expected, "{condition}");
        }
    }
}
