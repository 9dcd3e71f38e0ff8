//! Nested programs: text that runs as code, and modules that are loaded.

use std::rc::Rc;

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Piece};

use super::bound::Bound;
use super::named::inline_data;
use super::{Argument, Machine, Source};
use crate::act::{Operand, What};
use crate::language::Language;
use crate::limits::TEXT_DEPTH_MAX;
use crate::parse::parse;
use crate::tree::{Function, Kind, Node, Span};
use crate::value::{Ref, Value};

/// Marks of templates that access more than their values.
const CODE_IN_TEMPLATES: &[&str] = &["__", "<%", "constructor", "attr(", "\\x", "\\u", "#{"];

impl Machine<'_> {
    /// Runs the whole program.
    pub(super) fn program(&mut self, text: &str) {
        let is_open = self.start.file.is_some() || text.trim_start().starts_with("<?");
        let opening = if is_open { "" } else { self.language.opening() };
        let text = format!("{opening}{text}");
        let tree = self.parsed(&text);
        let opening = u32::try_from(opening.len()).unwrap_or_default();
        self.sources.push(Source { text: text.into(), at: None, opening });
        self.eval(&tree);
    }

    fn parsed(&mut self, text: &str) -> Node {
        if !self.process.reads(self.language, text) {
            self.is_apart = true;
            self.state.purse.end();
            return Node::new((0, 0), Kind::Hole(Why::Size));
        }
        let (tree, work) = parse(self.language, text, self.state.purse.left());
        self.state.purse.spend(work);
        tree
    }

    /// Runs text as code in the current scope. Returns the value of the last expression.
    pub(super) fn code(&mut self, node: &Node, text: &Value) -> Value {
        let mut values = Vec::new();
        for one in text.choices() {
            let value = match one.as_str() {
                Some(text) => self.known_code(node, text),
                // A function given as code is no text.
                None if matches!(one, Value::Function(_)) => Value::Constant,
                None => {
                    let arg = one.to_arg();
                    let why = arg.as_ref().and_then(|arg| arg.why()).unwrap_or(Why::Dynamic);
                    let written =
                        arg.map_or_else(|| self.written(node).to_string(), |arg| arg.written().into_owned());
                    self.hole(node.at, Role::Code, why, &written);
                    Value::unknown(why, &written)
                }
            };
            values.push(value);
        }
        self.any(node, values)
    }

    fn known_code(&mut self, node: &Node, text: &str) -> Value {
        if self.text_depth >= TEXT_DEPTH_MAX {
            return self.lost(node, Why::Nesting);
        }
        if !self.step(100 + 2 * text.len() as u64) {
            return Value::Constant;
        }
        let text = &format!("{}{text}", self.language.opening());
        let tree = self.parsed(text);
        let outer = self.enter_source(node.at, text);
        self.text_depth += 1;
        let value = self.eval(&tree);
        self.text_depth -= 1;
        self.source = outer;
        value
    }

    fn enter_source(&mut self, at: Span, text: &str) -> usize {
        let at = self.place(at);
        self.sources.push(Source { text: text.into(), at: Some(at), opening: 0 });
        std::mem::replace(&mut self.source, self.sources.len() - 1)
    }

    /// `Function('a', 'return a')`: the last argument is the function's text.
    pub(super) fn made_function(&mut self, node: &Node, arguments: &[Argument]) -> Value {
        let Some(text) = arguments.last().map(|one| one.value.clone()) else { return Value::Constant };
        let mut values = Vec::new();
        for one in text.choices() {
            let Some(text) = one.as_str() else {
                values.push(self.code(node, one));
                continue;
            };
            let text = &format!("{}{text}", self.language.opening());
            let body = self.parsed(text);
            let outer = self.enter_source(node.at, text);
            let function = Function {
                parameters: Vec::new(),
                locals: Vec::new(),
                body,
                has_this: true,
                takes_self: false,
            };
            let value = self.function(&Rc::new(function));
            self.source = outer;
            values.push(value);
        }
        self.any(node, values)
    }

    /// Expands a template, which may contain code. A template without inner members and code blocks has none.
    pub(super) fn template(&mut self, node: &Node, bound: &Bound) -> Value {
        let text = bound.first_plain();
        let is_plain = |text: &str| !CODE_IN_TEMPLATES.iter().any(|sign| text.contains(sign));
        for one in text.choices() {
            if !one.as_str().is_some_and(is_plain) {
                let why = one.to_arg().and_then(|arg| arg.why()).unwrap_or(Why::Language);
                self.lost(node, why);
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// Evaluates a formula as code with its names replaced. Without dotted names, quotes and inner members it only
    /// computes.
    pub(super) fn formula(&mut self, node: &Node, bound: &Bound) -> Value {
        for one in bound.plain().flat_map(Value::choices) {
            let is_formula = |text: &str| !text.contains("__") && text.chars().all(is_of_formula);
            match one {
                Value::Text(text) if text.as_str().is_some_and(is_formula) => {}
                Value::Text(text) => {
                    let why = text.why().unwrap_or(Why::Language);
                    self.lost(node, why);
                }
                Value::Function(_) => self.hand(node, one),
                _ => {}
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `help("module")`, `help(object)`: loads the named module.
    pub(super) fn documented(&mut self, node: &Node, bound: &Bound) -> Value {
        for one in bound.first().choices() {
            match one {
                // An object is already loaded. Python shows its own topics without loading a module.
                Value::Text(text) if text.as_str().is_some_and(|name| !is_topic(name)) => {
                    self.load(node, one);
                }
                Value::Text(text) if text.as_str().is_none() => {
                    self.load(node, one);
                }
                _ => {}
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// Evaluates an expression of `pandas`: columns and operators. A name after `@` belongs to the program, and a call
    /// of it may do anything. The module's own `eval` sees the program's names without `@`.
    pub(super) fn columns(&mut self, node: &Node, bound: &Bound, is_module: bool) -> Value {
        if self.modules.iter().any(|module| module.split('.').next() == Some("pandas")) {
            let expression = bound.first_plain();
            for one in expression.choices() {
                let Value::Text(text) = one else {
                    if let Value::Unknown(why, _) = one {
                        self.lost(node, *why);
                    }
                    continue;
                };
                if text
                    .pieces()
                    .iter()
                    .any(|piece| matches!(piece, Piece::Text(text) if calls_own(text, is_module)))
                {
                    self.lost(node, Why::Unsupported);
                }
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// Loads a module by its name.
    pub(super) fn load(&mut self, node: &Node, name: &Value) -> Value {
        self.over(node, name, |machine, one| match one.as_str() {
            Some(name) => machine.load_named(node, name),
            None => machine.load_unknown(node, one),
        })
    }

    fn load_unknown(&mut self, node: &Node, name: &Value) -> Value {
        let arg =
            name.to_arg().unwrap_or_else(|| Rc::new(Arg::unknown(Why::Dynamic, &*self.written(node), false)));
        // The known beginning may show a file.
        let is_path = is_path(arg.prefix()) || arg.prefix().starts_with("data:");
        if self.language == Language::JavaScript && is_path {
            return self.script(node, &arg);
        }
        let why = arg.why().unwrap_or(Why::Dynamic);
        self.hole(node.at, Role::Code, why, &arg.written());
        Value::unknown(why, &arg.written())
    }

    /// Runs a file. In JavaScript also a URL, which may contain the program itself.
    pub(super) fn script(&mut self, node: &Node, path: &Arg) -> Value {
        if self.language == Language::JavaScript && path.prefix().starts_with("data:") {
            return match path.as_str().and_then(inline_data) {
                Some(text) => self.known_code(node, &text),
                None => {
                    self.hole(node.at, Role::Code, path.why().unwrap_or(Why::Encoding), &path.written());
                    Value::unknown(Why::Encoding, &path.written())
                }
            };
        }
        let is_url = path.prefix().contains("://") && !path.prefix().starts_with("file:");
        if self.language == Language::JavaScript && is_url {
            self.effect(node, EffectKind::Download, Operand::Url(path.clone()));
            self.hole(node.at, Role::Code, Why::Network, &path.written());
            return Value::unknown(Why::Network, &path.written());
        }
        if self.language == Language::JavaScript
            && let Some(file) = path.as_str().and_then(file_of_url)
        {
            let path = Arg::known(file);
            self.act(node.at, What::Script { language: self.language, path });
        }
        if !path.prefix().starts_with("file:") || path.as_str().is_none() {
            self.act(node.at, What::Script { language: self.language, path: path.clone() });
        }
        // The file's definitions exist here afterwards.
        self.stars |= matches!(self.language, Language::Perl | Language::Ruby);
        Value::unknown(Why::File, &path.written())
    }

    fn load_named(&mut self, node: &Node, name: &str) -> Value {
        let bare = name.strip_prefix("node:").unwrap_or(name);
        if let Some(module) = self.table.module(bare).or_else(|| self.service_of(bare)) {
            self.loaded(bare);
            let of_program = Value::Module(Ref(module));
            // In Ruby a constant begins with a capital letter; a lower-case module gives functions.
            if self.language == Language::Ruby
                && module.name().starts_with(|one: char| one.is_ascii_lowercase())
            {
                self.load_all(node, &of_program);
            }
            return of_program;
        }
        if self.table.is_inert(bare) {
            self.loaded(bare);
            // In Ruby its definitions are visible without a prefix.
            self.stars |= self.language == Language::Ruby;
            return Value::Package(bare.into());
        }
        match self.language {
            Language::JavaScript if is_path(name) || name.starts_with("data:") || name.contains("://") => {
                let path = self.beside_itself(name);
                self.script(node, &Arg::known(path))
            }
            Language::PowerShell if is_path(name) || name.contains('\\') || name.ends_with(".psm1") => {
                self.script(node, &Arg::known(name.replace('\\', "/")))
            }
            Language::Perl if name.ends_with(".pm") && !name.starts_with(['.', '/']) => {
                self.load_named(node, &name.trim_end_matches(".pm").replace('/', "::"))
            }
            Language::Perl if name.contains(['/', '.']) => self.script(node, &Arg::known(name)),
            Language::Ruby if name.starts_with(['.', '/']) => self.script(node, &Arg::known(name)),
            Language::JavaScript
            | Language::Python
            | Language::Perl
            | Language::Ruby
            | Language::Php
            | Language::Lua
            | Language::PowerShell
            | Language::Batch
            | Language::AppleScript => self.unknown_module(node, bare),
        }
    }

    /// Resolves a module's path against the program's own file, if it has one.
    fn beside_itself(&self, name: &str) -> String {
        let directory = self.start.file.as_deref().and_then(|file| file.rsplit_once('/'));
        match directory.filter(|_| name.starts_with('.')) {
            Some((directory, _)) => format!("{directory}/{name}"),
            None => name.to_owned(),
        }
    }

    fn loaded(&mut self, name: &str) {
        let mut names = self.in_libraries(name);
        names.push(name.to_owned());
        names.retain(|name| !self.modules.contains(name));
        self.modules.extend(names);
    }

    /// Returns the library files that override this module.
    fn in_libraries(&self, name: &str) -> Vec<String> {
        let path = name.replace("::", "/");
        let files = self.libraries.iter().rev();
        files
            .flat_map(|library| self.table.files.iter().map(move |ending| (library, ending)))
            .map(|(library, ending)| format!("{library}/{path}{ending}"))
            .collect()
    }

    fn unknown_module(&mut self, node: &Node, name: &str) -> Value {
        let files = match self.language {
            Language::JavaScript
            | Language::Php
            | Language::PowerShell
            | Language::Batch
            | Language::AppleScript => Vec::new(),
            Language::Perl | Language::Ruby => self.in_libraries(name),
            Language::Python | Language::Lua => {
                let path = name.trim_start_matches('.').replace('.', "/");
                self.table.files.iter().map(|ending| format!("{path}{ending}")).collect()
            }
        };
        self.stars |= self.language == Language::Ruby;
        self.act(node.at, What::Module { name: name.to_owned(), files });
        Value::unknown(Why::File, name)
    }

    /// `from module import *`
    pub(super) fn load_all(&mut self, node: &Node, module: &Value) {
        for one in module.choices() {
            if let Value::Package(_) = one {
                self.stars = true;
            }
            let Value::Module(space) = one else { continue };
            // A module does not replace Perl's own functions.
            let global = self.table.module(self.table.global).filter(|_| self.language == Language::Perl);
            let is_own = |name: &str| global.is_some_and(|global| global.entry(name).is_some());
            for entry in space.0.entries {
                for name in entry.names.iter().filter(|name| !name.starts_with('_') && !is_own(name)) {
                    if let Some(value) = self.member_of_module(node, space.0, name) {
                        let is_method = self.language == Language::Ruby;
                        let own = if is_method { format!("->{name}").into() } else { (*name).into() };
                        self.state.set_name(self.scope, &own, value);
                    }
                }
            }
            // Its other names have no effects.
            self.stars |=
                matches!(self.language, Language::Perl | Language::Python) && space.0.has_inert("*");
            for name in space.0.inert.iter().filter(|name| !name.starts_with('_')) {
                let value = self.unknown(node, Why::Dynamic);
                self.state.set_name(self.scope, &(*name).into(), value);
            }
        }
        if module.choices().iter().any(|one| matches!(one, Value::Unknown(..))) {
            self.stars = true;
        }
    }

    /// Returns the value of a name that may come from a star import.
    pub(super) fn starred(&self, node: &Node) -> Option<Value> {
        self.stars.then(|| self.unknown(node, Why::Dynamic))
    }
}

/// Matches the characters of formulas: no quotes, no members.
fn is_of_formula(one: char) -> bool {
    one.is_alphanumeric() || one.is_whitespace() || "+-*/^(),=<>!|&~_%".contains(one)
}

/// Matches topics that Python's help shows without loading a module: keywords, capitalized topics, operators.
fn is_topic(name: &str) -> bool {
    const WORDS: &[&str] =
        &["keywords", "symbols", "topics", "if", "for", "while", "with", "def", "class", "lambda"];
    WORDS.contains(&name) || !name.contains(|one: char| one.is_ascii_lowercase())
}

/// Reports whether an expression of `pandas` calls a value of the program: `@name.method(`.
fn calls_own(text: &str, is_bare: bool) -> bool {
    let is_name = |one: char| one.is_alphanumeric() || matches!(one, '_' | '.');
    text.match_indices('(').any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let name = before.trim_end_matches(is_name);
        // The result of a call or an element belongs to the program, too.
        let goes_on = before.len() == name.len() && name.ends_with([')', ']']) && text.contains('@');
        before.len() > name.len() && (is_bare || name.ends_with('@')) || goes_on
    })
}

/// Reports whether a module name is a file path.
/// Returns the file of a URL: of `file:///x`, and of a path with a query, a fragment or an escape. `import` reads such a
/// path as a URL; `require` reads it as a name.
fn file_of_url(url: &str) -> Option<String> {
    let path = match url.strip_prefix("file:") {
        Some(rest) => rest.strip_prefix("//localhost").or_else(|| rest.strip_prefix("//")).unwrap_or(rest),
        None if url.contains(['?', '#', '%']) => url,
        None => return None,
    };
    let end = path.find(['?', '#']).unwrap_or(path.len());
    super::texts::percent(path.get(..end)?)
}

fn is_path(name: &str) -> bool {
    name.starts_with(['.', '/']) || name.starts_with("file:")
}
