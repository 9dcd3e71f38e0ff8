//! Lua 5.1 to 5.4 and `LuaJIT`, as `tree-sitter-lua` 0.5 reads it. A place that takes all values of a call is a
//! [`Kind::Spread`].

use std::rc::Rc;

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::{Lower, Names};
use crate::tree::{Function, Kind, Node, Parameter, Rest};

mod expressions;

/// How a block around ends.
#[derive(Debug)]
pub(super) struct End {
    of: Of,
    /// The label that is the last in it.
    label: Option<String>,
}

/// What a block is the body of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Block,
    Loop,
    Function,
}

/// The name of the values that a function takes beyond its parameters.
const REST: &str = "...";

/// The name of the table of global names; another in its place changes what all names mean.
const GLOBALS: &str = "_ENV";

impl Lower<'_> {
    pub(super) fn lua(&mut self, root: Parsed<'_>) -> Node {
        let parts = self.lua_statements(root, Of::Function);
        Node::sequence(Self::at(root), parts)
    }

    fn lua_statements(&mut self, node: Parsed<'_>, of: Of) -> Vec<Node> {
        let children = Self::children(node);
        let last = children.iter().rfind(|child| child.kind() != "empty_statement");
        let label = last.filter(|last| last.kind() == "label_statement");
        let label = label.and_then(|label| Self::children(*label).first().copied());
        self.lua.push(End { of, label: label.map(|label| self.text_of(label).to_owned()) });
        let parts = children.into_iter().map(|child| self.lua_statement(child)).collect();
        self.lua.pop();
        parts
    }

    fn lua_statement(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.lua_statement_of(node))
    }

    /// A block with names of its own; without one, nothing.
    fn lua_block(&mut self, node: Option<Parsed<'_>>, around: Parsed<'_>) -> Node {
        let is_loop = matches!(around.kind(), "for_statement" | "while_statement" | "repeat_statement");
        let of = if is_loop { Of::Loop } else { Of::Block };
        let Some(node) = node else { return Self::nothing(around) };
        self.begin_block();
        let parts = self.lua_statements(node, of);
        let at = Self::at(node);
        self.scoped(Node::sequence(at, parts))
    }

    fn lua_statement_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "variable_declaration" => return self.lua_local(node),
            "assignment_statement" => return self.lua_assignment(node, false),
            "function_declaration" => return self.lua_named_function(node),
            "do_statement" => return self.lua_block(node.child_by_field_name("body"), node),
            "while_statement" => {
                let condition = self.lua_field(node, "condition");
                let body = self.lua_block(node.child_by_field_name("body"), node);
                return Node::repeats(at, vec![condition, body]);
            }
            "repeat_statement" => {
                // What the body declares is seen by the condition.
                self.begin_block();
                let body = node.child_by_field_name("body");
                let mut parts = body.map(|body| self.lua_statements(body, Of::Loop)).unwrap_or_default();
                parts.push(self.lua_field(node, "condition"));
                return Node::repeats(at, vec![self.scoped(Node::sequence(at, parts))]);
            }
            "for_statement" => return self.lua_for(node),
            "if_statement" => return self.lua_branch(node),
            "return_statement" => {
                self.jumps += 1;
                let values = Self::children(node).first().map(|list| self.lua_return(*list));
                Kind::Return(values.map(Box::new))
            }
            "break_statement" => {
                self.jumps += 1;
                Kind::Constant
            }
            "goto_statement" => return self.lua_goto(node),
            "label_statement" | "empty_statement" | "hash_bang_line" => Kind::Constant,
            _ => return self.lua_expression(node),
        };
        Node::new(at, kind)
    }

    /// `return a, b` gives both; `return f()` all that `f` gives.
    fn lua_return(&mut self, list: Parsed<'_>) -> Node {
        let mut values = self.lua_values(list);
        match values.as_slice() {
            [Node { kind: Kind::Spread(_), .. }] | [_, _, ..] => {
                Node::library(Self::at(list), "values", values)
            }
            _ => values.pop().unwrap_or_else(|| Self::nothing(list)),
        }
    }

    /// `local a, b = ...`: the names are there behind it only.
    fn lua_local(&mut self, node: Parsed<'_>) -> Node {
        match Self::children(node).first() {
            Some(inner) if inner.kind() == "assignment_statement" => self.lua_assignment(*inner, true),
            Some(names) => {
                let at = Self::at(node);
                let targets = self.lua_targets(*names, true);
                let unset = |target| Node::assign(at, target, Node::nothing(at));
                Node::sequence(at, targets.into_iter().map(unset).collect())
            }
            None => self.error(node),
        }
    }

    fn lua_assignment(&mut self, node: Parsed<'_>, is_local: bool) -> Node {
        let at = Self::at(node);
        let children = Self::children(node);
        let [names, list] = children.as_slice() else { return self.error(node) };
        let mut values = self.lua_values(*list);
        let mut targets = self.lua_targets(*names, is_local);
        let single = targets.len() == 1 && values.len() == 1;
        let changes_names = Self::children(*names).iter().any(|name| self.text_of(*name) == GLOBALS);
        let assigned = match (targets.pop(), values.pop()) {
            (Some(target), Some(value)) if single => {
                let value = match value.kind {
                    // One value only is taken.
                    Kind::Spread(value) => self.lua_first(*value),
                    _ => value,
                };
                Node::assign(at, target, value)
            }
            (target, value) => {
                targets.extend(target);
                values.extend(value);
                let target = Node::list(at, targets);
                Node::assign(at, target, Node::list(at, values))
            }
        };
        if !changes_names {
            return assigned;
        }
        Node::sequence(at, vec![self.hole(node, Why::Unsupported), assigned])
    }

    fn lua_targets(&mut self, names: Parsed<'_>, is_local: bool) -> Vec<Node> {
        let mut targets = Vec::new();
        for name in Self::children(names) {
            if name.kind() == "attribute" {
                continue;
            }
            let text = self.text_of(name);
            targets.push(match name.kind() {
                "identifier" if text == GLOBALS => self.hole(name, Why::Unsupported),
                "identifier" if is_local => Node::name(Self::at(name), &self.declare(text)),
                _ => self.lua_expression(name),
            });
        }
        targets
    }

    /// `function a.b.c:d() ... end`
    fn lua_named_function(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(name) = node.child_by_field_name("name") else { return self.error(node) };
        let is_local = self.text_of(node).starts_with("local");
        let takes_self = name.kind() == "method_index_expression";
        let target = match name.kind() {
            "identifier" if is_local => Node::name(at, &self.declare(self.text_of(name))),
            _ => self.lua_expression(name),
        };
        let function = self.lua_function(node, takes_self);
        Node::assign(at, target, function)
    }

    fn lua_function(&mut self, node: Parsed<'_>, takes_self: bool) -> Node {
        let at = Self::at(node);
        self.scopes.push(Names::default());
        let mut parameters = Vec::new();
        let mut holes = Vec::new();
        if takes_self {
            let target = Node::name(at, &self.declare("self"));
            parameters.push(Parameter { target, default: None, rest: Rest::One });
        }
        for one in node.child_by_field_name("parameters").map(Self::children).unwrap_or_default() {
            let is_rest = one.kind() == "vararg_expression";
            let name = if is_rest { REST } else { self.text_of(one) };
            if name == GLOBALS {
                holes.push(self.hole(one, Why::Unsupported));
            }
            let target = Node::name(Self::at(one), &self.declare(name));
            let rest = if is_rest { Rest::List } else { Rest::One };
            parameters.push(Parameter { target, default: None, rest });
        }
        let parts = node.child_by_field_name("body").map(|body| self.lua_statements(body, Of::Function));
        let parts = holes.into_iter().chain(parts.unwrap_or_default());
        let body = Node::sequence(at, parts.collect());
        let locals = self.locals();
        let function = Function { parameters, locals, body, has_this: false, takes_self: false };
        Node::new(at, Kind::Function(Rc::new(function)))
    }

    fn lua_for(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(clause) = node.child_by_field_name("clause") else { return self.error(node) };
        let is_numeric = clause.kind() == "for_numeric_clause";
        let over = if is_numeric {
            let ends: Vec<Node> = ["start", "end", "step"]
                .into_iter()
                .filter_map(|name| clause.child_by_field_name(name))
                .map(|one| self.lua_expression(one))
                .collect();
            Node::library(at, "numbers.between", ends)
        } else {
            let list = Self::children(clause).into_iter().find(|child| child.kind() == "expression_list");
            let values = list.map(|list| self.lua_values(list)).unwrap_or_default();
            Node::library(at, "iterated", values)
        };
        self.begin_block();
        let target = if is_numeric {
            let name = clause.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
            Node::name(at, &self.declare(name))
        } else {
            let names = Self::children(clause).into_iter().find(|child| child.kind() == "variable_list");
            let names = names.map(|names| self.lua_targets(names, true)).unwrap_or_default();
            Node::list(at, names)
        };
        let before = self.jumps;
        let body = self.lua_block(node.child_by_field_name("body"), node);
        self.scoped(Node::for_each(at, target, over, body, self.jumps > before))
    }

    fn lua_branch(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut conditions = vec![self.lua_field(node, "condition")];
        let mut bodies = vec![self.lua_block(node.child_by_field_name("consequence"), node)];
        let mut has_else = false;
        for clause in Self::fields(node, "alternative") {
            if clause.kind() == "elseif_statement" {
                conditions.push(self.lua_field(clause, "condition"));
                bodies.push(self.lua_block(clause.child_by_field_name("consequence"), clause));
            } else {
                has_else = true;
                bodies.push(self.lua_block(clause.child_by_field_name("body"), clause));
            }
        }
        if !has_else {
            bodies.push(Self::nothing(node));
        }
        Node::branch(at, conditions, bodies)
    }

    /// To the end of a loop's body or of a function, as `continue` and `return` do in other languages; other ways are
    /// not followed.
    fn lua_goto(&mut self, node: Parsed<'_>) -> Node {
        let name = Self::children(node).first().map(|one| self.text_of(*one)).unwrap_or_default();
        let end = self.lua.iter().rev().find(|end| end.of != Of::Block);
        match end.filter(|end| end.label.as_deref() == Some(name)) {
            Some(end) => {
                self.jumps += 1;
                let kind = if end.of == Of::Loop { Kind::Constant } else { Kind::Return(None) };
                Node::new(Self::at(node), kind)
            }
            None => self.hole(node, Why::Unsupported),
        }
    }
}
