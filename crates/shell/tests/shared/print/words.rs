//! Words: quotes, expansions and their operands. This module must not know commands.

use castellan_shell::syntax::Shell;
use castellan_shell::tree::*;

use super::Printer;

/// The surroundings of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Outside of quotes.
    Bare,
    /// In double quotes.
    Quoted,
    /// In the body of a here-document.
    Body,
    /// In the operand of a quoted expansion, which may have quotes of its own.
    Operand,
}

impl Place {
    fn of_operand(quoted: bool) -> Place {
        if quoted { Place::Operand } else { Place::Bare }
    }
}

impl Printer {
    pub(super) fn words(&mut self, words: &[Word]) {
        for (number, word) in words.iter().enumerate() {
            self.put(if number == 0 { "" } else { " " });
            self.word(word, Place::Bare);
        }
    }

    pub(super) fn word(&mut self, word: &Word, place: Place) {
        let mut after_dollar = false;
        for part in &word.parts {
            self.part(part, place, after_dollar);
            after_dollar = matches!(part, Part::Text { text, quoted: false } if text.ends_with('$'));
        }
        self.is_lost |= self.is_shell(&[Shell::Zsh, Shell::Ksh]) && has_no_end(word);
    }

    fn part(&mut self, part: &Part, place: Place, after_dollar: bool) {
        match part {
            Part::Text { text, quoted: false } => {
                // Only a backslash at the end of the text is text.
                self.is_lost |= text.contains('\\') || place != Place::Bare;
                self.put(text);
            }
            Part::Text { text, quoted: true } => match place {
                Place::Bare => self.quoted_text(text, after_dollar),
                Place::Quoted => self.put(&escaped(text, &['\\', '$', '`', '"'])),
                Place::Body => self.put(&escaped(text, &['\\', '$', '`'])),
                Place::Operand => self.operand_text(text),
            },
            Part::Parameter { parameter, quoted } => {
                self.expansion(place, *quoted, |printer| printer.parameter(parameter, *quoted));
            }
            Part::Command { body, quoted: false } if after_dollar => self.backquoted(body),
            Part::Command { body, quoted } => {
                self.expansion(place, *quoted, |printer| printer.commands("$(", body));
            }
            Part::Process { body, written } => self.commands(if *written { ">(" } else { "<(" }, body),
            Part::Arithmetic { expression, quoted } => {
                self.expansion(place, *quoted, |printer| printer.expression(&expression.text));
            }
            Part::Hole(_) => self.is_lost = true,
        }
    }

    fn expansion(&mut self, place: Place, quoted: bool, print: impl FnOnce(&mut Printer)) {
        let sign = if quoted && place == Place::Bare { "\"" } else { "" };
        self.put(sign);
        print(self);
        self.put(sign);
    }

    /// After a `$`, quotes have a meaning of their own in some shells.
    fn quoted_text(&mut self, text: &str, after_dollar: bool) {
        let first = text.chars().next().filter(|first| *first != '\n');
        let is_escaped = after_dollar || text.chars().count() == 1;
        let (escape, rest) = text.split_at(first.filter(|_| is_escaped).map_or(0, char::len_utf8));
        self.put(&if escape.is_empty() { String::new() } else { format!("\\{escape}") });
        // In quoted patterns of zsh, single quotes are text.
        let is_double = (after_dollar && escape.is_empty() && !self.is_shell(&[Shell::Posix]))
            || self.is_shell(&[Shell::Zsh]);
        if !escape.is_empty() && rest.is_empty() {
            return;
        }
        if is_double {
            self.put(&format!("\"{}\"", escaped(rest, &['\\', '$', '`', '"'])));
        } else {
            self.put(&format!("'{}'", rest.replace('\'', "'\\''")));
        }
    }

    /// Text beside letters is in double quotes.
    fn operand_text(&mut self, text: &str) {
        let mut rest = text;
        self.put(if text.is_empty() { "\"\"" } else { "" });
        while !rest.is_empty() {
            let (plain, after) = rest.split_at(rest.find(|one| !is_plain(one)).unwrap_or(rest.len()));
            let (other, after) = after.split_at(after.find(is_plain).unwrap_or(after.len()));
            self.put(plain);
            if !other.is_empty() {
                self.put(&format!("\"{}\"", escaped(other, &['\\', '$', '`', '"'])));
            }
            rest = after;
        }
    }

    fn commands(&mut self, open: &str, body: &Script) {
        self.put(open);
        let outer = std::mem::take(&mut self.bodies);
        if !body.statements.is_empty() {
            self.newline();
        }
        self.script(body);
        self.bodies = outer;
        self.put(")");
    }

    fn backquoted(&mut self, body: &Script) {
        let mut printer = Printer::new(self.shell);
        printer.script(body);
        self.is_lost |= printer.is_lost;
        self.put(&format!("`{}`", escaped(&printer.text, &['\\', '$', '`'])));
    }

    /// `$[...]` may have parentheses without partners.
    fn expression(&mut self, text: &str) {
        let mut depth = 0_i32;
        for byte in text.bytes() {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            if depth < 0 {
                break;
            }
        }
        // In zsh, quotes are text in brackets only.
        let has_quotes = text.contains(['\'', '"']) && self.is_shell(&[Shell::Zsh]);
        let is_bracket = (depth != 0 || has_quotes) && self.is_shell(&[Shell::Bash, Shell::Zsh]);
        self.is_lost |= is_bracket && text.contains(']');
        self.put(&if is_bracket { format!("$[{text}]") } else { format!("$(({text}))") });
    }

    fn parameter(&mut self, one: &Parameter, quoted: bool) {
        let place = Place::of_operand(quoted);
        self.put("${");
        if let Some(zsh) = &one.zsh {
            self.put(&if zsh.flags.is_empty() { String::new() } else { format!("({})", zsh.flags) });
            self.put(&zsh.signs);
        }
        self.put(if one.operation == Operation::Length { "#" } else { "" });
        let is_listed = matches!(one.operation, Operation::Names | Operation::Keys);
        self.put(if one.indirect || is_listed { "!" } else { "" });
        self.put(&one.name);
        if let Some(nested) = one.zsh.as_ref().and_then(|zsh| zsh.nested.as_ref()) {
            self.nested(nested, quoted);
        }
        match &one.index {
            Some(Index::Each) => self.put("[@]"),
            Some(Index::Joined) => self.put("[*]"),
            Some(Index::At(index)) => {
                self.put("[");
                self.word(index, place);
                self.put("]");
            }
            None => {}
        }
        self.operation(&one.operation, place);
        if let Some(operation) = one.zsh.as_ref().and_then(|zsh| zsh.operation.as_ref()) {
            self.zsh_operation(operation, place);
        }
        self.put("}");
    }

    /// An expansion in place of a name, or a string with other parts.
    fn nested(&mut self, word: &Word, outer: bool) {
        let is_expansion = match word.parts.as_slice() {
            [Part::Parameter { quoted, .. } | Part::Command { quoted, .. }] => *quoted == outer,
            [Part::Arithmetic { quoted, .. }] => *quoted == outer,
            _ => false,
        };
        if is_expansion {
            return self.word(word, Place::Operand);
        }
        self.put("\"");
        self.word(word, Place::Quoted);
        self.put("\"");
    }

    fn operation(&mut self, operation: &Operation, place: Place) {
        match operation {
            Operation::Value | Operation::Length | Operation::Keys => {}
            Operation::Names => self.put("*"),
            Operation::Substitute { kind, colon, word } => {
                self.put(if *colon { ":" } else { "" });
                self.put(match kind {
                    Substitute::Default => "-",
                    Substitute::Assign => "=",
                    Substitute::Alternative => "+",
                    Substitute::Error => "?",
                });
                match word.parts.split_first() {
                    // Here, zsh has no other process.
                    Some((Part::Process { body, .. }, rest)) if self.is_shell(&[Shell::Zsh]) => {
                        self.commands("=(", body);
                        self.word(&Word { parts: rest.to_vec(), span: word.span }, place);
                    }
                    _ => self.word(word, place),
                }
            }
            Operation::Remove { suffix, longest, pattern } => {
                let sign = if *suffix { "%" } else { "#" };
                self.put(&sign.repeat(1 + usize::from(*longest)));
                self.word(pattern, Place::Bare);
            }
            Operation::Replace { at, pattern, replacement } => {
                self.put(match at {
                    ReplaceAt::First => "/",
                    ReplaceAt::All => "//",
                    ReplaceAt::Start => "/#",
                    ReplaceAt::End => "/%",
                });
                self.word(pattern, Place::Bare);
                if let Some(replacement) = replacement {
                    self.put("/");
                    self.word(replacement, place);
                }
            }
            Operation::Case { upper, all, pattern } => {
                let sign = if *upper { "^" } else { "," };
                self.put(&sign.repeat(1 + usize::from(*all)));
                pattern.iter().for_each(|pattern| self.word(pattern, place));
            }
            Operation::Slice { offset, length } => {
                // In quotes, zsh would take it for a modifier.
                let is_dollar = matches!(offset.parts.first(), Some(Part::Text { text, quoted: true }) if text.starts_with('$'));
                self.is_lost |= is_dollar && self.is_shell(&[Shell::Zsh]);
                self.put(":");
                self.word(offset, place);
                if let Some(length) = length {
                    self.put(":");
                    self.word(length, place);
                }
            }
            Operation::Transform('~') => self.put("~"),
            Operation::Transform(letter) => self.put(&format!("@{letter}")),
        }
    }

    /// The first sign is no text in quotes.
    fn zsh_operation(&mut self, word: &Word, place: Place) {
        let Some((Part::Text { text, quoted: true }, rest)) = word.parts.split_first() else {
            return self.word(word, place);
        };
        if place == Place::Bare {
            return self.word(word, place);
        }
        let length = text.chars().next().filter(|one| !matches!(one, '\\' | '$' | '`' | '"' | '{' | '}'));
        let (sign, after) = text.split_at(length.map_or(0, char::len_utf8));
        // A letter would belong to the name.
        self.is_lost |= sign.chars().all(is_plain) && !sign.is_empty();
        self.put(sign);
        if !after.is_empty() {
            self.operand_text(after);
        }
        rest.iter().for_each(|part| self.part(part, place, false));
    }
}

/// Reports whether the end of a word depends on the text after it: zsh gives a brace without its partner to the group
/// around the word, and takes a parenthesis without its partner at the end of the text.
fn has_no_end(word: &Word) -> bool {
    let plain = |part: &Part| match part {
        Part::Text { text, quoted: false } => text.clone(),
        Part::Text { .. }
        | Part::Parameter { .. }
        | Part::Command { .. }
        | Part::Process { .. }
        | Part::Arithmetic { .. }
        | Part::Hole(_) => String::new(),
    };
    let text: String = word.parts.iter().map(plain).collect();
    let count = |sign: char| text.matches(sign).count();
    let is_last =
        matches!(word.parts.last(), Some(Part::Text { text, quoted: false }) if text.ends_with('}'));
    (is_last && count('{') < count('}')) || count('(') > count(')')
}

fn is_plain(one: char) -> bool {
    one.is_ascii_alphanumeric() || matches!(one, '_' | ' ' | '(' | ')')
}

fn escaped(text: &str, signs: &[char]) -> String {
    text.chars().flat_map(|one| signs.contains(&one).then_some('\\').into_iter().chain([one])).collect()
}
