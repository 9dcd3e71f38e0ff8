//! Computes the results of PowerShell commands and types where possible. The tables name the computations.

use std::rc::Rc;

use castellan_event::{EffectKind, Role, Why, single_quoted};
use castellan_programs::Arg;

use super::bound::Bound;
use super::bound::Computation;
use super::bound::is_true;
use super::call::MethodCall;
use super::shells::Word;
use super::{Argument, Machine};
use crate::act::{Operand, What};
use crate::limits::VALUE_BYTES_MAX;
use crate::tree::Node;
use crate::value::Value;

/// The computations by their names in the tables.
const COMPUTATIONS: &[(&str, Computation)] = &[
    ("alias", |machine, node, bound| machine.set_alias(node, bound)),
    ("asked", |_, _, _| Value::unknown(Why::Input, "a line")),
    ("array", |machine, node, bound| {
        let (items, known) = machine.items(node, &bound.first());
        machine.listed(items, !known)
    }),
    ("command", |machine, node, bound| {
        let name = bound.first().as_str().map(str::to_lowercase);
        if name.as_ref().is_some_and(|name| name.contains(['*', '?', '['])) {
            return machine.unknown(node, Why::Dynamic);
        }
        match name.and_then(|name| machine.meant_by(&name)) {
            Some(value) => value,
            None => bound.first().to_arg().map_or_else(|| machine.unknown(node, Why::Dynamic), Value::Text),
        }
    }),
    ("command-of", |machine, _, bound| {
        let name = bound.value(1);
        name.as_str().and_then(|name| machine.meant_by(&name.to_lowercase())).unwrap_or(name)
    }),
    ("com-type", |machine, node, bound| match bound.first().as_str() {
        Some(name) => machine.load(node, &Value::text(format!("com.{}", name.to_lowercase()))),
        None => machine.lost(node, Why::Dynamic),
    }),
    ("concat-all", |machine, node, bound| {
        let all = machine.all_items(node, &bound.values(0));
        machine.concatenated(node, &all)
    }),
    ("converted", |machine, node, bound| match input(bound) {
        value @ Value::Unknown(..) => value,
        _ => machine.unknown(node, Why::Dynamic),
    }),
    ("cut", |machine, node, bound| {
        let number = |at: usize| bound.at(at).and_then(Value::number);
        match bound.first().as_str() {
            Some(text) => machine.part_of_text(text, number(1), number(2)),
            None => machine.as_text(node, &bound.first()),
        }
    }),
    ("default-parameter", |machine, node, bound| {
        machine.default_parameter(node, bound.at(1).unwrap_or(&Value::Constant));
        Value::Constant
    }),
    ("drive-item", |machine, node, bound| machine.drive_item(node, &bound.first())),
    ("echo-line", |machine, node, bound| {
        let blank = Value::text(" ");
        let items: Vec<Value> = bound.plain().cloned().collect();
        let list = machine.list(items);
        machine.joined_by(node, &blank, &list)
    }),
    ("echoed", |machine, node, bound| match bound.values(0).as_slice() {
        [one] => one.clone(),
        all => {
            let items = machine.all_items(node, all);
            machine.list(items)
        }
    }),
    ("false", |_, _, _| Value::Number(0)),
    ("folder", |machine, node, bound| machine.folder(node, &bound.first())),
    ("for-each", |machine, node, bound| machine.for_each_item(node, bound)),
    ("format-text", |machine, node, bound| {
        let given = machine.all_items(node, &bound.values(1));
        let given: Vec<Argument> = given.into_iter().map(Argument::plain).collect();
        let made =
            machine.text_method(MethodCall { node, of: &bound.first(), name: "format", arguments: &given });
        made.unwrap_or_else(|| machine.unknown(node, Why::Dynamic))
    }),
    ("found-files", |machine, node, bound| machine.found_files(node, bound)),
    ("found-item", |machine, _, bound| machine.file_of(&input(bound))),
    ("input", |_, _, bound| input(bound)),
    ("invoke", |machine, node, bound| {
        let (of, rest) = (bound.first(), bound.plain().skip(1).cloned());
        let words = rest.map(Word::Plain).collect();
        match of {
            Value::Function(_) | Value::Library(..) => machine.called_with(node, &of, words, None),
            Value::Text(_) => machine.unknown(node, Why::Dynamic),
            other if machine.is_capable(&other) => {
                machine.call(node, &other, vec![Argument::unknown(Why::Parameter)])
            }
            // The value may be code of any kind.
            other => {
                let why = if let Value::Unknown(why, _) = other { why } else { Why::Dynamic };
                machine.lost(node, why)
            }
        }
    }),
    ("join-by", |machine, node, bound| {
        let items = machine.all_items(node, &bound.values(1));
        let list = machine.list(items);
        machine.joined_by(node, &bound.first(), &list)
    }),
    ("join-elements", |machine, node, bound| {
        let by = bound.at(1).cloned().unwrap_or(Value::text(""));
        let (items, known) = machine.items(node, &bound.first());
        let list = machine.listed(items, !known);
        machine.joined_by(node, &by, &list)
    }),
    ("lost-directory", |machine, node, _| {
        machine.act(node.at, What::Directory(Arg::unknown(Why::Dynamic, "popd", false)));
        Value::Constant
    }),
    ("lower", |machine, node, bound| match bound.first().as_str() {
        Some(text) => Value::text(text.to_lowercase()),
        None => machine.as_text(node, &bound.first()),
    }),
    ("lines", |machine, node, bound| {
        machine.code(node, &bound.first());
        machine.unknown(node, Why::Substitution)
    }),
    ("members", |machine, node, bound| {
        match bound.begun("expandproperty").and_then(|value| value.as_str().map(str::to_lowercase)) {
            Some(name) => {
                let (items, _) = machine.items(node, &input(bound));
                let values: Vec<Value> = items.iter().map(|one| machine.member(node, one, &name)).collect();
                machine.list(values)
            }
            None => input(bound),
        }
    }),
    ("new-drive", |machine, node, bound| machine.new_drive(node, bound)),
    ("new-item", |machine, node, bound| machine.new_item(node, bound)),
    ("nothing", |_, _, _| Value::Constant),
    ("new-object", |machine, node, bound| machine.new_object(node, bound)),
    ("profile", |machine, node, _| {
        let name = Value::text(".config/powershell/Microsoft.PowerShell_profile.ps1");
        let home = machine.home();
        machine.beside(node, &home, &name)
    }),
    ("patterns", |machine, node, bound| {
        let items = machine.items(node, &bound.first()).0;
        let pattern = |one: Value| match one.to_arg() {
            Some(arg) => Value::arg(super::paths::pattern_of(&arg)),
            None => one,
        };
        machine.list(items.into_iter().map(pattern))
    }),
    ("quoted", |machine, node, bound| match bound.first().as_str() {
        Some(text) => Value::text(single_quoted(text)),
        None => machine.as_text(node, &bound.first()),
    }),
    ("range-to", |machine, node, bound| match (bound.first(), bound.at(1)) {
        (Value::Number(from), Some(Value::Number(to))) if from.abs_diff(*to) <= 512 => {
            let mut numbers: Vec<i64> = (from.min(*to)..=from.max(*to)).collect();
            if from > *to {
                numbers.reverse();
            }
            machine.list(numbers.into_iter().map(Value::Number))
        }
        _ => machine.unknown(node, Why::Arithmetic),
    }),
    ("remote", |machine, node, bound| {
        let hosts = bound.begun("computername").map(|on| machine.operands(node, on));
        for host in hosts.into_iter().flatten() {
            machine.effect(node, EffectKind::Connect, Operand::Host { host, port: None });
        }
        machine.blocks(node, bound)
    }),
    ("renamed", |machine, node, bound| machine.renamed(node, bound)),
    ("replaced", |machine, node, bound| machine.replaced_text(node, bound)),
    ("set-variable", |machine, node, bound| {
        let value = bound.value(1);
        match bound.first().as_str() {
            Some(name) => {
                let name: Rc<str> = format!("${}", name.to_lowercase()).into();
                machine.state.set_name(machine.scope, &name, value);
            }
            None => machine.hole(node.at, Role::Code, Why::Dynamic, ""),
        }
        Value::Constant
    }),
    ("split-at", |machine, node, bound| {
        let by = bound.at(1).cloned().unwrap_or(Value::text(" "));
        let is_plain = by.as_str().is_some_and(|by| !by.contains(is_special));
        match bound.first().as_str() {
            Some(text) if is_plain => {
                let by = by.as_str().unwrap_or_default();
                let parts: Vec<Value> = if by.is_empty() {
                    text.chars().map(|letter| Value::text(letter.to_string())).collect()
                } else {
                    text.split(by).map(Value::text).collect()
                };
                machine.step(parts.len() as u64);
                machine.list(parts)
            }
            _ => machine.unknown(node, Why::Dynamic),
        }
    }),
    ("split-path", |machine, node, bound| {
        let is_leaf =
            bound.given.iter().any(|(parameter, value)| parameter.name == "leaf?" && is_true(value));
        machine.path_part(node, &input(bound), !is_leaf)
    }),
    ("started", |machine, node, bound| {
        let part = |name: &str| bound.given.iter().find(|(parameter, _)| parameter.name == name);
        let verb = part("verb").map(|(_, value)| value.as_str().map(str::to_ascii_lowercase));
        let elevates = verb.is_some_and(|verb| verb.is_none_or(|verb| verb.starts_with("runas")));
        if elevates || part("credential").is_some() {
            machine.effect(node, EffectKind::Elevate, Operand::Nothing);
        }
        machine.unknown(node, Why::Substitution)
    }),
    ("stored-item", |machine, node, bound| machine.stored_item(node, bound)),
    ("true", |_, _, _| Value::Number(1)),
    ("type", |machine, node, bound| {
        let of = bound.first();
        match of.as_str().map(crate::powershell::type_named) {
            Some(name) => machine.load(node, &Value::text(name)),
            None if of.is_callable() => of,
            None => machine.lost(node, Why::Dynamic),
        }
    }),
    ("utf16-second", |machine, node, bound| {
        let bytes = bound.value(1);
        match bytes.as_str().map(super::texts::utf16) {
            Some(Some(text)) => Value::text(text),
            Some(None) => machine.unknown(node, Why::Encoding),
            None => bytes,
        }
    }),
    ("variable", |machine, node, bound| match bound.first().as_str() {
        Some(name) => {
            let name: Rc<str> = format!("${}", name.to_lowercase()).into();
            machine.name(node, &name)
        }
        None => machine.unknown(node, Why::Variable),
    }),
    ("where", |machine, node, bound| {
        let (items, _) = machine.items(node, &input(bound));
        machine.each_block(node, bound, &items);
        input(bound)
    }),
    ("wmi", |machine, node, bound| machine.wmi(node, bound)),
];

/// Reports whether this computation exists.
pub(super) fn is_known(name: &str) -> bool {
    COMPUTATIONS.iter().any(|(own, _)| *own == name)
}

/// Returns the pipeline input, or the argument in its place.
fn input(bound: &Bound) -> Value {
    bound.begun("<").cloned().unwrap_or(Value::Constant)
}

/// Special characters of a regular expression.
fn is_special(letter: char) -> bool {
    "\\^$.|?*+()[]{}".contains(letter)
}

impl Machine<'_> {
    pub(super) fn compute_shell(&mut self, node: &Node, name: &str, bound: &Bound) -> Value {
        match COMPUTATIONS.iter().find(|(own, _)| *own == name) {
            Some((_, computation)) => computation(self, node, bound),
            None => self.unknown(node, Why::Dynamic),
        }
    }

    fn set_alias(&mut self, node: &Node, bound: &Bound) -> Value {
        let target = bound.value(1);
        self.alias(node, &bound.first(), target)
    }

    /// Gives a command another name from now on.
    pub(super) fn alias(&mut self, node: &Node, name: &Value, target: Value) -> Value {
        let meant = match target.as_str().map(str::to_lowercase) {
            Some(lower) => self.meant_by(&lower).unwrap_or(target),
            None => return self.lost(node, Why::Dynamic),
        };
        match name.as_str() {
            Some(name) => {
                let name: Rc<str> = name.to_lowercase().into();
                self.state.set_name(0, &name, meant);
                Value::Constant
            }
            None => self.lost(node, Why::Dynamic),
        }
    }

    /// Runs each block for every item; the block sees the item as `$_`.
    fn each_block(&mut self, node: &Node, bound: &Bound, items: &[Value]) -> Vec<Value> {
        let is_block = |name: &str| !name.starts_with('<') && !name.ends_with('?');
        let blocks = bound.given.iter().filter(|(parameter, _)| is_block(parameter.name));
        let blocks: Vec<Value> = blocks.flat_map(|(_, value)| self.items(node, value).0).collect();
        let scope = self.scope;
        let before = self.state.name(scope, "$_");
        let unknown = Value::unknown(Why::Input, "$_");
        let items = if items.is_empty() { std::slice::from_ref(&unknown) } else { items };
        let mut given = Vec::new();
        for item in items {
            if !self.step(1) {
                break;
            }
            self.state.set_name(scope, &"$_".into(), item.clone());
            self.state.set_name(scope, &"$psitem".into(), item.clone());
            for block in &blocks {
                match block {
                    Value::Function(_) => given.push(self.called_with(node, block, Vec::new(), None)),
                    // The name of a member, or of a method with its arguments.
                    Value::Text(_) => {
                        let Some(name) = block.as_str().map(str::to_lowercase) else { continue };
                        let member = self.member(node, item, &name);
                        given.push(match &member {
                            Value::Method(of, name) if self.acts_by_name(of, name) => {
                                self.call(node, &member, Vec::new())
                            }
                            _ => member,
                        });
                    }
                    other => self.hand(node, other),
                }
            }
        }
        if let Some(before) = before {
            self.state.set_name(scope, &"$_".into(), before);
        }
        given
    }

    fn acts_by_name(&self, of: &Value, name: &str) -> bool {
        match of {
            Value::Object(space, _) => space.0.entry(name).is_some(),
            _ => self.table.methods.entry(name).is_some(),
        }
    }

    fn for_each_item(&mut self, node: &Node, bound: &Bound) -> Value {
        let (items, known) = self.items(node, &input(bound));
        let values = self.each_block(node, bound, &items);
        let values = self.all_items(node, &values);
        self.listed(values, !known)
    }

    /// Runs the block arguments of a command with their arguments.
    fn blocks(&mut self, node: &Node, bound: &Bound) -> Value {
        let given = bound.given.iter().filter(|(parameter, _)| parameter.name.starts_with("argumentlist"));
        let words = given.flat_map(|(_, value)| self.items(node, value).0);
        let words: Vec<Word> = words.map(Word::Plain).collect();
        let mut results = Vec::new();
        for (_, value) in &bound.given {
            for one in value.choices() {
                if let Value::Function(_) = one {
                    results.push(self.called_with(node, one, words.clone(), None));
                }
            }
        }
        self.any(node, results)
    }

    /// `New-Object type arguments`, `New-Object -ComObject name`
    fn new_object(&mut self, node: &Node, bound: &Bound) -> Value {
        let name = match (bound.begun("comobject"), bound.begun("typename")) {
            (Some(com), _) => com.as_str().map(|name| format!("com.{}", name.to_lowercase())),
            (None, Some(kind)) => kind.as_str().map(crate::powershell::type_named),
            (None, None) => None,
        };
        let Some(name) = name else { return self.lost(node, Why::Dynamic) };
        let given = bound.begun("argumentlist").map(|value| self.items(node, value).0);
        let given = given.into_iter().flatten().map(Argument::plain).collect();
        let own: Rc<str> = format!("[{name}").into();
        let kind = match self.state.name(self.scope, &own) {
            Some(class) => class,
            None => self.load(node, &Value::text(name)),
        };
        self.call(node, &kind, given)
    }

    /// `Invoke-WmiMethod`, `Invoke-CimMethod`: `Create` of `Win32_Process` starts a program.
    fn wmi(&mut self, node: &Node, bound: &Bound) -> Value {
        let method = bound.begun("name").and_then(Value::as_str);
        let starts = method.is_none_or(|name| name.eq_ignore_ascii_case("create"));
        let map = bound.begun("arguments").filter(|_| bound.begun("argumentlist").is_none());
        let line = map.map(|map| self.member(node, map, "commandline"));
        match line.or_else(|| bound.begun("argumentlist").cloned()).filter(|_| starts) {
            Some(line) => {
                let words = self.words(node, &line);
                let argv = self.operands(node, &words);
                self.act(node.at, What::Command { argv, cwd: None, env: Vec::new(), stdin: None });
            }
            None => {
                self.effect(
                    node,
                    EffectKind::Mutate,
                    Operand::System { system: "wmi".into(), verb: "method".into() },
                );
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `%name:~from,count%`: negative numbers count from the end.
    fn part_of_text(&mut self, text: &str, from: Option<i64>, count: Option<i64>) -> Value {
        let letters: Vec<char> = text.chars().collect();
        self.step((letters.len() / 8) as u64);
        let length = i64::try_from(letters.len()).unwrap_or(i64::MAX);
        let place = |at: i64, base: i64| {
            if at < 0 { length.saturating_add(at) } else { base.saturating_add(at) }.clamp(0, length)
        };
        let from = place(from.unwrap_or(0), 0);
        let to = count.map_or(length, |count| place(count, from)).max(from);
        let (from, to) = (usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0));
        Value::text(letters.get(from..to).unwrap_or_default().iter().collect::<String>())
    }

    /// `-replace`, where the pattern is plain text; ignores case.
    fn replaced_text(&mut self, node: &Node, bound: &Bound) -> Value {
        // `cmd` replaces text, not a pattern.
        let is_text = self.language == crate::language::Language::Batch;
        let from = bound.at(1).and_then(Value::as_str);
        let from = from.filter(|from| !from.is_empty() && (is_text || !from.contains(is_special)));
        let to = bound.at(2).map_or(Some(""), Value::as_str).filter(|to| is_text || !to.contains('$'));
        let of = bound.first();
        let (Some(from), Some(to), Some(text)) = (from, to, of.as_str()) else {
            return self.unknown(node, Why::Dynamic);
        };
        self.step((text.len() / 8) as u64);
        let (low, from) = (text.to_ascii_lowercase(), from.to_ascii_lowercase());
        let mut made = String::new();
        let mut rest = 0;
        for (at, _) in low.match_indices(&from) {
            made.push_str(text.get(rest..at).unwrap_or_default());
            made.push_str(to);
            rest = at + from.len();
        }
        made.push_str(text.get(rest..).unwrap_or_default());
        if made.len() > VALUE_BYTES_MAX {
            return self.unknown(node, Why::Size);
        }
        Value::text(made)
    }
}
