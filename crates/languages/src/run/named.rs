//! Calls by name, as in PHP: a text names a function, a list holds an object and a method name. A name without a known
//! meaning gives a `Hole`. Must not know what the functions do.

use std::rc::Rc;

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::Arg;

use super::bound::Bound;
use super::call::MethodCall;
use super::{Argument, Machine};
use crate::act::{Operand, What};
use crate::language::Language;
use crate::limits::NESTED_VALUES_MAX;
use crate::lower::{class_name, function_name};
use crate::state::Cell;
use crate::tree::Node;
use crate::value::Value;

/// The method that makes an object callable.
const INVOKES: &str = "__invoke";

impl Machine<'_> {
    /// Calls a callback argument.
    pub(super) fn call_named(&mut self, node: &Node, callee: &Value, arguments: Vec<Argument>) -> Value {
        if self.language != Language::Php {
            return self.call(node, callee, arguments);
        }
        self.either(node, callee.choices(), |machine, one| machine.called_one(node, one, arguments.clone()))
    }

    fn called_one(&mut self, node: &Node, callee: &Value, arguments: Vec<Argument>) -> Value {
        match callee {
            Value::Text(name) => match name.as_str().map(str::to_owned) {
                Some(name) => match self.function_named(node, &name) {
                    Some(function) => self.call(node, &function, arguments),
                    None => self.inert(node, &arguments),
                },
                None => self.lost_call(node, name.why().unwrap_or(Why::Dynamic), &arguments),
            },
            Value::List(cell) => match self.state.cell(*cell).entries.as_slice() {
                [(_, of), (_, name)] => self.called_member(node, of, name, arguments),
                _ => self.lost_call(node, Why::Dynamic, &arguments),
            },
            Value::Instance(cell) => {
                let class = self.state.cell(*cell).class;
                match class.and_then(|class| self.class_member(class, INVOKES)) {
                    Some(Value::Function(function)) => {
                        self.inline(node, function, Some(callee.clone()), arguments)
                    }
                    _ => self.inert(node, &arguments),
                }
            }
            // The callback comes from the caller, whose code is read separately.
            Value::Unknown(Why::Parameter, _) => self.inert(node, &arguments),
            Value::Unknown(why, _) => self.lost_call(node, *why, &arguments),
            Value::Method(of, name) if name.starts_with('$') || !self.is_object(of) => {
                let is_given = match &**of {
                    Value::Instance(cell) => self.state.cell(*cell).is_open,
                    Value::Unknown(why, _) => *why == Why::Parameter,
                    _ => false,
                };
                match is_given {
                    true => self.inert(node, &arguments),
                    false => self.lost_call(node, Why::Dynamic, &arguments),
                }
            }
            _ => self.call(node, callee, arguments),
        }
    }

    fn is_object(&self, value: &Value) -> bool {
        matches!(value, Value::Object(..) | Value::Library(..) | Value::Class(_) | Value::Instance(_))
    }

    fn lost_call(&mut self, node: &Node, why: Why, arguments: &[Argument]) -> Value {
        self.hand_all(node, arguments);
        self.lost(node, why)
    }

    /// `[$object, 'method']`, `['Class', 'method']`
    fn called_member(&mut self, node: &Node, of: &Value, name: &Value, arguments: Vec<Argument>) -> Value {
        let of = self.class_named(node, of);
        let Some(name) = name.as_str().map(str::to_ascii_lowercase) else {
            // The program's own methods run anyway.
            if matches!(of, Value::Instance(_) | Value::Class(_) | Value::Unknown(Why::Parameter, _)) {
                return self.inert(node, &arguments);
            }
            return self.lost_call(node, Why::Dynamic, &arguments);
        };
        let name = name.strip_prefix("parent::").unwrap_or(&name);
        let member = self.member(node, &of, name);
        self.call(node, &member, arguments)
    }

    /// Calls the catch-all method of a class for a method that the class does not have.
    pub(super) fn any_method(&mut self, call: MethodCall<'_>) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let class = match of {
            Value::Instance(cell) => self.state.cell(*cell).class?,
            Value::Class(class) => *class,
            _ => return None,
        };
        let takes = if matches!(of, Value::Class(_)) { "__callstatic" } else { "__call" };
        let Some(Value::Function(function)) = self.class_member(class, takes) else { return None };
        let given: Vec<Value> = arguments.iter().map(|one| one.value.clone()).collect();
        let list = self.list(given);
        let arguments = [Value::text(name), list].map(Argument::plain).to_vec();
        Some(self.inline(node, function, Some(of.clone()), arguments))
    }

    /// Returns the function that a text names; `None` if the text cannot be a name.
    fn function_named(&mut self, node: &Node, name: &str) -> Option<Value> {
        if let Some((class, method)) = name.split_once("::") {
            let class = self.class_named(node, &Value::text(class));
            let method = method.to_ascii_lowercase();
            return Some(self.member(node, &class, &method));
        }
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '\\');
        is_name.then(|| self.name(node, &Rc::from(function_name(name))))
    }

    /// Returns the class with this name; a value that is no text stays as it is.
    pub(super) fn class_named(&mut self, node: &Node, value: &Value) -> Value {
        self.over(node, value, |machine, one| match one {
            Value::Text(arg) => match arg.as_str() {
                // The tree may already use this name.
                Some(name) => machine.name(node, &Rc::from(class_name(name))),
                None => machine.lost(node, arg.why().unwrap_or(Why::Dynamic)),
            },
            Value::Unknown(Why::Parameter, _) => one.clone(),
            Value::Unknown(why, _) => machine.lost(node, *why),
            Value::Method(of, _) if matches!(**of, Value::Unknown(Why::Parameter, _)) => one.clone(),
            Value::Method(of, name) if name.starts_with('$') => match &**of {
                Value::Instance(cell) if machine.state.cell(*cell).is_open => one.clone(),
                _ => machine.lost(node, Why::Dynamic),
            },
            other => other.clone(),
        })
    }

    /// `class_alias(class, alias)`
    pub(super) fn class_alias(&mut self, node: &Node, bound: &Bound) -> Value {
        let class = self.class_named(node, &bound.first());
        match bound.at(1).and_then(Value::as_str) {
            Some(alias) => self.state.set_own(0, &class_name(alias).into(), class),
            None => self.hole(node.at, Role::Code, Why::Dynamic, "a class"),
        }
        Value::Constant
    }

    /// `call_user_func(function, ...)`
    pub(super) fn call_by_name(&mut self, node: &Node, bound: &Bound) -> Value {
        let mut given = bound.given.iter().map(|(_, value)| value.clone());
        let Some(callee) = given.next() else { return Value::Constant };
        let mut arguments: Vec<Argument> = given.map(Argument::plain).collect();
        if let Some(last) = arguments.last_mut().filter(|_| bound.is_open) {
            last.is_spread = true;
        }
        self.call_named(node, &callee, arguments)
    }

    /// Calls or instantiates the value behind a reflection object. A method may be given by two names.
    pub(super) fn call_inner(&mut self, node: &Node, bound: &Bound, is_new: bool) -> Value {
        let of = super::bound::inner(&bound.first());
        let mut arguments = bound.plain_arguments(1);
        if let [Argument { value: list @ Value::List(_), .. }] = arguments.as_slice() {
            let (elements, _) = self.elements(node, &list.clone());
            arguments = elements.into_iter().map(Argument::plain).collect();
        }
        if is_new {
            let class = self.class_named(node, &of);
            return self.call(node, &class, arguments);
        }
        self.call_named(node, &of, arguments)
    }

    /// Returns a method of a base class, bound to this object.
    pub(super) fn bound_method(&mut self, bound: &Bound) -> Value {
        let of = bound.value(0);
        let this = bound.value(1);
        let method = match of {
            Value::Class(class) => self.class_member(class, "__construct").unwrap_or(Value::Constant),
            other => other,
        };
        match method {
            Value::Function(_) => Value::partial(method, vec![this]),
            other => other,
        }
    }

    /// Makes variables of the keys of an array.
    pub(super) fn extracted(&mut self, node: &Node, value: &Value) -> Value {
        let cell = match value {
            Value::List(cell) | Value::Map(cell) => self.state.cell(*cell),
            Value::Constant => Cell::default(),
            _ => return self.lost(node, Why::Dynamic),
        };
        if cell.is_open {
            self.lost(node, Why::Dynamic);
        }
        for (key, value) in cell.entries {
            if let Some(key) = key {
                self.state.set_name(self.scope, &format!("${key}").into(), value);
            }
        }
        Value::Constant
    }

    /// `include`: the file's definitions exist afterwards.
    pub(super) fn included(&mut self, node: &Node, path: &Value) -> Value {
        self.stars = true;
        for arg in self.operands(node, path) {
            self.include(node, &arg);
        }
        self.unknown(node, Why::File)
    }

    fn include(&mut self, node: &Node, arg: &Arg) {
        let prefix = arg.prefix().to_ascii_lowercase();
        if prefix.starts_with("data:") {
            match arg.as_str().and_then(inline_data) {
                Some(text) => {
                    self.code(node, &Value::text(format!("?>{text}")));
                }
                None => self.hole(node.at, Role::Code, Why::Encoding, &arg.written()),
            }
            return;
        }
        let why = match prefix.split_once("://").map(|(scheme, _)| scheme) {
            None => {
                let what = What::Script { language: self.language, path: arg.clone() };
                self.act(node.at, what);
                if !self.libraries.is_empty() && !prefix.starts_with(['.', '/']) {
                    self.hole(node.at, Role::Code, Why::Unresolved, &arg.written());
                }
                return;
            }
            Some("http" | "https" | "ftp" | "ftps") => {
                self.effect(node, EffectKind::Download, Operand::Url(arg.clone()));
                Why::Network
            }
            Some("php") => Why::Input,
            Some(_) => Why::Encoding,
        };
        self.streamed(node, EffectKind::Read, arg);
        self.hole(node.at, Role::Code, why, &arg.written());
    }

    /// Reports the effect of a path that is a URL; returns whether it is one.
    pub(super) fn streamed(&mut self, node: &Node, kind: EffectKind, arg: &Arg) -> bool {
        let prefix = arg.prefix().to_ascii_lowercase();
        if prefix.starts_with("data:") {
            return true;
        }
        let Some((scheme, _)) = prefix.split_once("://") else { return false };
        let Some(rest) = arg.strip_prefix(arg.prefix().get(..scheme.len() + 3).unwrap_or_default()) else {
            return false;
        };
        match scheme {
            "php" => {
                let resource = rest.as_str().and_then(|rest| rest.split_once("resource="));
                if let Some((_, inner)) = resource {
                    let inner = Arg::known(inner);
                    if !self.streamed(node, kind, &inner) {
                        self.effect(node, kind, Operand::Path(inner));
                    }
                } else if rest.prefix().starts_with("filter") {
                    self.hole(node.at, Role::Target, Why::Dynamic, &arg.written());
                }
            }
            "file" | "phar" | "zip" | "rar" | "glob" | "compress.zlib" | "compress.bzip2" => {
                self.effect(node, kind, Operand::Path(rest));
            }
            "expect" => {
                self.act(node.at, What::Shell { text: rest, cwd: None, env: Vec::new(), stdin: None })
            }
            _ => {
                let reads = kind == EffectKind::Read;
                let kind = if reads { EffectKind::Download } else { EffectKind::Upload };
                self.effect(node, kind, Operand::Url(arg.clone()));
            }
        }
        true
    }

    /// Copies an array: PHP arrays are values, so each variable has its own.
    pub(super) fn copied(&mut self, node: &Node, value: Value, depth: usize) -> Value {
        match &value {
            Value::List(_) if depth >= NESTED_VALUES_MAX => self.lost(node, Why::Nesting),
            Value::List(cell) if self.step(1) => {
                let mut cell = self.state.cell(*cell);
                for (_, value) in &mut cell.entries {
                    *value = self.copied(node, value.clone(), depth + 1);
                }
                Value::List(self.state.new_cell(cell))
            }
            Value::Any(values) if values.iter().any(|one| matches!(one, Value::List(_))) => {
                let values: Vec<Value> =
                    values.iter().map(|one| self.copied(node, one.clone(), depth + 1)).collect();
                Value::any(values).unwrap_or(value)
            }
            _ => value,
        }
    }
}

/// Decodes `data:text/plain;base64,...`.
pub(super) fn inline_data(url: &str) -> Option<String> {
    let (head, text) = url.split_once(',')?;
    let head = head.to_ascii_lowercase();
    if !head.starts_with("data:") {
        return None;
    }
    let text = super::texts::percent(text)?;
    if head.ends_with(";base64") { super::texts::base64(&text) } else { Some(text) }
}
