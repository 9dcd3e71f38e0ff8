//! What functions of libraries give, where that can be computed. The tables name the computations.

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Piece};

use super::perform::Bound;
use super::{Argument, Machine};
use crate::limits::ITERATIONS_MAX;
use crate::state::Cell;
use crate::table::Part;
use crate::tree::Node;
use crate::value::Value;

pub(super) type Computation = fn(&mut Machine<'_>, &Node, &Bound) -> Value;

/// By the names that the tables use.
const COMPUTATIONS: &[(&str, Computation)] = &[
    ("address", |machine, node, bound| {
        let parts = [bound.at(1), Some(&Value::text(":")), bound.at(0)]
            .map(|part| part.cloned().unwrap_or(Value::Constant));
        machine.concatenated(node, &parts)
    }),
    ("ancestor", |machine, node, bound| machine.ancestor(node, bound)),
    ("appended", |machine, node, bound| machine.appended(node, bound)),
    ("argv", |machine, _, _| machine.argv_of_program()),
    ("array-cast", |machine, _, bound| machine.array_of(&first(bound))),
    ("array-entries", |machine, node, bound| machine.array_entries(node, &first(bound))),
    ("array-keys", |machine, node, bound| machine.array_keys(node, bound)),
    ("array-merge", |machine, node, bound| machine.merged(node, bound)),
    ("array-reduce", |machine, node, bound| machine.array_reduce(node, bound)),
    ("array-walk", |machine, node, bound| machine.array_walk(node, bound)),
    ("base64", |machine, node, bound| machine.decoded(node, bound, super::texts::base64)),
    ("call", |machine, node, bound| machine.call_by_name(node, bound)),
    ("call-inner", |machine, node, bound| machine.call_inner(node, bound, false)),
    ("call-method", |machine, node, bound| machine.method_called(node, bound)),
    ("called", |machine, node, bound| machine.called(node, bound)),
    ("capital", |machine, node, bound| machine.first_letter(node, bound, true)),
    ("characters", |machine, node, bound| machine.characters(node, bound)),
    ("children", |machine, node, bound| machine.children(node, bound, None)),
    ("class-alias", |machine, node, bound| machine.class_alias(node, bound)),
    ("class-named", |machine, node, bound| machine.class_named(node, &first(bound))),
    ("clone", |machine, _, bound| machine.cloned(&first(bound))),
    ("code", |machine, node, bound| machine.code(node, &first(bound))),
    ("code-second", |machine, node, bound| {
        machine.code(node, &bound.at(1).cloned().unwrap_or(Value::Constant))
    }),
    ("constant", |machine, node, bound| machine.constant(node, &first(bound))),
    ("content", |machine, node, bound| machine.content(node, bound)),
    ("curl-option", |machine, node, bound| machine.curl_option(node, bound)),
    ("cwd", |machine, node, _| match &machine.start.cwd {
        Some(cwd) => Value::text(cwd.clone()),
        None => machine.unknown(node, Why::Dynamic),
    }),
    ("decode", |machine, node, bound| machine.decode(node, bound)),
    ("decorator", |machine, node, bound| match first(bound) {
        function if function.is_callable() => function,
        _ => machine.identity(node),
    }),
    ("directory", |machine, node, _| match machine.start.file.clone() {
        Some(file) => machine.path_part(node, &Value::text(file), true),
        None => machine.unknown(node, Why::Dynamic),
    }),
    ("each", |machine, node, bound| machine.each_of(node, bound)),
    ("elements", |machine, node, bound| machine.same_elements(node, &first(bound), false)),
    ("entries", |machine, node, _| machine.found(node, Arg::unknown(Why::Glob, "*", false))),
    ("enumerate", |machine, node, bound| machine.enumerated(node, &first(bound))),
    ("environment", |machine, node, bound| machine.environment_or(node, bound)),
    ("environment-second", |machine, node, bound| {
        let name = bound.named("key").cloned().unwrap_or(Value::Constant);
        let value = machine.environment(node, &name);
        match bound.named("default") {
            Some(default) if value.as_str().is_none() => machine.any(node, [value, default.clone()]),
            _ => value,
        }
    }),
    ("environment-update", |machine, node, bound| machine.update_environment(node, bound)),
    ("expanded", |machine, node, bound| machine.expanded(node, &first(bound))),
    ("expanded-beside", |machine, node, bound| match bound.at(1) {
        Some(base) => {
            let base = machine.expanded(node, &base.clone());
            machine.beside(node, &base, &first(bound))
        }
        None => machine.expanded(node, &first(bound)),
    }),
    ("explode", |machine, node, bound| machine.exploded(node, bound)),
    ("expression", |machine, node, bound| machine.expression(node, &first(bound))),
    ("extract", |machine, node, bound| machine.extracted(node, &first(bound))),
    ("file", |machine, node, _| match &machine.start.file {
        Some(file) => Value::text(file.clone()),
        None => machine.unknown(node, Why::Dynamic),
    }),
    ("file-of-url", |_, _, bound| {
        let url = first(bound);
        url.as_str().and_then(|url| url.strip_prefix("file://")).map_or(url.clone(), Value::text)
    }),
    ("filter", |machine, node, bound| machine.mapped(node, bound, true)),
    ("first", |_, _, bound| first(bound)),
    ("first-of", |machine, node, bound| machine.end_of(node, bound, 0)),
    ("flat", |machine, node, bound| {
        let (values, known) = machine.flattened(node, bound);
        let entries = values.into_iter().map(|value| (None, value)).collect();
        Value::List(machine.state.new_cell(Cell { entries, is_open: !known, class: None }))
    }),
    ("flat-reversed", |machine, node, bound| {
        let (mut values, known) = machine.flattened(node, bound);
        values.reverse();
        let entries = values.into_iter().map(|value| (None, value)).collect();
        Value::List(machine.state.new_cell(Cell { entries, is_open: !known, class: None }))
    }),
    ("fresh", |_, _, _| fresh()),
    ("fresh-pair", |machine, node, _| {
        let descriptor = machine.unknown(node, Why::Dynamic);
        machine.list([descriptor, fresh()])
    }),
    ("function", |machine, node, bound| {
        let all = bound.given.iter().map(|(_, value)| Argument::plain(value.clone()));
        let all: Vec<Argument> = all.collect();
        machine.made_function(node, &all)
    }),
    ("glob", |machine, node, bound| machine.globbed(node, bound)),
    ("glob-words", |machine, node, bound| machine.globbed_words(node, bound)),
    ("hex", |machine, node, bound| machine.decoded(node, bound, super::texts::hex)),
    ("home", |machine, _, _| machine.home()),
    ("identity", |machine, node, _| machine.identity(node)),
    ("implode", |machine, node, bound| machine.imploded(node, bound)),
    ("include", |machine, node, bound| machine.included(node, &first(bound))),
    ("inclusive-range", |machine, node, bound| machine.inclusive_range(node, bound)),
    ("inner", |_, _, bound| inner(&first(bound))),
    ("insert", |machine, node, bound| machine.inserted(node, bound)),
    ("integer", |machine, node, bound| machine.integer(node, &first(bound))),
    ("iterated", |machine, node, bound| machine.iterated(node, bound)),
    ("itself", |machine, node, _| machine.load(node, &Value::text("multiprocessing"))),
    ("itself-buffer", |machine, node, _| machine.load(node, &Value::text("buffer"))),
    ("itself-sqlite", |machine, node, _| machine.load(node, &Value::text("sqlite3"))),
    ("join-list", |machine, node, bound| {
        let by = bound.at(1).cloned().unwrap_or_else(|| Value::text(""));
        machine.joined_by(node, &by, &first(bound))
    }),
    ("join-path", |machine, node, bound| machine.joined_path(node, bound)),
    ("joined", |machine, node, bound| machine.joined_by(node, &Value::text(""), &first(bound))),
    ("joined-list", |machine, node, bound| {
        let by = first(bound);
        let (values, known) = machine.flattened(node, &bound.without(1));
        let list = machine.list(values.iter().cloned());
        match values.first() {
            _ if known => machine.joined_by(node, &by, &list),
            Some(unknown @ Value::Unknown(..)) => unknown.clone(),
            _ => machine.unknown(node, Why::Dynamic),
        }
    }),
    ("last-of", |machine, node, bound| machine.end_of(node, bound, -1)),
    ("letters", |machine, node, bound| machine.letters(node, bound)),
    ("library-path", |machine, node, bound| machine.library_path(node, bound)),
    ("list-keys", |machine, node, bound| machine.on_list(node, bound, "keys")),
    ("list-pop", |machine, node, bound| machine.on_list(node, bound, "pop")),
    ("list-push", |machine, node, bound| machine.on_list(node, bound, "push")),
    ("list-shift", |machine, node, bound| machine.on_list(node, bound, "shift")),
    ("list-splice", |machine, node, bound| machine.on_list(node, bound, "splice")),
    ("list-unshift", |machine, node, bound| machine.on_list(node, bound, "unshift")),
    ("list-values", |machine, node, bound| machine.on_list(node, bound, "values")),
    ("listed", |machine, node, bound| machine.listed_command(node, bound)),
    ("listed-rest", |machine, node, bound| machine.listed_command(node, &bound.without(1))),
    ("listed-rest-2", |machine, node, bound| machine.listed_command(node, &bound.without(2))),
    ("listed-rest-3", |machine, node, bound| machine.listed_command(node, &bound.without(3))),
    ("load", |machine, node, bound| {
        let name = bound.named("name").cloned().unwrap_or_else(|| first(bound));
        machine.load(node, &name)
    }),
    ("load-code", |machine, node, bound| machine.loaded_code(node, bound)),
    ("lost", |machine, node, _| machine.lost(node, Why::Unsupported)),
    ("map", |machine, node, bound| machine.mapped(node, bound, false)),
    ("member", |machine, node, bound| machine.member_by_name(node, bound)),
    ("metatable", |machine, node, bound| machine.with_metatable(node, bound)),
    ("moved", |machine, node, bound| machine.moved(node, bound)),
    ("names", |machine, _, bound| bound.at(0).cloned().unwrap_or(Value::Names(machine.scope))),
    ("new-inner", |machine, node, bound| machine.call_inner(node, bound, true)),
    ("object", |machine, _, _| Value::Instance(machine.state.new_cell(Cell::default()))),
    ("one-of", |machine, node, bound| {
        let (elements, _) = machine.elements(node, &first(bound));
        machine.any(node, elements)
    }),
    ("opened", |machine, node, bound| machine.opened(node, bound)),
    ("opened-in-ruby", |machine, node, bound| machine.opened_in_ruby(node, bound)),
    ("ordinal", |machine, node, bound| match first(bound).as_str().and_then(|text| text.chars().next()) {
        Some(letter) => Value::Number(i64::from(u32::from(letter))),
        None => machine.unknown(node, Why::Arithmetic),
    }),
    ("pack", |machine, node, bound| machine.packed_bytes(node, bound)),
    ("packed", |machine, node, bound| machine.packed(node, bound)),
    ("packed-of", |machine, node, bound| machine.packed_of(node, bound)),
    ("packed-values", |machine, _, bound| {
        let values: Vec<Value> = bound.given.iter().map(|(_, value)| value.clone()).collect();
        machine.list(values)
    }),
    ("paired", |machine, node, bound| machine.paired(node, bound)),
    ("parent", |machine, node, bound| machine.path_part(node, &first(bound), true)),
    ("parent-method", |machine, _, bound| machine.bound_method(bound)),
    ("partial", |_, _, bound| {
        let rest = bound.given.iter().skip(1).map(|(_, value)| value.clone()).collect();
        Value::partial(first(bound), rest)
    }),
    ("pattern-replace", |machine, node, bound| machine.pattern_replaced(node, bound)),
    ("percent", |machine, node, bound| machine.decoded(node, bound, super::texts::percent)),
    ("plain-replace", |machine, node, bound| machine.plainly_replaced(node, bound)),
    ("popened", |machine, node, bound| {
        let what = first(bound);
        for one in what.choices() {
            match one {
                Value::List(_) => {
                    let argv = machine.argv(node, one);
                    machine.starts(node, argv, bound);
                }
                other => machine.shell(node, other, bound),
            }
        }
        Value::unknown(Why::Substitution, "popen")
    }),
    ("protected-call", |machine, node, bound| machine.protected(node, bound, 0)),
    ("protected-call-with", |machine, node, bound| machine.protected(node, bound, 1)),
    ("put-environment", |machine, node, bound| machine.put_environment(node, bound)),
    ("radix-16", |machine, node, bound| machine.integer_of(node, &first(bound), 16)),
    ("radix-8", |machine, node, bound| machine.integer_of(node, &first(bound), 8)),
    ("range", |machine, node, bound| machine.range(node, bound)),
    ("read-arguments", |machine, node, _| machine.read_arguments(node)),
    ("read-content", |machine, node, bound| machine.read_content(node, bound)),
    ("receiver", |_, _, bound| first(bound)),
    ("referred", |machine, node, bound| machine.referred(node, bound)),
    ("refilled", |machine, node, bound| machine.refilled(node, bound)),
    ("repeated", |machine, node, bound| {
        let count = bound.at(1).cloned().unwrap_or(Value::Constant);
        machine.repeated(node, &first(bound), &count)
    }),
    ("replace", |machine, node, bound| machine.replaced(node, bound)),
    ("requested", |machine, _, bound| {
        let method = bound.part(Part::Method).cloned().unwrap_or_else(|| Value::text("GET"));
        let body = bound.part(Part::Body).cloned().unwrap_or(Value::Constant);
        machine.list([first(bound), method, body])
    }),
    ("requested-second", |machine, _, bound| {
        let method = bound.part(Part::Method).cloned().unwrap_or_else(|| Value::text("GET"));
        let body = bound.part(Part::Body).cloned().unwrap_or(Value::Constant);
        let url = bound.at(1).cloned().unwrap_or(Value::Constant);
        machine.list([url, method, body])
    }),
    ("require", |machine, node, _| {
        let global = machine.table.module(machine.table.global);
        global.and_then(|global| machine.member_of_module(node, global, "require")).unwrap_or(Value::Constant)
    }),
    ("resolved-path", |machine, node, bound| machine.resolved_path(node, bound)),
    ("reverse-text", |machine, node, bound| machine.reversed_text(node, bound)),
    ("reversed", |machine, node, bound| machine.same_elements(node, &first(bound), true)),
    ("reversed-of", |machine, node, bound| machine.reversed_of(node, bound)),
    ("reversed-text", |machine, node, bound| {
        let (values, known) = machine.flattened(node, bound);
        let text: Option<String> = values.iter().map(Value::as_str).collect();
        match text.filter(|_| known) {
            Some(text) => Value::text(text.chars().rev().collect::<String>()),
            None => machine.unknown(node, Why::Dynamic),
        }
    }),
    ("rootdir", |_, _, _| Value::text("/")),
    ("rot13", |machine, node, bound| machine.decoded(node, bound, super::texts::rot13)),
    ("rows", |machine, node, bound| machine.rows(node, bound)),
    ("run", |machine, node, bound| machine.run_with(node, bound)),
    ("scanned", |machine, node, bound| machine.children(node, bound, Some("DirEntry"))),
    ("search-path", |machine, node, bound| {
        let path = bound.named("path").cloned().unwrap_or(Value::Constant);
        machine.variable(node, &Value::text("PYTHONPATH"), &path);
        Value::Constant
    }),
    ("searched", |machine, node, bound| machine.searched(node, bound)),
    ("second", |_, _, bound| bound.at(1).cloned().unwrap_or(Value::Constant)),
    ("select", |machine, node, bound| machine.selected(node, bound)),
    ("set-member", |machine, node, bound| machine.set_member(node, bound)),
    ("spanned", |machine, node, bound| machine.spanned(node, bound)),
    ("sprintf", |machine, node, bound| machine.printed(node, bound, false)),
    ("substring", |machine, node, bound| machine.substring(node, bound, false)),
    ("substring-from-one", |machine, node, bound| machine.substring(node, bound, true)),
    ("super", |machine, _, _| machine.this_object()),
    ("tail", |machine, node, bound| machine.path_part(node, &first(bound), false)),
    ("target", |_, _, bound| bound.named("target").cloned().unwrap_or(Value::Constant)),
    ("template", |machine, node, bound| machine.template(node, bound)),
    ("text", |machine, node, bound| machine.as_text(node, &first(bound))),
    ("timer", |machine, node, bound| {
        // Text is code, as browsers have it.
        for text in first(bound).choices().iter().filter(|one| one.as_str().is_some()) {
            machine.code(node, text);
        }
        for value in bound.plain() {
            machine.hand(node, value);
        }
        machine.unknown(node, Why::Dynamic)
    }),
    ("tmp", |_, _, _| Value::text("/tmp")),
    ("top", |machine, _, _| machine.globals()),
    ("top-names", |_, _, _| Value::Names(0)),
    ("translate", |machine, node, bound| machine.translated(node, bound)),
    ("transliterated", |machine, node, bound| machine.transliterated(node, bound)),
    ("uncapital", |machine, node, bound| machine.first_letter(node, bound, false)),
    ("unpack", |machine, node, bound| machine.unpacked(node, bound)),
    ("unpacked-of", |machine, node, bound| machine.unpacked_of(node, bound)),
    ("url", |machine, node, bound| match bound.at(1) {
        None => first(bound),
        Some(base) => {
            let base = base.clone();
            machine.beside(node, &base, &first(bound))
        }
    }),
    ("values", |machine, _, bound| machine.returned(bound)),
    ("vsprintf", |machine, node, bound| machine.printed(node, bound, true)),
    ("walk", |machine, node, bound| machine.walked(node, bound)),
    ("words", |machine, node, bound| machine.words(node, &first(bound))),
    ("zip", |machine, node, bound| machine.zipped(node, bound)),
];

/// Whether a computation calls, or only looks at, what it is given.
pub(super) fn takes_functions(name: &str) -> bool {
    matches!(
        name,
        "map"
            | "filter"
            | "partial"
            | "run"
            | "elements"
            | "reversed"
            | "zip"
            | "enumerate"
            | "member"
            | "set-member"
            | "receiver"
            | "first"
            | "second"
            | "decorator"
            | "identity"
            | "timer"
    ) || super::cmdlets::is_known(name)
}

/// A temporary path.
fn fresh() -> Value {
    let unknown = Piece::Unknown { why: Why::Dynamic, written: "*".into() };
    Value::arg(Arg::from_pieces([Piece::Text("/tmp/".into()), unknown], false))
}

/// The first argument.
pub(super) fn first(bound: &Bound) -> Value {
    bound.at(0).or(bound.others.first()).cloned().unwrap_or(Value::Constant)
}

/// What an object was made of.
pub(super) fn inner(value: &Value) -> Value {
    match value {
        Value::Object(_, inner) => (**inner).clone(),
        other => other.clone(),
    }
}

impl Machine<'_> {
    pub(super) fn compute(&mut self, node: &Node, name: &str, bound: &Bound) -> Value {
        if let Some(method) = name.strip_prefix('.') {
            return self.as_method(node, method, bound);
        }
        match COMPUTATIONS.binary_search_by(|(own, _)| (*own).cmp(name)) {
            Ok(at) => COMPUTATIONS
                .get(at)
                .map_or(Value::Constant, |(_, computation)| computation(self, node, bound)),
            Err(_) => self.compute_shell(node, name, bound),
        }
    }

    fn argv_of_program(&mut self) -> Value {
        if self.language.is_shell() {
            let entries =
                self.start.args.iter().map(|arg| (None, Value::arg(arg.clone()))).collect::<Vec<_>>();
            // What is not told may be any number of them.
            let is_open = entries.is_empty();
            return Value::List(self.state.new_cell(Cell { entries, is_open, class: None }));
        }
        let own = Value::text(self.start.file.clone().unwrap_or_else(|| "-c".to_owned()));
        let before = match self.language {
            crate::language::Language::Python | crate::language::Language::Php => vec![own],
            crate::language::Language::Perl
            | crate::language::Language::Ruby
            | crate::language::Language::Lua => Vec::new(),
            crate::language::Language::JavaScript if self.start.file.is_some() => {
                vec![Value::text("node"), own]
            }
            crate::language::Language::JavaScript => vec![Value::text("node")],
            crate::language::Language::PowerShell
            | crate::language::Language::Batch
            | crate::language::Language::AppleScript => Vec::new(),
        };
        let args: Vec<Value> = self.start.args.iter().cloned().map(Value::arg).collect();
        let is_open =
            matches!(self.language, crate::language::Language::Perl | crate::language::Language::Ruby)
                && args.is_empty();
        let entries = before.into_iter().chain(args).map(|value| (None, value)).collect();
        Value::List(self.state.new_cell(Cell { entries, is_open, class: None }))
    }

    pub(super) fn environment(&mut self, node: &Node, name: &Value) -> Value {
        let Some(name) = name.as_str() else { return self.unknown(node, Why::Variable) };
        let known = self.start.env.iter().rev().find(|(own, _)| own == name);
        match (known, name, &self.start.home, &self.start.cwd) {
            (Some((_, value)), ..) => Value::arg(value.clone()),
            (None, "HOME", Some(home), _) => Value::text(home.clone()),
            (None, "PWD", _, Some(cwd)) => Value::text(cwd.clone()),
            _ => Value::unknown(Why::Variable, &format!("${name}")),
        }
    }

    fn environment_or(&mut self, node: &Node, bound: &Bound) -> Value {
        let name = bound.named("key").cloned().unwrap_or_else(|| first(bound));
        let value = self.environment(node, &name);
        match bound.named("default") {
            Some(default) if value.as_str().is_none() => self.any(node, [value, default.clone()]),
            _ => value,
        }
    }

    pub(super) fn content(&mut self, node: &Node, bound: &Bound) -> Value {
        let url = [Part::Request, Part::Download, Part::Upload].into_iter().find_map(|part| bound.part(part));
        let is_url = first(bound).to_arg().is_some_and(|arg| arg.prefix().contains("://"));
        let why = if url.is_some() || is_url { Why::Network } else { Why::File };
        match inner(url.unwrap_or(&first(bound))) {
            Value::Unknown(why, written) => Value::Unknown(why, written),
            other => match other.to_arg() {
                Some(path) => Value::unknown(why, &path.written()),
                None => self.unknown(node, why),
            },
        }
    }

    pub(super) fn characters(&mut self, node: &Node, bound: &Bound) -> Value {
        let mut text = String::new();
        let values = bound.given.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
        for value in values {
            let elements = match value {
                Value::List(_) => match self.elements(node, &value) {
                    (elements, true) => elements,
                    (_, false) => return self.unknown(node, Why::Dynamic),
                },
                Value::Text(_) => return value,
                other => vec![other],
            };
            for element in elements {
                let Value::Number(number) = element else { return self.unknown(node, Why::Dynamic) };
                let Some(letter) = u32::try_from(number).ok().and_then(char::from_u32) else {
                    return self.unknown(node, Why::Dynamic);
                };
                text.push(letter);
            }
        }
        Value::text(text)
    }

    pub(super) fn decoded(
        &mut self,
        node: &Node,
        bound: &Bound,
        decode: fn(&str) -> Option<String>,
    ) -> Value {
        let of = first(bound);
        let values: Vec<Value> = of
            .choices()
            .iter()
            .map(|one| match one.as_str().and_then(decode) {
                Some(text) => Value::text(text),
                None => self.unknown(node, Why::Dynamic),
            })
            .collect();
        self.any(node, values)
    }

    /// `codecs.decode(text, encoding)`, `Buffer.from(text, encoding)`
    fn decode(&mut self, node: &Node, bound: &Bound) -> Value {
        if let value @ Value::List(_) = first(bound) {
            let alone = Bound { given: bound.given.iter().take(1).cloned().collect(), ..Bound::default() };
            let _ = value;
            return self.characters(node, &alone);
        }
        let encoding =
            bound.at(1).and_then(Value::as_str).unwrap_or_default().replace('-', "_").to_ascii_lowercase();
        match encoding.as_str() {
            "rot13" | "rot_13" => self.decoded(node, bound, super::texts::rot13),
            "hex" | "hex_codec" => self.decoded(node, bound, super::texts::hex),
            "base64" | "base64_codec" | "base64url" => self.decoded(node, bound, super::texts::base64),
            "" | "utf_8" | "utf8" | "ascii" | "latin1" | "latin_1" | "binary" => first(bound),
            _ => self.unknown(node, Why::Encoding),
        }
    }

    fn integer(&mut self, node: &Node, value: &Value) -> Value {
        match value {
            Value::Number(_) => value.clone(),
            other => match other.as_str().and_then(|text| text.trim().parse().ok()) {
                Some(number) => Value::Number(number),
                None => self.unknown(node, Why::Arithmetic),
            },
        }
    }

    /// A text as a number of that radix.
    fn integer_of(&mut self, node: &Node, value: &Value, radix: u32) -> Value {
        let digits = value.as_str().map(|text| text.trim_start_matches("0x").to_owned());
        let digits = digits.or_else(|| match value {
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        match digits.and_then(|digits| i64::from_str_radix(&digits, radix).ok()) {
            Some(number) => Value::Number(number),
            None => self.unknown(node, Why::Arithmetic),
        }
    }

    fn range(&mut self, node: &Node, bound: &Bound) -> Value {
        let numbers: Option<Vec<i64>> = bound
            .given
            .iter()
            .map(|(_, value)| match value {
                Value::Number(number) => Some(*number),
                _ => None,
            })
            .collect();
        let (from, to, step) = match numbers.as_deref() {
            Some([to]) => (0, *to, 1),
            Some([from, to]) => (*from, *to, 1),
            Some([from, to, step]) if *step != 0 => (*from, *to, *step),
            _ => return self.unknown(node, Why::Arithmetic),
        };
        let mut values = Vec::new();
        let mut at = from;
        while (step > 0 && at < to) || (step < 0 && at > to) {
            if values.len() >= ITERATIONS_MAX {
                return self.unknown(node, Why::Arithmetic);
            }
            values.push(Value::Number(at));
            let Some(next) = at.checked_add(step) else { break };
            at = next;
        }
        self.step(values.len() as u64);
        self.list(values)
    }

    fn mapped(&mut self, node: &Node, bound: &Bound, filters: bool) -> Value {
        let mut given_values = bound.plain();
        let function = given_values.next().cloned().unwrap_or(Value::Constant);
        let list = given_values.next();
        let more: Vec<Value> = given_values.cloned().collect();
        let mut made = Vec::new();
        let (elements, known) = list.map(|list| self.elements(node, list)).unwrap_or_default();
        for element in elements {
            let mut given = vec![Argument::plain(element.clone())];
            // Of further lists any element may be its partner.
            for list in &more {
                let (elements, _) = self.elements(node, list);
                let value = self.any(node, elements);
                given.push(Argument::plain(value));
            }
            let value = self.call_named(node, &function, given);
            made.push(if filters { element } else { value });
        }
        let is_open = !known || filters;
        let entries = made.into_iter().map(|value| (None, value)).collect();
        Value::List(self.state.new_cell(Cell { entries, is_open, class: None }))
    }

    /// Calls a function that is handed over with its arguments: threads, executors, exit handlers.
    fn run_with(&mut self, node: &Node, bound: &Bound) -> Value {
        let is_target = |name: &str| matches!(name, "target" | "function");
        let at = bound.given.iter().position(|(parameter, _)| is_target(parameter.name)).unwrap_or(0);
        let Some((_, target)) = bound.given.get(at) else { return Value::Constant };
        let is_named = self.language == crate::language::Language::Php;
        let mut given = Vec::new();
        match bound.named("args") {
            Some(list) => {
                let (elements, known) = self.elements(node, list);
                given.extend(elements.into_iter().map(Argument::plain));
                if !known {
                    given.push(Argument::unknown(Why::Parameter));
                }
            }
            None => {
                given.extend(bound.given.iter().skip(at + 1).map(|(_, value)| Argument::plain(value.clone())))
            }
        }
        given.extend(bound.others.iter().cloned().map(Argument::plain));
        if is_named || target.is_callable() {
            self.call_named(node, target, given)
        } else {
            self.unknown(node, Why::Dynamic)
        }
    }

    /// A decorator that gives what it is given.
    fn identity(&mut self, node: &Node) -> Value {
        let table = self.table;
        let global = table.module(table.global);
        let same = global.and_then(|global| self.member_of_module(node, global, "staticmethod"));
        same.unwrap_or(Value::Constant)
    }

    fn update_environment(&mut self, node: &Node, bound: &Bound) -> Value {
        for value in bound.given.iter().map(|(_, value)| value).chain(&bound.others) {
            if let Value::Map(cell) = value {
                for (key, value) in self.state.cell(*cell).entries {
                    let key = key.map_or_else(|| self.unknown(node, Why::Dynamic), |key| Value::text(&*key));
                    self.variable(node, &key, &value);
                }
            } else if matches!(value, Value::Unknown(..)) {
                self.variable(node, value, value);
            }
        }
        Value::Constant
    }

    /// The words of a command, where they are plain.
    pub(super) fn words(&mut self, node: &Node, text: &Value) -> Value {
        match text.as_str() {
            Some(text) if !text.contains(['\'', '"', '\\', '#']) => {
                self.list(text.split_whitespace().map(Value::text).collect::<Vec<_>>())
            }
            Some(text) => match quoted_words(text) {
                Some(words) => self.list(words.into_iter().map(Value::text)),
                None => self.unknown(node, Why::Dynamic),
            },
            None => self.unknown(node, Why::Dynamic),
        }
    }

    fn member_by_name(&mut self, node: &Node, bound: &Bound) -> Value {
        let of = first(bound);
        let name = bound.at(1).cloned().unwrap_or(Value::Constant);
        let mut values = Vec::new();
        for name in name.choices() {
            match name.as_str().map(str::to_owned) {
                Some(name) => values.push(self.member(node, &of, &name)),
                None if matches!(of, Value::Instance(_) | Value::Class(_)) => {
                    values.push(self.unknown(node, Why::Dynamic));
                }
                // Which member it is is not known.
                None => values.push(self.lost(node, Why::Dynamic)),
            }
        }
        values.extend(bound.at(2).cloned());
        self.any(node, values)
    }

    fn set_member(&mut self, node: &Node, bound: &Bound) -> Value {
        if let [(_, of), (_, name), (_, value), ..] = bound.given.as_slice() {
            self.store(node, of, name, value.clone());
        }
        if bound.is_open {
            self.hole(node.at, Role::Code, Why::Dynamic, "");
        }
        Value::Constant
    }
}

/// Words as `shlex.split` finds them; `None` for an open quote.
fn quoted_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, ' ' | '\t' | '\n' | '\r') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (Some(open), _) if letter == open => quote = None,
            (None, '\\') => word.get_or_insert_default().push(letters.next()?),
            (Some('"'), '\\') => {
                let next = letters.next()?;
                let word = word.get_or_insert_default();
                if !matches!(next, '"' | '\\') {
                    word.push('\\');
                }
                word.push(next);
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use crate::table::Table;

    #[test]
    fn tables_name_computations_that_exist() {
        assert!(COMPUTATIONS.is_sorted_by_key(|(name, _)| *name));
        for language in Language::ALL {
            let table = Table::of(*language);
            let spaces = table.modules.iter().chain(table.types).chain([&table.methods]);
            for entry in spaces.flat_map(|space| space.entries) {
                let known = COMPUTATIONS.iter().any(|(name, _)| *name == entry.computes)
                    || crate::run::cmdlets::is_known(entry.computes);
                assert!(
                    entry.computes.is_empty() || entry.computes.starts_with('.') || known,
                    "{:?}: no computation {}",
                    entry.names,
                    entry.computes
                );
            }
        }
    }
}
