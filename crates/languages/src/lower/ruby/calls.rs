//! Calls: of methods, of functions, with blocks.

use castellan_event::Why;
use ruby_prism::{ArgumentsNode, CallNode, Node as Parsed};

use super::super::Lower;
use super::assignments::{indexes, member};
use super::{constant, function_call, span, text};
use crate::tree::{Function, Kind, Node, Parameter, Rest, Span};

/// Methods that give the object itself, as far as matters.
const SAME: &[&str] = &["freeze", "to_str", "itself", "to_a"];

/// Methods that give another object, which is the same as far as matters.
const COPIES: &[&str] =
    &["dup", "clone", "to_s", "to_sym", "chomp", "shellescape", "b", "scrub", "strip", "squish", "+@", "-@"];

/// Methods that call their block for each element, and what they give.
const EACH: &[(&str, &str)] = &[
    ("each", "each"),
    ("each_with_index", "each"),
    ("each_entry", "each"),
    ("each_pair", "each"),
    ("reverse_each", "each"),
    ("each_char", "each"),
    ("times", "each"),
    ("upto", "each"),
    ("map", "map"),
    ("collect", "map"),
    ("flat_map", "map"),
    ("filter_map", "map"),
    ("select", "some"),
    ("filter", "some"),
    ("reject", "some"),
    ("find", "some"),
    ("detect", "some"),
    ("find_all", "some"),
    ("take_while", "some"),
    ("drop_while", "some"),
    ("sort_by", "some"),
    ("any?", "each"),
    ("all?", "each"),
    ("none?", "each"),
    ("tap", "whole"),
    ("then", "whole"),
    ("yield_self", "whole"),
];

/// Methods of texts by their names in the common run.
const OF_TEXT: &[(&str, &str)] = &[
    ("upcase", "toUpperCase"),
    ("downcase", "toLowerCase"),
    ("gsub", "replaceAll"),
    ("sub", "replace"),
    ("capitalize", "capitalize"),
];

impl Lower<'_> {
    pub(super) fn rb_call(&mut self, node: &CallNode<'_>) -> Node {
        let at = span(&node.location());
        let name = text(&node.name());
        let Some(receiver) = node.receiver() else {
            if node.is_variable_call() {
                return function_call(at, name, Vec::new());
            }
            let given = self.rb_arguments(node.arguments(), node.block());
            return self.rb_bare_call(at, name, given);
        };
        if node.is_attribute_write() {
            return self.rb_attribute(node, &receiver);
        }
        if node.call_operator_loc().is_none()
            && let Some(computed) = self.rb_operator(node, &receiver)
        {
            return computed;
        }
        if let Some((_, target)) = METHODS_BY_NAME.iter().find(|(own, _)| *own == name) {
            let of = self.rb(&receiver);
            let given = self.rb_arguments(node.arguments(), node.block());
            return by_name(at, Some(of), *target, given);
        }
        let given = self.rb_arguments(node.arguments(), node.block());
        if given.is_empty() && SAME.contains(&name) {
            return self.rb(&receiver);
        }
        if given.is_empty() && COPIES.contains(&name) {
            return function_call(at, "copy.of", vec![self.rb(&receiver)]);
        }
        match constant(&receiver).as_deref() {
            Some("String") if name == "new" => {
                let plain = given.into_iter().filter(|one| !matches!(one.kind, Kind::Keyword(..)));
                Node::new(at, Kind::Join(plain.take(1).collect()))
            }
            Some("Proc") if name == "new" => given.into_iter().next().unwrap_or_else(|| Node::nothing(at)),
            _ => {
                let of = self.rb(&receiver);
                method_call(at, of, name, given)
            }
        }
    }

    /// `a.b = c`, `a[b] = c`
    fn rb_attribute(&mut self, node: &CallNode<'_>, receiver: &Parsed<'_>) -> Node {
        let at = span(&node.location());
        let mut given: Vec<_> = indexes(node.arguments()).collect();
        let value = given.pop();
        let target = match text(&node.name()) {
            "[]=" => self.rb_element_target(at, receiver, &given),
            name => member(at, self.rb(receiver), name),
        };
        let value = value.map_or_else(|| Node::hole(at, Why::Syntax), |value| self.rb(&value));
        Node::assign(at, target, value)
    }

    fn rb_operator(&mut self, node: &CallNode<'_>, left: &Parsed<'_>) -> Option<Node> {
        let at = span(&node.location());
        let name = text(&node.name());
        let kind = match name {
            "[]" => {
                return Some(self.rb_element(at, left, &indexes(node.arguments()).collect::<Vec<_>>()));
            }
            "+" => Kind::Add(self.rb_operands(node)),
            "+@" => return Some(function_call(at, "copy.of", vec![self.rb(left)])),
            "-@" => match self.rb(left) {
                Node { kind: Kind::Number(number), .. } => Kind::Number(number.saturating_neg()),
                other => Kind::Inert(vec![other]),
            },
            "*" | "/" | "%" | "<<" | ">>" => {
                let of = Box::new(self.rb(left));
                let right = indexes(node.arguments()).next();
                let right = right.map_or_else(|| Node::hole(at, Why::Syntax), |right| self.rb(&right));
                match name {
                    "*" => Kind::Multiply(of, right.into()),
                    "/" => Kind::Divide(of, right.into()),
                    "%" => Kind::Modulo(of, right.into()),
                    // A list gets an element, a text more text; functions are chained.
                    _ => Kind::Call(Node::new(at, Kind::Member(of, name.into())).into(), vec![right]),
                }
            }
            _ if name.bytes().all(|byte| byte.is_ascii_punctuation() && byte != b'_') => {
                Kind::Inert(self.rb_operands(node))
            }
            _ => return None,
        };
        Some(Node::new(at, kind))
    }

    /// The operands of operators that lie deep inside each other on the left: `a + b + c`.
    fn rb_operands(&mut self, node: &CallNode<'_>) -> Vec<Node> {
        let name = node.name();
        let is_same =
            |one: &CallNode<'_>| one.call_operator_loc().is_none() && text(&one.name()) == text(&name);
        let (mut left, mut right) = (node.receiver(), vec![node.arguments()]);
        let mut first = None;
        while let Some(one) = left {
            left = match one.as_call_node().filter(is_same) {
                Some(inner) => {
                    right.push(inner.arguments());
                    inner.receiver()
                }
                None => {
                    first = Some(one);
                    None
                }
            };
        }
        let operands = first.into_iter().chain(right.into_iter().rev().flat_map(indexes));
        operands.map(|one| self.rb(&one)).collect()
    }

    /// `a && b or c`
    pub(super) fn rb_condition(&mut self, node: &Parsed<'_>) -> Node {
        let at = span(&node.location());
        let (mut left, mut parts) = (sides(node), Vec::new());
        while let Some((first, right)) = left {
            parts.push(right);
            left = sides(&first);
            if left.is_none() {
                parts.push(first);
            }
        }
        Node::or(at, parts.iter().rev().map(|one| self.rb(one)).collect())
    }

    pub(super) fn rb_arguments(
        &mut self,
        list: Option<ArgumentsNode<'_>>,
        block: Option<Parsed<'_>>,
    ) -> Vec<Node> {
        let mut given = Vec::new();
        for one in indexes(list) {
            by_kind! { one;
                as_keyword_hash_node named => given.extend(named.elements().iter().map(|one| self.rb_named(&one))),
                as_forwarding_arguments_node _ => {
                    let at = span(&one.location());
                    given.push(self.rb(&one));
                    given.push(Node::keyword(at, "&", Node::name(at, "&")));
                },
                _ => given.push(self.rb(&one)),
            }
        }
        if let Some(block) = block {
            let at = span(&block.location());
            let function = by_kind! { block;
                as_block_node one => {
                    let given = super::definitions::block(one.parameters());
                    self.deeper_at(at, |lower| lower.rb_function(at, given, one.body(), false))
                },
                as_block_argument_node one => match one.expression() {
                    Some(other) => match other.as_symbol_node() {
                        Some(symbol) => symbol_function(&String::from_utf8_lossy(symbol.unescaped()), at),
                        None => self.rb(&other),
                    },
                    None => Node::name(at, "&"),
                },
                _ => self.rb(&block),
            };
            given.push(Node::keyword(at, "&", function));
        }
        given
    }

    /// `a: 1`, `"a" => 1`, `**a`
    fn rb_named(&mut self, node: &Parsed<'_>) -> Node {
        let at = span(&node.location());
        let Some(pair) = node.as_assoc_node() else { return self.rb(node) };
        let name =
            pair.key().as_symbol_node().map(|key| String::from_utf8_lossy(key.unescaped()).into_owned());
        let is_stream = matches!(name.as_deref(), Some("in" | "out" | "err"));
        let value = match pair.value().as_symbol_node() {
            // One that is open already, or none.
            Some(_) if is_stream => Node::nothing(at),
            _ => self.rb(&pair.value()),
        };
        match name {
            Some(name) => Node::keyword(at, name, value),
            None => Node::new(at, Kind::Map(vec![(self.rb(&pair.key()), value)])),
        }
    }

    /// A call without an object.
    fn rb_bare_call(&mut self, at: Span, name: &str, mut given: Vec<Node>) -> Node {
        if let Some((_, target)) = METHODS_BY_NAME.iter().find(|(own, _)| *own == name) {
            return by_name(at, None, *target, given);
        }
        match name {
            "require" => {
                let name = given.into_iter().next().unwrap_or_else(|| Node::hole(at, Why::Syntax));
                Node::load(at, name)
            }
            "require_relative" => {
                if let Some(Node { kind: Kind::Join(parts), .. }) = given.first_mut() {
                    parts.push(Node::text(at, ".rb"));
                }
                function_call(at, "load", given)
            }
            "lambda" | "proc" => match given.pop().map(|one| one.kind) {
                Some(Kind::Keyword(_, function)) => *function,
                _ => Node::nothing(at),
            },
            "loop" => match given.pop().map(|one| one.kind) {
                Some(Kind::Keyword(_, function)) => {
                    Node::repeated(at, Node::new(at, Kind::Call(function, Vec::new())))
                }
                _ => Node::nothing(at),
            },
            "include" | "extend" | "prepend" => {
                let parts = given.into_iter().map(|one| Node::new(at, Kind::LoadAll(one.into()))).collect();
                Node::sequence(at, parts)
            }
            "private"
            | "public"
            | "protected"
            | "module_function"
            | "private_class_method"
            | "raise"
            | "fail"
            | "attr_accessor"
            | "attr_reader"
            | "attr_writer" => {
                if matches!(name, "raise" | "fail") {
                    self.jumps += 1;
                }
                given.push(Node::nothing(at));
                Node::inert(at, given)
            }
            "format" | "sprintf" => {
                let mut values = given.into_iter();
                let format = values.next().unwrap_or_else(|| Node::nothing(at));
                let values = Node::list(at, values.collect());
                Node::new(at, Kind::Modulo(format.into(), values.into()))
            }
            "block_given?" => Node::unknown(at),
            _ => defining_call(at, name, given),
        }
    }
}

/// A method of an object that is no method of the common run by itself.
fn method_call(at: Span, of: Node, name: &str, given: Vec<Node>) -> Node {
    let has_block = given.iter().any(|one| matches!(&one.kind, Kind::Keyword(name, _) if &**name == "&"));
    let kind = EACH.iter().find(|(own, _)| *own == name && (has_block || *own == "each"));
    let call = |of: Node, name: &str, given| Node::method(at, of, name, given);
    match (kind, name) {
        (Some((_, gives)), _) => {
            let all = [Node::text(at, gives), Node::text(at, name), of].into_iter().chain(given);
            function_call(at, "each.of", all.collect())
        }
        (None, "pack" | "unpack1" | "unpack" | "tr" | "reverse" | "first" | "last" | "rotate") => {
            let all = std::iter::once(of).chain(given);
            function_call(at, &format!("{name}.of"), all.collect())
        }
        (None, "chars") => call(of, "split", vec![Node::text(at, "")]),
        (None, "chr") => function_call(at, "chr.of", vec![of]),
        (None, "join") if given.is_empty() => call(of, "join", vec![Node::text(at, "")]),
        _ => call(of, of_text(name), given),
    }
}

/// A method of texts by its name in the common run.
fn of_text(name: &str) -> &str {
    OF_TEXT.iter().find(|(own, _)| *own == name).map_or(name, |(_, own)| own)
}

/// Both sides of `a && b`, `a or b`.
fn sides<'p>(node: &Parsed<'p>) -> Option<(Parsed<'p>, Parsed<'p>)> {
    by_kind! { node;
        as_and_node one => Some((one.left(), one.right())),
        as_or_node one => Some((one.left(), one.right())),
        _ => None,
    }
}

/// Calls that give methods a name.
fn defining_call(at: Span, name: &str, mut given: Vec<Node>) -> Node {
    match name {
        "alias_method" => match given.as_slice() {
            [new, old] => {
                let (Some(new), Some(old)) = (plain_text(new), plain_text(old)) else {
                    return Node::hole(at, Why::Dynamic);
                };
                let value = Node::name(at, &format!("{old}()"));
                Node::assign(at, Node::name(at, &format!("->{new}")), value)
            }
            _ => Node::hole(at, Why::Dynamic),
        },
        "define_method" => {
            let function = given.pop().map(|one| match one.kind {
                Kind::Keyword(_, function) => *function,
                kind => Node::new(at, kind),
            });
            match (given.first().and_then(plain_text), function) {
                (Some(name), Some(function)) => {
                    let name = format!("->{name}");
                    Node::assign(at, Node::name(at, &name), function)
                }
                (None, Some(function)) => {
                    let called = Node::call(at, Node::nothing(at), vec![function]);
                    Node::sequence(at, given.into_iter().chain([called]).collect())
                }
                (_, None) => Node::nothing(at),
            }
        }
        _ => function_call(at, name, given),
    }
}

/// `send(:name, ...)`, `method(:name)`
fn by_name(at: Span, of: Option<Node>, calls: bool, given: Vec<Node>) -> Node {
    let mut given = given.into_iter();
    let Some(name) = given.next() else { return Node::hole(at, Why::Syntax) };
    let of = match of {
        // A socket's data, flags, host and port: which of both it is depends on the object.
        Some(of) if calls && is_of_socket(given.as_slice()) => {
            return function_call(at, "send.of", [of, name].into_iter().chain(given).collect());
        }
        of => of,
    };
    let callee = match (plain_text(&name), of) {
        (Some(name), Some(of)) => Node::member(at, of, name),
        (Some(name), None) => Node::name(at, &format!("{name}()")),
        (None, of) => {
            let of = of.unwrap_or_else(|| Node::name(at, "Kernel"));
            function_call(at, "->", vec![of, name])
        }
    };
    if calls { Node::call(at, callee, given.collect()) } else { callee }
}

/// Whether this follows the data that a socket sends.
fn is_of_socket(given: &[Node]) -> bool {
    matches!(given, [Node { kind: Kind::Number(_), .. }, _, _])
}

/// Methods that name a method, and whether they call it.
const METHODS_BY_NAME: &[(&str, bool)] = &[
    ("send", true),
    ("public_send", true),
    ("__send__", true),
    ("try", true),
    ("method", false),
    ("public_method", false),
    ("instance_method", false),
    ("singleton_method", false),
];

/// `&:name`: a function that calls the method of what it is given.
fn symbol_function(name: &str, at: Span) -> Node {
    let target = Node::name(at, "of symbol");
    let of = Node::name(at, "of symbol");
    let body = match name {
        "chr" => Node::library(at, "chr.of()", vec![of]),
        _ if SAME.contains(&name) || COPIES.contains(&name) => of,
        _ => Node::method(at, of, of_text(name), Vec::new()),
    };
    let function = Function {
        parameters: vec![Parameter { target, default: None, rest: Rest::One }],
        locals: vec!["of symbol".into()],
        body,
        has_this: false,
        takes_self: false,
    };
    Node::new(at, Kind::Function(std::rc::Rc::new(function)))
}

/// The text that a literal is.
fn plain_text(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Text(text) => Some(text.to_string()),
        Kind::Join(parts) => {
            parts.iter().map(plain_text).collect::<Option<Vec<_>>>().map(|parts| parts.concat())
        }
        _ => None,
    }
}
