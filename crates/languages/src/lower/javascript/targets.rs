//! The places to which values are given.

use castellan_event::Why;
use oxc_ast::ast::{
    AssignmentTarget, AssignmentTargetMaybeDefault, AssignmentTargetProperty, BindingPattern,
    ObjectAssignmentTarget, ObjectPattern, PropertyKey, SimpleAssignmentTarget,
};

use super::super::Lower;
use super::definitions::private;
use super::span;
use crate::tree::{Kind, Node};

impl Lower<'_> {
    /// The names of a declaration.
    pub(super) fn js_binding(&mut self, node: &BindingPattern<'_>, is_var: bool) -> Node {
        let at = span(node);
        self.deeper_at(at, |lower| match node {
            BindingPattern::BindingIdentifier(one) => {
                let name = if is_var { lower.declare_outside(&one.name) } else { lower.declare(&one.name) };
                Node::name(at, &name)
            }
            BindingPattern::ArrayPattern(several) => {
                let elements = several.elements.iter().map(|one| match one {
                    Some(one) => lower.js_binding(one, is_var),
                    None => Node::nothing(at),
                });
                let mut targets: Vec<Node> = elements.collect();
                targets.extend(several.rest.iter().map(|rest| lower.js_rest(&rest.argument, is_var)));
                Node::list(at, targets)
            }
            BindingPattern::ObjectPattern(several) => lower.js_binding_entries(several, is_var),
            BindingPattern::AssignmentPattern(one) => {
                let default = lower.js(&one.right);
                Node::or(at, vec![lower.js_binding(&one.left, is_var), default])
            }
        })
    }

    fn js_rest(&mut self, node: &BindingPattern<'_>, is_var: bool) -> Node {
        let inner = self.js_binding(node, is_var);
        Node::spread(inner.at, inner)
    }

    /// The keys, and the names to which their values are given.
    fn js_binding_entries(&mut self, node: &ObjectPattern<'_>, is_var: bool) -> Node {
        let at = span(node);
        let entries = node.properties.iter();
        let mut entries: Vec<(Node, Node)> =
            entries.map(|one| (self.js_key(&one.key), self.js_binding(&one.value, is_var))).collect();
        entries
            .extend(node.rest.iter().map(|rest| (self.js_rest(&rest.argument, is_var), Node::nothing(at))));
        Node::new(at, Kind::Map(entries))
    }

    /// The target of an assignment.
    pub(super) fn js_target(&mut self, node: &AssignmentTarget<'_>) -> Node {
        let at = span(node);
        self.deeper_at(at, |lower| match node {
            AssignmentTarget::ArrayAssignmentTarget(several) => {
                let elements = several.elements.iter().map(|one| match one {
                    Some(one) => lower.js_element(one),
                    None => Node::nothing(at),
                });
                let mut targets: Vec<Node> = elements.collect();
                targets.extend(several.rest.iter().map(|rest| lower.js_target_rest(&rest.target)));
                Node::list(at, targets)
            }
            AssignmentTarget::ObjectAssignmentTarget(several) => lower.js_target_entries(several),
            other => match other.as_simple_assignment_target() {
                Some(simple) => lower.js_simple(simple),
                None => Node::hole(at, Why::Syntax),
            },
        })
    }

    fn js_target_rest(&mut self, node: &AssignmentTarget<'_>) -> Node {
        let inner = self.js_target(node);
        Node::spread(inner.at, inner)
    }

    fn js_element(&mut self, node: &AssignmentTargetMaybeDefault<'_>) -> Node {
        let at = span(node);
        match node {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(one) => {
                let default = self.js(&one.init);
                Node::or(at, vec![self.js_target(&one.binding), default])
            }
            other => match other.as_assignment_target() {
                Some(target) => self.js_target(target),
                None => Node::hole(at, Why::Syntax),
            },
        }
    }

    fn js_target_entries(&mut self, node: &ObjectAssignmentTarget<'_>) -> Node {
        let at = span(node);
        let mut entries = Vec::new();
        for one in &node.properties {
            entries.push(match one {
                AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(one) => {
                    let (at, name) = (span(&one.binding), &one.binding.name);
                    let default = one.init.as_ref().map(|value| self.js(value));
                    let target = Node::name(at, name);
                    let target = match default {
                        Some(default) => Node::or(at, vec![target, default]),
                        None => target,
                    };
                    (Node::text(at, name), target)
                }
                AssignmentTargetProperty::AssignmentTargetPropertyProperty(one) => {
                    (self.js_key(&one.name), self.js_element(&one.binding))
                }
            });
        }
        entries.extend(node.rest.iter().map(|rest| (self.js_target_rest(&rest.target), Node::nothing(at))));
        Node::new(at, Kind::Map(entries))
    }

    /// A name or a member, as a target or as the value before the assignment.
    pub(super) fn js_simple(&mut self, node: &SimpleAssignmentTarget<'_>) -> Node {
        let at = span(node);
        match (node, node.get_expression(), node.as_member_expression()) {
            (SimpleAssignmentTarget::AssignmentTargetIdentifier(one), ..) => Node::name(at, &one.name),
            (_, Some(typed), _) => self.js(typed),
            (_, None, Some(member)) => self.js_member(member),
            (_, None, None) => Node::hole(at, Why::Syntax),
        }
    }

    pub(super) fn js_key(&mut self, key: &PropertyKey<'_>) -> Node {
        let at = span(key);
        match key {
            PropertyKey::StaticIdentifier(name) => Node::text(at, &name.name),
            PropertyKey::PrivateIdentifier(name) => Node::text(at, &private(&name.name)),
            other => match other.as_expression() {
                Some(value) => self.js(value),
                None => Node::hole(at, Why::Syntax),
            },
        }
    }
}
