//! Ruby 4.1, as `ruby-prism` 2.1 reads it.
//!
//! Local variables have their names, constants theirs, `A::B` in whole; functions are called as `name()`, whoever has
//! them. A block is a function that is given as the argument `&`. Every function of the program takes its object first.

use std::collections::HashSet;
use std::rc::Rc;

use ruby_prism::{ConstantId, ConstantPathNode, Integer, Location, Node as Parsed, NodeList, RangeNode};

use super::Lower;
use crate::tree::{Kind, Node, Span};

/// Takes the first branch whose kind the node has.
macro_rules! by_kind {
    ($node:expr; $($kind:ident $one:pat => $then:expr,)* _ => $other:expr $(,)?) => {
        $(if let Some($one) = $node.$kind() { $then } else)* { $other }
    };
}

mod assignments;
mod calls;
mod control;
mod definitions;
mod texts;

/// Facts about the part of the program that the reader is in.
#[derive(Debug, Default)]
pub(super) struct Ruby {
    /// Names of methods that have been given a value.
    methods: HashSet<Rc<str>>,
    /// How many classes and modules are around.
    classes: usize,
}

/// Returns the common tree of a program.
pub(crate) fn ruby(text: &str, program: &Parsed<'_>) -> Node {
    Lower::of(text).rb(program)
}

impl Lower<'_> {
    fn rb(&mut self, node: &Parsed<'_>) -> Node {
        self.deeper_at(span(&node.location()), |lower| lower.rb_value(node))
    }

    fn rb_all(&mut self, nodes: &NodeList<'_>) -> Vec<Node> {
        nodes.iter().map(|one| self.rb(&one)).collect()
    }

    /// Variables and literals.
    fn rb_value(&mut self, node: &Parsed<'_>) -> Node {
        let at = span(&node.location());
        let kind = by_kind! { node;
            as_local_variable_read_node one => return self.rb_variable(at, text(&one.name())),
            as_instance_variable_read_node one => return self.rb_variable(at, text(&one.name())),
            as_class_variable_read_node one => return self.rb_variable(at, text(&one.name())),
            as_global_variable_read_node one => return self.rb_variable(at, text(&one.name())),
            as_constant_read_node one => return self.rb_variable(at, text(&one.name())),
            as_numbered_reference_read_node _ => return Node::name(at, self.rb_written(at)),
            as_back_reference_read_node _ => return Node::name(at, self.rb_written(at)),
            as_it_local_variable_read_node _ => return Node::name(at, "it"),
            as_self_node _ => return Node::name(at, "self"),
            as_constant_path_node one => return self.rb_path(&one),
            as_integer_node one => whole(&one.value()).map_or(Kind::Constant, Kind::Number),
            as_true_node _ => Kind::Number(1),
            as_false_node _ => Kind::Number(0),
            as_nil_node _ => Kind::Constant,
            as_float_node _ => Kind::Constant,
            as_rational_node _ => Kind::Constant,
            as_imaginary_node _ => Kind::Constant,
            as_source_encoding_node _ => Kind::Constant,
            as_source_line_node _ => Kind::Constant,
            // It is looked at, and not run.
            as_defined_node _ => Kind::Constant,
            as_source_file_node _ => return function_call(at, "__FILE__", Vec::new()),
            as_array_node one => Kind::List(self.rb_all(&one.elements())),
            as_hash_node one => return self.rb_entries(at, &one.elements()),
            as_keyword_hash_node one => return self.rb_entries(at, &one.elements()),
            as_range_node one => return self.rb_range(&one),
            as_flip_flop_node one => {
                let ends = [one.left(), one.right()].into_iter().flatten();
                Kind::Inert(ends.map(|end| self.rb(&end)).collect())
            },
            as_implicit_node one => return self.rb(&one.value()),
            _ => return self.rb_text(node).unwrap_or_else(|| self.rb_operation(node)),
        };
        Node::new(at, kind)
    }

    /// Calls, definitions and assignments.
    fn rb_operation(&mut self, node: &Parsed<'_>) -> Node {
        let at = span(&node.location());
        by_kind! { node;
            as_call_node one => self.rb_call(&one),
            as_super_node one => {
                let given = self.rb_arguments(one.arguments(), one.block());
                function_call(at, "super", given)
            },
            as_forwarding_super_node one => {
                let block = one.block().map(|block| block.as_node());
                let given = self.rb_arguments(None, block);
                Node::inert(at, vec![function_call(at, "super", given)])
            },
            as_yield_node one => {
                let given = self.rb_arguments(one.arguments(), None);
                Node::library(at, "&", given)
            },
            as_splat_node one => self.rb_spread(at, "*", one.expression()),
            as_assoc_splat_node one => self.rb_spread(at, "**", one.value()),
            as_forwarding_arguments_node _ => self.rb_spread(at, "...", None),
            as_and_node one => self.rb_condition(&one.as_node()),
            as_or_node one => self.rb_condition(&one.as_node()),
            as_def_node one => self.rb_method(&one),
            as_lambda_node one => self.rb_function(at, definitions::block(one.parameters()), one.body(), false),
            as_class_node one => self.rb_class(at, &one.constant_path(), one.superclass(), one.body()),
            as_module_node one => self.rb_class(at, &one.constant_path(), None, one.body()),
            as_singleton_class_node one => {
                let of = self.rb(&one.expression());
                let body = self.rb_body(at, one.body());
                Node::sequence(at, vec![of, body])
            },
            as_alias_method_node one => self.rb_alias(at, &one.new_name(), &one.old_name()),
            as_alias_global_variable_node _ => Node::nothing(at),
            as_undef_node _ => Node::nothing(at),
            _ => self.rb_assignment(node).unwrap_or_else(|| self.rb_control(node)),
        }
    }

    fn rb_spread(&mut self, at: Span, unnamed: &str, of: Option<Parsed<'_>>) -> Node {
        let of = of.map_or_else(|| Node::name(at, unnamed), |of| self.rb(&of));
        Node::spread(at, of)
    }

    /// A variable or constant. An object has the variable of an instance; outside of classes it is one of the program.
    fn rb_variable(&self, at: Span, name: &str) -> Node {
        let is_of_instance = name.starts_with('@') && !name.starts_with("@@");
        if is_of_instance && self.ruby.classes > 0 {
            return Node::member(at, Node::name(at, "self"), name);
        }
        Node::name(at, name)
    }

    /// `A::B`
    fn rb_path(&mut self, node: &ConstantPathNode<'_>) -> Node {
        let at = span(&node.location());
        if let Some(name) = constant(&node.as_node()) {
            return Node::name(at, &name);
        }
        let name = node.name().map(|name| text(&name)).unwrap_or_default();
        let of = node.parent().map_or_else(|| Node::nothing(at), |of| self.rb(&of));
        Node::member(at, of, name)
    }

    fn rb_range(&mut self, node: &RangeNode<'_>) -> Node {
        let at = span(&node.location());
        match [node.left(), node.right()].map(|end| end.map(|end| self.rb(&end))) {
            [Some(begin), Some(mut end)] => {
                if node.is_exclude_end() {
                    end = Node::new(at, Kind::Add(vec![end, Node::new(at, Kind::Number(-1))]));
                }
                function_call(at, "..", vec![begin, end])
            }
            [begin, end] => Node::inert(at, begin.into_iter().chain(end).collect()),
        }
    }

    fn rb_entries(&mut self, at: Span, elements: &NodeList<'_>) -> Node {
        let entry = |one: Parsed<'_>| match one.as_assoc_node() {
            Some(pair) => (self.rb(&pair.key()), self.rb(&pair.value())),
            None => (self.rb(&one), Node::nothing(at)),
        };
        Node::new(at, Kind::Map(elements.iter().map(entry).collect()))
    }

    fn rb_written(&self, at: Span) -> &str {
        self.text.get(at.0 as usize..at.1 as usize).unwrap_or_default()
    }
}

/// The parser's place of a node.
fn span(at: &Location<'_>) -> Span {
    (at.start(), at.end())
}

fn text<'p>(name: &ConstantId<'p>) -> &'p str {
    std::str::from_utf8(name.as_slice()).unwrap_or_default()
}

/// The name of a constant, `A::B` in whole.
fn constant(node: &Parsed<'_>) -> Option<String> {
    let mut names = Vec::new();
    let mut left = Some(
        node.as_constant_read_node()
            .map(|one| one.as_node())
            .or_else(|| Some(node.as_constant_path_node()?.as_node()))?,
    );
    while let Some(one) = left {
        left = by_kind! { one;
            as_constant_read_node one => {
                names.push(text(&one.name()));
                None
            },
            as_constant_path_node one => {
                names.push(text(&one.name()?));
                one.parent()
            },
            _ => return None,
        };
    }
    names.reverse();
    Some(names.join("::"))
}

fn whole(value: &Integer<'_>) -> Option<i64> {
    let (is_negative, digits) = value.to_u32_digits();
    let (low, high) = match digits {
        [low] => (*low, 0),
        [low, high] => (*low, *high),
        _ => return None,
    };
    let value = i64::try_from(u64::from(high) << 32 | u64::from(low)).ok()?;
    Some(if is_negative { -value } else { value })
}

/// A call without an object: a method of the program, or of all objects.
fn function_call(at: Span, name: &str, arguments: Vec<Node>) -> Node {
    Node::library(at, &format!("{name}()"), arguments)
}
