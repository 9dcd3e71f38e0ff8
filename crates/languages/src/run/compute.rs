//! Computes the results of library functions where possible. The tables name the computations.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use super::bound::{Bound, Computation, inner, is_true};
use super::{Argument, Machine};
use crate::state::Cell;
use crate::table::Part;
use crate::tree::Node;
use crate::value::Value;

/// The type of functions that are called at an address.
const NATIVE: &str = "NativeFunction";

/// The computations by their names in the tables.
const COMPUTATIONS: &[(&str, Computation)] = &[
    ("address", |machine, node, bound| {
        let parts = [bound.at(1), Some(&Value::text(":")), bound.at(0)]
            .map(|part| part.cloned().unwrap_or(Value::Constant));
        machine.concatenated(node, &parts)
    }),
    ("address-as", |machine, node, bound| {
        let is_function = |one: &Value| matches!(one, Value::Object(kind, _) if kind.0.name() == NATIVE);
        match bound.at(1).is_some_and(|kind| kind.choices().iter().any(is_function)) {
            true => machine.lost(node, Why::Unsupported),
            false => machine.unknown(node, Why::Dynamic),
        }
    }),
    ("ancestor", |machine, node, bound| machine.ancestor(node, bound)),
    ("any-of", |machine, node, bound| {
        let (mut values, known) = machine.flattened(node, bound);
        if !known || values.is_empty() {
            values.push(machine.unknown(node, Why::Dynamic));
        }
        machine.any(node, values)
    }),
    ("argv", |machine, _, _| machine.argv_of_program()),
    ("array-cast", |machine, _, bound| machine.array_of(&bound.first())),
    ("array-entries", |machine, node, bound| machine.array_entries(node, &bound.first())),
    ("array-keys", |machine, node, bound| machine.array_keys(node, bound)),
    ("array-merge", |machine, node, bound| machine.merged(node, bound)),
    ("array-reduce", |machine, node, bound| machine.array_reduce(node, bound)),
    ("array-walk", |machine, node, bound| machine.array_walk(node, bound)),
    // With names: `entries.rs`.
    ("assigned", |machine, node, _| machine.unknown(node, Why::Dynamic)),
    ("base64", |machine, node, bound| machine.decoded(node, bound, super::texts::base64)),
    ("call", |machine, node, bound| machine.call_by_name(node, bound)),
    ("call-inner", |machine, node, bound| machine.call_inner(node, bound, false)),
    ("call-method", |machine, node, bound| machine.method_called(node, bound)),
    ("called", |machine, node, bound| machine.called(node, bound)),
    ("capital", |machine, node, bound| machine.first_letter(node, bound, true)),
    ("chained", |machine, node, bound| machine.chained(node, bound)),
    ("characters", |machine, node, bound| machine.characters(node, bound)),
    ("children", |machine, node, bound| machine.children(node, bound, None)),
    ("class-alias", |machine, node, bound| machine.class_alias(node, bound)),
    ("class-named", |machine, node, bound| machine.class_named(node, &bound.first())),
    ("clone", |machine, _, bound| machine.cloned(&bound.first())),
    ("code", |machine, node, bound| machine.code(node, &bound.first())),
    ("code-path", |machine, node, bound| {
        let path = bound.first_plain();
        machine.variable(node, &Value::text("LUA_PATH"), &path);
        Value::Constant
    }),
    ("code-second", |machine, node, bound| machine.code(node, &bound.value(1))),
    ("columns", |machine, node, bound| machine.columns(node, bound, false)),
    ("columns-of-module", |machine, node, bound| machine.columns(node, bound, true)),
    ("constant", |machine, node, bound| machine.constant(node, &bound.first())),
    ("content", |machine, node, bound| machine.content(node, bound)),
    ("copied-object", |machine, node, bound| machine.copied_object(node, bound)),
    ("curl-option", |machine, node, bound| machine.curl_option(node, bound)),
    ("cwd", |machine, node, _| match &machine.start.cwd {
        Some(cwd) => Value::text(cwd.clone()),
        None => machine.unknown(node, Why::Dynamic),
    }),
    ("data-source", |machine, node, bound| machine.data_source(node, bound)),
    ("decode", |machine, node, bound| machine.decode(node, bound)),
    ("decorator", |machine, node, bound| match bound.first() {
        function if function.is_callable() => function,
        _ => machine.identity(node),
    }),
    // With the object of the member: `entries.rs`.
    ("defined", |machine, node, _| machine.unknown(node, Why::Dynamic)),
    ("delegated", |machine, node, bound| machine.delegated(node, bound)),
    ("delegated-to", |machine, node, bound| machine.delegated_to(node, bound)),
    ("dev-null", |_, _, _| Value::text("/dev/null")),
    ("directory", |machine, node, _| match machine.start.file.clone() {
        Some(file) => machine.path_part(node, &Value::text(file), true),
        None => machine.unknown(node, Why::Dynamic),
    }),
    ("documented", |machine, node, bound| machine.documented(node, bound)),
    ("each", |machine, node, bound| machine.each_of(node, bound)),
    ("element-of", |machine, node, bound| machine.element_of(node, bound)),
    ("elements", |machine, node, bound| machine.same_elements(node, &bound.first(), false)),
    ("entries", |machine, node, _| machine.found(node, Arg::unknown(Why::Glob, "*", false))),
    ("enumerate", |machine, node, bound| machine.enumerated(node, &bound.first())),
    ("environment", |machine, node, bound| machine.environment_or(node, bound)),
    ("environment-second", |machine, node, bound| {
        let name = bound.value_of("key");
        let value = machine.environment(node, &name);
        match bound.named("default") {
            Some(default) if value.as_str().is_none() => machine.any(node, [value, default.clone()]),
            _ => value,
        }
    }),
    // With names: `entries.rs`.
    ("environment-update", |machine, node, _| machine.unknown(node, Why::Dynamic)),
    ("expanded", |machine, node, bound| machine.expanded(node, &bound.first())),
    ("expanded-beside", |machine, node, bound| match bound.at(1) {
        Some(base) => {
            let base = machine.expanded(node, &base.clone());
            machine.beside(node, &base, &bound.first())
        }
        None => machine.expanded(node, &bound.first()),
    }),
    ("explode", |machine, node, bound| machine.exploded(node, bound)),
    ("expression", |machine, node, bound| machine.expression(node, &bound.first())),
    ("extract", |machine, node, bound| machine.extracted(node, &bound.first())),
    ("file", |machine, node, _| match &machine.start.file {
        Some(file) => Value::text(file.clone()),
        None => machine.unknown(node, Why::Dynamic),
    }),
    ("file-of-url", |_, _, bound| {
        let url = bound.first();
        url.as_str().and_then(|url| url.strip_prefix("file://")).map_or(url.clone(), Value::text)
    }),
    ("filter", |machine, node, bound| machine.mapped(node, bound, true)),
    ("filter-var", |machine, node, bound| machine.filtered(node, bound)),
    ("first", |_, _, bound| bound.first()),
    ("first-of", |machine, node, bound| machine.end_of(node, bound, 0)),
    ("flat", |machine, node, bound| {
        let (values, known) = machine.flattened(node, bound);
        machine.listed(values, !known)
    }),
    ("flat-reversed", |machine, node, bound| {
        let (mut values, known) = machine.flattened(node, bound);
        values.reverse();
        machine.listed(values, !known)
    }),
    ("formula", |machine, node, bound| machine.formula(node, bound)),
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
    ("harnessed", |machine, node, bound| machine.harnessed(node, bound)),
    ("hex", |machine, node, bound| machine.decoded(node, bound, super::texts::hex)),
    ("home", |machine, _, _| machine.home()),
    ("identity", |machine, node, _| machine.identity(node)),
    ("implode", |machine, node, bound| machine.imploded(node, bound)),
    ("include", |machine, node, bound| machine.included(node, &bound.first())),
    ("include-path", |machine, node, _| {
        machine.includes_elsewhere();
        machine.unknown(node, Why::Dynamic)
    }),
    ("inclusive-range", |machine, node, bound| machine.inclusive_range(node, bound)),
    ("inherited", |machine, _, bound| {
        let of = bound.plain().next().cloned();
        of.map_or(Value::Constant, |of| machine.inherited(&of))
    }),
    ("inner", |_, _, bound| inner(&bound.first())),
    ("insert", |machine, node, bound| machine.inserted(node, bound)),
    ("integer", |machine, node, bound| machine.integer(node, &bound.first())),
    ("iterated", |machine, node, bound| machine.iterated(node, bound)),
    ("itself", |machine, node, _| machine.load(node, &Value::text("multiprocessing"))),
    ("itself-buffer", |machine, node, _| machine.load(node, &Value::text("buffer"))),
    ("itself-sqlite", |machine, node, _| machine.load(node, &Value::text("sqlite3"))),
    ("join-list", |machine, node, bound| {
        let by = bound.at(1).cloned().unwrap_or_else(|| Value::text(""));
        machine.joined_by(node, &by, &bound.first())
    }),
    ("join-path", |machine, node, bound| machine.joined_path(node, bound)),
    ("joined", |machine, node, bound| machine.joined_by(node, &Value::text(""), &bound.first())),
    ("joined-list", |machine, node, bound| {
        let by = bound.first();
        let (values, known) = machine.flattened(node, &bound.without(1));
        let list = machine.list(values.iter().cloned());
        match values.first() {
            _ if known => machine.joined_by(node, &by, &list),
            Some(unknown @ Value::Unknown(..)) => unknown.clone(),
            _ => machine.unknown(node, Why::Dynamic),
        }
    }),
    // With names: `entries.rs`.
    ("kept", |_, _, bound| bound.first_plain()),
    ("keyed", |machine, node, _| machine.unknown(node, Why::Dynamic)),
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
        let name = bound.named("name").cloned().unwrap_or_else(|| bound.first());
        machine.load(node, &name)
    }),
    ("load-code", |machine, node, bound| machine.loaded_code(node, bound)),
    ("lost", |machine, node, _| machine.lost(node, Why::Unsupported)),
    ("mail", |machine, node, bound| machine.mailed(node, bound)),
    ("map", |machine, node, bound| machine.mapped(node, bound, false)),
    ("member", |machine, node, bound| machine.member_by_name(node, bound)),
    ("metatable", |machine, node, bound| machine.with_metatable(node, bound)),
    ("moved", |machine, node, bound| machine.moved(node, bound)),
    ("names", |machine, _, bound| bound.at(0).cloned().unwrap_or(Value::Names(machine.scope))),
    ("native-function", |machine, node, bound| {
        // A function of the program itself is only passed on.
        let is_own = |one: &Value| matches!(one, Value::Function(_) | Value::Partial(..) | Value::Constant);
        match bound.first().choices().iter().all(is_own) {
            true => machine.unknown(node, Why::Dynamic),
            false => machine.lost(node, Why::Unsupported),
        }
    }),
    ("new-inner", |machine, node, bound| machine.call_inner(node, bound, true)),
    ("object", |machine, _, _| Value::Instance(machine.state.new_cell(Cell::default()))),
    ("one-of", |machine, node, bound| {
        let (elements, _) = machine.elements(node, &bound.first());
        machine.any(node, elements)
    }),
    ("opened", |machine, node, bound| machine.opened(node, bound)),
    ("opened-in-ruby", |machine, node, bound| machine.opened_in_ruby(node, bound)),
    ("opened-object", |machine, node, bound| machine.opened_object(node, bound)),
    ("opened-object-self", |machine, node, bound| machine.opened_object(node, &bound.without(1))),
    ("opened-uri", |machine, node, bound| machine.opened_uri(node, bound)),
    ("option", |machine, node, bound| machine.set_option(node, bound)),
    ("ordinal", |machine, node, bound| match bound.first().as_str().and_then(|text| text.chars().next()) {
        Some(letter) => Value::Number(i64::from(u32::from(letter))),
        None => machine.unknown(node, Why::Arithmetic),
    }),
    ("own-arguments", |machine, _, _| machine.own_arguments()),
    ("pack", |machine, node, bound| machine.packed_bytes(node, bound)),
    ("packed", |machine, node, bound| machine.packed(node, bound)),
    ("packed-of", |machine, node, bound| machine.packed_of(node, bound)),
    ("packed-values", |machine, _, bound| {
        let values = bound.values(0);
        machine.list(values)
    }),
    ("paired", |machine, node, bound| machine.paired(node, bound)),
    ("parent", |machine, node, bound| machine.path_part(node, &bound.first(), true)),
    ("parent-method", |machine, _, bound| machine.bound_method(bound)),
    ("part-replaced", |machine, node, bound| machine.part_replaced(node, bound)),
    ("partial", |_, _, bound| {
        let rest = bound.values(1);
        Value::partial(bound.first(), rest)
    }),
    ("pattern-code", |machine, node, bound| machine.pattern_code(node, bound)),
    ("pattern-replace", |machine, node, bound| machine.pattern_replaced(node, bound)),
    ("percent", |machine, node, bound| machine.decoded(node, bound, super::texts::percent)),
    ("pipeline", |machine, node, bound| machine.pipeline(node, bound)),
    ("plain-replace", |machine, node, bound| machine.plainly_replaced(node, bound)),
    ("popened", |machine, node, bound| {
        for one in bound.first().choices() {
            machine.starts_or_shell(node, one, bound);
        }
        Value::unknown(Why::Substitution, "popen")
    }),
    ("protected-call", |machine, node, bound| machine.protected(node, bound, 0)),
    ("protected-call-with", |machine, node, bound| machine.protected(node, bound, 1)),
    ("put-environment", |machine, node, bound| machine.put_environment(node, bound)),
    ("radix-16", |machine, node, bound| machine.integer_of(node, &bound.first(), 16)),
    ("radix-8", |machine, node, bound| machine.integer_of(node, &bound.first(), 8)),
    ("ran-with-files", |machine, node, bound| machine.ran_with_files(node, bound)),
    ("range", |machine, node, bound| machine.range(node, bound)),
    ("read-arguments", |machine, node, _| machine.read_arguments(node, true)),
    ("read-content", |machine, node, bound| machine.read_content(node, bound)),
    ("read-files", |machine, node, _| machine.read_arguments(node, false)),
    ("receiver", |_, _, bound| bound.first()),
    ("referred", |machine, node, bound| machine.referred(node, bound)),
    ("refilled", |machine, node, bound| machine.refilled(node, bound)),
    ("repeated", |machine, node, bound| {
        let count = bound.value(1);
        machine.repeated(node, &bound.first(), &count)
    }),
    ("replace", |machine, node, bound| machine.replaced(node, bound)),
    ("requested", |machine, _, bound| {
        let method = bound.part(Part::Method).cloned().unwrap_or_else(|| Value::text("GET"));
        let body = bound.part(Part::Body).cloned().unwrap_or(Value::Constant);
        machine.list([bound.first(), method, body])
    }),
    ("requested-second", |machine, _, bound| {
        let method = bound.part(Part::Method).cloned().unwrap_or_else(|| Value::text("GET"));
        let body = bound.part(Part::Body).cloned().unwrap_or(Value::Constant);
        let url = bound.value(1);
        machine.list([url, method, body])
    }),
    ("require", |machine, node, _| {
        let global = machine.table.module(machine.table.global);
        global.and_then(|global| machine.member_of_module(node, global, "require")).unwrap_or(Value::Constant)
    }),
    ("resolved-path", |machine, node, bound| machine.resolved_path(node, bound)),
    ("reverse-text", |machine, node, bound| machine.reversed_text(node, bound)),
    ("reversed", |machine, node, bound| machine.same_elements(node, &bound.first(), true)),
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
        let path = bound.value_of("path");
        machine.variable(node, &Value::text("PYTHONPATH"), &path);
        Value::Constant
    }),
    ("searched", |machine, node, bound| machine.searched(node, bound)),
    ("second", |_, _, bound| bound.value(1)),
    ("select", |machine, node, bound| machine.selected(node, bound)),
    ("sent", |machine, node, bound| machine.sent(node, bound)),
    ("set-member", |machine, node, bound| machine.set_member(node, bound)),
    ("spanned", |machine, node, bound| machine.spanned(node, bound)),
    ("sprintf", |machine, node, bound| machine.printed(node, bound, false)),
    ("substring", |machine, node, bound| machine.substring(node, bound, false)),
    ("substring-from-one", |machine, node, bound| machine.substring(node, bound, true)),
    ("super", |machine, _, _| machine.this_object()),
    ("tail", |machine, node, bound| machine.path_part(node, &bound.first(), false)),
    ("target", |_, _, bound| bound.value_of("target")),
    ("template", |machine, node, bound| machine.template(node, bound)),
    ("text", |machine, node, bound| machine.as_text(node, &bound.first())),
    ("tied", |machine, node, bound| machine.tied(node, bound)),
    ("timer", |machine, node, bound| {
        // Text is code, as in browsers.
        for text in bound.first().choices().iter().filter(|one| one.as_str().is_some()) {
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
    ("trapped", |machine, node, bound| machine.trapped(node, bound)),
    ("uncapital", |machine, node, bound| machine.first_letter(node, bound, false)),
    ("unpack", |machine, node, bound| machine.unpacked(node, bound)),
    ("unpacked-of", |machine, node, bound| machine.unpacked_of(node, bound)),
    ("unpickled", |machine, node, bound| {
        if bound.named("allow_pickle").is_some_and(is_true) {
            machine.lost(node, Why::Unsupported);
        }
        machine.unknown(node, Why::File)
    }),
    ("unsafe-yaml", |machine, node, bound| machine.unsafe_yaml(node, bound)),
    ("unserialize", |machine, node, bound| machine.unserialized(node, bound)),
    ("url", |machine, node, bound| match bound.at(1) {
        None => bound.first(),
        Some(base) => {
            let base = base.clone();
            machine.beside(node, &base, &bound.first())
        }
    }),
    ("utility", |machine, node, bound| machine.utility(node, bound)),
    ("values", |machine, _, bound| machine.returned(bound)),
    ("vim-code", |machine, node, bound| machine.vim_code(node, bound)),
    ("vim-expand", |machine, node, bound| machine.vim_expanded(node, bound)),
    ("vim-option", |machine, node, bound| {
        let value = bound.value(1);
        machine.vim_option(node, &bound.first(), &value);
        Value::Constant
    }),
    ("vim-substitute", |machine, node, bound| machine.vim_substituted(node, bound)),
    ("vsprintf", |machine, node, bound| machine.printed(node, bound, true)),
    ("walk", |machine, node, bound| machine.walked(node, bound)),
    ("words", |machine, node, bound| machine.words(node, &bound.first())),
    ("written-in-ruby", |machine, node, bound| machine.written_in_ruby(node, bound)),
    ("xml-file", |machine, node, bound| machine.xml_of(node, bound)),
    ("yaml", |machine, node, bound| {
        // Without a loader that makes data only, YAML creates objects of any class.
        let is_plain = |one: &Value| {
            one.to_arg()
                .is_some_and(|loader| PLAIN_LOADERS.iter().any(|plain| loader.written().ends_with(plain)))
        };
        let loader = bound.named("Loader");
        if !loader.is_some_and(|loader| loader.choices().iter().all(is_plain)) {
            machine.lost(node, Why::Unsupported);
        }
        machine.unknown(node, Why::Dynamic)
    }),
    ("zip", |machine, node, bound| machine.zipped(node, bound)),
];

/// Reports whether a computation itself handles function arguments: it calls the function, or only looks at it.
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

/// Returns a temporary path.
fn fresh() -> Value {
    let unknown = Piece::Unknown { why: Why::Dynamic, written: "*".into() };
    Value::arg(Arg::from_pieces([Piece::Text("/tmp/".into()), unknown], false))
}

/// YAML loaders that make no objects of classes.
const PLAIN_LOADERS: &[&str] = &["SafeLoader", "BaseLoader", "FullLoader"];

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
