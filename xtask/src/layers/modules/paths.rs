//! Paths in a token stream that lead to a module of the same crate: `crate::a::b`, `super::c`, `child::d`, and the
//! trees of `use`.

use std::collections::BTreeSet;
use std::iter::Peekable;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::Module;

/// A module that names another one.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) from: Module,
    pub(super) to: Module,
    /// File and line, and the path that stands there.
    pub(super) place: String,
}

/// Returns what a module's tokens mention. Parts under `#[cfg(test)]` are left out.
pub(super) fn mentions(
    tokens: TokenStream,
    module: &Module,
    modules: &BTreeSet<Module>,
    file: &str,
) -> Vec<Mention> {
    let mut reader = Reader { modules, file, found: Vec::new() };
    reader.read(tokens, module);
    reader.found
}

struct Reader<'m> {
    modules: &'m BTreeSet<Module>,
    file: &'m str,
    found: Vec<Mention>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: TokenStream, here: &Module) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => skip_tested(&mut tokens),
                TokenTree::Group(group) => self.read(group.stream(), here),
                TokenTree::Ident(word) if word == "mod" => self.read_inline(&mut tokens, here),
                TokenTree::Ident(word) => {
                    let line = word.span().start().line;
                    self.read_path(vec![word.to_string()], &mut tokens, here, line);
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// Reads the rest of a path, or each branch of a tree of `use`.
    fn read_path(&mut self, start: Module, tokens: &mut Peekable<IntoIter>, here: &Module, line: usize) {
        let mut path = start;
        while takes_colons(tokens) {
            match tokens.next() {
                Some(TokenTree::Ident(word)) => path.push(word.to_string()),
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    return self.read_tree(&path, &group, here, line);
                }
                _ => break,
            }
        }
        self.record(&path, here, line);
    }

    fn read_tree(&mut self, prefix: &Module, group: &Group, here: &Module, line: usize) {
        let mut tokens = group.stream().into_iter().peekable();
        while let Some(token) = tokens.next() {
            if let TokenTree::Ident(word) = token {
                let start = prefix.iter().cloned().chain([word.to_string()]).collect();
                self.read_path(start, &mut tokens, here, line);
            }
        }
    }

    /// `mod name { … }`: its paths start one level deeper.
    fn read_inline(&mut self, tokens: &mut Peekable<IntoIter>, here: &Module) {
        if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) = (tokens.next(), tokens.peek()) {
            let inner = here.iter().cloned().chain([name.to_string()]).collect();
            self.read(body.stream(), &inner);
            tokens.next();
        }
    }

    /// Stores where a path leads. A single word is a name of its own more often than a module.
    fn record(&mut self, path: &[String], here: &Module, line: usize) {
        let Some(to) = self.resolve(path, here).filter(|_| path.len() > 1) else { return };
        if to != *here {
            let place = format!("{}:{line}: {}", self.file, path.join("::"));
            self.found.push(Mention { from: here.clone(), to, place });
        }
    }

    /// The deepest module of a path, where the path starts in this crate.
    fn resolve(&self, path: &[String], here: &Module) -> Option<Module> {
        let (first, mut rest) = path.split_first()?;
        let mut module = match first.as_str() {
            "crate" => Vec::new(),
            "self" => here.clone(),
            "super" => here.split_last()?.1.to_vec(),
            child => {
                let child: Module = here.iter().cloned().chain([child.to_owned()]).collect();
                self.modules.contains(&child).then_some(child)?
            }
        };
        while let Some((name, deeper)) = rest.split_first() {
            if name == "super" {
                module.pop();
            } else {
                module.push(name.clone());
                if !self.modules.contains(&module) {
                    module.pop();
                    break;
                }
            }
            rest = deeper;
        }
        Some(module)
    }
}

/// Skips an attribute, and with `#[cfg(test)]` the item below it.
fn skip_tested(tokens: &mut Peekable<IntoIter>) {
    let Some(TokenTree::Group(attribute)) = tokens.next_if(|token| matches!(token, TokenTree::Group(_)))
    else {
        return;
    };
    if attribute.stream().to_string().replace(' ', "") != "cfg(test)" {
        return;
    }
    for token in tokens {
        let is_end = match &token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        };
        if is_end {
            return;
        }
    }
}

fn takes_colons(tokens: &mut Peekable<IntoIter>) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    tokens.peek().is_some_and(is_colon)
        && {
            let mut ahead = tokens.clone();
            ahead.next();
            ahead.next().is_some_and(|token| is_colon(&token))
        }
        && {
            tokens.next();
            tokens.next();
            true
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let path = |text: &str| text.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let modules = ["", "a", "a::x", "a::y", "b", "c", "c::d"].into_iter().map(path).collect();
        let tokens: TokenStream = text.parse().expect("Rust");
        let found = mentions(tokens, &path("a"), &modules, "a.rs");
        let found: Vec<String> = found.iter().map(|mention| mention.to.join("::")).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn paths_are_resolved() {
        check("use crate::b::Thing;", &["b"]);
        check("use crate::{b::{One, Two}, c::d::Three};", &["b", "b", "c::d"]);
        check("use super::c; fn f() { crate::b::g(); }", &["c", "b"]);
        check("mod x; fn f() { x::g(); vec![y::h()] }", &["a::x", "a::y"]);
        check("mod inner { use super::super::b::T; use super::x; }", &["b", "a::x"]);
        check("use std::fmt; fn f() { a::b(); \"crate::b\"; }", &[]);
        check("// crate::b\nfn f(x: a) -> c { 1 }", &[]);
    }

    #[test]
    fn tests_are_left_out() {
        check("#[cfg(test)] mod tests { use crate::b; } use crate::c;", &["c"]);
        check("#[cfg(test)] use crate::b; #[derive(Debug)] struct S(crate::c::T);", &["c"]);
    }
}
