//! Variables, elements, references, and what values are given to.

use tree_sitter::Node as Parsed;

use super::super::Lower;
use crate::tree::{Kind, Node};

/// Functions that give what can be changed in their first argument.
const PARTS_OF: &[&str] = &["substr", "vec", "pos", "values"];

impl<'t> Lower<'t> {
    /// The name of the builtin that is called.
    pub(super) fn pl_called(&self, node: Parsed<'_>) -> &'t str {
        let function = node.child_by_field_name("function").map(|one| self.text_of(one));
        function.unwrap_or_else(|| self.text_of(node).split(['(', ' ']).next().unwrap_or_default())
    }

    /// The name of a variable that is written plainly, with its sigil.
    pub(super) fn pl_sigiled(&self, sigil: &str, node: Parsed<'_>) -> String {
        let named = Self::children(node).into_iter().find(|one| one.kind() == "varname");
        let written = named.map_or_else(|| self.text_of(node), |name| self.text_of(name));
        let bare = written.trim_start_matches(['$', '@', '%', '&', '*', '\\']);
        let bare = if bare.is_empty() { written } else { bare };
        // A variable of a package that is read here is the one that the package calls by its bare name.
        let bare = match bare.rsplit_once("::") {
            Some((package, name)) if package.is_empty() || package == "main" => name,
            Some((package, name)) if self.perl.packages.contains(package) => name,
            _ => bare,
        };
        format!("{sigil}{bare}")
    }

    /// What a variable refers to that is written as a reference: `$$x`, `@{...}`.
    pub(super) fn pl_referred<'p>(node: Parsed<'p>) -> Option<Parsed<'p>> {
        let mut inner = node;
        for _ in 0..2 {
            let next = Self::children(inner).into_iter().find(|one| {
                matches!(
                    one.kind(),
                    "varname" | "scalar" | "block" | "glob_deref_expression" | "code_deref_expression"
                )
            })?;
            match next.kind() {
                "varname" | "glob_deref_expression" | "code_deref_expression" => inner = next,
                _ => return Some(next),
            }
        }
        None
    }

    /// A variable as a value.
    pub(super) fn pl_variable(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let sigil = match node.kind() {
            "scalar" => "$",
            "array" => "@",
            _ => "%",
        };
        match Self::pl_referred(node) {
            Some(inner) => {
                let inner = self.pl(inner);
                if sigil == "$" { Node::library(at, "$$", vec![inner]) } else { inner }
            }
            None => Node::name(at, &self.pl_sigiled(sigil, node)),
        }
    }

    /// The list or hash of `$x[0]`, `$x{a}`, `@x{...}`.
    fn pl_container(&mut self, node: Parsed<'_>, sigil: &str) -> Node {
        match Self::pl_referred(node) {
            Some(inner) => self.pl(inner),
            None => Node::name(Self::at(node), &self.pl_sigiled(sigil, node)),
        }
    }

    /// `$x[0]`, `$x->[0]`, `$x{a}`, `$x->{a}`
    pub(super) fn pl_element(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let is_array = node.kind() == "array_element_expression";
        let (field, sigil, index) = if is_array { ("array", "@", "index") } else { ("hash", "%", "key") };
        let index = node.child_by_field_name(index);
        let of = match node.child_by_field_name(field) {
            Some(container) if container.kind() == "container_variable" => {
                self.pl_container(container, sigil)
            }
            Some(other) => self.pl(other),
            None => match Self::children(node).into_iter().find(|one| Some(*one) != index) {
                Some(of) => self.pl(of),
                None => self.error(node),
            },
        };
        let index = match index {
            Some(index) => self.pl_scalar(index),
            None => self.error(node),
        };
        Node::index(at, of, index)
    }

    /// `@x[0, 1]`, `@x{qw(a b)}`, `%x{...}`, `(...)[0]`
    pub(super) fn pl_slice(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut of = None;
        for (field, sigil) in
            [("array", "@"), ("hash", "%"), ("arrayref", ""), ("hashref", ""), ("list", "()")]
        {
            let Some(one) = node.child_by_field_name(field) else { continue };
            let value = match sigil {
                "" => self.pl(one),
                "()" => self.pl_flat(Some(one), at),
                sigil => self.pl_container(one, sigil),
            };
            of = Some((one, value));
        }
        let Some((container, of)) = of else { return self.pl_strange(node) };
        // What is evaluated once for each index has to be a name.
        let name = format!("slice at {}", at.0);
        let keep = Node::assign(at, Node::name(at, &name), of);
        let indexes = Self::children(node).into_iter().filter(|one| *one != container);
        let (mut before, mut elements) = (vec![keep], Vec::new());
        for index in indexes.flat_map(Self::pl_listed) {
            for index in self.pl_indexes(index) {
                let of = Node::name(at, &name);
                elements.push(match index.kind {
                    Kind::Spread(index) => {
                        before.push(*index);
                        Node::spread(at, of)
                    }
                    _ => Node::index(at, of, index),
                });
            }
        }
        let keep = Node::sequence(at, before);
        Node::sequence(at, vec![keep, Node::list(at, elements)])
    }

    fn pl_indexes(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let at = Self::at(node);
        if node.kind() == "quoted_word_list" {
            return self.pl_words(node).iter().map(|word| Node::text(at, word)).collect();
        }
        let is_plural = Self::pl_is_plural(node);
        let value = self.pl(node);
        vec![if is_plural { Node::spread(at, value) } else { value }]
    }

    /// The targets of a slice that is given values.
    fn pl_slice_targets(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match self.pl_slice(node).kind {
            Kind::Sequence(mut parts) if parts.len() == 2 => {
                let last = parts.pop();
                let targets = Node::sequence(at, parts);
                // The container is evaluated first.
                self.perl.changed.push("a slice".into());
                match last.map(|last| last.kind) {
                    Some(Kind::List(elements)) => {
                        let first = Node::or(at, vec![Self::nothing(node), targets]);
                        Node::list(at, std::iter::once(first).chain(elements).collect())
                    }
                    _ => self.pl_strange(node),
                }
            }
            kind => Node::new(at, kind),
        }
    }

    /// What an assignment gives a value to.
    pub(super) fn pl_target(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.pl_target_of(node))
    }

    fn pl_target_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "scalar" | "array" | "hash" => {
                let target = self.pl_variable(node);
                if let Kind::Name(name) = &target.kind {
                    self.perl.changed.push(name.clone());
                    return target;
                }
                match target.kind {
                    // `$$x = ...`
                    Kind::Call(_, mut given) if node.kind() == "scalar" && given.len() == 1 => {
                        let of = given.pop().unwrap_or_else(|| Self::nothing(node));
                        Node::index(at, of, Node::new(at, Kind::Number(0)))
                    }
                    kind => Node::new(at, kind),
                }
            }
            "array_element_expression" | "hash_element_expression" => {
                self.perl.changed.push("an element".into());
                self.perl.changes_arguments |= self.text_of(node).starts_with("$_[");
                self.pl_element(node)
            }
            "slice_expression" => self.pl_slice_targets(node),
            "variable_declaration" => self.pl_declaration(node),
            "localization_expression" => match Self::children(node).first() {
                Some(inner) => self.pl_target(*inner),
                None => Self::nothing(node),
            },
            "list_expression" | "parenthesized_expression" | "variable_group" => {
                let targets = Self::pl_listed(node).into_iter().map(|one| self.pl_spread_target(one));
                let targets: Vec<Node> = targets.collect();
                Node::list(at, targets)
            }
            "undef_expression" => Self::nothing(node),
            "array_deref_expression" | "hash_deref_expression" | "scalar_deref_expression" => self.pl(node),
            // Which of them it is is not followed, nor which part.
            _ => self.pl_unfollowed(node),
        }
    }

    /// Lowers the parts of an expression whose change the lowering does not follow.
    pub(super) fn pl_unfollowed(&mut self, node: Parsed<'_>) -> Node {
        let mut found = Vec::new();
        let mut left = vec![node];
        while let Some(one) = left.pop() {
            match one.kind() {
                "scalar" | "array" | "hash" | "array_element_expression" | "hash_element_expression" => {
                    found.push(self.pl_target(one));
                }
                "slice_expression" => {
                    let container = ["array", "hash"].map(|field| one.child_by_field_name(field));
                    let [array, hash] = container;
                    found.extend(array.map(|of| self.pl_container(of, "@")));
                    found.extend(hash.map(|of| self.pl_container(of, "%")));
                }
                // What it gives is a part of its first argument.
                "function_call_expression"
                | "ambiguous_function_call_expression"
                | "func1op_call_expression"
                    if PARTS_OF.contains(&self.pl_called(one)) =>
                {
                    let given = one.child_by_field_name("arguments").or(Self::children(one).last().copied());
                    left.extend(given.and_then(|given| Self::pl_listed(given).first().copied()));
                }
                "assignment_expression" => left.extend(one.child_by_field_name("left")),
                // What these make is new.
                "anonymous_subroutine_expression" | "block" | "binary_expression" => {}
                kind if kind.ends_with("call_expression") => {}
                _ => left.extend(Self::children(one)),
            }
        }
        Node::inert(Self::at(node), found)
    }

    fn pl_spread_target(&mut self, node: Parsed<'_>) -> Node {
        let target = self.pl_target(node);
        match node.kind() {
            "array" | "hash" => Node::spread(target.at, target),
            _ => target,
        }
    }

    /// Names that `my` or `our` makes.
    pub(super) fn pl_declaration(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let is_own = Self::has_word(node, &["my", "state"]);
        let group = node.child_by_field_name("variable").is_none();
        let mut variables = Self::fields(node, "variables");
        variables.extend(node.child_by_field_name("variable"));
        let mut targets = Vec::new();
        for variable in variables {
            let sigil = match variable.kind() {
                "scalar" => "$",
                "array" => "@",
                "hash" => "%",
                _ => {
                    targets.push(Self::nothing(variable));
                    continue;
                }
            };
            let name = self.pl_sigiled(sigil, variable);
            if is_own {
                self.declare(&name);
            } else {
                self.perl.changed.push(name.as_str().into());
            }
            let target = Node::name(at, &name);
            let is_rest = group && sigil != "$";
            targets.push(if is_rest { Node::spread(at, target) } else { target });
        }
        if group { Node::list(at, targets) } else { Node::only(targets, |targets| Node::list(at, targets)) }
    }

    /// A declaration without a value.
    pub(super) fn pl_declared_only(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let is_own = Self::has_word(node, &["my", "state"]);
        let target = self.pl_declaration(node);
        let names = match target.kind {
            Kind::List(names) => names,
            kind => vec![Node::new(at, kind)],
        };
        let mut parts = Vec::new();
        for name in names {
            let name = match name.kind {
                Kind::Spread(inner) => *inner,
                kind => Node::new(at, kind),
            };
            let Kind::Name(own) = &name.kind else { continue };
            let value = match own.as_bytes().first() {
                Some(b'@') => Node::list(at, Vec::new()),
                Some(b'%') => Node::library(at, "{}", Vec::new()),
                _ => Self::nothing(node),
            };
            // What `our` names may have a value already.
            parts.push(if is_own { Node::assign(at, name, value) } else { name });
        }
        Node::only(parts, |parts| Node::sequence(at, parts))
    }

    /// `\$x`, `\@x`, `\&f`
    pub(super) fn pl_refgen(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(inner) = Self::children(node).first().copied() else { return self.error(node) };
        match inner.kind() {
            "scalar" | "array_element_expression" | "hash_element_expression"
                if Self::pl_referred(inner).is_none() =>
            {
                self.pl_scalar_reference(inner)
            }
            "array" | "hash" | "array_deref_expression" | "hash_deref_expression" => self.pl(inner),
            "function" => self.pl_function_value(inner),
            "function_call_expression"
                if self.text_of(inner).starts_with('&') && !self.text_of(inner).contains('(') =>
            {
                match inner.child_by_field_name("function") {
                    Some(function) => self.pl_function_value(function),
                    None => self.error(inner),
                }
            }
            "parenthesized_expression" | "list_expression" => {
                let all = Self::pl_listed(inner).into_iter().map(|one| match one.kind() {
                    "scalar" if Self::pl_referred(one).is_none() => self.pl_scalar_reference(one),
                    _ => self.pl(one),
                });
                let all = all.collect();
                Node::list(at, all)
            }
            "variable_declaration" => {
                let value = self.pl(inner);
                if self.text_of(inner).contains('$') { Node::list(at, vec![value]) } else { value }
            }
            _ => {
                let value = self.pl(inner);
                Node::list(at, vec![value])
            }
        }
    }

    /// A reference to one value: a list of it. Whoever has it may change the value.
    fn pl_scalar_reference(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let list = Node::list(at, vec![self.pl(node)]);
        let either = Node::or(at, vec![self.pl(node), Node::unknown(at)]);
        let target = self.pl_target(node);
        self.perl.changed.push("a reference".into());
        let kept = format!("reference at {}", at.0);
        let parts = vec![
            Node::assign(at, Node::name(at, &kept), list),
            Node::assign(at, target, either),
            Node::name(at, &kept),
        ];
        Node::sequence(at, parts)
    }
}
