//! Expands the words of a command as bash does: braces, tilde, parameters, substitutions and arithmetic, splitting,
//! patterns, quotes. This module must not know what the command does with them.

mod braces;
mod changes;
mod defaults;
mod edits;
mod fields;
mod globs;
mod got;
mod hidden;
mod operations;
mod parameters;
mod special;
mod substitutions;
mod tilde;
mod zsh;

use braces::Segment;
use castellan_event::{Role, Why};
use castellan_programs::Arg;
use fields::{Bit, How, Splitting};

use crate::limits::{BRACE_COPIES_MAX, BRACE_COPIES_PER_WORK};
use crate::patterns::{Mark, Pattern};
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{AssignedValue, Assignment, Part, Span, Word};
use crate::walk::{Leave, Walker};

/// The positions of tilde expansion in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tilde {
    /// At the start of the word.
    First,
    /// Also after `:` and after the first `=`: the right side of an assignment.
    Assigned,
    /// No tilde expansion.
    Nowhere,
}

impl Walker<'_> {
    /// Returns the arguments that a word expands to.
    pub(crate) fn fields(&mut self, state: &mut State, scope: &Scope, word: &Word) -> Vec<Arg> {
        self.work.spend(1);
        if state.options.shell == Shell::Zsh {
            self.qualifiers(state, scope, word);
        }
        if let [Part::Text { text, quoted: true }] = word.parts.as_slice() {
            return vec![Arg::known(text.as_str())];
        }
        if let Some(text) = fields::plain(word, state.options.shell) {
            self.work.spend_bytes(text.len());
            self.work.spend(1);
            return vec![Arg::known(text)];
        }
        let is_unclear = if state.options.literal_braces {
            state.options.perhaps_braces && braces::has_brace(word)
        } else {
            braces::is_unclear(word, &scope.source)
        };
        let literal = match is_unclear.then(|| self.choices.choose(2)) {
            None => state.options.literal_braces,
            Some(Some(choice)) => choice == 1,
            Some(None) => return self.unread_braces(state, scope, word),
        };
        let mut copies = BRACE_COPIES_MAX;
        let words = match literal {
            true => Some(vec![braces::segments(word)]),
            false => braces::expand(word, &mut copies),
        };
        let copied = BRACE_COPIES_MAX - copies;
        self.work.spend((copied / BRACE_COPIES_PER_WORK) as u64);
        let Some(words) = words else { return self.unread_braces(state, scope, word) };
        // ksh counts a range in its own way: `{01..3}`.
        let is_range = state.options.shell == Shell::Ksh && words.len() > 1 && braces::has_range(word);
        if is_range || state.options.is_unmodelled && (words.len() > 1 || braces::has_brace(word)) {
            return self.unread_braces(state, scope, word);
        }
        let several = words.len() > 1;
        let mut all = Vec::new();
        for segments in words {
            if several && !self.work.spend(1) {
                break;
            }
            let bits = self.bits(state, scope, &segments, Tilde::First);
            let made = self.split(state, &bits);
            // Beside braces, an empty value is a word in zsh and ksh.
            if several && made.is_empty() && matches!(state.options.shell, Shell::Zsh | Shell::Ksh) {
                all.push(Arg::known(""));
            }
            all.extend(made);
        }
        all
    }

    /// Expands the braces of an operand of `declare`, which bash expands like those of other words: `a={b,c}` is `a=b` and
    /// `a=c`. Returns `None` without such braces.
    pub(crate) fn braced_assignments(
        &mut self,
        state: &mut State,
        scope: &Scope,
        assignment: &Assignment,
    ) -> Option<Vec<Arg>> {
        let AssignedValue::Scalar(value) = &assignment.value else { return None };
        let is_read = state.options.shell == Shell::Bash && !state.options.literal_braces;
        if !is_read || assignment.index.is_some() || !braces::has_brace(value) {
            return None;
        }
        let sign = if assignment.append { "+=" } else { "=" };
        let name = Part::Text { text: format!("{}{sign}", assignment.name), quoted: false };
        let parts = std::iter::once(name).chain(value.parts.iter().cloned()).collect();
        let word = Word { parts, span: assignment.span };
        let mut copies = BRACE_COPIES_MAX;
        let words = braces::expand(&word, &mut copies);
        self.work.spend(((BRACE_COPIES_MAX - copies) / BRACE_COPIES_PER_WORK) as u64);
        let Some(words) = words else { return Some(self.unread_braces(state, scope, &word)) };
        if words.len() < 2 {
            return None;
        }
        let texts = words.into_iter().map(|segments| {
            let bits = self.bits(state, scope, &segments, Tilde::Assigned);
            self.text_of(&bits).to_arg()
        });
        Some(texts.collect())
    }

    /// Handles a word whose braces expand to too many words. The commands in the word still run.
    fn unread_braces(&mut self, state: &mut State, scope: &Scope, word: &Word) -> Vec<Arg> {
        self.text(state, scope, word);
        vec![Arg::unknown(Why::Budget, crate::text::cut(scope.source.written(word.span)), true)]
    }

    /// Expands a word to one text, without splitting or pattern matching.
    pub(crate) fn text(&mut self, state: &mut State, scope: &Scope, word: &Word) -> Text {
        let bits = self.word_bits(state, scope, word, Tilde::First);
        self.text_of(&bits)
    }

    /// Like [`Walker::text`], for the right side of an assignment.
    pub(crate) fn assigned(&mut self, state: &mut State, scope: &Scope, word: &Word) -> Text {
        self.joined(state, scope, word, Tilde::Assigned)
    }

    /// Like [`Walker::text`], for a here-string.
    pub(crate) fn here_string(&mut self, state: &mut State, scope: &Scope, word: &Word) -> Text {
        self.joined(state, scope, word, Tilde::First)
    }

    /// Expands a word that is not split.
    fn joined(&mut self, state: &mut State, scope: &Scope, word: &Word, tilde: Tilde) -> Text {
        let bits = self.word_bits(state, scope, word, tilde);
        // `x=$*` joins by the first character of `IFS`.
        if bits.contains(&Bit::Break) && self.separators(state).is_none_or(|all| !all.starts_with(' ')) {
            return Text::unknown(Why::Expansion, scope.source.written(word.span));
        }
        self.text_of(&bits)
    }

    /// Like [`Walker::text`], for the body of a heredoc, without tilde expansion.
    pub(crate) fn document(&mut self, state: &mut State, scope: &Scope, word: &Word) -> Text {
        let bits = self.word_bits(state, scope, word, Tilde::Nowhere);
        self.text_of(&bits)
    }

    /// Expands a word to a pattern. Returns `None` for an unknown pattern.
    fn pattern(&mut self, state: &mut State, scope: &Scope, word: &Word) -> Option<Pattern> {
        let bits = self.word_bits(state, scope, word, Tilde::First);
        let options = state.options;
        let mut marks = Vec::new();
        for bit in &bits {
            match bit {
                Bit::Text { text, how } => {
                    // A value is text in zsh, unless an option makes it a pattern (zshoptions, GLOB_SUBST).
                    let is_value = *how == How::Expanded && options.shell == Shell::Zsh;
                    if is_value && (options.is_unmodelled || options.splits) {
                        return None;
                    }
                    let quoted = *how == How::Quoted || is_value;
                    marks.extend(text.chars().map(|char| Mark { char, quoted }));
                }
                Bit::Unknown { .. } => return None,
                Bit::Break => marks.push(Mark { char: ' ', quoted: true }),
                Bit::Empty | Bit::Nothing => {}
            }
        }
        self.work.spend_bytes(marks.len().saturating_mul(8));
        let operators = match options.shell {
            Shell::Zsh if options.extended_patterns => "(<#^~",
            Shell::Zsh => "(<",
            Shell::Ksh => "(",
            Shell::Bash | Shell::Posix => "",
        };
        Pattern::new(&marks, operators)
    }

    fn text_of(&mut self, bits: &[Bit]) -> Text {
        let text = fields::text_of(bits);
        self.work.spend_bytes(text.len());
        text
    }

    fn word_bits(&mut self, state: &mut State, scope: &Scope, word: &Word, tilde: Tilde) -> Vec<Bit> {
        let segments: Vec<Segment<'_>> = word.parts.iter().map(braces::segment).collect();
        self.bits(state, scope, &segments, tilde)
    }

    fn split(&mut self, state: &mut State, bits: &[Bit]) -> Vec<Arg> {
        let needs_separators =
            bits.iter().any(|bit| matches!(bit, Bit::Text { how: How::Expanded | How::Split, .. }));
        let separators = if needs_separators { self.separators(state) } else { Some(String::new()) };
        let splitting = Splitting {
            separators: separators.as_deref(),
            literal_patterns: state.options.literal_patterns,
            whole: !state.options.splits,
            is_extended: state.options.extended_patterns,
            shell: state.options.shell,
        };
        let mut made = fields::fields(bits, splitting);
        if made.iter().any(|arg| arg.why() == Some(Why::Glob)) && self.finds_hidden_names(state) {
            made = made.into_iter().flat_map(hidden::with_hidden_names).collect();
        }
        if state.options.any_case {
            for arg in made.iter_mut().filter(|arg| arg.why() == Some(Why::Glob)) {
                *arg = Arg::unknown(Why::Expansion, arg.written().into_owned(), true);
            }
        }
        let bytes: usize = bits
            .iter()
            .map(|bit| match bit {
                Bit::Text { text, .. } => text.len(),
                Bit::Unknown { .. } | Bit::Break | Bit::Empty | Bit::Nothing => 1,
            })
            .sum();
        self.work.spend_bytes(bytes);
        self.work.spend(made.len() as u64);
        made
    }

    /// Returns true if patterns may match hidden names: `dotglob`, or any value of `GLOBIGNORE`, which implies it.
    fn finds_hidden_names(&mut self, state: &State) -> bool {
        let ignores = state.variable("GLOBIGNORE");
        state.options.hidden_names
            || ignores.is_some_and(|variable| variable.values.iter().any(|value| *value != Value::Unset))
    }

    /// Returns `IFS`, if known.
    pub(crate) fn separators(&mut self, state: &mut State) -> Option<String> {
        match self.pick(state, "IFS") {
            Value::Scalar(text) => text.as_str().map(str::to_owned),
            Value::Unset => Some(" \t\n".to_owned()),
            Value::Array(_) | Value::Unknown(_) => None,
        }
    }

    fn bits(&mut self, state: &mut State, scope: &Scope, segments: &[Segment<'_>], tilde: Tilde) -> Vec<Bit> {
        let mut bits = Vec::new();
        if !self.enter() {
            // The commands in the word run, but the walk does not reach them: report the word.
            if let Some(span) = segments.iter().find_map(Segment::expanded) {
                self.gap(scope, Role::Code, Why::Nesting, scope.source.written(span), span);
            }
            bits.push(Bit::Unknown { why: Why::Nesting, written: String::new(), quoted: false });
            return bits;
        }
        let mut assigned = tilde == Tilde::Assigned;
        // On the right side of an assignment, the first `=` is already consumed.
        let has_equals =
            matches!(state.options.shell, Shell::Bash | Shell::Ksh) || state.options.magic_equals;
        let mut equals = tilde == Tilde::First && has_equals;
        for (at, segment) in segments.iter().enumerate() {
            let last = at + 1 == segments.len();
            match segment {
                Segment::Text { text, quoted: true } => {
                    bits.push(Bit::Text { text: text.clone(), how: How::Quoted });
                }
                Segment::Text { text, quoted: false }
                    if at == 0
                        && tilde != Tilde::Nowhere
                        && !state.options.literal_equals
                        && is_program_path(state.options.shell, text) =>
                {
                    // zsh: `=rm` is the path of `rm`.
                    bits.push(Bit::Unknown { why: Why::Unresolved, written: text.clone(), quoted: true });
                    bits.push(Bit::Text { text: text.replacen('=', "/", 1), how: How::Quoted });
                }
                Segment::Text { text, quoted: false } if tilde == Tilde::Nowhere || !text.contains('~') => {
                    bits.push(Bit::Text { text: text.clone(), how: How::Written });
                    assigned |= at == 0 && looks_assigned(text);
                }
                Segment::Text { text, quoted: false } => {
                    assigned |= at == 0 && has_equals && looks_assigned(text);
                    if state.options.shell == Shell::Ksh && text.starts_with('~') && !last {
                        // ksh looks at the value after it, too.
                        bits.push(Bit::Unknown { why: Why::Expansion, written: text.clone(), quoted: true });
                        continue;
                    }
                    let places = tilde::Places { first: at == 0, colons: assigned, equals, last };
                    bits.extend(self.tildes(state, text, places));
                    equals &= !text.contains('=');
                }
                Segment::Part(part) => self.part(state, scope, part, &mut bits),
            }
            if self.work.is_over() {
                bits.push(Bit::Unknown { why: Why::Budget, written: String::new(), quoted: false });
                break;
            }
        }
        self.leave();
        bits
    }

    fn part(&mut self, state: &mut State, scope: &Scope, part: &Part, bits: &mut Vec<Bit>) {
        self.work.spend(1);
        match part {
            Part::Text { text, quoted } => {
                let how = if *quoted { How::Quoted } else { How::Written };
                bits.push(Bit::Text { text: text.clone(), how });
            }
            Part::Parameter { parameter, quoted } => {
                bits.extend(self.parameter(state, scope, parameter, *quoted));
            }
            Part::Command { body, quoted } => {
                let text = self.substitution(state, scope, body);
                // zsh splits the output of commands, but no other value.
                bits.extend(Bit::of_text(&text, *quoted).into_iter().map(Bit::split));
            }
            Part::Process { body, written } => {
                let number = self.process(state, scope, body, *written);
                bits.push(Bit::Text { text: format!("/dev/fd/{number}"), how: How::Quoted });
            }
            Part::Arithmetic { expression, quoted } => match self.arithmetic(state, scope, expression) {
                Some(number) => bits.extend(Bit::of_text(&Text::known(number.to_string()), *quoted)),
                None => {
                    let written = crate::text::cut(&format!("$(({}))", expression.text));
                    // A number is never split, so it is marked as quoted.
                    bits.push(Bit::Unknown { why: Why::Arithmetic, written, quoted: true });
                }
            },
            Part::Hole(hole) => {
                let written = crate::text::cut(scope.source.written(hole.span));
                if hole.why == Why::Syntax && state.options.is_other {
                    self.left(Leave::Shell, state, false);
                } else {
                    self.gap(scope, Role::Operand, hole.why, &written, hole.span);
                }
                self.may_fail = true;
                bits.push(Bit::Unknown { why: hole.why, written, quoted: false });
            }
        }
    }

    /// Returns the value of a variable. Selects one of several possible values for this reading of the command.
    pub(crate) fn pick(&mut self, state: &mut State, name: &str) -> Value {
        let Some(name) = state.meant(name) else { return Value::Unknown(Why::Dynamic) };
        let Some(variable) = state.variables.get(&name) else { return state.absent() };
        if let [value] = variable.values.as_slice() {
            return value.clone();
        }
        let Some(at) = self.choices.choose(variable.values.len()) else {
            return Value::Unknown(Why::Budget);
        };
        let value = variable.values.get(at).cloned().unwrap_or(Value::Unset);
        state.change(&name, |variable| variable.values = vec![value.clone()]);
        value
    }

    /// Returns the source at a span, for reports.
    fn written(scope: &Scope, span: Span, name: &str) -> String {
        match scope.source.written(span) {
            "" => format!("${{{name}}}"),
            written => crate::text::cut(written),
        }
    }
}

fn is_program_path(shell: Shell, text: &str) -> bool {
    let is_name = |one: char| one.is_ascii_alphanumeric() || "_.+-".contains(one);
    let name = text.strip_prefix('=').filter(|name| !name.is_empty());
    shell == Shell::Zsh && name.is_some_and(|name| name.chars().all(is_name))
}

/// Returns true if unquoted text starts like an assignment: bash expands `~` after its `=` even in an argument.
fn looks_assigned(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|one: char| one.is_ascii_alphabetic() || one == '_')
        && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
}
