//! Assignments to names, members, elements and patterns. A value that can act and is not tracked any more gives a
//! `Hole`.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use super::Machine;
use crate::act::What;
use crate::language::Language;
use crate::state::Cell;
use crate::tree::{Kind, Node};
use crate::value::{CellId, ScopeId, Value};

/// Functions that JavaScript calls to convert an object to text or number, and to await it.
const HOOKS: &[&str] = &["toString", "valueOf", "then"];

impl Machine<'_> {
    pub(super) fn assign(&mut self, target: &Node, value: Value) {
        if !self.step(1) {
            return;
        }
        let value = if self.language == Language::Php { self.copied(target, value, 0) } else { value };
        match &target.kind {
            // A library class stays the same when the program adds methods to it.
            Kind::Name(name) if matches!(value, Value::Class(_)) && self.table.module(name).is_some() => {}
            Kind::Name(name) if &**name == super::settings::DEFAULTS => {
                self.default_parameters(target, &value)
            }
            Kind::Name(name) => {
                if let Some(variable) = self.shell_variable(name) {
                    self.variable(target, &variable, &value);
                }
                self.state.set_name(self.scope, name, value);
            }
            Kind::Member(of, name) => {
                let of = self.eval(of);
                let name = Value::text(&**name);
                self.store(target, &of, &name, value);
            }
            Kind::Index(of, index) => {
                let (held, index_value) = (self.container(of), self.eval(index));
                if matches!(index.kind, Kind::Spread(_)) {
                    return self.append(target, &held, value);
                }
                self.store(target, &held, &index_value, value.clone());
                // A text is no list: the variable gets a new text.
                if self.language == Language::Php && matches!(held, Value::Text(_)) {
                    let new = match held.to_arg() {
                        Some(text) => self.changed_part(target, &text, &index_value, &value),
                        None => value,
                    };
                    self.assign(of, new);
                }
            }
            Kind::Slice(of, bounds) => {
                let of = self.eval(of);
                self.store_part(target, &of, bounds, value);
            }
            Kind::List(targets) => self.unpack(target, targets, &value),
            Kind::Map(entries) => self.unpack_map(entries, &value),
            Kind::Spread(inner) => self.assign(inner, value),
            // A target with a default value.
            Kind::Or(parts) => {
                let mut parts = parts.iter();
                let Some(inner) = parts.next() else { return };
                let mut values = vec![value];
                for part in parts {
                    values.push(self.eval(part));
                }
                let value = self.any(target, values);
                self.assign(inner, value);
            }
            // A target that changes in a way that is not followed.
            Kind::Inert(targets) => {
                for inner in targets {
                    self.change_somehow(inner);
                }
                self.hand(target, &value);
            }
            _ => self.hand(target, &value),
        }
    }

    /// Makes the target's content unknown.
    fn change_somehow(&mut self, target: &Node) {
        let unknown = self.unknown(target, Why::Dynamic);
        let value = self.eval(target);
        let mut is_shared = false;
        for one in value.choices() {
            match one {
                Value::List(id) | Value::Map(id) => {
                    is_shared = true;
                    self.loosen(*id, &unknown);
                }
                Value::Text(text) if self.language == Language::Ruby => {
                    is_shared = true;
                    self.change(text, &unknown);
                }
                _ => {}
            }
        }
        if !is_shared {
            self.assign(target, unknown);
        }
    }

    /// Returns the container of an element. PHP creates a missing one.
    fn container(&mut self, node: &Node) -> Value {
        let is_new = |value: &Value| match value {
            Value::Constant => true,
            Value::Method(of, _) => matches!(**of, Value::List(_)),
            _ => false,
        };
        let is_unset =
            |name| self.state.name(self.scope, name).is_none() && !name.starts_with("$_") && name != "$argv";
        let is_missing = matches!(&node.kind, Kind::Name(name) if is_unset(name));
        if self.language != Language::Php || matches!(&node.kind, Kind::Name(name) if &**name == "$GLOBALS") {
            return self.eval(node);
        }
        if is_missing || is_new(&self.eval(node)) {
            let made = self.list([]);
            self.assign(node, made);
        }
        self.eval(node)
    }

    /// `of[] = value`
    fn append(&mut self, node: &Node, of: &Value, value: Value) {
        let certain = matches!(of, Value::List(_));
        for one in of.choices() {
            let Value::List(id) = one else {
                self.hand(node, &value);
                continue;
            };
            let mut cell = self.state.cell(*id);
            cell.entries.push((None, value.clone()));
            cell.is_open |= !certain;
            self.state.set_cell(*id, cell);
        }
    }

    fn unpack(&mut self, node: &Node, targets: &[Node], value: &Value) {
        let mut columns: Vec<Vec<Value>> = targets.iter().map(|_| Vec::new()).collect();
        for one in value.choices() {
            let (elements, known) = self.elements(node, one);
            let spread = targets.iter().position(|one| matches!(one.kind, Kind::Spread(_)));
            let fits = known && spread.is_none() && elements.len() >= targets.len();
            let all = if fits { None } else { Some(self.any(node, elements.clone())) };
            for (at, column) in columns.iter_mut().enumerate() {
                let is_rest = spread == Some(at);
                match (&all, elements.get(at)) {
                    (None, Some(element)) => column.push(element.clone()),
                    (_, Some(element)) if known && spread.is_none_or(|spread| at < spread) => {
                        column.push(element.clone());
                    }
                    (_, _) if is_rest => column.push(self.list(elements.iter().skip(at).cloned())),
                    (Some(all), _) => column.push(all.clone()),
                    (None, None) => column.push(Value::Constant),
                }
            }
        }
        for (target, column) in targets.iter().zip(columns) {
            let value = self.any(target, column);
            self.assign(target, value);
        }
    }

    fn unpack_map(&mut self, entries: &[(Node, Node)], value: &Value) {
        for (key, target) in entries {
            if let Kind::Spread(target) = &key.kind {
                self.assign(target, value.clone());
                continue;
            }
            let key_value = self.eval(key);
            let member = self.index(key, value, &key_value);
            self.assign(target, member);
        }
    }

    /// `of[key] = value`
    pub(super) fn store(&mut self, node: &Node, of: &Value, key: &Value, value: Value) {
        let certain = matches!(of, Value::List(_) | Value::Map(_) | Value::Instance(_));
        for one in of.choices() {
            match one {
                Value::List(cell) | Value::Map(cell) | Value::Instance(cell) => {
                    let is_plain =
                        matches!(one, Value::Instance(_)) && self.state.cell(*cell).class.is_none();
                    // Methods of such an object are defined elsewhere and only see an unknown object.
                    if is_plain && self.is_capable(&value) {
                        self.hand(node, &value);
                    }
                    self.hook(node, key, &value);
                    self.put(*cell, key, value.clone(), certain);
                }
                Value::Names(scope) => self.store_in_names(node, *scope, key, &value),
                Value::Class(class) => self.store_in_class(node, *class, key, &value),
                Value::Object(space, _) if self.is_environment(space.0) => self.variable(node, key, &value),
                Value::Module(space) if space.0.name() == self.table.global && key.as_str().is_some() => {
                    let name = key.as_str().unwrap_or_default();
                    self.state.set_own(0, &name.into(), value.clone());
                }
                Value::Module(_) | Value::Package(_) | Value::Library(..) | Value::Object(..) => {
                    self.set_of_library(node, one, key, &value);
                }
                Value::Text(text) => self.store_in_text(node, text, key, &value),
                Value::Number(_)
                | Value::Constant
                | Value::Function(_)
                | Value::Method(..)
                | Value::Partial(..)
                | Value::Any(_)
                | Value::Unknown(..) => self.hand(node, &value),
            }
        }
    }

    /// Stores a variable in a scope used as a map: `globals()['x']`.
    fn store_in_names(&mut self, node: &Node, scope: ScopeId, key: &Value, value: &Value) {
        let Some(name) = key.as_str() else {
            self.lost(node, Why::Dynamic);
            return;
        };
        let name = self.language.variable(name);
        self.state.set_name(scope, &name.into(), value.clone());
    }

    fn store_in_class(&mut self, node: &Node, class: usize, key: &Value, value: &Value) {
        let members = self.classes.get(class).map(|class| class.members);
        match (key.as_str(), members) {
            (Some(name), Some(members)) => self.state.set_own(members, &name.into(), value.clone()),
            _ => self.hand(node, value),
        }
    }

    /// Stores a letter of a text; in Perl, the variable that the text names.
    fn store_in_text(&mut self, node: &Node, text: &Rc<Arg>, key: &Value, value: &Value) {
        match (self.language, text.as_str()) {
            (Language::Ruby, _) => {
                let new = self.changed_part(node, text, key, value);
                self.change(text, &new);
            }
            // `$$name = ...`
            (Language::Perl, Some(name)) => {
                self.state.set_name(self.scope, &format!("${name}").into(), value.clone());
            }
            (Language::Perl, None) => {
                self.hole(node.at, Role::Code, text.why().unwrap_or(Why::Dynamic), "a variable");
            }
            _ => self.hand(node, value),
        }
    }

    pub(super) fn variable(&mut self, node: &Node, name: &Value, value: &Value) {
        let names = self.args(node, name);
        for value in self.args(node, value) {
            for name in &names {
                let what = What::Variable { name: (**name).clone(), value: (*value).clone() };
                self.act(node.at, what);
            }
        }
    }

    fn put(&mut self, id: CellId, key: &Value, value: Value, certain: bool) {
        let mut cell = self.state.cell(id);
        let first = self.language.first_index();
        let at = match key {
            Value::Number(number) => usize::try_from(number.saturating_sub(first))
                .ok()
                .filter(|at| !cell.is_open && cell.entries.get(*at).is_some_and(|(key, _)| key.is_none()))
                .or_else(|| {
                    let text = number.to_string();
                    cell.entries.iter().position(|(key, _)| key.as_deref() == Some(text.as_str()))
                }),
            Value::Text(_) => key
                .as_str()
                .and_then(|text| cell.entries.iter().position(|(key, _)| key.as_deref() == Some(text))),
            _ => None,
        };
        match (at.and_then(|at| cell.entries.get_mut(at)), key.as_str()) {
            (Some((_, place)), _) => {
                *place = if certain {
                    value
                } else {
                    Value::any([place.clone(), value]).unwrap_or(Value::Unknown(Why::Budget, "".into()))
                };
            }
            (None, Some(text)) => cell.entries.push((Some(text.into()), value)),
            (None, None)
                if matches!(self.language, Language::Php | Language::Lua)
                    && matches!(key, Value::Number(_)) =>
            {
                let Value::Number(number) = key else { return };
                let is_next =
                    usize::try_from(number.saturating_sub(first)).is_ok_and(|at| at == cell.entries.len());
                let is_plain = !cell.is_open && cell.entries.iter().all(|(key, _)| key.is_none());
                let key = if is_next && is_plain { None } else { Some(number.to_string().into()) };
                cell.entries.push((key, value));
            }
            (None, None) => {
                // Any element may now be this value.
                cell.entries.push((None, value));
                cell.is_open = true;
            }
        }
        self.state.set_cell(id, cell);
    }

    pub(super) fn augment(&mut self, node: &Node, target: &Node, value: &Node) -> Value {
        let before = self.eval(target);
        let value = self.eval(value);
        if let Value::List(cell) = before {
            let (elements, known) = self.elements(node, &value);
            let mut changed = self.state.cell(cell);
            changed.extend(elements, known);
            self.state.set_cell(cell, changed);
            return before;
        }
        if self.is_capable(&before) {
            self.hole(node.at, Role::Code, Why::Dynamic, "");
        }
        let sum = self.sum(node, vec![before, value]);
        self.assign(target, sum.clone());
        sum
    }

    pub(super) fn list_of(&mut self, values: &[Node]) -> Value {
        let mut cell = Cell::default();
        for node in values {
            let value = self.eval(node);
            if matches!(node.kind, Kind::Spread(_)) {
                let (elements, known) = self.elements(node, &value);
                cell.extend(elements, known);
            } else {
                cell.entries.push((None, value));
            }
        }
        Value::List(self.state.new_cell(cell))
    }

    /// JavaScript itself calls members with a well-known symbol or certain names. The program's own functions run
    /// anyway.
    fn hook(&mut self, node: &Node, key: &Value, value: &Value) {
        let is_symbol = matches!(key, Value::Object(space, _) if space.0.name() == "Symbol");
        let is_called = is_symbol || key.as_str().is_some_and(|name| HOOKS.contains(&name));
        if self.language == Language::JavaScript && is_called && !matches!(value, Value::Function(_)) {
            self.hand(node, value);
        }
    }

    pub(super) fn map_of(&mut self, entries: &[(Node, Node)]) -> Value {
        let mut cell = Cell::default();
        for (key, value) in entries {
            if let Kind::Spread(inner) = &key.kind {
                let value = self.eval(inner);
                for one in value.choices() {
                    match one {
                        Value::Map(other) | Value::Instance(other) => {
                            let other = self.state.cell(*other);
                            cell.is_open |= other.is_open;
                            cell.entries.extend(other.entries);
                        }
                        Value::List(other) => {
                            let values = self.state.cell(*other).entries.into_iter();
                            cell.entries.extend(values.map(|(_, value)| (None, value)));
                            cell.is_open = true;
                        }
                        Value::Object(..) | Value::Constant => {}
                        _ => cell.is_open = true,
                    }
                    if matches!(one, Value::Module(_) | Value::Names(_)) {
                        self.lost(key, Why::Dynamic);
                    }
                }
                continue;
            }
            let name = key;
            let key = self.eval(name);
            let value = self.eval(value);
            self.hook(name, &key, &value);
            // The map stores keys as text only.
            self.hand(name, &key);
            let key = key.to_arg().and_then(|arg| arg.as_str().map(Into::into));
            cell.is_open |= key.is_none();
            // The last entry of a key wins.
            if key.is_some() {
                if !self.step(cell.entries.len() as u64 / 8) {
                    break;
                }
                cell.entries.retain(|(before, _)| *before != key);
            }
            cell.entries.push((key, value));
        }
        let cell = self.state.new_cell(cell);
        // In PHP and Lua a list is a map whose keys are numbers.
        if matches!(self.language, Language::Php | Language::Lua) {
            Value::List(cell)
        } else {
            Value::Map(cell)
        }
    }
}
