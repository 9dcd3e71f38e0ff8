//! Names that Ruby opens or starts: files, commands after `|`, URLs; and redirections of started processes.

use castellan_event::{EffectKind, Role, Why};

use super::bound::Bound;
use super::{Argument, Machine};
use crate::act::Operand;
use crate::language::Language;
use crate::table::{Parameter, Takes};
use crate::tree::Node;
use crate::value::Value;

/// The type of a UDP socket.
const UDP: &str = "UdpSocket";

/// Arguments of `trap` that are no code.
const DISPOSITIONS: &[&str] =
    &["", "IGNORE", "SIG_IGN", "DEFAULT", "SIG_DFL", "SYSTEM_DEFAULT", "SYSTEM_DEFAULT", "EXIT"];

/// Tags in YAML that create objects.
const OBJECTS: &[&str] = &["!ruby", "!<", "!object", "tag:ruby"];

impl Machine<'_> {
    /// `Kernel#open`: opens a file, a command after `|`, or a URL.
    pub(super) fn opened_in_ruby(&mut self, node: &Node, bound: &Bound) -> Value {
        let Some(what) = bound.at(0).cloned() else { return self.unknown(node, Why::File) };
        for arg in self.operands(node, &what) {
            if let Some(command) = arg.strip_prefix("|") {
                self.shell(node, &Value::arg(command), &Bound::default());
                continue;
            }
            if arg.prefix().contains("://") {
                self.effect(node, EffectKind::Download, Operand::Url(arg));
                continue;
            }
            if arg.prefix().is_empty() && arg.as_str().is_none() {
                // The unknown text may begin with `|`.
                self.hole(node.at, Role::Code, arg.why().unwrap_or(Why::Dynamic), &arg.written());
            }
            let mode = bound.text(1).unwrap_or("r");
            self.opens(node, &arg, !mode.contains(['w', 'a']), mode.contains(['w', 'a', '+']));
        }
        let is_url = what.to_arg().is_some_and(|what| what.prefix().contains("://"));
        let unknown = self.unknown(node, if is_url { Why::Network } else { Why::File });
        self.given_to_block(node, bound, unknown)
    }

    /// `URI.open`: a text without a leading `|` is a URL.
    pub(super) fn opened_uri(&mut self, node: &Node, bound: &Bound) -> Value {
        let what = bound.first();
        for arg in self.operands(node, &what) {
            match arg.strip_prefix("|") {
                Some(command) => self.shell(node, &Value::arg(command), &Bound::default()),
                None => {
                    self.effect(node, EffectKind::Download, Operand::Url(arg));
                }
            }
        }
        let content = match what {
            Value::Unknown(..) => what,
            _ => self.unknown(node, Why::Network),
        };
        self.given_to_block(node, bound, content)
    }

    /// Passes the content of an opened file to the block of the call.
    fn given_to_block(&mut self, node: &Node, bound: &Bound, content: Value) -> Value {
        if let Some(block) = Self::block_of(bound) {
            self.call(node, &block, vec![Argument::plain(content.clone())]);
        }
        content
    }

    /// `IO.write`: writes to a file, or to a command after `|`.
    pub(super) fn written_in_ruby(&mut self, node: &Node, bound: &Bound) -> Value {
        let Some(what) = bound.at(0).cloned() else { return Value::Constant };
        for arg in self.operands(node, &what) {
            match arg.strip_prefix("|") {
                Some(command) => self.shell(node, &Value::arg(command), &Bound::default()),
                None => {
                    self.effect(node, EffectKind::Write, Operand::Path(arg));
                }
            }
        }
        Value::Constant
    }

    /// `trap(signal, command)`: text is code.
    pub(super) fn trapped(&mut self, node: &Node, bound: &Bound) -> Value {
        for command in bound.at(1).cloned().iter().flat_map(Value::choices) {
            match command.as_str() {
                Some(text) if DISPOSITIONS.contains(&text) => {}
                Some(_) => {
                    self.code(node, command);
                }
                None => self.hand(node, command),
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// Loads YAML that may create any object.
    pub(super) fn unsafe_yaml(&mut self, node: &Node, bound: &Bound) -> Value {
        let text = bound.first();
        let is_plain =
            |one: &Value| one.as_str().is_some_and(|text| !OBJECTS.iter().any(|sign| text.contains(sign)));
        if !text.choices().iter().all(is_plain) {
            let why = text.to_arg().and_then(|text| text.why()).unwrap_or(Why::Unsupported);
            self.lost(node, why);
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `Open3.pipeline`: each argument is shell text, or a list with a command like that of `spawn`.
    pub(super) fn pipeline(&mut self, node: &Node, bound: &Bound) -> Value {
        let is_command = |(one, value): &&(&'static Parameter, Value)| {
            one.takes == Takes::Rest && !matches!(value, Value::Map(_) | Value::Function(_))
        };
        let named = bound.given.iter().filter(|(one, _)| one.takes == Takes::Named);
        for command in bound.given.iter().filter(is_command) {
            let (parameter, value) = command;
            let (words, known) = self.listed_or_one(node, value);
            let words = words.into_iter().map(|word| (*parameter, word));
            let given = words.chain(named.clone().cloned()).collect();
            self.listed_command(node, &Bound { given, is_open: !known, ..Bound::default() });
        }
        if bound.is_open {
            self.lost(node, Why::Dynamic);
        }
        self.unknown(node, Why::Substitution)
    }

    /// `socket.send(data, flags, host, port)`, which is no call by name.
    pub(super) fn sent(&mut self, node: &Node, bound: &Bound) -> Value {
        let values: Vec<Value> = bound.plain().cloned().collect();
        let [of, name, rest @ ..] = values.as_slice() else { return self.unknown(node, Why::Dynamic) };
        let given = |values: &[Value]| values.iter().cloned().map(Argument::plain).collect();
        let mut made = Vec::new();
        for one in of.choices() {
            let is_socket = matches!(one, Value::Object(space, _) if space.0.name() == UDP);
            made.push(match (is_socket, name.as_str()) {
                (true, _) => {
                    let send = self.member(node, one, "send");
                    self.call(node, &send, given(values.get(1..).unwrap_or_default()))
                }
                (false, Some(name)) => {
                    let method = self.member(node, one, name);
                    self.call(node, &method, given(rest))
                }
                (false, None) => self.lost(node, Why::Dynamic),
            });
        }
        self.any(node, made)
    }

    /// Returns the words of a command. Applies and removes a leading environment, trailing redirections and a block.
    pub(super) fn only_words(&mut self, node: &Node, bound: &Bound, values: Vec<Value>) -> Vec<Value> {
        if self.language != Language::Ruby {
            return values;
        }
        let mut values = self.without_environment(node, values);
        // A list with a program also contains its `argv[0]`.
        let mut given =
            bound.given.iter().map(|(_, value)| value).filter(|one| !matches!(one, Value::Map(_)));
        if let Some(program @ Value::List(_)) = given.next()
            && let (2, true) = (self.elements(node, program).0.len(), values.len() > 1)
        {
            values.remove(1);
        }
        values.retain(|value| !matches!(value, Value::Function(_)));
        for (name, kind) in [("in", EffectKind::Read), ("out", EffectKind::Write), ("err", EffectKind::Write)]
        {
            if let Some(to) = bound.named(name).cloned() {
                self.redirected(node, kind, &to);
            }
        }
        while let Some(Value::Map(cell)) = values.last() {
            for (key, to) in self.state.cell(*cell).entries {
                let reads = matches!(key.as_deref(), Some("in" | "0"));
                self.redirected(node, if reads { EffectKind::Read } else { EffectKind::Write }, &to);
            }
            values.pop();
        }
        values
    }

    /// Reports a redirection to a file, or to a list of file and mode. A handle that is already open has no effect.
    fn redirected(&mut self, node: &Node, kind: EffectKind, to: &Value) {
        for one in to.choices() {
            let Value::List(_) = one else {
                if matches!(one, Value::Text(_) | Value::Unknown(..)) {
                    self.path(node, kind, one, false);
                }
                continue;
            };
            let (parts, _) = self.elements(node, one);
            let Some(path) = parts.first().filter(|path| path.as_str() != Some("child")) else { continue };
            let mode = parts.get(1).map(|mode| mode.as_str().unwrap_or("w").to_owned());
            let mode = mode.unwrap_or_else(|| "r".to_owned());
            let writes = mode.contains(['w', 'a', '+']);
            self.path(node, if writes { EffectKind::Write } else { EffectKind::Read }, path, false);
        }
    }

    /// Applies and removes the environment variables in a first argument.
    fn without_environment(&mut self, node: &Node, mut values: Vec<Value>) -> Vec<Value> {
        if self.language == Language::Ruby
            && let Some(Value::Map(cell)) = values.first()
        {
            for (name, value) in self.state.cell(*cell).entries {
                let name = self.key_value(node, name);
                self.variable(node, &name, &value);
            }
            values.remove(0);
        }
        values
    }
}
