//! Differences of zsh in commands and statements: precommand modifiers, a path in `=rm`, code in glob qualifiers,
//! tables whose elements are definitions. This module must not know expansions.

use castellan_event::{Role, Why};

use super::Walker;
use crate::builtins::set_option;
use crate::found::Origin;
use crate::run::Call;
use crate::scope::Scope;
use crate::state::{Key, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{AssignedValue, Assignment, Part, Span, Word};

/// Builtins of the module `zsh/files`: each does what the program does.
const OF_FILES: &str = "zf_";

/// Letters of glob qualifiers without an argument in delimiters (zshexpn, "Glob Qualifiers").
const QUALIFIERS: &str = "/F.@=p*%rwxAIERWXsStLmacDNMTonOYU G^-,#q+:0123456789kKMhdw[]lL";

impl Walker<'_> {
    /// Applies the zsh meaning of a command's words.
    pub(super) fn as_zsh(state: &State, call: &mut Call) {
        if state.options.shell != Shell::Zsh {
            return;
        }
        // `- rm` starts `rm` with a name that begins with `-`.
        while call.argv.len() > 1 && call.argv.first().and_then(|arg| arg.as_str()) == Some("-") {
            call.argv.remove(0);
        }
        let Some(first) = call.argv.first_mut() else { return };
        if let Some(name) = first.strip_prefix(OF_FILES) {
            *first = name;
        }
    }

    /// Walks the code in the glob qualifiers of a word: `*(e:code:)`, `*(+function)`.
    pub(crate) fn qualifiers(&mut self, state: &State, scope: &Scope, word: &Word) {
        let has_unquoted = |sign: char| {
            let is_sign =
                |part: &Part| matches!(part, Part::Text { text, quoted: false } if text.contains(sign));
            word.parts.iter().any(is_sign)
        };
        let is_pattern = |part: &Part| {
            let Part::Parameter { parameter, quoted: false } = part else { return false };
            let signs = parameter.zsh.as_ref().is_some_and(|zsh| zsh.signs.contains('~'));
            signs || state.options.is_unmodelled
        };
        // The value of `$~x` may have qualifiers, too.
        let may_have = has_unquoted('(') && has_unquoted(')') || word.parts.iter().any(is_pattern);
        if !may_have {
            return;
        }
        let mut inner = self.fork(state);
        let text = self.text(&mut inner, scope, word);
        let codes = match text.as_str() {
            Some(known) => codes(known),
            None => may_have_code(&text.written()).then(Vec::new),
        };
        let Some(codes) = codes else { return };
        if codes.is_empty() {
            let written = crate::text::cut(scope.source.written(word.span));
            self.gap(scope, Role::Code, Why::Unsupported, &written, word.span);
        }
        for code in codes {
            inner.set("REPLY", Value::Unknown(Why::Glob));
            self.run_text(&mut inner, scope, &Text::known(code), Origin::Argument, word.span);
        }
    }

    /// Walks the code of a pattern in a value: with `GLOB_ASSIGN`, the value is a word.
    pub(super) fn assigned_by_zsh(&mut self, state: &State, scope: &Scope, assignment: &Assignment) {
        if let AssignedValue::Scalar(word) = &assignment.value {
            self.qualifiers(state, scope, word);
        }
    }

    /// An assignment to a table of the shell: `functions[f]=CODE`, `BASH_ALIASES[a]=TEXT`.
    pub(super) fn defines(
        &mut self,
        state: &mut State,
        scope: &Scope,
        assignment: &Assignment,
        key: Option<&Key>,
        value: &Value,
    ) {
        let (table, span) = (&assignment.name, assignment.span);
        if !state.is_table(table) {
            return;
        }
        match (key, value, defined(value)) {
            (Some(Key::Name(name)), Value::Scalar(text), _) => {
                self.definition(state, scope, (table, name), text, span);
            }
            (None, _, Some(all)) => {
                for (name, text) in all {
                    self.definition(state, scope, (table, &name), &text, span);
                }
            }
            _ => {
                self.gap(scope, Role::Code, Why::Dynamic, table, span);
                state.forget_most(Why::Dynamic);
            }
        }
    }

    fn definition(
        &mut self,
        state: &mut State,
        scope: &Scope,
        (table, name): (&str, &str),
        value: &Text,
        span: Span,
    ) {
        match table {
            "functions" | "dis_functions" => {
                let mut code = Text::known(format!("{name} () {{\n"));
                code.push(value);
                code.push_str("\n}");
                self.run_text(state, scope, &code, Origin::Argument, span);
            }
            "commands" | "BASH_CMDS" => state.hashed.insert(name.into(), vec![Some(value.clone())]),
            "aliases" | "BASH_ALIASES" => state.aliases.insert(name.into(), vec![Some(value.clone())]),
            "options" => set_option(state, name, value.as_str() != Some("off")),
            // They expand anywhere in a command, or at a suffix.
            _ => self.gap(scope, Role::Code, Why::Unsupported, table, span),
        }
    }
}

/// Returns the elements of a whole table: `functions=(name code)`.
fn defined(value: &Value) -> Option<Vec<(String, Text)>> {
    let Value::Array(elements) = value else { return None };
    let mut texts = elements.iter();
    let mut made = Vec::new();
    while let Some((key, text)) = texts.next() {
        match key {
            Key::Name(name) => made.push((name.clone(), text.clone())),
            Key::Number(_) => made.push((text.as_str()?.to_owned(), texts.next()?.1.clone())),
        }
    }
    Some(made)
}

/// Returns the code in the qualifiers at the end of a word. `None`: there is none. Empty: there may be some.
fn codes(word: &str) -> Option<Vec<String>> {
    let inner = word.strip_suffix(')')?;
    let (_, inner) =
        inner.get(..opening(inner)?).map(|before| (before, inner.get(before.len() + 1..).unwrap_or("")))?;
    let mut codes = Vec::new();
    let mut rest = inner.strip_prefix("#q").unwrap_or(inner).chars();
    while let Some(letter) = rest.next() {
        match letter {
            'e' | 'u' | 'g' | 'f' | 'P' if letter == 'e' || rest.as_str().starts_with(is_delimiter) => {
                let open = rest.next()?;
                let (argument, after) = rest.as_str().split_once(closer(open))?;
                if letter == 'e' {
                    codes.push(argument.to_owned());
                }
                rest = after.chars();
            }
            '+' => {
                let name: String = rest
                    .as_str()
                    .chars()
                    .take_while(|one| *one == '_' || one.is_ascii_alphanumeric())
                    .collect();
                rest = rest.as_str().get(name.len()..).unwrap_or("").chars();
                codes.push(name);
            }
            // A sort order may have code, too.
            'o' | 'O' => {}
            // A time or a size has a unit, a sign and a number.
            'a' | 'c' | 'l' | 'L' | 'm' => {
                let number = rest.as_str().trim_start_matches(|one: char| one.is_ascii_alphabetic());
                let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
                let after = digits.trim_start_matches(|one: char| one.is_ascii_digit());
                if after.len() < digits.len() {
                    rest = after.chars();
                }
            }
            letter if QUALIFIERS.contains(letter) => {}
            // A pattern, or qualifiers that are not known.
            _ => return may_have_code(&format!("({inner}")).then(Vec::new),
        }
    }
    (!codes.is_empty()).then_some(codes)
}

/// Returns the offset of the parenthesis that the end of the text closes.
fn opening(text: &str) -> Option<usize> {
    // Code may have parentheses: the group begins with the first one that begins qualifiers.
    let begins = |at: &usize| {
        text.get(at + 1..)
            .is_some_and(|inner| inner.starts_with(|one| QUALIFIERS.contains(one) || "eufgPoO".contains(one)))
    };
    text.match_indices('(').map(|(at, _)| at).find(begins)
}

fn is_delimiter(one: char) -> bool {
    !one.is_ascii_alphanumeric()
}

fn closer(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

/// `*(e:code:)`, `*(+function)`: parentheses with `|` contain alternatives instead.
fn may_have_code(text: &str) -> bool {
    text.split('(').skip(1).any(|inner| {
        let inner = inner.split(')').next().unwrap_or_default();
        !inner.contains('|') && inner.contains(['e', '+'])
    })
}
