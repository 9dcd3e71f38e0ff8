//! Calls of functions and methods, and new objects.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::Lower;
use super::expressions::library;
use super::names::constant;
use super::unknown;
use crate::tree::{Kind, Node};

/// Functions that change these of their arguments.
const CHANGING: &[(&str, &[usize])] = &[
    ("exec", &[1, 2]),
    ("system", &[1]),
    ("passthru", &[1]),
    ("proc_open", &[2]),
    ("preg_match", &[2]),
    ("preg_match_all", &[2]),
    ("mb_ereg", &[2]),
    ("ereg", &[2]),
    ("eregi", &[2]),
    ("parse_str", &[1]),
    ("mb_parse_str", &[1]),
    ("str_replace", &[3]),
    ("str_ireplace", &[3]),
    ("preg_replace", &[4]),
    ("preg_replace_callback", &[4]),
    ("sscanf", &[2, 3, 4, 5]),
    ("settype", &[0]),
    ("fsockopen", &[2, 3]),
    ("pfsockopen", &[2, 3]),
    ("stream_socket_client", &[1, 2]),
    ("stream_socket_server", &[1, 2]),
    ("stream_select", &[0, 1, 2]),
    ("socket_recv", &[1]),
    ("socket_recvfrom", &[1, 4, 5]),
    ("getopt", &[2]),
    ("similar_text", &[2]),
    ("pcntl_wait", &[0]),
    ("pcntl_waitpid", &[1]),
    ("openssl_sign", &[1]),
    ("openssl_encrypt", &[5]),
    ("openssl_pkey_export", &[1]),
    ("curl_multi_exec", &[1]),
    ("array_splice", &[0]),
    ("array_walk", &[0]),
    ("array_walk_recursive", &[0]),
    ("array_multisort", &[0, 1, 2]),
    ("is_callable", &[2]),
    ("dns_get_mx", &[1]),
    ("getmxrr", &[1]),
];

/// Functions that put the elements of an array, their first argument, into another order.
const SORTING: &[&str] = &[
    "sort",
    "rsort",
    "usort",
    "uasort",
    "uksort",
    "asort",
    "arsort",
    "ksort",
    "krsort",
    "natsort",
    "natcasesort",
    "shuffle",
];

/// Functions whose argument is not read before it is there.
const ASKING: &[&str] = &["isset", "empty"];

impl Lower<'_> {
    pub(super) fn php_call(&mut self, node: Parsed<'_>) -> Node {
        let Some(function) = node.child_by_field_name("function") else { return self.error(node) };
        let given = self.php_given(node);
        if !matches!(function.kind(), "name" | "qualified_name" | "relative_name") {
            let callee = self.php_expression(function);
            return match self.php_arguments(&given) {
                Some(arguments) => {
                    let all = std::iter::once(callee).chain(arguments).collect();
                    let call = library(node, "call_user_func", all);
                    let changed: Vec<usize> =
                        if self.php.is_any_changing { (0..given.len()).collect() } else { Vec::new() };
                    self.php_changed(node, call, &given, &changed)
                }
                None => callee,
            };
        }
        let name = self.php.function(self.text_of(function));
        let Some(arguments) = self.php_arguments(&given) else {
            return Node::name(Self::at(function), &name);
        };
        if let Some(special) = self.php_special(node, &name, &given) {
            return special;
        }
        let call = library(node, &name, arguments);
        let own = self.php.changing.get(name.rsplit('/').next().unwrap_or_default()).cloned();
        let known = CHANGING.iter().find(|(own, _)| *own == name).map(|(_, places)| places.to_vec());
        self.php_changed(node, call, &given, &own.or(known).unwrap_or_default())
    }

    /// The arguments as they stand.
    fn php_given<'p>(&self, node: Parsed<'p>) -> Vec<Parsed<'p>> {
        let list = node.child_by_field_name("arguments");
        let list =
            list.or_else(|| Self::children(node).into_iter().find(|child| child.kind() == "arguments"));
        list.map(Self::children).unwrap_or_default()
    }

    /// The arguments of a call; `None` for `f(...)`, which is the function itself.
    fn php_arguments(&mut self, given: &[Parsed<'_>]) -> Option<Vec<Node>> {
        if given.iter().any(|one| one.kind() == "variadic_placeholder") {
            return None;
        }
        Some(given.iter().map(|one| self.php_argument(*one)).collect())
    }

    fn php_argument(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = node.child_by_field_name("name").map(|name| self.text_of(name));
        let value = Self::children(node).last().copied();
        let is_spread = value.is_some_and(|value| value.kind() == "variadic_unpacking");
        let value = match value {
            Some(value) => self.php_expression(value),
            None => self.error(node),
        };
        match name {
            Some(name) => Node::new(at, Kind::Keyword(name.into(), value.into())),
            None if is_spread => Node::new(at, Kind::Spread(value.into())),
            None => value,
        }
    }

    /// A call, after which these of its arguments are not known.
    fn php_changed(&mut self, node: Parsed<'_>, call: Node, given: &[Parsed<'_>], places: &[usize]) -> Node {
        let at = Self::at(node);
        let mut targets = Vec::new();
        for place in places {
            let value = given.get(*place).and_then(|one| Self::children(*one).last().copied());
            let is_target = |value: &Parsed<'_>| {
                matches!(
                    value.kind(),
                    "variable_name"
                        | "dynamic_variable_name"
                        | "subscript_expression"
                        | "by_ref"
                        | "member_access_expression"
                        | "scoped_property_access_expression"
                )
            };
            if let Some(value) = value.filter(is_target) {
                let target = self.php_target(value);
                targets.push(Node::assign(at, target, unknown(at)));
            }
        }
        if targets.is_empty() {
            return call;
        }
        let result = self.declare_outside("result of a call");
        let first = Node::assign(at, Node::name(at, &result), call);
        let parts = std::iter::once(first).chain(targets).chain([Node::name(at, &result)]);
        Node::new(at, Kind::Sequence(parts.collect()))
    }

    /// Functions that are part of the language, or change what they are given.
    fn php_special(&mut self, node: Parsed<'_>, name: &str, given: &[Parsed<'_>]) -> Option<Node> {
        let at = Self::at(node);
        let value = |place: usize| given.get(place).and_then(|one| Self::children(*one).last().copied());
        if SORTING.contains(&name) {
            let list = self.php_expression(value(0)?);
            let sort = Node::new(at, Kind::Member(list.into(), "sort".into()));
            let mut parts = vec![Node::new(at, Kind::Call(sort.into(), Vec::new()))];
            if name.starts_with('u') {
                let compare = self.php_expression(value(1)?);
                parts.push(library(node, "register.callback", vec![compare]));
            }
            return Some(Node::new(at, Kind::Sequence(parts)));
        }
        if ASKING.contains(&name) {
            let parts = given.iter().map(|one| self.php_argument(*one)).collect();
            return Some(Node::new(at, Kind::Inert(parts)));
        }
        match name {
            "compact" => {
                let mut entries = Vec::new();
                for one in given {
                    let inner = Self::children(*one).last().copied()?;
                    if inner.kind() != "string" {
                        return None;
                    }
                    let key = self.php_plain(inner);
                    let Kind::Text(text) = &key.kind else { return None };
                    let variable = Node::name(at, &self.declare_outside(&format!("${text}")));
                    entries.push((key, variable));
                }
                Some(Node::new(at, Kind::Map(entries)))
            }
            "define" => {
                let declared = constant(self.php_defined(node)?);
                let value = self.php_expression(value(1)?);
                Some(Node::assign(at, Node::name(at, &declared), value))
            }
            "func_get_args" => Some(Node::name(at, "arguments")),
            "func_get_arg" => {
                let index = self.php_expression(value(0)?);
                Some(Node::new(at, Kind::Index(Node::name(at, "arguments").into(), index.into())))
            }
            "array_push" | "array_pop" | "array_shift" | "array_unshift" => {
                self.php_on_array(node, name, given)
            }
            "parse_str" if given.len() == 1 => {
                let text = self.php_expression(value(0)?);
                Some(library(node, "extract", vec![text]))
            }
            "assert" => {
                let first = value(0)?;
                let text = self.php_expression(first);
                Some(match self.is_condition(first) {
                    true => Node::new(at, Kind::Inert(vec![text])),
                    false => library(node, "assert", vec![text]),
                })
            }
            _ => None,
        }
    }

    /// Functions that change the array which is their first argument.
    fn php_on_array(&mut self, node: Parsed<'_>, name: &str, given: &[Parsed<'_>]) -> Option<Node> {
        let at = Self::at(node);
        let array = Self::children(*given.first()?).last().copied()?;
        if name == "array_push" {
            let mut parts = Vec::new();
            for one in given.iter().skip(1) {
                let value = self.php_argument(*one);
                let end = Node::new(at, Kind::Spread(Self::nothing(node).into()));
                let array = self.php_target(array);
                parts.push(Node::assign(at, Node::new(at, Kind::Index(array.into(), end.into())), value));
            }
            return Some(Node::new(at, Kind::Sequence(parts)));
        }
        let method = match name {
            "array_pop" => "pop",
            "array_shift" => "shift",
            _ => "unshift",
        };
        let array = self.php_expression(array);
        let more = given.iter().skip(1).map(|one| self.php_argument(*one)).collect();
        let method = Node::new(at, Kind::Member(array.into(), method.into()));
        Some(Node::new(at, Kind::Call(method.into(), more)))
    }

    /// Whether what is asserted is no text.
    fn is_condition(&self, node: Parsed<'_>) -> bool {
        match node.kind() {
            "binary_expression" => node
                .child_by_field_name("operator")
                .is_none_or(|one| !matches!(one.kind(), "." | "??" | "^" | "|" | "&")),
            "unary_op_expression" => !self.text_of(node).starts_with('~'),
            "boolean" | "integer" | "null" => true,
            "function_call_expression" => {
                let name =
                    node.child_by_field_name("function").map(|one| self.text_of(one)).unwrap_or_default();
                name.starts_with("is_")
                    || matches!(
                        name,
                        "isset"
                            | "empty"
                            | "in_array"
                            | "count"
                            | "function_exists"
                            | "class_exists"
                            | "array_key_exists"
                            | "defined"
                    )
            }
            _ => false,
        }
    }

    pub(super) fn php_method(&mut self, node: Parsed<'_>) -> Node {
        let of = self.php_field(node, "object");
        self.php_method_of(node, of)
    }

    fn php_method_of(&mut self, node: Parsed<'_>, of: Node) -> Node {
        let at = Self::at(node);
        let given = self.php_given(node);
        let arguments = self.php_arguments(&given);
        let Some(name) = node.child_by_field_name("name") else { return self.error(node) };
        if name.kind() != "name" {
            let name = self.php_expression(name);
            let pair = Node::new(at, Kind::List(vec![of, name]));
            return match arguments {
                Some(arguments) => {
                    library(node, "call_user_func", std::iter::once(pair).chain(arguments).collect())
                }
                None => pair,
            };
        }
        let name = self.text_of(name).to_ascii_lowercase();
        let member = Node::new(at, Kind::Member(of.into(), name.as_str().into()));
        let Some(arguments) = arguments else { return member };
        let call = Node::new(at, Kind::Call(member.into(), arguments));
        let changed = self.php.changing.get(&name).cloned().unwrap_or_default();
        self.php_changed(node, call, &given, &changed)
    }

    pub(super) fn php_static_method(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(scope) = node.child_by_field_name("scope") else { return self.error(node) };
        let is_relative = scope.kind() == "relative_scope";
        let has_object = self.php.around.last().is_some_and(|around| !around.is_static);
        let word = self.text_of(scope).to_ascii_lowercase();
        if is_relative && has_object && word == "parent" {
            return self.php_of_parent(node);
        }
        if is_relative && has_object {
            return self.php_method_of(node, Node::name(at, "this"));
        }
        let of = self.php_scope(node);
        self.php_method_of(node, of)
    }

    /// `parent::method()` works on the same object.
    fn php_of_parent(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let base = self.php_scope(node);
        let given = self.php_given(node);
        let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let method = match name.as_str() {
            "__construct" => base,
            _ => Node::new(at, Kind::Member(base.into(), name.as_str().into())),
        };
        let bound = library(node, "parent.method", vec![method, Node::name(at, "this")]);
        match self.php_arguments(&given) {
            Some(arguments) => Node::new(at, Kind::Call(bound.into(), arguments)),
            None => bound,
        }
    }

    /// What stands before `::`.
    pub(super) fn php_scope(&mut self, node: Parsed<'_>) -> Node {
        match node.child_by_field_name("scope") {
            Some(scope) => self.php_class_of(scope),
            None => self.hole(node, Why::Syntax),
        }
    }

    pub(super) fn php_class_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "name" | "qualified_name" | "relative_name" | "relative_scope" => match self.php_class_text(node)
            {
                Some(name) => Node::name(at, &name),
                None => Node::name(at, "this"),
            },
            // A text is the name of a class.
            _ => {
                let of = self.php_expression(node);
                library(node, "class.named", vec![of])
            }
        }
    }

    /// The name of a class; `None` for the one around if it has none.
    pub(super) fn php_class_text(&self, node: Parsed<'_>) -> Option<String> {
        let written = self.text_of(node);
        let around = self.php.around.last();
        match written.to_ascii_lowercase().as_str() {
            "self" | "static" => around.and_then(|around| around.name.clone()),
            "parent" => around.and_then(|around| around.base.clone()),
            _ => Some(self.php.class(written)),
        }
    }

    pub(super) fn php_new(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let given = self.php_given(node);
        let children = Self::children(node);
        let Some(class) = children.iter().find(|child| child.kind() != "arguments") else {
            return self.error(node);
        };
        if class.kind() == "anonymous_class" {
            let given = self.php_given(*class);
            let arguments = self.php_arguments(&given).unwrap_or_default();
            let of = self.php_class(*class, None);
            return Node::new(at, Kind::New(of.into(), arguments));
        }
        let of = self.php_class_of(*class);
        let arguments = self.php_arguments(&given).unwrap_or_default();
        Node::new(at, Kind::New(of.into(), arguments))
    }
}
