//! Calls: of builtins, each with its way to take arguments, of functions, methods, references and text.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::Lower;
use super::with_topic;
use crate::tree::{Kind, Node, Span};

/// Builtins that take `$_` when they are given nothing.
const OF_TOPIC: &[&str] = &[
    "unlink",
    "rmdir",
    "mkdir",
    "chr",
    "lc",
    "uc",
    "lcfirst",
    "ucfirst",
    "ord",
    "hex",
    "oct",
    "quotemeta",
    "readlink",
    "glob",
    "readpipe",
    "chroot",
    "evalbytes",
    "fc",
    "chop",
];

/// Builtins whose first argument is a list or hash itself.
const OF_CONTAINER: &[&str] =
    &["push", "unshift", "pop", "shift", "splice", "keys", "values", "each", "untie", "tied", "bless"];

/// Builtins whose first argument is a handle that they make.
const MAKES_HANDLE: &[&str] = &["open", "opendir", "sysopen", "socket", "accept", "socketpair", "pipe"];

/// Builtins that fill a variable, and its place among their arguments.
const FILLS: &[(&str, usize)] =
    &[("read", 1), ("sysread", 1), ("recv", 1), ("chop", 0), ("shmread", 1), ("tie", 0), ("dbmopen", 0)];

impl Lower<'_> {
    pub(super) fn pl_call(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        self.perl.lowered.insert(node.id());
        let inner = Self::children(node).first().copied();
        match node.kind() {
            "eval_expression" => self.pl_eval(node, inner),
            "require_expression" => self.pl_require(node, inner),
            "return_expression" => {
                self.jumps += 1;
                let value = inner.map(|inner| match inner.kind() {
                    "parenthesized_expression" | "list_expression" => self.pl_flat(Some(inner), at),
                    _ => self.pl(inner),
                });
                Node::new(at, Kind::Return(value.map(Box::new)))
            }
            "goto_expression" => {
                self.jumps += 1;
                match inner {
                    Some(inner) if !matches!(inner.kind(), "bareword" | "label") => self.pl(inner),
                    _ => Self::nothing(node),
                }
            }
            "undef_expression" => match inner {
                Some(inner) if matches!(inner.kind(), "scalar" | "array" | "hash") => {
                    let target = self.pl_target(inner);
                    Node::assign(at, target, Node::unknown(at))
                }
                Some(inner) if inner.kind().ends_with("element_expression") => self.pl(inner),
                _ => Self::nothing(node),
            },
            "func0op_call_expression" => self.pl_nullary(node),
            "func1op_call_expression" => {
                let name = node.child_by_field_name("function").map(|one| one.kind()).unwrap_or_default();
                self.pl_call_of_builtin(node, name, inner)
            }
            "method_call_expression" => self.pl_method_call(node),
            "coderef_call_expression" => {
                let Some(function) = inner else { return self.error(node) };
                let function = self.pl(function);
                let arguments = self.pl_arguments(node);
                self.pl_dynamic(at, function, arguments)
            }
            "amper_deref_expression" => {
                let Some(function) = inner else { return self.error(node) };
                let function = self.pl(function);
                self.pl_dynamic(at, function, vec![Self::pl_own_arguments(at)])
            }
            "function" => self.pl_call_of_function(node, node),
            _ => match node.child_by_field_name("function") {
                Some(function) => self.pl_call_of_function(node, function),
                None => self.error(node),
            },
        }
    }

    /// What a call is given, a block first: `first { ... } @x`.
    pub(super) fn pl_arguments(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let mut arguments = Vec::new();
        for object in Self::children(node).into_iter().filter(|one| one.kind() == "indirect_object") {
            match Self::children(object).first() {
                Some(block) if block.kind() == "block" => {
                    arguments.push(self.deeper(object, |lower| lower.pl_block_function(*block)));
                }
                Some(other) => arguments.push(self.pl(*other)),
                None => {}
            }
        }
        let given = node.child_by_field_name("arguments");
        arguments.extend(given.map(|given| self.pl_values(given)).unwrap_or_default());
        arguments
    }

    /// A call of a function of a library that a block is given to. It is run with any of the values as `$_`, `$a` and
    /// `$b`.
    fn pl_call_with_block(&mut self, at: Span, callee: Node, arguments: Vec<Node>) -> Node {
        let mut arguments = arguments.into_iter();
        let block = arguments.next();
        let kept = format!("values at {}", at.0);
        let values = Node::assign(at, Node::name(at, &kept), Node::list(at, arguments.collect()));
        let rest = || Node::spread(at, Node::name(at, &kept));
        let mut parts = vec![values];
        for name in ["$_", "$a", "$b"] {
            let one = Node::library(at, "any-of", vec![rest()]);
            parts.push(Node::assign(at, Node::name(at, name), one));
        }
        parts.extend(block.map(|block| Node::call(at, block, vec![rest()])));
        let given = vec![rest()];
        parts.push(Node::call(at, callee, given));
        with_topic(at, Node::sequence(at, parts))
    }

    /// A call of what may be the name of a function.
    fn pl_dynamic(&self, at: Span, function: Node, mut arguments: Vec<Node>) -> Node {
        if !self.perl.is_lax {
            return Node::call(at, function, arguments);
        }
        arguments.insert(0, function);
        Node::library(at, "&", arguments)
    }

    pub(super) fn pl_own_arguments(at: Span) -> Node {
        Node::spread(at, Node::name(at, "@_"))
    }

    fn pl_call_of_function(&mut self, node: Parsed<'_>, function: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let written = self.text_of(function);
        if written.starts_with('&') {
            let callee = self.pl_function_value(function);
            let is_bare = !Self::has_word(node, &["("]);
            let arguments = if is_bare { vec![Self::pl_own_arguments(at)] } else { self.pl_arguments(node) };
            let is_named = match &callee.kind {
                Kind::Name(name) => !name.starts_with('$'),
                kind => matches!(kind, Kind::Member(..)),
            };
            return if is_named {
                Node::call(at, callee, arguments)
            } else {
                self.pl_dynamic(at, callee, arguments)
            };
        }
        let name = written.strip_prefix("CORE::GLOBAL::").or_else(|| written.strip_prefix("CORE::"));
        let is_builtin = function.child_count() > 0 || name.is_some();
        if is_builtin {
            return self.pl_call_of_builtin(
                node,
                name.unwrap_or(written),
                node.child_by_field_name("arguments"),
            );
        }
        if let Some(made) = self.pl_indirect_new(node, written) {
            return made;
        }
        let is_constant = self.perl.constants.contains(written);
        let callee = self.pl_function_named(at, written);
        if is_constant {
            return callee;
        }
        let mark = self.perl.changed.len();
        let arguments = self.pl_arguments(node);
        let changes =
            self.perl.changed.get(mark..).is_some_and(|since| since.iter().any(|one| &**one == "$_"));
        let has_block = Self::children(node).iter().any(|one| one.kind() == "indirect_object");
        let call = match has_block && !self.pl_is_declared(written) {
            true => self.pl_call_with_block(at, callee, arguments),
            false => Node::call(at, callee, arguments),
        };
        match node.child_by_field_name("arguments") {
            Some(given) if self.perl.changes_arguments || (has_block && changes) => {
                self.pl_arguments_changed(given, call)
            }
            _ => call,
        }
    }

    /// A call of what may change the variables that it is given.
    fn pl_arguments_changed(&mut self, given: Parsed<'_>, call: Node) -> Node {
        let at = call.at;
        let kept = format!("given at {}", at.0);
        let target = self.pl_unfollowed(given);
        let parts = vec![
            Node::assign(at, Node::name(at, &kept), call),
            Node::assign(at, target, Node::unknown(at)),
            Node::name(at, &kept),
        ];
        Node::sequence(at, parts)
    }

    /// `new Foo(1)`
    fn pl_indirect_new(&mut self, node: Parsed<'_>, name: &str) -> Option<Node> {
        if name != "new" || self.pl_is_declared(name) {
            return None;
        }
        let class = node.child_by_field_name("arguments")?;
        let (class, arguments) = match class.kind() {
            "bareword" => (self.text_of(class), Vec::new()),
            _ => {
                let function = class.child_by_field_name("function")?;
                (self.text_of(function), self.pl_arguments(class))
            }
        };
        let class = class.to_owned();
        Some(self.pl_method_of_class(node, &class, "new", arguments))
    }

    fn pl_call_of_builtin(&mut self, node: Parsed<'_>, name: &str, given: Option<Parsed<'_>>) -> Node {
        let at = Self::at(node);
        let listed = given.map(Self::pl_listed).unwrap_or_default();
        match name {
            "-x" => return self.pl_inert(node, &listed),
            "print" | "printf" | "say" => return self.pl_printed(node, &listed),
            "defined" | "exists" => {
                let looks = |one: &&Parsed<'_>| !self.text_of(**one).starts_with('&');
                let listed: Vec<_> = listed.iter().filter(looks).copied().collect();
                return self.pl_inert(node, &listed);
            }
            "delete" | "ref" | "die" | "warn" | "exit" | "length" | "lock" | "wantarray" | "pos"
            | "study" => {
                if matches!(name, "die" | "exit") {
                    self.jumps += 1;
                }
                return self.pl_inert(node, &listed);
            }
            "scalar" | "chomp" => match listed.as_slice() {
                [only] => return self.pl_scalar(*only),
                _ => return self.pl_inert(node, &listed),
            },
            "lc" | "uc" => {
                let of = match listed.first() {
                    Some(one) => self.pl_scalar(*one),
                    None => Node::name(at, "$_"),
                };
                let method = if name == "lc" { "toLowerCase" } else { "toUpperCase" };
                return Node::method(at, of, method, Vec::new());
            }
            "sprintf" => {
                let Some((format, rest)) = listed.split_first() else { return Self::nothing(node) };
                let format = self.pl_scalar(*format);
                let values = rest.iter().flat_map(|one| self.pl_values(*one)).collect();
                let values = Node::list(at, values);
                return Node::new(at, Kind::Modulo(format.into(), values.into()));
            }
            "split" => return self.pl_split(node, &listed),
            "substr" if listed.len() == 4 => {
                let value = listed.last().map(|one| self.pl_scalar(*one));
                return self.pl_part_replaced(node, &listed, value);
            }
            "eval" | "evalbytes" => return self.pl_eval(node, given),
            "system" | "exec" => {
                let program = Self::children(node).into_iter().find(|one| one.kind() == "indirect_object");
                if let Some(program) = program {
                    let block = Self::children(program).first().copied();
                    let mut arguments = vec![match block {
                        Some(block) => self.pl(block),
                        None => self.error(program),
                    }];
                    arguments.extend(listed.iter().flat_map(|one| self.pl_values(*one)));
                    return Node::library(at, "system{}", arguments);
                }
            }
            _ => {}
        }
        self.pl_plain_builtin(node, name, &listed)
    }

    fn pl_plain_builtin(&mut self, node: Parsed<'_>, name: &str, listed: &[Parsed<'_>]) -> Node {
        let at = Self::at(node);
        let mut before = Vec::new();
        let mut listed = listed;
        if let (true, Some((handle, rest))) = (MAKES_HANDLE.contains(&name), listed.split_first()) {
            listed = rest;
            if handle.kind() != "bareword" {
                let target = self.pl_target(*handle);
                before.push(Node::assign(at, target, Node::unknown(at)));
            }
        }
        let mut arguments = Vec::new();
        for (place, one) in listed.iter().enumerate() {
            if FILLS.contains(&(name, place)) {
                if one.kind() == "assignment_expression" {
                    before.push(self.pl(*one));
                }
                let target = match one.kind() {
                    "scalar" | "variable_declaration" => self.pl_target(*one),
                    _ => self.pl_unfollowed(*one),
                };
                before.push(Node::assign(at, target, Node::unknown(at)));
                arguments.push(Self::nothing(*one));
            } else if name == "open" && place == 1 && one.kind() == "refgen_expression" {
                // The text itself is read, or written.
                before.push(self.pl(*one));
                arguments.push(Self::nothing(*one));
            } else if place == 0 && OF_CONTAINER.contains(&name) {
                self.perl.changed.push("a list".into());
                arguments.push(self.pl(*one));
            } else {
                arguments.extend(self.pl_values(*one));
            }
        }
        if arguments.is_empty() && before.is_empty() {
            let is_inside = self.scopes.iter().skip(1).any(|scope| !scope.is_block);
            match name {
                "shift" | "pop" => arguments.push(Node::name(at, if is_inside { "@_" } else { "@ARGV" })),
                _ if OF_TOPIC.contains(&name) => arguments.push(Node::name(at, "$_")),
                _ => {}
            }
        }
        let call = Node::library(at, name, arguments);
        if before.is_empty() {
            return call;
        }
        before.push(call);
        Node::sequence(at, before)
    }

    /// A part of a text that is replaced: `substr($x, 0, 1) = ...`, `substr($x, 0, 1, ...)`.
    pub(super) fn pl_part_replaced(
        &mut self,
        node: Parsed<'_>,
        listed: &[Parsed<'_>],
        value: Option<Node>,
    ) -> Node {
        let at = Self::at(node);
        let value = value.unwrap_or_else(|| Self::nothing(node));
        let Some((of, places)) = listed.split_first() else { return value };
        if !matches!(of.kind(), "scalar" | "array_element_expression" | "hash_element_expression") {
            let target = self.pl_unfollowed(*of);
            return Node::assign(at, target, value);
        }
        let before = self.pl(*of);
        let target = self.pl_target(*of);
        let mut places: Vec<Node> = places.iter().take(2).map(|one| self.pl_scalar(*one)).collect();
        if places.len() < 2 {
            places.resize_with(2, || Self::nothing(node));
        }
        let mut given = vec![before, value];
        given.extend(places);
        Node::assign(at, target, Node::library(at, "substr=", given))
    }

    fn pl_inert(&mut self, node: Parsed<'_>, listed: &[Parsed<'_>]) -> Node {
        let parts: Vec<Node> = listed.iter().map(|one| self.pl(*one)).collect();
        let parts = if parts.is_empty() { vec![Self::nothing(node)] } else { parts };
        Node::inert(Self::at(node), parts)
    }

    /// What is written to a handle. `F "x"` is taken for a call of `F`.
    fn pl_printed(&mut self, node: Parsed<'_>, listed: &[Parsed<'_>]) -> Node {
        let mut parts = Vec::new();
        for (place, one) in listed.iter().enumerate() {
            let function = one.child_by_field_name("function");
            let handle = function.filter(|function| {
                let name = self.text_of(*function);
                let is_call = one.kind() == "ambiguous_function_call_expression";
                place == 0
                    && is_call
                    && function.child_count() == 0
                    && name.starts_with(|letter: char| letter.is_ascii_uppercase())
                    && !self.pl_is_declared(name)
            });
            match handle {
                Some(_) => {
                    self.perl.lowered.insert(one.id());
                    parts.extend(self.pl_arguments(*one));
                }
                None => parts.push(self.pl(*one)),
            }
        }
        for block in Self::children(node).into_iter().filter(|one| one.kind() == "indirect_object") {
            let inner = Self::children(block);
            parts.extend(inner.iter().filter(|one| one.kind() != "filehandle").map(|one| self.pl(*one)));
        }
        if parts.is_empty() {
            parts.push(Self::nothing(node));
        }
        Node::inert(Self::at(node), parts)
    }

    fn pl_nullary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match self.text_of(node).split('(').next().unwrap_or_default().trim() {
            "__PACKAGE__" => Node::text(at, &self.perl.package.clone()),
            "__FILE__" => Node::name(at, "$0"),
            "__SUB__" => self.pl_strange(node),
            _ => Node::unknown(at),
        }
    }

    /// `eval TEXT`, `eval {...}`, `do FILE`
    fn pl_eval(&mut self, node: Parsed<'_>, inner: Option<Parsed<'_>>) -> Node {
        let at = Self::at(node);
        match inner {
            Some(block) if block.kind() == "block" => {
                let before = self.jumps;
                let block = self.deeper(block, |lower| lower.pl_block(block));
                self.jumps = self.jumps.max(before);
                Node::new(at, Kind::Try(vec![block]))
            }
            Some(file) if file.kind() == "filename" => {
                let file = Self::children(file).first().map(|one| self.pl_scalar(*one));
                Node::library(at, "do", file.into_iter().collect())
            }
            Some(code) => {
                let code = self.pl_scalar(code);
                Node::library(at, "eval", vec![code])
            }
            None => Node::library(at, "eval", vec![Node::name(at, "$_")]),
        }
    }

    fn pl_require(&mut self, node: Parsed<'_>, inner: Option<Parsed<'_>>) -> Node {
        let at = Self::at(node);
        let name = match inner {
            Some(inner) if inner.kind() == "bareword" => {
                let name = self.text_of(inner);
                if self.perl.packages.contains(name) {
                    return Self::nothing(node);
                }
                Node::text(at, name)
            }
            Some(inner) if matches!(inner.kind(), "number" | "version") => return Self::nothing(node),
            Some(inner) => self.pl_scalar(inner),
            None => Node::name(at, "$_"),
        };
        Node::load(at, name)
    }

    fn pl_method_call(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let (Some(of), Some(method)) =
            (node.child_by_field_name("invocant"), node.child_by_field_name("method"))
        else {
            return self.error(node);
        };
        let class = match of.kind() {
            "bareword" | "package" => Some(self.text_of(of).trim_end_matches("::").to_owned()),
            "func0op_call_expression" if self.text_of(of) == "__PACKAGE__" => Some(self.perl.package.clone()),
            _ => None,
        };
        if let Some(name) = Self::children(method).first() {
            let of = match &class {
                Some(class) => self.pl_class(at, class),
                None => self.pl(of),
            };
            let name = self.pl(*name);
            let member = Node::library(at, "->", vec![of, name]);
            let arguments = self.pl_arguments(node);
            return Node::call(at, member, arguments);
        }
        let name = self.text_of(method).to_owned();
        if let Some(class) = class {
            let arguments = self.pl_arguments(node);
            return self.pl_method_of_class(node, &class, &name, arguments);
        }
        let of = self.pl(of);
        let arguments = self.pl_arguments(node);
        if let Some((package, _)) = name.rsplit_once("::")
            && package != "SUPER"
        {
            let function = self.pl_function_named(at, &name);
            let arguments = std::iter::once(of).chain(arguments).collect();
            return Node::call(at, function, arguments);
        }
        Node::method(at, of, name, arguments)
    }

    /// A class as a value: its name, or its module.
    fn pl_class(&self, at: Span, class: &str) -> Node {
        let is_own = self.perl.packages.contains(class) || class == "main";
        // Handles are not classes.
        let is_handle = class.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        if is_own || (is_handle && class != "DBI" && class != "POSIX") {
            return Node::text(at, class);
        }
        Node::load(at, Node::text(at, class))
    }

    fn pl_method_of_class(
        &mut self,
        node: Parsed<'_>,
        class: &str,
        name: &str,
        mut arguments: Vec<Node>,
    ) -> Node {
        let at = Self::at(node);
        let full = format!("{class}::{name}");
        if self.perl.functions.contains(&full) {
            arguments.insert(0, Node::text(at, class));
            return Node::library(at, &full, arguments);
        }
        let of = self.pl_class(at, class);
        match name {
            "import" | "unimport" | "VERSION" | "isa" | "DOES" => {
                arguments.insert(0, of);
                Node::inert(at, arguments)
            }
            // The function of that name.
            "can" => {
                arguments.insert(0, of);
                Node::library(at, "->", arguments)
            }
            _ => Node::method(at, of, name, arguments),
        }
    }

    /// `split /,/, $x`
    fn pl_split(&mut self, node: Parsed<'_>, listed: &[Parsed<'_>]) -> Node {
        let at = Self::at(node);
        let Some((pattern, rest)) = listed.split_first() else { return self.pl_inert(node, listed) };
        let by = self.pl_plain_pattern(*pattern);
        let of = match rest.first() {
            Some(of) => self.pl_scalar(*of),
            None => Node::name(at, "$_"),
        };
        match by.filter(|_| rest.len() < 2) {
            Some(by) => {
                let callee = Node::member(at, of, "split");
                let given = if by == " " { Vec::new() } else { vec![Node::text(at, &by)] };
                Node::call(at, callee, given)
            }
            None => {
                let pattern = self.pl(*pattern);
                Node::inert(at, vec![pattern, of])
            }
        }
    }

    /// A word: a function that is called, a constant, or its own text.
    pub(super) fn pl_bareword(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let word = self.text_of(node);
        if self.perl.constants.contains(word) {
            return Node::name(at, word);
        }
        let is_function =
            word.starts_with(|letter: char| letter.is_ascii_lowercase()) && !word.ends_with("::");
        if is_function || self.pl_is_declared(word) {
            let callee = self.pl_function_named(at, word);
            return Node::call(at, callee, Vec::new());
        }
        match word {
            "__END__" | "__DATA__" => self.hole(node, Why::Syntax),
            _ => Node::text(at, word),
        }
    }
}
