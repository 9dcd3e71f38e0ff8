//! Classes of the program and their objects: members, constructors, bases. Must not know what libraries do.

use std::collections::HashSet;
use std::rc::Rc;

use super::{Argument, ClassOf, Machine};
use crate::language::Language;
use crate::limits::CHOICES_MAX;
use crate::state::Cell;
use crate::tree::{Class, Kind, Node};
use crate::value::{CellId, Value};

/// Names of constructors.
pub(super) const CONSTRUCTORS: &[&str] = &["__init__", "constructor", "initialize", "__construct"];

/// Methods that return missing members of an object.
const MISSING: &[&str] = &["__getattribute__", "__getattr__"];

impl Machine<'_> {
    pub(super) fn class(&mut self, node: &Node, class: &Class) -> Value {
        let bases: Rc<[Value]> = class.bases.iter().map(|base| self.eval(base)).collect();
        for (base, value) in class.bases.iter().zip(bases.iter()) {
            // `metaclass=` is called. The program's own functions run separately.
            if matches!(base.kind, Kind::Keyword(..)) && matches!(value, Value::Library(..)) {
                self.hand(node, value);
            }
        }
        let members = self.state.scope(Some(self.state.seen_from(self.scope)), &class.locals, true);
        self.eval_in(members, &class.body);
        // The language itself calls some members: operators, accessors, conversions.
        for (name, value) in self.state.names(members) {
            match value {
                Value::Function(id) => {
                    if let Some(closure) = self.functions.get_mut(id) {
                        closure.class = Some(self.classes.len());
                        if name.starts_with("__") && !CONSTRUCTORS.contains(&&*name) {
                            // In PHP the calls of such a method are visible.
                            closure.is_implicit = self.language == Language::Python;
                            closure.why = self.language.handed();
                        }
                    }
                }
                other => self.hand(node, &other),
            }
        }
        self.classes.push(ClassOf { members, bases, instances: Vec::new() });
        Value::Class(self.classes.len() - 1)
    }

    /// Returns a member of a class or of its bases.
    pub(super) fn class_member(&self, class: usize, name: &str) -> Option<Value> {
        let classes = self.lineage(class).into_iter();
        classes.filter_map(|at| self.state.own_name(self.classes.get(at)?.members, name)).next()
    }

    /// Returns the bases of a class that the program does not define.
    fn foreign_bases(&self, class: usize) -> Vec<Value> {
        let classes = self.lineage(class).into_iter().filter_map(|at| self.classes.get(at));
        let bases = classes.flat_map(|of| of.bases.iter().flat_map(Value::choices));
        bases.filter(|base| !matches!(base, Value::Class(_))).cloned().collect()
    }

    /// Returns a class and its bases, each once, in the order of member lookup.
    fn lineage(&self, class: usize) -> Vec<usize> {
        let (mut all, mut seen, mut next) = (Vec::new(), HashSet::new(), vec![class]);
        while let Some(at) = next.pop() {
            if !seen.insert(at) || !self.step(1) {
                continue;
            }
            all.push(at);
            let bases = self.classes.get(at).into_iter().flat_map(|of| of.bases.iter().rev());
            next.extend(bases.flat_map(|base| base.choices().iter().rev()).filter_map(|base| match base {
                Value::Class(base) => Some(*base),
                _ => None,
            }));
        }
        all
    }

    pub(super) fn instantiate(&mut self, node: &Node, class: usize, arguments: Vec<Argument>) -> Value {
        let cell = self.state.new_cell(Cell { class: Some(class), ..Cell::default() });
        if let Some(of) = self.classes.get_mut(class) {
            of.instances.push(cell);
        }
        let this = Value::Instance(cell);
        if let Some(Value::Function(function)) = self.class_member(class, "__new__") {
            let of_class = Value::Class(class);
            let made = self.inline(node, function, Some(of_class), arguments.clone());
            if made.is_callable() {
                return made;
            }
        }
        let made = CONSTRUCTORS.iter().find_map(|name| self.class_member(class, name));
        match made {
            Some(Value::Function(function)) => {
                let made = self.inline(node, function, Some(this.clone()), arguments);
                if made.is_callable() {
                    return self.any(node, [this, made]);
                }
            }
            Some(other) => self.hand(node, &other),
            None => {
                for base in self.foreign_bases(class) {
                    if matches!(base, Value::Library(..)) {
                        return self.call(node, &base, arguments);
                    }
                }
                for argument in &arguments {
                    self.hand(node, &argument.value);
                }
            }
        }
        this
    }

    /// Returns the possible receivers of a function that is a class member.
    pub(super) fn owner(&mut self, id: usize) -> Option<Value> {
        let class = self.functions.get(id)?.class?;
        let mut instances: Vec<CellId> = self.classes.get(class)?.instances.clone();
        if instances.is_empty() {
            instances.push(self.state.new_cell(Cell {
                class: Some(class),
                is_open: true,
                ..Cell::default()
            }));
        }
        if instances.len() > CHOICES_MAX {
            instances.truncate(CHOICES_MAX);
            // One unknown object replaces all further ones.
            instances.push(self.state.new_cell(Cell {
                class: Some(class),
                is_open: true,
                ..Cell::default()
            }));
        }
        Value::any(instances.into_iter().map(Value::Instance)).ok()
    }

    /// Returns the receiver of the running function, by its first parameter.
    pub(super) fn this_object(&self) -> Value {
        let closure = self.member_being_run().and_then(|id| self.functions.get(id));
        let function = closure.map(|closure| &closure.function).filter(|function| function.takes_self);
        let name = match function.and_then(|function| function.parameters.first()).map(|one| &one.target.kind)
        {
            Some(Kind::Name(name)) => name,
            _ => "this",
        };
        self.state.name(self.scope, name).unwrap_or(Value::Constant)
    }

    fn member_being_run(&self) -> Option<usize> {
        let is_member = |id: &usize| self.functions.get(*id).is_some_and(|one| one.class.is_some());
        self.active.iter().rev().map(|(id, _)| *id).find(is_member)
    }

    /// `super().name`: returns a member of a base, for the same object.
    pub(super) fn member_of_super(&mut self, node: &Node, this: &Value, name: &str) -> Value {
        let class = self.member_being_run().and_then(|id| self.functions.get(id)).and_then(|one| one.class);
        let bases = class.and_then(|class| self.classes.get(class)).map(|of| Rc::clone(&of.bases));
        let mut members = Vec::new();
        for base in bases.iter().flat_map(|bases| bases.iter()).flat_map(Value::choices) {
            members.push(match base {
                Value::Class(base) => match self.class_member(*base, name) {
                    Some(Value::Function(function)) => self.method_of(this, function),
                    Some(other) => other,
                    None => {
                        let foreign = self.foreign_bases(*base);
                        let made = foreign.into_iter().find(|one| matches!(one, Value::Library(..)));
                        made.filter(|_| CONSTRUCTORS.contains(&name)).unwrap_or(Value::Constant)
                    }
                },
                Value::Library(..) if CONSTRUCTORS.contains(&name) => base.clone(),
                _ if CONSTRUCTORS.contains(&name) => Value::Constant,
                other => self.member(node, &other.clone(), name),
            });
        }
        if members.is_empty() {
            members.push(Value::Method(this.clone().into(), name.into()));
        }
        self.any(node, members)
    }

    /// Returns a missing member through the class's function for missing members.
    pub(super) fn missing_member(
        &mut self,
        node: &Node,
        of: &Value,
        class: usize,
        name: &str,
    ) -> Option<Value> {
        let made = MISSING.iter().find_map(|name| self.class_member(class, name));
        let Some(Value::Function(function)) = made else { return None };
        Some(self.inline(node, function, Some(of.clone()), vec![Argument::plain(Value::text(name))]))
    }
}
