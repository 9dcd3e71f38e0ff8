//! Calls: of methods, of functions, with blocks.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::Lower;
use super::repeated;
use crate::tree::{Function, Kind, Node, Parameter, Rest};

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
    pub(super) fn rb_call(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let receiver = node.child_by_field_name("receiver");
        let name = node.child_by_field_name("method").map_or("call", |one| self.text_of(one)).to_owned();
        let Some(receiver) = receiver else { return self.rb_bare_call(node, &name) };
        if let Some((_, target)) = METHODS_BY_NAME.iter().find(|(own, _)| *own == name) {
            let of = self.rb(receiver);
            return self.rb_by_name(node, Some(of), *target);
        }
        let given = self.rb_arguments(node);
        if given.is_empty() && SAME.contains(&name.as_str()) {
            return self.rb(receiver);
        }
        if given.is_empty() && COPIES.contains(&name.as_str()) {
            let of = self.rb(receiver);
            return self.rb_function_call(at, "copy.of", vec![of]);
        }
        if name == "new" && self.text_of(receiver) == "String" {
            let plain = given.into_iter().filter(|one| !matches!(one.kind, Kind::Keyword(..)));
            return Node::new(at, Kind::Join(plain.take(1).collect()));
        }
        if name == "new" && matches!(self.text_of(receiver), "Proc") {
            return given.into_iter().next().unwrap_or_else(|| Self::nothing(node));
        }
        let of = self.rb(receiver);
        let has_block = given.iter().any(|one| matches!(&one.kind, Kind::Keyword(name, _) if &**name == "&"));
        let kind = EACH.iter().find(|(own, _)| *own == name && (has_block || *own == "each"));
        match (kind, name.as_str()) {
            (Some((_, gives)), _) => {
                let mut all = vec![Node::text(at, gives), Node::text(at, &name), of];
                all.extend(given);
                self.rb_function_call(at, "each.of", all)
            }
            (None, "pack" | "unpack1" | "unpack" | "tr" | "reverse" | "first" | "last" | "rotate") => {
                let mut all = vec![of];
                all.extend(given);
                self.rb_function_call(at, &format!("{name}.of"), all)
            }
            (None, "chars") => {
                let member = Node::new(at, Kind::Member(of.into(), "split".into()));
                Node::new(at, Kind::Call(member.into(), vec![Node::text(at, "")]))
            }
            (None, "chr") => self.rb_function_call(at, "chr.of", vec![of]),
            (None, "join") if given.is_empty() => {
                let member = Node::new(at, Kind::Member(of.into(), "join".into()));
                Node::new(at, Kind::Call(member.into(), vec![Node::text(at, "")]))
            }
            _ => {
                let own = OF_TEXT.iter().find(|(own, _)| *own == name).map_or(name.as_str(), |(_, own)| own);
                let member = Node::new(at, Kind::Member(of.into(), own.into()));
                Node::new(at, Kind::Call(member.into(), given))
            }
        }
    }

    pub(super) fn rb_arguments(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let mut given =
            node.child_by_field_name("arguments").map(|list| self.rb_given(list)).unwrap_or_default();
        if let Some(block) = node.child_by_field_name("block") {
            let function = self.deeper(block, |lower| lower.rb_function(block, false));
            given.push(Node::new(Self::at(block), Kind::Keyword("&".into(), function.into())));
        }
        given
    }

    pub(super) fn rb_given(&mut self, list: Parsed<'_>) -> Vec<Node> {
        let mut given = Vec::new();
        for one in Self::children(list) {
            let at = Self::at(one);
            match one.kind() {
                "pair" => {
                    let key = one.child_by_field_name("key");
                    let name = match key.map(|key| (key, key.kind())) {
                        Some((key, "hash_key_symbol")) => Some(self.text_of(key)),
                        Some((key, "simple_symbol")) => Some(self.text_of(key).trim_start_matches(':')),
                        _ => None,
                    };
                    let name = name.map(str::to_owned);
                    let is_stream = matches!(name.as_deref(), Some("in" | "out" | "err"));
                    let symbol = one.child_by_field_name("value").filter(|one| one.kind() == "simple_symbol");
                    let value = match symbol.filter(|_| is_stream) {
                        // One that is open already, or none.
                        Some(symbol) => Self::nothing(symbol),
                        None => self.rb_pair_value(one),
                    };
                    given.push(match (name, key) {
                        (Some(name), _) => Node::new(at, Kind::Keyword(name.into(), value.into())),
                        (None, Some(key)) => {
                            let key = self.rb(key);
                            Node::new(at, Kind::Map(vec![(key, value)]))
                        }
                        (None, None) => value,
                    });
                }
                "block_argument" => {
                    let value = match Self::children(one).first() {
                        Some(symbol) if symbol.kind() == "simple_symbol" => {
                            symbol_function(self.text_of(*symbol).trim_start_matches(':'), at)
                        }
                        Some(other) => self.rb(*other),
                        None => Node::name(at, "&"),
                    };
                    given.push(Node::new(at, Kind::Keyword("&".into(), value.into())));
                }
                _ => given.push(self.rb(one)),
            }
        }
        given
    }

    /// A call without an object.
    fn rb_bare_call(&mut self, node: Parsed<'_>, name: &str) -> Node {
        let at = Self::at(node);
        if let Some((_, target)) = METHODS_BY_NAME.iter().find(|(own, _)| *own == name) {
            return self.rb_by_name(node, None, *target);
        }
        let mut given = self.rb_arguments(node);
        match name {
            "require" => {
                let name = given.into_iter().next().unwrap_or_else(|| self.error(node));
                Node::new(at, Kind::Load(name.into()))
            }
            "require_relative" => {
                if let Some(Node { kind: Kind::Join(parts), .. }) = given.first_mut() {
                    parts.push(Node::text(at, ".rb"));
                }
                self.rb_function_call(at, "load", given)
            }
            "lambda" | "proc" => match given.pop().map(|one| one.kind) {
                Some(Kind::Keyword(_, function)) => *function,
                _ => Self::nothing(node),
            },
            "loop" => match given.pop().map(|one| one.kind) {
                Some(Kind::Keyword(_, function)) => {
                    repeated(at, Node::new(at, Kind::Call(function, Vec::new())))
                }
                _ => Self::nothing(node),
            },
            "include" | "extend" | "prepend" => {
                let parts = given.into_iter().map(|one| Node::new(at, Kind::LoadAll(one.into()))).collect();
                Node::new(at, Kind::Sequence(parts))
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
                given.push(Self::nothing(node));
                Node::new(at, Kind::Inert(given))
            }
            "format" | "sprintf" => {
                let mut values = given.into_iter();
                let format = values.next().unwrap_or_else(|| Self::nothing(node));
                let values = Node::new(at, Kind::List(values.collect()));
                Node::new(at, Kind::Modulo(format.into(), values.into()))
            }
            "block_given?" => Node::new(at, Kind::Inert(vec![Self::nothing(node)])),
            _ => self.rb_defining_call(node, name, given),
        }
    }

    /// Calls that give methods a name.
    fn rb_defining_call(&mut self, node: Parsed<'_>, name: &str, mut given: Vec<Node>) -> Node {
        let at = Self::at(node);
        match name {
            "alias_method" => match given.as_slice() {
                [new, old] => {
                    let (Some(new), Some(old)) = (plain_text(new), plain_text(old)) else {
                        return self.hole(node, Why::Dynamic);
                    };
                    let value = Node::name(at, &format!("{old}()"));
                    Node::assign(at, Node::name(at, &format!("->{new}")), value)
                }
                _ => self.hole(node, Why::Dynamic),
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
                        Node::new(at, Kind::Call(Self::nothing(node).into(), vec![function]))
                    }
                    (_, None) => Self::nothing(node),
                }
            }
            _ => self.rb_function_call(at, name, given),
        }
    }

    /// `send(:name, ...)`, `method(:name)`
    fn rb_by_name(&mut self, node: Parsed<'_>, of: Option<Node>, calls: bool) -> Node {
        let at = Self::at(node);
        let mut given = self.rb_arguments(node).into_iter();
        let Some(name) = given.next() else { return self.error(node) };
        let of = match of {
            // A socket's data, flags, host and port: which of both it is depends on the object.
            Some(of) if calls && is_of_socket(given.as_slice()) => {
                return self.rb_function_call(at, "send.of", [of, name].into_iter().chain(given).collect());
            }
            of => of,
        };
        let callee = match (plain_text(&name), of) {
            (Some(name), Some(of)) => Node::new(at, Kind::Member(of.into(), name.into())),
            (Some(name), None) => Node::name(at, &format!("{name}()")),
            (None, of) => {
                let of = of.unwrap_or_else(|| Node::name(at, "Kernel"));
                self.rb_function_call(at, "->", vec![of, name])
            }
        };
        if calls { Node::new(at, Kind::Call(callee.into(), given.collect())) } else { callee }
    }
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
fn symbol_function(name: &str, at: crate::tree::Span) -> Node {
    let target = Node::name(at, "of symbol");
    let of = Node::name(at, "of symbol");
    let body = match name {
        "chr" => Node::new(at, Kind::Call(Node::name(at, "chr.of()").into(), vec![of])),
        _ if SAME.contains(&name) || COPIES.contains(&name) => of,
        _ => {
            let name = OF_TEXT.iter().find(|(own, _)| *own == name).map_or(name, |(_, own)| own);
            let member = Node::new(at, Kind::Member(of.into(), name.into()));
            Node::new(at, Kind::Call(member.into(), Vec::new()))
        }
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
