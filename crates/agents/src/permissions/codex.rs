//! `prefix_rule(...)` of Codex's `.rules` files. The files are Starlark; this parser reads only function calls with
//! constants. The parser reports any other statement and continues at the next line that begins a statement.

use std::iter::Peekable;
use std::str::CharIndices;

use super::{Permission, PermissionSubject, PermissionVerdict, Permissions, line_at, one_line};
use crate::limits::JSON_DEPTH_MAX;

const VERDICTS: &[(&str, PermissionVerdict)] = &[
    ("forbidden", PermissionVerdict::Deny),
    ("prompt", PermissionVerdict::Ask),
    ("allow", PermissionVerdict::Allow),
];

/// The decision of a rule that names none.
const DEFAULT: &str = "allow";

/// Parameters of `prefix_rule`. The last two are examples, which Codex itself checks.
const PARAMETERS: &[&str] = &["pattern", "decision", "justification", "match", "not_match"];

#[derive(Debug, Clone, PartialEq)]
enum Constant {
    Text(String),
    List(Vec<Constant>),
}

/// An error and its position.
struct Wrong {
    at: usize,
    why: String,
}

fn wrong<T>(at: usize, why: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { at, why: why.into() })
}

pub(super) fn read(text: &str) -> Permissions {
    let mut read = Permissions::default();
    let mut reader = Reader { text, letters: text.char_indices().peekable() };
    loop {
        let start = reader.skip();
        if start >= text.len() {
            return read;
        }
        let line = line_at(text, start);
        match reader.statement() {
            Ok((name, arguments)) => {
                let original = one_line(text.get(start..reader.at()).unwrap_or_default());
                match rule(&name, &arguments) {
                    Ok((verdict, words, reason)) => read.rules.push(Permission {
                        verdict,
                        subject: PermissionSubject::Prefix(words),
                        original,
                        reason,
                        line,
                    }),
                    Err(why) => read.refuse(line, why),
                }
            }
            Err(Wrong { at, why }) => {
                read.refuse(line_at(text, at), why);
                reader.skip_statement();
            }
        }
    }
}

type Rule = (PermissionVerdict, Vec<Vec<String>>, String);

fn rule(name: &str, arguments: &[(String, Constant)]) -> Result<Rule, String> {
    if name != "prefix_rule" {
        return Err(format!(
            "`{name}(...)` is no rule about commands that castellan has: only `prefix_rule` is read"
        ));
    }
    if let Some((other, _)) = arguments.iter().find(|(name, _)| !PARAMETERS.contains(&name.as_str())) {
        return Err(format!("`{other}` is no parameter of `prefix_rule`"));
    }
    let of = |wanted: &str| arguments.iter().find(|(name, _)| name == wanted).map(|(_, constant)| constant);
    let text = |wanted: &str| match of(wanted) {
        None => Ok(None),
        Some(Constant::Text(text)) => Ok(Some(text.clone())),
        Some(Constant::List(_)) => Err(format!("`{wanted}` is a text")),
    };
    let decision = text("decision")?.unwrap_or_else(|| DEFAULT.to_owned());
    let verdict = VERDICTS.iter().find(|(known, _)| *known == decision);
    let (_, verdict) =
        verdict.ok_or_else(|| format!("`decision` is not one of allow, prompt, forbidden: {decision}"))?;
    let Some(Constant::List(pattern)) = of("pattern") else {
        return Err("`pattern` is a list of words".to_owned());
    };
    let words = pattern.iter().map(alternatives).collect::<Option<Vec<_>>>();
    let words =
        words.filter(|words| !words.is_empty()).ok_or("`pattern` is a list of words, or of lists of them")?;
    Ok((*verdict, words, text("justification")?.unwrap_or_default()))
}

/// The alternative words of a position.
fn alternatives(place: &Constant) -> Option<Vec<String>> {
    let text = |constant: &Constant| match constant {
        Constant::Text(text) => Some(text.clone()),
        Constant::List(_) => None,
    };
    match place {
        Constant::Text(word) => Some(vec![word.clone()]),
        Constant::List(words) if !words.is_empty() => words.iter().map(text).collect(),
        Constant::List(_) => None,
    }
}

struct Reader<'t> {
    text: &'t str,
    letters: Peekable<CharIndices<'t>>,
}

impl Reader<'_> {
    fn at(&mut self) -> usize {
        self.letters.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn next_is(&mut self, letter: char) -> bool {
        self.letters.next_if(|(_, one)| *one == letter).is_some()
    }

    /// Skips white space and comments. Returns the position of the rest.
    fn skip(&mut self) -> usize {
        loop {
            while self.letters.next_if(|(_, letter)| letter.is_whitespace()).is_some() {}
            if !self.next_is('#') {
                return self.at();
            }
            while self.letters.next_if(|(_, letter)| *letter != '\n').is_some() {}
        }
    }

    /// Skips to the next line that does not begin with white space or a closing bracket.
    fn skip_statement(&mut self) {
        while let Some((_, letter)) = self.letters.next() {
            let begins = |one: &(usize, char)| !one.1.is_whitespace() && !matches!(one.1, ')' | ']' | '}');
            if letter == '\n' && self.letters.peek().is_some_and(begins) {
                return;
            }
        }
    }

    /// Parses `name(parameter = constant, ...)`.
    fn statement(&mut self) -> Result<(String, Vec<(String, Constant)>), Wrong> {
        let name = self.name()?;
        let at = self.skip();
        if !self.next_is('(') {
            return wrong(at, format!("`{name}` is no call of a function: only `prefix_rule(...)` is read"));
        }
        let mut arguments = Vec::new();
        loop {
            self.skip();
            if self.next_is(')') {
                return Ok((name, arguments));
            }
            let parameter = self.name()?;
            let at = self.skip();
            if !self.next_is('=') {
                return wrong(at, format!("`=` is missing after `{parameter}`"));
            }
            let constant = self.constant(0)?;
            arguments.push((parameter, constant));
            self.separator(')')?;
        }
    }

    fn name(&mut self) -> Result<String, Wrong> {
        let at = self.skip();
        let mut name = String::new();
        let is_part = |(_, letter): &(usize, char)| letter.is_ascii_alphanumeric() || *letter == '_';
        while let Some((_, letter)) = self.letters.next_if(is_part) {
            name.push(letter);
        }
        if name.is_empty() { wrong(at, "a name is missing") } else { Ok(name) }
    }

    /// Reads a comma, or nothing before the closing bracket.
    fn separator(&mut self, closing: char) -> Result<(), Wrong> {
        let at = self.skip();
        let is_end = self.letters.peek().is_some_and(|(_, letter)| *letter == closing);
        if self.next_is(',') || is_end { Ok(()) } else { wrong(at, format!("`,` or `{closing}` is missing")) }
    }

    fn constant(&mut self, depth: usize) -> Result<Constant, Wrong> {
        let at = self.skip();
        if depth > JSON_DEPTH_MAX {
            return wrong(at, "lists within lists, too deep");
        }
        match self.letters.next() {
            Some((_, '[')) => {
                let mut list = Vec::new();
                loop {
                    self.skip();
                    if self.next_is(']') {
                        return Ok(Constant::List(list));
                    }
                    list.push(self.constant(depth + 1)?);
                    self.separator(']')?;
                }
            }
            Some((_, quote @ ('"' | '\''))) => self.quoted(at, quote).map(Constant::Text),
            _ => wrong(at, "what stands here is no text and no list of texts: it would have to be computed"),
        }
    }

    /// Reads a text after its first quote.
    fn quoted(&mut self, at: usize, quote: char) -> Result<String, Wrong> {
        let mut text = String::new();
        // The next statement may begin after the end of the line.
        while let Some((here, letter)) = self.letters.next_if(|(_, letter)| *letter != '\n') {
            match letter {
                letter if letter == quote => {
                    // Three quotes begin a text of several lines.
                    return match text.is_empty() && self.next_is(quote) {
                        true => wrong(at, "texts of several lines are not read"),
                        false => Ok(text),
                    };
                }
                '\\' => match self.letters.next() {
                    Some((_, escaped @ ('\\' | '"' | '\''))) => text.push(escaped),
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    _ => return wrong(here, "this escape is not read"),
                },
                other => text.push(other),
            }
        }
        wrong(at, "this text has no end on its line")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(places: &[&[&str]]) -> PermissionSubject {
        PermissionSubject::Prefix(
            places.iter().map(|place| place.iter().map(|word| (*word).to_owned()).collect()).collect(),
        )
    }

    #[test]
    fn each_rule_is_read_with_its_line_and_the_rest_after_what_is_not_understood() {
        let text = r#"# What Codex may run outside of its sandbox.
prefix_rule(
    pattern = ["gh", ["pr", "issue"], "view"],  # either
    decision = "prompt",
    justification = "Looks at \"GitHub\"",
    match = ["gh pr view 7", ["gh", "issue", "view"]],
    not_match = ["gh pr create"],
)
prefix_rule(pattern=['ls'])
hosts = ["a",
    "b",
]
prefix_rule(pattern=["rm"], decision="forbidden",)
network_rule(host="x", decision="allow")
prefix_rule(pattern=["rm" + "dir"])
prefix_rule(pattern=[], decision="allow")
prefix_rule(pattern=["x"], decision="maybe")
prefix_rule(pattern=["x"], mode="y")
prefix_rule(pattern=["unclosed)
prefix_rule(pattern=["last"], decision="forbidden")
"#;
        let read = read(text);
        let rules: Vec<_> = read
            .rules
            .iter()
            .map(|one| (one.line, one.verdict, one.subject.clone(), one.reason.as_str()))
            .collect();
        assert_eq!(
            rules,
            [
                (
                    2,
                    PermissionVerdict::Ask,
                    words(&[&["gh"], &["pr", "issue"], &["view"]]),
                    "Looks at \"GitHub\""
                ),
                (9, PermissionVerdict::Allow, words(&[&["ls"]]), ""),
                (13, PermissionVerdict::Deny, words(&[&["rm"]]), ""),
                (20, PermissionVerdict::Deny, words(&[&["last"]]), ""),
            ]
        );
        assert_eq!(read.rules[1].original, "prefix_rule(pattern=['ls'])");
        let unread: Vec<_> = read.unread.iter().map(|one| (one.line, one.why.clone())).collect();
        let expected = [
            (10, "no call of a function"),
            (14, "`network_rule(...)` is no rule"),
            (15, "`,` or `]` is missing"),
            (16, "`pattern` is a list of words"),
            (17, "not one of allow, prompt, forbidden: maybe"),
            (18, "`mode` is no parameter"),
            (19, "no end on its line"),
        ];
        assert_eq!(unread.len(), expected.len(), "{unread:?}");
        for ((line, why), (expected_line, part)) in unread.iter().zip(expected) {
            assert!(*line == expected_line && why.contains(part), "{line}: {why}");
        }
    }

    #[test]
    fn what_is_cut_or_computed_is_an_error_and_not_a_rule() {
        let check = |text: &str| {
            let read = read(text);
            assert!(read.rules.is_empty() && read.unread.len() == 1, "{text}: {read:?}");
        };
        check("prefix_rule(");
        check("prefix_rule(pattern=[\"a\"");
        check("prefix_rule(pattern=[\"a\"]");
        check("prefix_rule(pattern=\"\"\"a\"\"\")");
        check("prefix_rule(pattern=[\"\\u0061\"])");
        check("prefix_rule([\"a\"])");
        check("def f(): pass");
        check("\u{0}");
        check(&format!("prefix_rule(pattern={}", "[".repeat(100_000)));
        assert_eq!(read("# nothing\n\n"), Permissions::default());
    }
}
