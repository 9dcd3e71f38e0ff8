//! `read`, `mapfile`, `getopts`, `printf -v`: builtins that store external text in variables.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Piece};

use crate::found::Origin;
use crate::literals::is_name;
use crate::outputs;
use crate::run::Call;
use crate::scope::Scope;
use crate::state::{Descriptor, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::walk::Walker;

/// Options of `read` and `mapfile` that take a value.
const WITH_VALUE: &[char] = &['a', 'd', 'i', 'n', 'N', 'p', 't', 'u', 'C', 'c', 'O', 's'];

#[derive(Debug, Default)]
struct Reading {
    array: Option<String>,
    delimiter: Option<char>,
    raw: bool,
    trims: bool,
    partial: bool,
    descriptor: Option<u32>,
    names: Vec<String>,
    /// `mapfile -C`: code that runs for each group of lines.
    callback: Option<Text>,
    unclear: bool,
}

fn options(call: &Call, with_value: &[char]) -> Reading {
    let mut read = Reading { descriptor: Some(0), delimiter: Some('\n'), ..Reading::default() };
    let arguments = call.arguments();
    let mut at = 0;
    while let Some(arg) = arguments.get(at) {
        at += 1;
        let Some(text) = arg.as_str() else {
            read.unclear = true;
            continue;
        };
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            // zsh and ksh: `name?prompt`.
            read.names.push(text.split('?').next().unwrap_or(text).to_owned());
            continue;
        };
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            if !with_value.contains(&letter) {
                read.raw |= letter == 'r';
                read.trims |= letter == 't';
                continue;
            }
            let attached = rest.as_str();
            if letter == 'C' {
                let next = || arguments.get(at).map(Text::from).unwrap_or_default();
                read.callback = Some(if attached.is_empty() { next() } else { Text::known(attached) });
            }
            let value = if attached.is_empty() {
                at += 1;
                arguments.get(at - 1).and_then(Arg::as_str)
            } else {
                Some(attached)
            };
            match (letter, value) {
                ('a' | 'A', Some(value)) => read.array = Some(value.to_owned()),
                ('d', Some(value)) => read.delimiter = Some(value.chars().next().unwrap_or('\0')),
                ('u', value) => read.descriptor = value.and_then(|value| value.parse().ok()),
                ('n' | 'N' | 'O' | 's' | 'c', _) => read.partial = true,
                ('a' | 'd', None) => read.unclear = true,
                _ => {}
            }
            break;
        }
    }
    read
}

/// Reads the arguments of `read`. zsh and ksh have `-p`, from the coprocess, and `-A`, to an array.
fn reading(state: &State, call: &Call) -> Reading {
    let is_other = matches!(state.options.shell, Shell::Zsh | Shell::Ksh);
    let is_valued = |one: &char| *one != 's' && !(is_other && *one == 'p');
    let with_value: Vec<char> = WITH_VALUE.iter().copied().filter(is_valued).collect();
    let mut read = options(call, &with_value);
    let has = |letter: char| {
        let letters = |arg: &Arg| arg.prefix().strip_prefix('-').is_some_and(|one| one.contains(letter));
        call.arguments().iter().any(letters)
    };
    if is_other && has('p') {
        read.descriptor = None;
    }
    // They read from the terminal.
    read.partial |= state.options.shell == Shell::Zsh && (has('q') || has('k'));
    if is_other && has('A') && !read.names.is_empty() {
        read.array = Some(read.names.remove(0));
    }
    read
}

impl Walker<'_> {
    pub(super) fn read(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let mut read = reading(state, &call);
        let input = match read.descriptor.map(|number| state.descriptor(number)) {
            Some(Descriptor::Input(text)) if read.partial => (*text).clone(),
            Some(_) | None => Text::default(),
        };
        self.reads_script(state, scope, &call, read.descriptor);
        let (line, whole) = self.line(state, &read);
        state.status = whole;
        if read.unclear {
            state.forget_all(Why::Input);
            return;
        }
        let separators = self.separators(state);
        let known = line.as_str().map(str::to_owned);
        let usable = !read.partial && (read.raw || known.as_ref().is_some_and(|line| !line.contains('\\')));
        let split = known.filter(|_| usable).zip(separators);
        if let Some(array) = &read.array {
            let value = match &split {
                // zsh makes an empty element of an empty line.
                Some((line, _)) if line.is_empty() && state.options.shell == Shell::Zsh => {
                    Value::array([Text::default()])
                }
                Some((line, separators)) => {
                    Value::array(split_at(line, separators, usize::MAX).into_iter().map(Text::known))
                }
                None => Value::Unknown(why_of_elements(&line)),
            };
            state.set(array, value);
            return;
        }
        if read.names.is_empty() {
            let value = match split {
                Some((line, _)) => Value::Scalar(Text::known(line)),
                None => Value::Scalar(unknown_line(&line)),
            };
            self.evaluated_for(state, scope, "REPLY", &value, call.span);
            state.set("REPLY", value);
            return;
        }
        // `read` stops at the first read-only variable.
        let may_end = read
            .names
            .iter()
            .any(|name| state.variable(name).is_some_and(|variable| variable.attributes.readonly));
        let mut parts = match &split {
            Some((line, separators)) => split_at(line, separators, read.names.len()),
            None => Vec::new(),
        }
        .into_iter();
        for name in std::mem::take(&mut read.names) {
            let value = match &split {
                Some(_) => Text::known(parts.next().unwrap_or_default()),
                None => unknown_line(&line),
            };
            if is_name(&name) {
                // A part of the line is evaluated with `-n`; the whole has at least its commands.
                let evaluated = if read.partial { &input } else { &value };
                self.evaluated_for(state, scope, &name, &Value::Scalar(evaluated.clone()), call.span);
                let mut values = vec![Value::Scalar(value)];
                if may_end {
                    let absent = state.absent();
                    let before = state.variable(&name).map(|variable| variable.values.clone());
                    values.extend(before.unwrap_or_else(|| vec![absent]));
                }
                state.set_values(&name, values);
                self.report_set(state, scope, &name, call.span);
            } else {
                // The name is an array element.
                let array = name.split('[').next().unwrap_or_default().to_owned();
                state.set(&array, Value::Unknown(Why::Input));
            }
        }
    }

    /// Reports a command that reads a part of the text that the shell itself reads from its standard input: the shell
    /// goes on in the middle of a line, or of a here-document.
    pub(crate) fn reads_script(
        &mut self,
        state: &State,
        scope: &Scope,
        call: &Call,
        descriptor: Option<u32>,
    ) {
        if descriptor.is_some_and(|number| matches!(state.descriptor(number), Descriptor::Script)) {
            self.gap(scope, Role::Code, Why::Input, scope.source.written(call.span), call.span);
        }
    }

    /// Consumes the next line of a descriptor. Returns true if the line was complete.
    fn line(&mut self, state: &mut State, read: &Reading) -> (Text, Option<bool>) {
        let Some(number) = read.descriptor else { return (Text::unknown(Why::Input, "read"), None) };
        let text = match state.descriptor(number) {
            Descriptor::Input(text) => text,
            Descriptor::File(path) => return (Text::unknown(Why::File, path.written()), None),
            Descriptor::Inherited
            | Descriptor::Collected(_)
            | Descriptor::Process(_)
            | Descriptor::Written(_)
            | Descriptor::Script
            | Descriptor::Unknown => return (Text::unknown(Why::Input, "read"), None),
        };
        self.work.spend_bytes(text.len());
        let delimiter = read.delimiter.unwrap_or('\n');
        if text.as_str() == Some("") {
            return (Text::default(), Some(false));
        }
        if let Some(Piece::Text(first)) = text.pieces().first()
            && let Some((line, rest)) = first.split_once(delimiter)
            && !read.partial
            && (read.raw || !line.ends_with('\\'))
        {
            let mut left = Text::known(rest);
            for piece in text.pieces().iter().skip(1) {
                match piece {
                    Piece::Text(text) => left.push_str(text),
                    Piece::Unknown { why, written } => left.push_unknown(*why, written),
                }
            }
            state.consume(number, Rc::new(left));
            return (Text::known(line), Some(true));
        }
        if text.as_str().is_some() && !read.partial {
            state.consume(number, Rc::default());
            return ((*text).clone(), Some(false));
        }
        let any = unknown_line(&text);
        state.consume(number, Rc::new(any.clone()));
        (any, None)
    }

    pub(super) fn mapfile(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let with_value: Vec<char> = WITH_VALUE.iter().copied().filter(|one| *one != 't').collect();
        let read = options(&call, &with_value);
        let name = read.names.first().cloned().unwrap_or_else(|| "MAPFILE".to_owned());
        self.reads_script(state, scope, &call, read.descriptor);
        let text = read.descriptor.map(|number| state.descriptor(number));
        let value = match text {
            Some(Descriptor::Input(text)) if !read.partial && !read.unclear => match text.as_str() {
                Some(known) => {
                    let delimiter = read.delimiter.unwrap_or('\n');
                    let lines = known.split_inclusive(delimiter).map(|line| {
                        Text::known(if read.trims {
                            line.strip_suffix(delimiter).unwrap_or(line)
                        } else {
                            line
                        })
                    });
                    let value = Value::array(lines);
                    self.work.spend_bytes(known.len());
                    if let Value::Array(elements) = &value {
                        self.work.spend(elements.len() as u64);
                    }
                    value
                }
                None => Value::Unknown(why_of_elements(&text)),
            },
            Some(Descriptor::File(_)) => Value::Unknown(Why::File),
            _ => Value::Unknown(Why::Input),
        };
        if let Some(mut code) = read.callback {
            // The callback receives an index and a line, which are unknown like the array during the callback.
            state.set(&name, Value::Unknown(Why::Input));
            if is_name(&name) {
                code.push_str(&format!(" \"${name}\" \"${name}\""));
            }
            self.run_text(state, scope, &code, Origin::Argument, call.span);
        }
        if read.unclear {
            state.forget_all(Why::Input);
        } else {
            self.evaluated_for(state, scope, &name, &value, call.span);
            state.set(&name, value);
        }
        if let Some(number) = read.descriptor
            && matches!(state.descriptor(number), Descriptor::Input(_))
        {
            state.consume(number, Rc::default());
        }
        state.status = Some(true);
    }

    pub(super) fn getopts(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let name = call.arguments().get(1).and_then(Arg::as_str).map(str::to_owned);
        for arg in call.arguments().iter().skip(2) {
            self.evaluated_for(state, scope, "OPTARG", &Value::Scalar(Text::from(arg)), call.span);
        }
        for name in name.as_deref().into_iter().chain(["OPTARG", "OPTIND"]) {
            state.set(name, Value::Unknown(Why::Parameter));
        }
        state.status = None;
    }

    pub(super) fn printf(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let Some((first, rest)) = call.arguments().split_first() else { return };
        let (name, format) = match first.as_str() {
            Some("-v") => match rest.split_first() {
                Some((name, format)) => (Some(name.clone()), format),
                None => return,
            },
            Some(text) if text.starts_with("-v") && text.len() > 2 => (text.get(2..).map(Arg::known), rest),
            _ => (None, call.arguments()),
        };
        let made = match outputs::computed("printf", format, None, state) {
            outputs::Made::Text(text) => text,
            outputs::Made::Unknown(why) => Text::unknown(
                why,
                call.argv.last().map_or_else(String::new, |arg| arg.written().into_owned()),
            ),
        };
        self.work.spend_bytes(made.len());
        match name.as_ref().map(Arg::as_str) {
            None => self.deliver(state, scope, &made),
            Some(Some(name)) if is_name(name) => {
                let value = Value::Scalar(made);
                self.evaluated_for(state, scope, name, &value, call.span);
                state.set(name, value);
                self.report_set(state, scope, name, call.span);
            }
            Some(Some(name)) => {
                let array = name.split('[').next().unwrap_or_default().to_owned();
                state.set(&array, Value::Unknown(Why::Expansion));
            }
            Some(None) => state.forget_all(Why::Dynamic),
        }
        state.status = Some(true);
    }
}

/// Returns the reason that array elements from a text are unknown; the matches of a pattern are unknown, too.
fn why_of_elements(text: &Text) -> Why {
    text.why().filter(|why| *why != Why::Glob).unwrap_or(Why::Input)
}

fn unknown_line(line: &Text) -> Text {
    let why = line.why_of_parts().unwrap_or(Why::Input);
    if why == Why::Glob { line.clone().without_last_newlines() } else { Text::unknown(why, line.written()) }
}

/// Splits a line into fields; the last field contains the rest.
fn split_at(line: &str, separators: &str, count: usize) -> Vec<String> {
    let blank = |one: char| separators.contains(one) && matches!(one, ' ' | '\t' | '\n');
    let mut fields = Vec::new();
    let mut rest = line.trim_matches(blank);
    while !rest.is_empty() {
        if fields.len() + 1 == count {
            fields.push(rest.to_owned());
            break;
        }
        let end = rest.find(|one| separators.contains(one)).unwrap_or(rest.len());
        let (field, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        fields.push(field.to_owned());
        let after = after.trim_start_matches(blank);
        rest = match after.chars().next() {
            Some(one) if separators.contains(one) => {
                after.get(one.len_utf8()..).unwrap_or_default().trim_start_matches(blank)
            }
            Some(_) | None => after,
        };
    }
    fields
}
