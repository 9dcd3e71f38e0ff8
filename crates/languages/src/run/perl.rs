//! Perl's own semantics: flattened lists, functions by name, commands of words.

use castellan_event::Why;
use castellan_programs::Arg;

use super::bound::Bound;
use super::call::MethodCall;
use super::{Argument, Machine};
use crate::language::Language;
use crate::limits::{BYTES_PER_WORK, ITERATIONS_MAX};
use crate::state::Cell;
use crate::table::Takes;
use crate::tree::Node;
use crate::value::{Ref, Value};

/// The type of `@INC` and `%INC`.
const MODULES: &str = "Loaded";

impl Machine<'_> {
    /// Returns the value of an unset variable.
    pub(super) fn unset(&mut self, node: &Node, name: &str) -> Option<Value> {
        match self.language {
            Language::Perl => {}
            Language::Ruby => return self.unset_in_ruby(node, name),
            Language::PowerShell | Language::Batch | Language::AppleScript => {
                let outside = self.state.name_around(self.scope, name);
                return outside.or_else(|| self.shell_name(node, name));
            }
            Language::Python | Language::JavaScript | Language::Php | Language::Lua => return None,
        }
        let cell = || Cell { is_open: true, ..Cell::default() };
        let value = match name.as_bytes().first() {
            Some(b'$') => return Some(Value::unknown(Why::Variable, name)),
            Some(b'@') => Value::List(self.state.new_cell(cell())),
            Some(b'%') => Value::Map(self.state.new_cell(cell())),
            _ => return self.starred(node),
        };
        self.state.set_own(0, &name.into(), value.clone());
        Some(value)
    }

    /// Calls a method that the program defines, or a method of a class that a text names.
    pub(super) fn method_by_name(&mut self, call: MethodCall<'_>) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        if self.language == Language::Ruby {
            return self.method_in_ruby(call);
        }
        if self.language != Language::Perl {
            return None;
        }
        if let Some(function) = self.state.name(self.scope, &format!("->{name}")) {
            let first = Argument::plain(of.clone());
            let all = std::iter::once(first).chain(arguments.iter().cloned()).collect();
            return Some(self.call(node, &function, all));
        }
        let module = of.as_str().and_then(|class| self.table.module(class))?;
        let member = self.member(node, &Value::Module(Ref(module)), name);
        Some(self.call(node, &member, arguments.to_vec()))
    }

    /// Returns all arguments with lists flattened, and whether these are all.
    pub(super) fn flattened(&self, node: &Node, bound: &Bound) -> (Vec<Value>, bool) {
        let mut values = Vec::new();
        let mut known = !bound.is_open;
        let plain = bound.given.iter().filter(|(parameter, _)| parameter.takes != Takes::Named);
        for value in plain.map(|(_, value)| value).chain(&bound.others) {
            match value {
                Value::List(_) => {
                    let (elements, all) = self.elements(node, value);
                    values.extend(elements);
                    known &= all;
                }
                other => values.push(other.clone()),
            }
        }
        (values, known)
    }

    /// `system`, `exec`: one text is for a shell; several are a program and its arguments.
    pub(super) fn listed_command(&mut self, node: &Node, bound: &Bound) -> Value {
        let (values, known) = self.flattened(node, bound);
        let values = self.only_words(node, bound, values);
        match values.as_slice() {
            [] if known => {}
            [only] if known || matches!(only, Value::Unknown(..)) => self.shell(node, only, bound),
            _ => {
                let list = self.listed(values, !known);
                self.starts_or_shell(node, &list, bound);
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `%h = (...)`, `{...}`: alternating keys and values.
    pub(super) fn paired(&mut self, _node: &Node, bound: &Bound) -> Value {
        let values: Vec<Value> =
            bound.given.iter().map(|(_, value)| value).chain(&bound.others).cloned().collect();
        if bound.is_open {
            // The positions of keys are unknown.
            let entries = values.into_iter().map(|value| (None, value)).collect();
            return Value::Map(self.state.new_cell(Cell { entries, is_open: true, class: None }));
        }
        let mut cell = Cell::default();
        let mut places = std::collections::HashMap::new();
        let mut values = values.into_iter();
        while let Some(key) = values.next() {
            let entry = (
                key.to_arg().and_then(|key| key.as_str().map(std::rc::Rc::<str>::from)),
                values.next().unwrap_or(Value::Constant),
            );
            // The last entry of a key wins.
            let place = entry.0.as_ref().and_then(|key| places.insert(key.clone(), cell.entries.len()));
            match place.and_then(|place| cell.entries.get_mut(place)) {
                Some(before) => {
                    places.insert(entry.0.clone().unwrap_or_default(), place.unwrap_or_default());
                    *before = entry;
                }
                None => {
                    cell.is_open |= entry.0.is_none();
                    cell.entries.push(entry);
                }
            }
        }
        Value::Map(self.state.new_cell(cell))
    }

    /// `@x = ...`: keeps the same list, because references to it see the change.
    pub(super) fn refilled(&mut self, node: &Node, bound: &Bound) -> Value {
        let (Some(of), Some(value)) = (bound.at(0).cloned(), bound.at(1).cloned()) else {
            return self.unknown(node, Why::Dynamic);
        };
        let from = match &value {
            Value::List(cell) | Value::Map(cell) => self.state.cell(*cell),
            _ => Cell { entries: vec![(None, value.clone())], is_open: true, class: None },
        };
        let certain = matches!(of, Value::List(_) | Value::Map(_));
        for one in of.choices() {
            match one {
                Value::Object(space, _) if space.0.name() == MODULES => {
                    self.libraries_added(
                        node,
                        &from.entries.iter().map(|(_, one)| one.clone()).collect::<Vec<_>>(),
                    );
                    self.hand(node, &value);
                }
                Value::List(cell) | Value::Map(cell) => {
                    let mut next = from.clone();
                    if !certain {
                        next.entries.extend(self.state.cell(*cell).entries);
                        next.is_open = true;
                    }
                    self.state.set_cell(*cell, next);
                }
                _ => self.hand(node, &value),
            }
        }
        of
    }

    /// Runs a method of the list or map in the first argument.
    pub(super) fn on_list(&mut self, node: &Node, bound: &Bound, name: &str) -> Value {
        let Some(of) = bound.at(0).cloned() else { return self.unknown(node, Why::Dynamic) };
        let count = bound.given.len();
        let mut arguments = bound.plain_arguments(1);
        if let Some(last) = arguments.last_mut().filter(|_| bound.is_open && count > 1) {
            last.is_spread = true;
        }
        let mut values = Vec::new();
        for one in of.choices() {
            if matches!(one, Value::Object(space, _) if space.0.name() == MODULES) {
                let paths: Vec<Value> = arguments.iter().map(|one| one.value.clone()).collect();
                self.libraries_added(node, &paths);
            }
            match self.list_method(MethodCall { node, of: one, name, arguments: &arguments }) {
                Some(value) => values.push(value),
                None => values.push(self.inert(node, &arguments)),
            }
        }
        self.any(node, values)
    }

    /// `$$x`: the referenced value, or the variable with this name.
    pub(super) fn referred(&mut self, node: &Node, bound: &Bound) -> Value {
        let of = bound.first();
        self.over(node, &of, |machine, one| match one {
            Value::List(_) => machine.index(node, one, &Value::Number(0)),
            Value::Text(arg) => match arg.as_str() {
                Some(name) => machine.name(node, &format!("${name}").into()),
                None => machine.unknown(node, Why::Dynamic),
            },
            _ => machine.unknown(node, Why::Dynamic),
        })
    }

    /// `&$f(...)`: the callee is a function or its name.
    pub(super) fn called(&mut self, node: &Node, bound: &Bound) -> Value {
        let function = bound.first();
        let given = bound.arguments(1);
        let mut values = Vec::new();
        for one in function.choices() {
            let value = match one {
                Value::Text(arg) => match arg.as_str() {
                    Some(name) => {
                        let name = name.trim_start_matches('&').trim_start_matches("main::");
                        let full = format!("main::{name}");
                        match self.state.name(self.scope, &full) {
                            Some(function) => function,
                            None => self.name(node, &name.into()),
                        }
                    }
                    None => self.lost(node, arg.why().unwrap_or(Why::Dynamic)),
                },
                // An unknown name may call any loaded function.
                Value::Unknown(why, _) if self.has_capable_module() => self.lost(node, *why),
                other => other.clone(),
            };
            values.push(self.call(node, &value, given.clone()));
        }
        self.any(node, values)
    }

    fn has_capable_module(&self) -> bool {
        let mut modules = self.modules.iter().filter_map(|name| self.table.module(name));
        modules.any(crate::table::Space::is_capable)
    }

    /// `use lib`: modules come from there first.
    pub(super) fn library_path(&mut self, node: &Node, bound: &Bound) -> Value {
        let (paths, _) = self.flattened(node, bound);
        self.libraries_added(node, &paths);
        Value::Constant
    }

    fn libraries_added(&mut self, node: &Node, paths: &[Value]) {
        for path in paths.iter().flat_map(Value::choices) {
            match (path.as_str(), &self.start.cwd) {
                _ if !matches!(path, Value::Text(_) | Value::Unknown(..)) => {}
                (Some(text), cwd) if text.starts_with('/') => {
                    self.libraries.push(text.to_owned());
                    let is_own = cwd.as_ref().is_some_and(|cwd| {
                        text.strip_prefix(cwd.as_str()).is_some_and(|below| below.starts_with('/'))
                    });
                    if !is_own {
                        self.library_elsewhere(node, path);
                    }
                }
                (Some(path), Some(cwd)) if !path.starts_with("..") => {
                    self.libraries.push(format!("{cwd}/{path}"));
                }
                (Some(text), Some(cwd)) => {
                    self.libraries.push(format!("{cwd}/{text}"));
                    self.library_elsewhere(node, path);
                }
                _ => self.library_elsewhere(node, path),
            }
        }
    }

    /// Reports that a module of any name may come from a directory outside the program's own.
    fn library_elsewhere(&mut self, node: &Node, path: &Value) {
        let name = match self.language {
            Language::Ruby => "RUBYLIB",
            Language::JavaScript => "NODE_PATH",
            _ => "PERL5LIB",
        };
        self.variable(node, &Value::text(name), path);
    }

    /// `a..b`
    pub(super) fn spanned(&mut self, node: &Node, bound: &Bound) -> Value {
        let (Some(from), Some(to)) = (bound.at(0), bound.at(1)) else {
            return self.unknown(node, Why::Arithmetic);
        };
        let letters = (from.as_str().unwrap_or_default(), to.as_str().unwrap_or_default());
        match (from, to) {
            (Value::Number(from), Value::Number(to)) => {
                let count = usize::try_from(to.saturating_sub(*from)).unwrap_or(0);
                if count >= ITERATIONS_MAX {
                    return self.unknown(node, Why::Arithmetic);
                }
                self.step(count as u64);
                self.list((*from..=*to).map(Value::Number))
            }
            _ if letters.0.len() == 1 && letters.1.len() == 1 => {
                let letters = letters.0.chars().zip(letters.1.chars());
                self.list(letters.flat_map(|(from, to)| from..=to).map(Value::text))
            }
            _ => self.unknown(node, Why::Arithmetic),
        }
    }

    /// `tr/a-z/b/`
    pub(super) fn transliterated(&mut self, node: &Node, bound: &Bound) -> Value {
        match bound.given.as_slice() {
            [(_, of), (_, from), (_, to)] => self.translated_letters(node, of, from, to),
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    pub(super) fn translated_letters(&mut self, node: &Node, of: &Value, from: &Value, to: &Value) -> Value {
        let (Some(of), Some(from), Some(to)) = (of.as_str(), from.as_str(), to.as_str()) else {
            return self.unknown(node, Why::Dynamic);
        };
        // In Ruby, `^` matches all other letters, and an empty replacement deletes.
        let is_other = from.starts_with('^') || to.is_empty() || from.contains('\\');
        if self.language == Language::Ruby && is_other {
            return self.unknown(node, Why::Dynamic);
        }
        let (Some(from), Some(mut to)) = (ranged(from), ranged(to)) else {
            return self.unknown(node, Why::Dynamic);
        };
        if to.is_empty() {
            to.clone_from(&from);
        }
        let turned = of.chars().map(|letter| match from.iter().position(|one| *one == letter) {
            Some(at) => to.get(at).or(to.last()).copied().unwrap_or(letter),
            None => letter,
        });
        if !self.step((of.len() * from.len() / 16) as u64) {
            return Value::Constant;
        }
        Value::text(turned.collect::<String>())
    }

    /// `substr($x, from, length) = by`: returns the new text.
    pub(super) fn part_replaced(&mut self, node: &Node, bound: &Bound) -> Value {
        let text = |at: usize| bound.at(at).and_then(Value::as_str);
        let (Some(of), Some(by), Some(Value::Number(from))) = (text(0), text(1), bound.at(2)) else {
            return self.unknown(node, Why::Dynamic);
        };
        let letters: Vec<char> = of.chars().collect();
        let count = i64::try_from(letters.len()).unwrap_or(i64::MAX);
        let place = |at: i64| if at < 0 { at.saturating_add(count) } else { at };
        let from = place(*from);
        let to = match bound.at(3) {
            None | Some(Value::Constant) => count,
            Some(Value::Number(size)) if *size < 0 => place(*size),
            Some(Value::Number(size)) => from.saturating_add(*size).min(count),
            Some(_) => return self.unknown(node, Why::Dynamic),
        };
        let part = |range: Option<&[char]>| range.map(|letters| letters.iter().collect::<String>());
        let (from, to) = (usize::try_from(from).ok(), usize::try_from(to).ok());
        let before = from.and_then(|from| part(letters.get(..from)));
        let after = to.filter(|to| Some(*to) >= from).and_then(|to| part(letters.get(to..)));
        match before.zip(after) {
            Some((before, after)) => {
                self.step((of.len() / BYTES_PER_WORK) as u64);
                Value::text(format!("{before}{by}{after}"))
            }
            None => self.unknown(node, Why::Dynamic),
        }
    }

    /// A text in a pattern that may contain code.
    pub(super) fn pattern_code(&mut self, node: &Node, bound: &Bound) -> Value {
        let text = bound.first();
        let is_plain = |one: &Value| {
            one.as_str().is_some_and(|text| !["(?{", "(??{", "(*{"].iter().any(|code| text.contains(code)))
        };
        if !text.choices().iter().all(is_plain) {
            let why = text.to_arg().and_then(|text| text.why()).unwrap_or(Why::Unsupported);
            self.lost(node, why);
        }
        text
    }

    /// `tie VARIABLE, CLASS, LIST`: the class creates the object behind the variable.
    pub(super) fn tied(&mut self, node: &Node, bound: &Bound) -> Value {
        let (values, known) = self.flattened(node, &bound.without(1));
        let Some((class, rest)) = values.split_first() else { return self.unknown(node, Why::Dynamic) };
        let mut given: Vec<Argument> = rest.iter().cloned().map(Argument::plain).collect();
        if !known {
            given.push(Argument::unknown(Why::Parameter));
        }
        for class in class.choices() {
            match class.as_str() {
                // Methods of the program run anyway.
                Some(name)
                    if ["TIEHASH", "TIEARRAY", "TIESCALAR", "TIEHANDLE"]
                        .iter()
                        .any(|method| self.state.name(0, &format!("{name}::{method}")).is_some()) => {}
                Some(_) => {
                    let class = self.load(node, class);
                    let make = self.member(node, &class, "TIE");
                    self.call(node, &make, given.clone());
                }
                None => {
                    if let Some(name) = class.to_arg() {
                        self.lost(node, name.why().unwrap_or(Why::Dynamic));
                    }
                }
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `File::Find::find`: calls a function for each path below some directories.
    pub(super) fn searched(&mut self, node: &Node, bound: &Bound) -> Value {
        let mut functions = vec![bound.first()];
        if let Value::Map(cell) = bound.first() {
            functions = self.state.cell(cell).entries.into_iter().map(|(_, value)| value).collect();
        }
        let mut paths = Vec::new();
        for (_, directory) in bound.given.iter().skip(1) {
            let below = Value::arg(Arg::unknown(Why::Glob, "**", false));
            let path = self.beside(node, &directory.clone(), &below);
            paths.push(path);
        }
        let path = self.any(node, paths);
        for name in ["$_", "$File::Find::name", "$File::Find::dir"] {
            self.state.set_own(0, &name.into(), path.clone());
        }
        for function in functions {
            if function.is_callable() {
                self.call(node, &function, Vec::new());
            }
        }
        Value::Constant
    }

    /// Returns the patterns of `glob`, one for each word.
    pub(super) fn globbed_words(&mut self, node: &Node, bound: &Bound) -> Value {
        let words = match bound.first().as_str() {
            Some(text) if !text.contains(['"', '\'', '\\']) => {
                text.split_whitespace().map(Value::text).collect::<Vec<_>>()
            }
            _ => vec![bound.first()],
        };
        let mut found = Vec::new();
        for word in words {
            let given = bound.given.iter().take(1).map(|(parameter, _)| (*parameter, word.clone())).collect();
            let list = self.globbed(node, &Bound { given, ..Bound::default() });
            found.extend(self.elements(node, &list).0);
        }
        self.list(found)
    }
}

/// Expands ranges of letters: `a-z`. `None` if a range is too long.
fn ranged(text: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        match (letters.get(at + 1), letters.get(at + 2)) {
            (Some('-'), Some(last)) if last >= letter => {
                if u32::from(*last) - u32::from(*letter) >= ITERATIONS_MAX as u32 {
                    return None;
                }
                all.extend(*letter..=*last);
                at += 3;
            }
            _ => {
                all.push(*letter);
                at += 1;
            }
        }
    }
    Some(all)
}
