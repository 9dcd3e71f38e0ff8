//! Calls of functions and methods, and new objects.

use castellan_event::Why;
use php_ast::{Arg, ArgKind, BinaryOp, CallableCreateKind, Expr, ExprKind, NewExpr, UnaryPrefixOp};

use super::super::Lower;
use super::definitions::class_like;
use super::names::{defined, written};
use super::span;
use crate::tree::{Kind, Node, Span};

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

impl Lower<'_> {
    /// Calls, functions and new objects.
    pub(super) fn php_called(&mut self, node: &Expr<'_, '_>) -> Node {
        let at = span(node.span);
        match &node.kind {
            ExprKind::FunctionCall(one) => self.php_call(at, one.name, Some(&one.args)),
            ExprKind::MethodCall(one) | ExprKind::NullsafeMethodCall(one) => {
                let of = self.php_expression(one.object);
                self.php_method(at, of, one.method, Some(&one.args))
            }
            ExprKind::StaticMethodCall(one) => {
                self.php_static_method(at, one.class, one.method, Some(&one.args))
            }
            ExprKind::StaticMethodCallDynamic(one) => {
                self.php_static_method(at, one.class, one.method, Some(&one.args))
            }
            ExprKind::CallableCreate(one) => match &one.kind {
                CallableCreateKind::Function(function) => self.php_call(at, function, None),
                CallableCreateKind::Method { object, method }
                | CallableCreateKind::NullsafeMethod { object, method } => {
                    let of = self.php_expression(object);
                    self.php_method(at, of, method, None)
                }
                CallableCreateKind::StaticMethod { class, method } => {
                    self.php_static_method(at, class, method, None)
                }
                _ => Node::hole(at, Why::Unsupported),
            },
            ExprKind::New(one) => self.php_new(at, one),
            ExprKind::Closure(one) => self.php_closure(at, one),
            ExprKind::ArrowFunction(one) => self.php_arrow_function(at, one),
            _ => Node::hole(at, Why::Unsupported),
        }
    }

    /// A call, or without arguments the function itself.
    fn php_call(&mut self, at: Span, function: &Expr<'_, '_>, given: Option<&[Arg<'_, '_>]>) -> Node {
        if written(function).is_none() {
            let callee = self.php_expression(function);
            let Some(given) = given else { return callee };
            let all = std::iter::once(callee).chain(self.php_arguments(given)).collect();
            let call = Node::library(at, "call_user_func", all);
            let changed = if self.php.is_any_changing { (0..given.len()).collect() } else { Vec::new() };
            return self.php_changed(at, call, given, &changed);
        }
        let name = self.php.function(function);
        let Some(given) = given else { return Node::name(at, &name) };
        if let Some(special) = self.php_special(at, &name, given) {
            return special;
        }
        let arguments = self.php_arguments(given);
        let call = Node::library(at, &name, arguments);
        let own = self.php.changing.get(name.rsplit('/').next().unwrap_or_default()).cloned();
        let known = CHANGING.iter().find(|(own, _)| *own == name).map(|(_, places)| places.to_vec());
        self.php_changed(at, call, given, &own.or(known).unwrap_or_default())
    }

    fn php_arguments(&mut self, given: &[Arg<'_, '_>]) -> Vec<Node> {
        given.iter().map(|one| self.php_argument(one)).collect()
    }

    fn php_argument(&mut self, node: &Arg<'_, '_>) -> Node {
        let at = span(node.span);
        let value = match node.value() {
            Some(value) => self.php_expression(value),
            None => Node::hole(at, Why::Unsupported),
        };
        match (&node.name, &node.kind) {
            (Some(name), _) => Node::keyword(at, name.join_parts(), value),
            (None, ArgKind::Spread(_)) => Node::spread(at, value),
            (None, _) => value,
        }
    }

    /// A call, after which these of its arguments are not known.
    fn php_changed(&mut self, at: Span, call: Node, given: &[Arg<'_, '_>], places: &[usize]) -> Node {
        let is_target = |value: &&Expr<'_, '_>| {
            matches!(
                value.kind,
                ExprKind::Variable(_)
                    | ExprKind::VariableVariable(_)
                    | ExprKind::ArrayAccess(_)
                    | ExprKind::PropertyAccess(_)
                    | ExprKind::StaticPropertyAccess(_)
                    | ExprKind::StaticPropertyAccessDynamic { .. }
            )
        };
        let values = places.iter().filter_map(|place| given.get(*place)?.value()).filter(is_target);
        let unset = |value| {
            let target = self.php_target(value);
            Node::assign(at, target, Node::unknown(at))
        };
        let targets: Vec<Node> = values.map(unset).collect();
        if targets.is_empty() {
            return call;
        }
        let result = self.declare_outside("result of a call");
        let first = Node::assign(at, Node::name(at, &result), call);
        let parts = std::iter::once(first).chain(targets).chain([Node::name(at, &result)]);
        Node::sequence(at, parts.collect())
    }

    /// Functions that are part of the language, or change what they are given.
    fn php_special(&mut self, at: Span, name: &str, given: &[Arg<'_, '_>]) -> Option<Node> {
        let value = |place: usize| given.get(place).and_then(|one| one.value());
        if SORTING.contains(&name) {
            let list = self.php_expression(value(0)?);
            let sort = Node::member(at, list, "sort");
            let mut parts = vec![Node::call(at, sort, Vec::new())];
            if name.starts_with('u') {
                let compare = self.php_expression(value(1)?);
                parts.push(Node::library(at, "register.callback", vec![compare]));
            }
            return Some(Node::sequence(at, parts));
        }
        match name {
            "compact" => {
                let mut entries = Vec::new();
                for one in given {
                    let ExprKind::String(text) = &one.value()?.kind else { return None };
                    let text = text.to_str()?;
                    let variable = Node::name(at, &self.declare_outside(&format!("${text}")));
                    entries.push((Node::text(at, text), variable));
                }
                Some(Node::new(at, Kind::Map(entries)))
            }
            "define" => {
                let declared = defined(given)?;
                let value = self.php_expression(value(1)?);
                Some(Node::assign(at, Node::name(at, &declared), value))
            }
            "func_get_args" => Some(Node::name(at, "arguments")),
            "func_get_arg" => {
                let index = self.php_expression(value(0)?);
                Some(Node::index(at, Node::name(at, "arguments"), index))
            }
            "array_push" | "array_pop" | "array_shift" | "array_unshift" => {
                self.php_on_array(at, name, given)
            }
            "parse_str" if given.len() == 1 => {
                let text = self.php_expression(value(0)?);
                Some(Node::library(at, "extract", vec![text]))
            }
            "assert" => {
                let first = value(0)?;
                let text = self.php_expression(first);
                Some(match is_condition(first) {
                    true => Node::inert(at, vec![text]),
                    false => Node::library(at, "assert", vec![text]),
                })
            }
            _ => None,
        }
    }

    /// Functions that change the array which is their first argument.
    fn php_on_array(&mut self, at: Span, name: &str, given: &[Arg<'_, '_>]) -> Option<Node> {
        let (array, more) = given.split_first()?;
        let array = array.value()?;
        if name == "array_push" {
            let mut parts = Vec::new();
            for one in more {
                let value = self.php_argument(one);
                let end = Node::spread(at, Node::nothing(at));
                let array = self.php_target(array);
                parts.push(Node::assign(at, Node::index(at, array, end), value));
            }
            return Some(Node::sequence(at, parts));
        }
        let method = match name {
            "array_pop" => "pop",
            "array_shift" => "shift",
            _ => "unshift",
        };
        let array = self.php_expression(array);
        let more = self.php_arguments(more);
        Some(Node::method(at, array, method, more))
    }

    fn php_method(&mut self, at: Span, of: Node, name: &Expr<'_, '_>, given: Option<&[Arg<'_, '_>]>) -> Node {
        let arguments = given.map(|given| self.php_arguments(given));
        let ExprKind::Identifier(name) = &name.kind else {
            let name = self.php_expression(name);
            let pair = Node::list(at, vec![of, name]);
            return match arguments {
                Some(arguments) => {
                    Node::library(at, "call_user_func", std::iter::once(pair).chain(arguments).collect())
                }
                None => pair,
            };
        };
        let name = name.to_ascii_lowercase();
        let member = Node::member(at, of, name.as_str());
        let (Some(arguments), Some(given)) = (arguments, given) else { return member };
        let call = Node::call(at, member, arguments);
        let changed = self.php.changing.get(&name).cloned().unwrap_or_default();
        self.php_changed(at, call, given, &changed)
    }

    fn php_static_method(
        &mut self,
        at: Span,
        class: &Expr<'_, '_>,
        name: &Expr<'_, '_>,
        given: Option<&[Arg<'_, '_>]>,
    ) -> Node {
        let has_object = self.php.around.last().is_some_and(|around| !around.is_static);
        let word = written(class).filter(|_| has_object).unwrap_or_default().to_ascii_lowercase();
        match (word.as_str(), &name.kind) {
            ("parent", ExprKind::Identifier(name)) => self.php_of_parent(at, class, name, given),
            ("parent" | "self" | "static", _) => self.php_method(at, Node::name(at, "this"), name, given),
            _ => {
                let of = self.php_class_of(class);
                self.php_method(at, of, name, given)
            }
        }
    }

    /// `parent::method()` works on the same object.
    fn php_of_parent(
        &mut self,
        at: Span,
        class: &Expr<'_, '_>,
        name: &str,
        given: Option<&[Arg<'_, '_>]>,
    ) -> Node {
        let base = self.php_class_of(class);
        let name = name.to_ascii_lowercase();
        let method = match name.as_str() {
            "__construct" => base,
            _ => Node::member(at, base, name.as_str()),
        };
        let bound = Node::library(at, "parent.method", vec![method, Node::name(at, "this")]);
        match given {
            Some(given) => Node::call(at, bound, self.php_arguments(given)),
            None => bound,
        }
    }

    /// What stands before `::`, or behind `new`.
    pub(super) fn php_class_of(&mut self, node: &Expr<'_, '_>) -> Node {
        let at = span(node.span);
        if written(node).is_some() {
            return Node::name(at, self.php.class_in(node).as_deref().unwrap_or("this"));
        }
        // A text is the name of a class.
        let of = self.php_expression(node);
        Node::library(at, "class.named", vec![of])
    }

    fn php_new(&mut self, at: Span, node: &NewExpr<'_, '_>) -> Node {
        let of = match &node.class.kind {
            ExprKind::AnonymousClass(class) => self.php_class(at, &class_like(class), None),
            _ => self.php_class_of(node.class),
        };
        let arguments = self.php_arguments(&node.args);
        Node::new(at, Kind::New(of.into(), arguments))
    }
}

/// Whether what is asserted is no text.
fn is_condition(node: &Expr<'_, '_>) -> bool {
    match &node.kind {
        ExprKind::Binary(one) => !matches!(
            one.op,
            BinaryOp::Concat
                | BinaryOp::BitwiseXor
                | BinaryOp::BitwiseOr
                | BinaryOp::BitwiseAnd
                | BinaryOp::Pipe
        ),
        ExprKind::UnaryPrefix(one) => one.op != UnaryPrefixOp::BitwiseNot,
        ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Null | ExprKind::Isset(_) | ExprKind::Empty(_) => {
            true
        }
        ExprKind::FunctionCall(one) => written(one.name).is_some_and(|name| {
            name.starts_with("is_")
                || matches!(
                    name.as_str(),
                    "in_array"
                        | "count"
                        | "function_exists"
                        | "class_exists"
                        | "array_key_exists"
                        | "defined"
                )
        }),
        _ => false,
    }
}
