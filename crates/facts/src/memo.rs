//! Cache of parsed project files. Nearly every command of an agent reads the manifests, which change seldom. A result
//! depends only on the text; texts match if they are equal byte for byte. Must not know where a text is.
//!
//! Each thread has its own cache, so sharing needs no atomic reference counts.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use serde_json::Value;

use crate::limits::{KEPT_TEXT_BYTES_MAX, KEPT_TEXTS_BYTES_MAX};

/// Finds the names that a manifest declares.
pub(crate) type Reader = fn(&str) -> Vec<String>;

thread_local! {
    static VALUES: RefCell<Memo<Value>> = RefCell::default();
    static NAMES: RefCell<Memo<[String]>> = RefCell::default();
}

/// Returns the parsed JSON value; `None` for invalid JSON.
pub(crate) fn json(text: &str) -> Option<Rc<Value>> {
    VALUES.with_borrow_mut(|memo| memo.kept("", text, || serde_json::from_str(text).ok().map(Rc::new)))
}

/// Returns the names that a manifest declares. `file`: its name, which selects the format.
pub(crate) fn names(file: &'static str, text: &str, read: Reader) -> Rc<[String]> {
    let made = || Some(read(text).into());
    NAMES.with_borrow_mut(|memo| memo.kept(file, text, made)).unwrap_or_default()
}

/// Results by their texts, the most recently used first.
#[derive(Debug)]
struct Memo<T: ?Sized> {
    all: VecDeque<Kept<T>>,
    bytes: usize,
}

#[derive(Debug)]
struct Kept<T: ?Sized> {
    kind: &'static str,
    text: Box<str>,
    made: Rc<T>,
}

impl<T: ?Sized> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo { all: VecDeque::new(), bytes: 0 }
    }
}

impl<T: ?Sized> Memo<T> {
    fn kept(
        &mut self,
        kind: &'static str,
        text: &str,
        make: impl FnOnce() -> Option<Rc<T>>,
    ) -> Option<Rc<T>> {
        let known = self.all.iter().position(|kept| kept.kind == kind && *kept.text == *text);
        if let Some(kept) = known.and_then(|at| self.all.remove(at)) {
            let made = Rc::clone(&kept.made);
            self.all.push_front(kept);
            return Some(made);
        }
        let made = make()?;
        if text.len() <= KEPT_TEXT_BYTES_MAX {
            self.bytes += text.len();
            self.all.push_front(Kept { kind, text: text.into(), made: Rc::clone(&made) });
        }
        while self.bytes > KEPT_TEXTS_BYTES_MAX {
            let Some(oldest) = self.all.pop_back() else { break };
            self.bytes -= oldest.text.len();
        }
        Some(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_kept(memo: &mut Memo<str>, kind: &'static str, text: &str) -> bool {
        let mut is_made = false;
        let made = memo.kept(kind, text, || {
            is_made = true;
            Some(format!("{kind} {text}").into())
        });
        assert_eq!(made.as_deref(), Some(format!("{kind} {text}").as_str()));
        !is_made
    }

    #[test]
    fn a_text_is_made_something_of_once_in_each_way() {
        let mut memo = Memo::default();
        for (kind, text, expected) in
            [("a", "x", false), ("a", "x", true), ("b", "x", false), ("a", "y", false), ("a", "x", true)]
        {
            assert_eq!(is_kept(&mut memo, kind, text), expected, "{kind} {text}");
        }
    }

    #[test]
    fn what_is_wrong_is_not_kept() {
        assert_eq!((json("{"), json("{")), (None, None));
        assert_eq!(json("[1]").as_deref(), Some(&serde_json::json!([1])));
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let mut memo = Memo::default();
        let text = |letter: char| letter.to_string().repeat(KEPT_TEXT_BYTES_MAX);
        let all = KEPT_TEXTS_BYTES_MAX / KEPT_TEXT_BYTES_MAX;
        assert!(!is_kept(&mut memo, "a", &text('x')));
        for letter in ('a'..'q').take(all - 1) {
            assert!(!is_kept(&mut memo, "a", &text(letter)));
        }
        assert!(is_kept(&mut memo, "a", &text('x')), "there is room");
        assert!(!is_kept(&mut memo, "b", &text('x')));
        assert!(!is_kept(&mut memo, "a", &text('a')), "the oldest has gone");
        let long = "y".repeat(KEPT_TEXT_BYTES_MAX + 1);
        assert!(!is_kept(&mut memo, "a", &long) && !is_kept(&mut memo, "a", &long), "too long");
        assert!(memo.all.iter().map(|kept| kept.text.len()).sum::<usize>() <= KEPT_TEXTS_BYTES_MAX);
    }
}
