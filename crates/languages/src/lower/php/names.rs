//! What names mean: namespaces, what they are abbreviated to, and what the text declares.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node as Parsed;

use super::super::Lower;

/// What surrounds a place in a program.
#[derive(Debug, Default)]
pub(in super::super) struct Surroundings {
    /// Its parts with `/` between them and after the last; empty for none.
    namespace: String,
    /// Names that `use` gives to classes, functions and constants.
    classes: HashMap<String, String>,
    functions: HashMap<String, String>,
    /// Functions and constants that the text declares.
    declared: HashSet<String>,
    /// Functions and methods that may change their arguments.
    pub(super) changing: HashMap<String, Vec<usize>>,
    /// A function without a name may.
    pub(super) is_any_changing: bool,
    /// The classes around, the inmost last.
    pub(super) around: Vec<Around>,
}

/// A class around.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub(super) name: Option<String>,
    pub(super) base: Option<String>,
    /// The method around has no object.
    pub(super) is_static: bool,
    /// Its members stand around, and no body of a function.
    pub(super) is_near: bool,
}

/// What a namespace that begins replaces.
#[derive(Debug)]
pub(super) struct Outer(String, HashMap<String, String>, HashMap<String, String>);

/// How a class is named in the tree and in tables, by its whole name.
pub(crate) fn class_name(written: &str) -> String {
    let name = function_name(written);
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// How a function is named in the tree and in tables, by its whole name.
pub(crate) fn function_name(written: &str) -> String {
    written.trim_start_matches('\\').replace('\\', "/").to_ascii_lowercase()
}

impl Surroundings {
    pub(super) fn leave(&mut self, outer: Outer) {
        (self.namespace, self.classes, self.functions) = (outer.0, outer.1, outer.2);
    }

    /// The name of what is declared here.
    pub(super) fn own(&self, name: &str) -> String {
        format!("{}{name}", self.namespace)
    }

    pub(super) fn class(&self, written: &str) -> String {
        let name = match written.strip_prefix('\\') {
            Some(whole) => whole.to_owned(),
            None => self.full(written, &self.classes),
        };
        class_name(&name)
    }

    pub(super) fn function(&self, written: &str) -> String {
        if let Some(whole) = written.strip_prefix('\\') {
            return function_name(whole);
        }
        if written.contains('\\') {
            return function_name(&self.full(written, &self.classes));
        }
        let name = written.to_ascii_lowercase();
        if let Some(used) = self.functions.get(&name) {
            return function_name(used);
        }
        let own = function_name(&self.own(&name));
        // Without one of the namespace it is the global one.
        if self.declared.contains(&own) { own } else { name }
    }

    /// Whether the text declares a constant.
    pub(super) fn has_constant(&self, name: &str) -> bool {
        self.declared.contains(&constant(name))
    }

    fn full(&self, written: &str, used: &HashMap<String, String>) -> String {
        let (first, rest) = written.split_once('\\').unwrap_or((written, ""));
        if first.eq_ignore_ascii_case("namespace") && !rest.is_empty() {
            return self.own(rest);
        }
        match used.get(&first.to_ascii_lowercase()) {
            Some(full) if rest.is_empty() => full.clone(),
            Some(full) => format!("{full}\\{rest}"),
            None => self.own(written),
        }
    }
}

/// How a constant is named in the tree, by the last part of its name.
pub(super) fn constant(written: &str) -> String {
    format!("#{}", written.rsplit(['\\', '/']).next().unwrap_or_default())
}

impl Lower<'_> {
    /// Goes through the whole tree for what is declared.
    pub(super) fn php_survey(&mut self, root: Parsed<'_>) {
        let mut cursor = root.walk();
        let mut namespace = String::new();
        loop {
            let node = cursor.node();
            match node.kind() {
                "namespace_definition" => namespace = self.php_namespace_name(node),
                "function_definition" => {
                    let name = node.child_by_field_name("name").map(|one| self.text_of(one));
                    let name = name.unwrap_or_default();
                    self.php.declared.insert(function_name(&format!("{namespace}{name}")));
                    self.php_changing(node, name);
                }
                "method_declaration" => {
                    let name = node.child_by_field_name("name").map(|one| self.text_of(one));
                    self.php_changing(node, name.unwrap_or_default());
                }
                "anonymous_function" | "arrow_function" => self.php_changing(node, ""),
                "const_element" => {
                    let name = Self::children(node).first().map(|one| self.text_of(*one));
                    self.php.declared.insert(constant(name.unwrap_or_default()));
                }
                "function_call_expression" => {
                    if let Some(name) = self.php_defined(node) {
                        self.php.declared.insert(constant(name));
                    }
                }
                _ => {}
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// The name in `define('NAME', ...)`.
    pub(super) fn php_defined(&self, node: Parsed<'_>) -> Option<&str> {
        let name = node.child_by_field_name("function").map(|one| self.text_of(one))?;
        if !name.trim_start_matches('\\').eq_ignore_ascii_case("define") {
            return None;
        }
        let first = Self::children(node.child_by_field_name("arguments")?).into_iter().next()?;
        Some(self.text_of(first).trim_matches(['\'', '"']))
    }

    fn php_changing(&mut self, node: Parsed<'_>, name: &str) {
        let parameters = node.child_by_field_name("parameters").map(Self::children).unwrap_or_default();
        let places = parameters.iter().enumerate().filter(|(_, one)| {
            one.child_by_field_name("reference_modifier").is_some()
                || one.child_by_field_name("name").is_some_and(|name| name.kind() == "by_ref")
        });
        let places: Vec<usize> = places.map(|(at, _)| at).collect();
        if places.is_empty() {
            return;
        }
        if name.is_empty() {
            self.php.is_any_changing = true;
        } else {
            self.php.changing.entry(name.to_ascii_lowercase()).or_default().extend(places);
        }
    }

    fn php_namespace_name(&self, node: Parsed<'_>) -> String {
        let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
        if name.is_empty() { String::new() } else { format!("{name}\\") }
    }

    /// A namespace begins.
    pub(super) fn php_namespace(&mut self, node: Parsed<'_>) -> Outer {
        let name = self.php_namespace_name(node);
        Outer(
            std::mem::replace(&mut self.php.namespace, name),
            std::mem::take(&mut self.php.classes),
            std::mem::take(&mut self.php.functions),
        )
    }

    /// `use A\B as C, D;` and `use A\{B, C};`
    pub(super) fn php_uses(&mut self, node: Parsed<'_>) {
        let mut prefix = String::new();
        let of_all = node.child_by_field_name("type").map(|one| one.kind());
        let mut left: Vec<Parsed<'_>> = Self::children(node);
        left.reverse();
        while let Some(one) = left.pop() {
            match one.kind() {
                "namespace_name" => prefix = format!("{}\\", self.text_of(one)),
                "namespace_use_group" => left.extend(Self::children(one).into_iter().rev()),
                "namespace_use_clause" => {
                    let alias = one.child_by_field_name("alias");
                    let Some(name) = Self::children(one).into_iter().find(|child| Some(*child) != alias)
                    else {
                        continue;
                    };
                    let full = format!("{prefix}{}", self.text_of(name).trim_start_matches('\\'));
                    let last = full.rsplit('\\').next().unwrap_or_default();
                    let short = alias.map_or(last, |alias| self.text_of(alias)).to_ascii_lowercase();
                    let kind = one.child_by_field_name("type").map(|one| one.kind()).or(of_all);
                    match kind {
                        Some("function") => self.php.functions.insert(short, full),
                        Some("const") => None,
                        _ => self.php.classes.insert(short, full),
                    };
                }
                _ => {}
            }
        }
    }
}
