//! Packages and modules: what a program defines, `use`, and what that brings in.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::Lower;
use crate::limits::ERRORS_MAX;
use crate::tree::{Kind, Node, Span};

/// Modules by which a program says how it is to be read; they give it no functions.
const PRAGMAS: &[&str] = &[
    "strict",
    "warnings",
    "utf8",
    "feature",
    "vars",
    "integer",
    "bytes",
    "diagnostics",
    "experimental",
    "overload",
    "subs",
    "locale",
    "less",
    "sort",
    "mro",
    "re",
    "open",
    "autodie",
    "bigint",
    "bignum",
    "version",
    "fields",
    "filetest",
    "threads",
    "charnames",
    "deprecate",
    "overloading",
    "sigtrap",
    "vmsish",
    "builtin",
];

/// Modules that change the text that follows, as those of `Filter::` do.
const SOURCES: &[&str] = &["encoding", "Switch"];

impl<'t> Lower<'t> {
    /// Looks through a whole program: functions, packages, constants, here-documents.
    pub(super) fn pl_survey(&mut self, root: Parsed<'_>) {
        let mut marks = Vec::new();
        let mut bodies = Vec::new();
        let mut strict = false;
        let mut package = "main".to_owned();
        // Where the package of a block ends, and which one holds behind it.
        let mut ends: Vec<(usize, String)> = Vec::new();
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            while let Some((end, _)) = ends.last()
                && *end <= node.start_byte()
            {
                package = ends.pop().map(|(_, before)| before).unwrap_or_default();
            }
            if self.perl.doubts.len() < ERRORS_MAX {
                self.perl.doubts.extend(self.pl_doubt(node));
            }
            self.pl_note_call(node);
            match node.kind() {
                "package_statement" | "class_statement" | "role_statement" => {
                    if let Some(name) = node.child_by_field_name("name") {
                        let before = std::mem::replace(&mut package, self.text_of(name).to_owned());
                        self.perl.packages.insert(self.text_of(name));
                        if Self::children(node).iter().any(|one| one.kind() == "block") {
                            ends.push((node.end_byte(), before));
                        }
                    }
                }
                "subroutine_declaration_statement" | "method_declaration_statement" => {
                    if let Some(name) = node.child_by_field_name("name") {
                        let name = self.text_of(name);
                        let full =
                            if name.contains("::") { name.to_owned() } else { format!("{package}::{name}") };
                        self.perl.functions.insert(full);
                    }
                }
                "block" | "block_statement" => ends.push((node.end_byte(), package.clone())),
                "heredoc_token" | "command_heredoc_token" => marks.push(node.start_byte()),
                "heredoc_content" => bodies.push((node.start_byte(), node.end_byte())),
                "use_statement" => {
                    let module = node.child_by_field_name("module").map(|one| self.text_of(one));
                    match module {
                        Some("re") => self.perl.runs_patterns |= self.text_of(node).contains("eval"),
                        Some("strict") if Self::has_word(node, &["no"]) => self.perl.is_lax = true,
                        Some("strict" | "Moose" | "Moo" | "Mojo::Base" | "Modern::Perl") => strict = true,
                        _ => {}
                    }
                }
                "use_version_statement" => strict = true,
                _ => {}
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    self.perl.is_lax |= !strict;
                    if marks.len() == bodies.len() {
                        self.perl.bodies = marks.into_iter().zip(bodies).collect();
                    }
                    return;
                }
            }
        }
    }

    /// The package of a statement holds from here on.
    pub(super) fn pl_enter(&mut self, node: Parsed<'_>) {
        if Self::children(node).iter().any(|one| one.kind() == "block") {
            return;
        }
        if let Some(name) = node.child_by_field_name("name") {
            self.text_of(name).clone_into(&mut self.perl.package);
        }
    }

    /// `package X {...}`, which is read before the rest; whether it is one.
    pub(super) fn pl_package(&mut self, node: Parsed<'_>, parts: &mut Vec<Node>) -> bool {
        let Some(block) = Self::children(node).into_iter().find(|one| one.kind() == "block") else {
            self.pl_enter(node);
            return false;
        };
        let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
        let outer = std::mem::replace(&mut self.perl.package, name.to_owned());
        parts.push(self.pl_statement(block));
        self.perl.package = outer;
        true
    }

    pub(super) fn pl_use(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(module) = node.child_by_field_name("module") else { return Self::nothing(node) };
        let name = self.text_of(module);
        if SOURCES.contains(&name) || name.starts_with("Filter::") {
            return self.hole(node, Why::Unsupported);
        }
        if Self::has_word(node, &["no"]) {
            // `no` loads the module, too.
            let load = || Node::new(at, Kind::Load(Node::text(at, name).into()));
            return if PRAGMAS.contains(&name) { Self::nothing(node) } else { load() };
        }
        let given: Vec<_> = Self::children(node)
            .into_iter()
            .filter(|one| *one != module && !matches!(one.kind(), "version" | "number"))
            .collect();
        match name {
            "constant" => return self.pl_constants(node, &given),
            "lib" | "blib" => {
                let paths = given.iter().flat_map(|one| self.pl_values(*one)).collect();
                return Node::library(at, "lib", paths);
            }
            "parent" | "base" => return self.pl_parents(node, &given),
            _ => {}
        }
        match name {
            "if" => self.pl_use_if(node, &given),
            // It is loaded when one of the functions is called.
            "autouse" => {
                let mut listed = given.into_iter().flat_map(Self::pl_listed);
                let named = listed.next();
                let rest: Vec<_> = listed.collect();
                match named {
                    Some(named) => self.pl_use_named(node, named, &rest),
                    None => Self::nothing(node),
                }
            }
            _ => self.pl_brought(node, name, &given),
        }
    }

    /// `use if CONDITION, MODULE => LIST`
    fn pl_use_if(&mut self, node: Parsed<'_>, given: &[Parsed<'_>]) -> Node {
        let at = Self::at(node);
        let mut listed = given.iter().flat_map(|one| Self::pl_listed(*one));
        let Some(condition) = listed.next() else { return Self::nothing(node) };
        let mut parts = vec![self.pl(condition)];
        if let Some(named) = listed.next() {
            let rest: Vec<_> = listed.collect();
            parts.push(self.pl_use_named(node, named, &rest));
        }
        Node::sequence(at, parts)
    }

    /// A module whose name is a value.
    fn pl_use_named(&mut self, node: Parsed<'_>, named: Parsed<'_>, given: &[Parsed<'_>]) -> Node {
        let at = Self::at(node);
        if let Some([name]) = self.pl_import_words(named).as_deref() {
            return self.pl_brought(node, name, given);
        }
        let named = self.pl_scalar(named);
        let load = Node::load(at, named);
        let mut parts = vec![Node::new(at, Kind::LoadAll(load.into()))];
        parts.extend(given.iter().map(|one| self.pl(*one)));
        Node::sequence(at, parts)
    }

    /// A module, and the names that it brings in.
    fn pl_brought(&mut self, node: Parsed<'_>, name: &str, given: &[Parsed<'_>]) -> Node {
        let at = Self::at(node);
        if self.perl.packages.contains(name) {
            return Self::nothing(node);
        }
        let load = || Node::load(at, Node::text(at, name));
        let mut parts = vec![load()];
        let words: Option<Vec<Vec<String>>> = given.iter().map(|one| self.pl_import_words(*one)).collect();
        let Some(words) = words.map(|all| all.concat()) else {
            if !PRAGMAS.contains(&name) {
                parts.push(Node::new(at, Kind::LoadAll(load().into())));
            }
            let values = given.iter().flat_map(|one| self.pl_values(*one)).collect();
            // It may call what it is given.
            parts.push(Node::call(at, Self::nothing(node), values));
            return Node::sequence(at, parts);
        };
        if PRAGMAS.contains(&name) {
            return Node::sequence(at, parts);
        }
        // Pairs are settings, beside which everything is brought in.
        let is_set =
            given.iter().copied().flat_map(Self::pl_listed).any(|one| one.kind() == "autoquoted_bareword");
        let takes_all =
            is_set || given.is_empty() || words.iter().any(|word| word.starts_with([':', '/', '!', '-']));
        if takes_all {
            parts.push(Node::new(at, Kind::LoadAll(load().into())));
        }
        for word in words.iter().map(|word| word.trim_start_matches('&')) {
            let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if is_name {
                let member = Node::member(at, load(), word);
                parts.push(Node::assign(at, Node::name(at, word), member));
            }
        }
        Node::sequence(at, parts)
    }

    /// The words of an import list, if it is made of words.
    fn pl_import_words(&self, node: Parsed<'_>) -> Option<Vec<String>> {
        let mut words = Vec::new();
        for one in Self::pl_listed(node) {
            match one.kind() {
                "quoted_word_list" => words.extend(self.pl_words(one)),
                "string_literal" | "interpolated_string_literal" => {
                    let content = one.child_by_field_name("content").map(|one| self.text_of(one));
                    words.push(content.unwrap_or_default().to_owned());
                }
                "autoquoted_bareword" | "bareword" | "number" => words.push(self.text_of(one).to_owned()),
                "stub_expression" => words.push(String::new()),
                _ => return None,
            }
        }
        Some(words)
    }

    fn pl_constants(&mut self, node: Parsed<'_>, given: &[Parsed<'_>]) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        for one in given {
            let is_many = one.kind() == "anonymous_hash_expression";
            let inner = if is_many { Self::children(*one) } else { vec![*one] };
            let mut listed = inner.into_iter().flat_map(Self::pl_listed);
            while let Some(name) = listed.next() {
                let written = self.text_of(name).trim_matches(['\'', '"']).to_owned();
                let values: Vec<_> =
                    if is_many { listed.next().into_iter().collect() } else { listed.by_ref().collect() };
                let value = match values.as_slice() {
                    [only] => self.pl(*only),
                    all => {
                        let all = all.iter().flat_map(|one| self.pl_values(*one)).collect();
                        Node::list(at, all)
                    }
                };
                parts.push(Node::assign(at, Node::name(at, &written), value));
                self.perl.constants.insert(written);
            }
        }
        Node::sequence(at, parts)
    }

    /// Packages whose methods it has too. What they do when they are called through it is not followed.
    fn pl_parents(&mut self, node: Parsed<'_>, given: &[Parsed<'_>]) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        for one in given {
            let Some(words) = self.pl_import_words(*one) else {
                parts.push(self.hole(node, Why::Dynamic));
                continue;
            };
            for word in words
                .iter()
                .filter(|word| !word.starts_with('-') && !self.perl.packages.contains(word.as_str()))
            {
                let load = Node::load(at, Node::text(at, word));
                parts.push(Node::call(at, Self::nothing(node), vec![load]));
            }
        }
        Node::sequence(at, parts)
    }

    /// `*foo = ...`: a name for a function or variable.
    pub(super) fn pl_glob_assignment(&mut self, target: Parsed<'_>, value: Parsed<'_>) -> Node {
        let at = Self::at(target);
        let name = match Self::pl_referred(target) {
            None => {
                Some(self.text_of(target).trim_start_matches(['*', '{']).trim_end_matches('}').to_owned())
            }
            Some(block) => {
                let inner = self.pl_block(block);
                plain_text(&inner).map(str::to_owned)
            }
        };
        let name = name.filter(|name| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'))
        });
        let Some(name) = name else {
            let value = self.pl(value);
            // Which name that is is not known: what calls it is not followed.
            return Node::call(at, Self::nothing(target), vec![value]);
        };
        let mut parts = Vec::new();
        let referred = (value.kind() == "refgen_expression").then(|| Self::children(value).first().copied());
        let sigil = match referred.flatten().map(|one| one.kind()) {
            Some("array") => "@",
            Some("hash") => "%",
            _ => "$",
        };
        let function = match value.kind() {
            "glob" => {
                let other = self.text_of(value).trim_start_matches('*').to_owned();
                parts.extend(self.pl_same_variables(at, &name, &other));
                let is_function = self.pl_is_declared(&other) || other.starts_with("CORE::");
                if is_function { self.pl_function_named(at, &other) } else { Self::nothing(target) }
            }
            "anonymous_subroutine_expression" => self.pl(value),
            "refgen_expression" if sigil != "$" => {
                let inner = self.pl(value);
                return Node::assign(at, Node::name(at, &format!("{sigil}{name}")), inner);
            }
            _ => {
                // It may be a reference to a text as well as a function.
                parts.push(Node::assign(at, Node::name(at, &format!("${name}")), Node::unknown(at)));
                self.pl(value)
            }
        };
        let named = self.pl_function_named(at, &name);
        parts.push(match named.kind {
            Kind::Name(_) => Node::assign(at, named, function),
            _ => Node::call(at, Self::nothing(target), vec![function]),
        });
        Node::sequence(at, parts)
    }

    /// `*x = *y`: the lists are the same, of the texts each may change the other.
    fn pl_same_variables(&self, at: Span, name: &str, other: &str) -> Vec<Node> {
        let mut parts: Vec<Node> = ["@", "%"]
            .into_iter()
            .map(|sigil| {
                let value = Node::name(at, &format!("{sigil}{other}"));
                Node::assign(at, Node::name(at, &format!("{sigil}{name}")), value)
            })
            .collect();
        for one in [name, other] {
            parts.push(Node::assign(at, Node::name(at, &format!("${one}")), Node::unknown(at)));
        }
        parts
    }
}

/// The text that a block is, if it is nothing else.
fn plain_text(node: &Node) -> Option<&str> {
    let mut inner = node;
    loop {
        match &inner.kind {
            Kind::Text(text) => return Some(text),
            Kind::Scope(_, body) => inner = body,
            Kind::Sequence(parts) | Kind::Join(parts) => match parts.as_slice() {
                [only] => inner = only,
                _ => return None,
            },
            _ => return None,
        }
    }
}
