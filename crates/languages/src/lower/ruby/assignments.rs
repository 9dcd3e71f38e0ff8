//! What values are given to.

use castellan_event::Why;
use ruby_prism::{ArgumentsNode, ConstantId, MultiTargetNode, Node as Parsed, NodeList};

use super::super::Lower;
use super::{constant, function_call, span, text, whole};
use crate::tree::{Kind, Node, Span};

/// The place, operator (`None` for `&&=`, `||=`) and value of an assignment that computes with the value before it.
macro_rules! changed {
    ($node:expr; $($and:ident $or:ident $operator:ident $one:ident => $place:expr,)*) => {
        by_kind! { $node;
            $($and $one => Some(($place, None, $one.value())),
            $or $one => Some(($place, None, $one.value())),
            $operator $one => Some(($place, Some($one.binary_operator()), $one.value())),)*
            _ => None,
        }
    };
}

impl Lower<'_> {
    pub(super) fn rb_assignment(&mut self, node: &Parsed<'_>) -> Option<Node> {
        let at = span(&node.location());
        // A variable is one from its assignment on, its value included.
        let (target, value) = by_kind! { node;
            as_local_variable_write_node one => (self.rb_place(at, text(&one.name()), one.depth()), one.value()),
            as_instance_variable_write_node one => (self.rb_place(at, text(&one.name()), 0), one.value()),
            as_class_variable_write_node one => (self.rb_place(at, text(&one.name()), 0), one.value()),
            as_global_variable_write_node one => (self.rb_place(at, text(&one.name()), 0), one.value()),
            as_constant_write_node one => (self.rb_place(at, text(&one.name()), 0), one.value()),
            as_constant_path_write_node one => (self.rb_path(&one.target()), one.value()),
            as_multi_write_node one => (self.rb_targets(at, &one.lefts(), one.rest(), &one.rights()), one.value()),
            as_shareable_constant_node one => return Some(self.rb(&one.write())),
            _ => return self.rb_changed(node),
        };
        let value = self.rb(&value);
        Some(Node::assign(at, target, value))
    }

    /// `a += b`
    fn rb_changed(&mut self, node: &Parsed<'_>) -> Option<Node> {
        let at = span(&node.location());
        let variable = changed! { node;
            as_local_variable_and_write_node as_local_variable_or_write_node
                as_local_variable_operator_write_node one => (one.name(), one.depth()),
            as_instance_variable_and_write_node as_instance_variable_or_write_node
                as_instance_variable_operator_write_node one => (one.name(), 0),
            as_class_variable_and_write_node as_class_variable_or_write_node
                as_class_variable_operator_write_node one => (one.name(), 0),
            as_global_variable_and_write_node as_global_variable_or_write_node
                as_global_variable_operator_write_node one => (one.name(), 0),
            as_constant_and_write_node as_constant_or_write_node
                as_constant_operator_write_node one => (one.name(), 0),
        };
        if let Some(((name, depth), operator, value)) = variable {
            let target = self.rb_place(at, text(&name), depth);
            let before = self.rb_variable(at, text(&name));
            return Some(self.rb_computed(at, (target, before), operator, &value));
        }
        let path = changed! { node;
            as_constant_path_and_write_node as_constant_path_or_write_node
                as_constant_path_operator_write_node one => one.target(),
        };
        if let Some((path, operator, value)) = path {
            let places = (self.rb_path(&path), self.rb_path(&path));
            return Some(self.rb_computed(at, places, operator, &value));
        }
        let method = changed! { node;
            as_call_and_write_node as_call_or_write_node
                as_call_operator_write_node one => (one.receiver()?, one.read_name()),
        };
        if let Some(((of, name), operator, value)) = method {
            let target = member(at, self.rb(&of), text(&name));
            let before = Node::member(at, self.rb(&of), text(&name));
            let before = Node::call(at, before, Vec::new());
            return Some(self.rb_computed(at, (target, before), operator, &value));
        }
        let element = changed! { node;
            as_index_and_write_node as_index_or_write_node
                as_index_operator_write_node one => (one.receiver()?, one.arguments()),
        };
        let ((of, given), operator, value) = element?;
        let indexes: Vec<_> = indexes(given).collect();
        let places = (self.rb_element_target(at, &of, &indexes), self.rb_element(at, &of, &indexes));
        Some(self.rb_computed(at, places, operator, &value))
    }

    fn rb_computed(
        &mut self,
        at: Span,
        places: (Node, Node),
        operator: Option<ConstantId<'_>>,
        value: &Parsed<'_>,
    ) -> Node {
        let (target, before) = places;
        let right = self.rb(value);
        let value = match operator.as_ref().map(text) {
            None => Kind::Or(vec![before, right]),
            Some("+") => Kind::Add(vec![before, right]),
            Some("*") => Kind::Multiply(before.into(), right.into()),
            Some(_) => Kind::Inert(vec![before, right]),
        };
        Node::assign(at, target, Node::new(at, value))
    }

    /// What an assignment gives a value to.
    pub(super) fn rb_target(&mut self, node: &Parsed<'_>) -> Node {
        let at = span(&node.location());
        self.deeper_at(at, |lower| {
            by_kind! { node;
                as_local_variable_target_node one => lower.rb_place(at, text(&one.name()), one.depth()),
                as_required_parameter_node one => lower.rb_place(at, text(&one.name()), 0),
                as_instance_variable_target_node one => lower.rb_place(at, text(&one.name()), 0),
                as_class_variable_target_node one => lower.rb_place(at, text(&one.name()), 0),
                as_global_variable_target_node one => lower.rb_place(at, text(&one.name()), 0),
                as_constant_target_node one => lower.rb_place(at, text(&one.name()), 0),
                as_constant_path_target_node one => {
                    let name = one.name().map(|name| text(&name)).unwrap_or_default();
                    match one.parent() {
                        Some(of) => match constant(&of) {
                            Some(of) => Node::name(at, &format!("{of}::{name}")),
                            None => Node::member(at, lower.rb(&of), name),
                        },
                        None => Node::name(at, name),
                    }
                },
                as_index_target_node one => {
                    let indexes: Vec<_> = indexes(one.arguments()).collect();
                    lower.rb_element_target(at, &one.receiver(), &indexes)
                },
                as_call_target_node one => member(at, lower.rb(&one.receiver()), text(&one.name())),
                as_multi_target_node one => lower.rb_multi_target(&one),
                as_splat_node one => match one.expression() {
                    Some(inner) => Node::spread(at, lower.rb_target(&inner)),
                    None => Node::nothing(at),
                },
                as_implicit_rest_node _ => Node::nothing(at),
                _ => Node::hole(at, Why::Unsupported),
            }
        })
    }

    pub(super) fn rb_multi_target(&mut self, node: &MultiTargetNode<'_>) -> Node {
        self.rb_targets(span(&node.location()), &node.lefts(), node.rest(), &node.rights())
    }

    fn rb_targets(
        &mut self,
        at: Span,
        lefts: &NodeList<'_>,
        rest: Option<Parsed<'_>>,
        rights: &NodeList<'_>,
    ) -> Node {
        let all = lefts.iter().chain(rest).chain(rights);
        Node::list(at, all.map(|one| self.rb_target(&one)).collect())
    }

    /// A variable or constant that gets a value: that of a block around, or a new one.
    fn rb_place(&mut self, at: Span, name: &str, depth: u32) -> Node {
        let is_local = !name.starts_with(['@', '$']);
        let is_constant = name.starts_with(char::is_uppercase);
        if is_local && depth == 0 && (!is_constant || self.ruby.classes > 0) {
            self.declare(name);
        }
        self.rb_variable(at, name)
    }

    /// `a[b]`
    pub(super) fn rb_element(&mut self, at: Span, of: &Parsed<'_>, indexes: &[Parsed<'_>]) -> Node {
        let is_directory = constant(of).is_some_and(|name| name == "Dir");
        let of = self.rb(of);
        if is_directory {
            let member = Node::member(at, of, "glob");
            let given = indexes.iter().map(|one| self.rb(one)).collect();
            return Node::call(at, member, given);
        }
        let [one] = indexes else {
            let parts = std::iter::once(of).chain(indexes.iter().map(|one| self.rb(one)));
            let parts = parts.collect();
            return function_call(at, "element.of", parts);
        };
        let Some(range) = one.as_range_node() else {
            let index = self.rb(one);
            return Node::index(at, of, index);
        };
        let from = range.left().map(|one| self.rb(&one).into());
        let to = range.right().map(|end| {
            let number = end.as_integer_node().and_then(|end| whole(&end.value()));
            let end = self.rb(&end);
            // The end belongs to it.
            Box::new(match number {
                _ if range.is_exclude_end() => end,
                Some(-1) => Node::nothing(at),
                Some(number) => Node::new(at, Kind::Number(number.saturating_add(1))),
                None => Node::inert(at, vec![end]),
            })
        });
        Node::new(at, Kind::Slice(of.into(), [from, to, None]))
    }

    pub(super) fn rb_element_target(&mut self, at: Span, of: &Parsed<'_>, indexes: &[Parsed<'_>]) -> Node {
        match self.rb_element(at, of, indexes) {
            // A part that is given a value is not followed.
            Node { kind: Kind::Call(_, parts), .. } => Node::inert(at, parts),
            other => other,
        }
    }
}

/// `a.b = c`
pub(super) fn member(at: Span, of: Node, name: &str) -> Node {
    let name = name.strip_suffix('=').unwrap_or(name);
    Node::member(at, of, format!("@{name}"))
}

pub(super) fn indexes<'p>(given: Option<ArgumentsNode<'p>>) -> impl Iterator<Item = Parsed<'p>> {
    given.into_iter().flat_map(|given| given.arguments().iter().collect::<Vec<_>>())
}
