//! `awk` with one block that only prints: `{print $1, $2}`, `BEGIN{printf "%s%c", "x", 47}`. Others are not computed.

use castellan_programs::Arg;
use castellan_programs::awk::{Program, Token};

use super::{Given, print};
use crate::limits::AWK_PARTS_MAX;
use crate::text::Text;

pub(super) fn awk(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let mut separator = None;
    let mut operands = Vec::new();
    let mut args = known.iter().copied();
    while let Some(arg) = args.next() {
        match arg {
            "--" => {}
            "-F" if operands.is_empty() => separator = Some(args.next()?),
            arg if operands.is_empty() && arg.starts_with("-F") => separator = arg.strip_prefix("-F"),
            arg if operands.is_empty() && arg.starts_with('-') => return None,
            arg => operands.push(arg),
        }
    }
    let (program, files) = operands.split_first()?;
    let separator = match separator {
        None | Some(" ") => None,
        Some("\\t" | "t") => Some('\t'),
        Some(text) => Some(text.chars().next().filter(|one| *one != '\\' && text.len() == one.len_utf8())?),
    };
    let program = Program::read(program)?;
    let (at_start, program) = match program.tokens.as_slice() {
        [Token::Word(word), block @ ..] if word == "BEGIN" => (true, block),
        tokens => (false, tokens),
    };
    let [Token::Sign("{"), block @ .., Token::Sign("}")] = program else { return None };
    let statements = statements(block)?;
    let mut made = Text::default();
    if at_start {
        run(&statements, &Line { text: "", fields: Vec::new(), number: 0 }, &mut made)?;
        return Some(made);
    }
    for (at, text) in given.read_by(files)?.lines().enumerate() {
        let fields = match separator {
            None => text.split_ascii_whitespace().collect(),
            Some(_) if text.is_empty() => Vec::new(),
            Some(separator) => text.split(separator).collect(),
        };
        run(&statements, &Line { text, fields, number: at + 1 }, &mut made)?;
    }
    Some(made)
}

struct Line<'t> {
    text: &'t str,
    fields: Vec<&'t str>,
    number: usize,
}

struct Statement {
    is_format: bool,
    /// Expressions: the concatenation of their parts.
    values: Vec<Vec<Part>>,
}

enum Part {
    Text(String),
    Whole(i32),
    /// `$1`; `$0` is the whole line.
    Field(usize),
    LastField,
    Fields,
    Number,
}

fn run(statements: &[Statement], line: &Line<'_>, made: &mut Text) -> Option<()> {
    for statement in statements {
        let values: Vec<String> = statement
            .values
            .iter()
            .map(|parts| parts.iter().map(|part| value(part, line)).collect())
            .collect();
        if statement.is_format {
            let mut args: Vec<Arg> = values.into_iter().map(Arg::known).collect();
            letters(&statement.values, &mut args)?;
            made.push(&print::printf(Given { args: &args, input: None })?);
        } else {
            let text = if values.is_empty() { line.text.to_owned() } else { values.join(" ") };
            made.push_str(&text);
            made.push_str("\n");
        }
        if made.is_cut() {
            return None;
        }
    }
    Some(())
}

/// Replaces the numbers for `%c` by letters: awk treats the numbers as character codes.
fn letters(values: &[Vec<Part>], args: &mut [Arg]) -> Option<()> {
    let format = args.first().and_then(Arg::as_str)?.replace("%%", "");
    // awk rejects a missing argument and ignores further ones.
    if format.split('%').count() != values.len() {
        return None;
    }
    for ((conversion, value), arg) in format.split('%').zip(values).zip(args).skip(1) {
        let kind = conversion.trim_start_matches(|one: char| !one.is_ascii_alphabetic());
        // A width argument (`*`) shifts the other arguments.
        if conversion.strip_suffix(kind)?.contains('*') {
            return None;
        }
        match value.as_slice() {
            _ if !kind.starts_with('c') => {}
            [Part::Whole(code)] => {
                // Some programs print a byte, others a character.
                let code = u8::try_from(*code).ok().filter(|code| code.is_ascii() && *code != 0)?;
                *arg = Arg::known(char::from(code).to_string());
            }
            [Part::Text(_)] => {}
            // A field that looks like a number is a number.
            _ => return None,
        }
    }
    Some(())
}

fn value(part: &Part, line: &Line<'_>) -> String {
    let field = |number: usize| line.fields.get(number.wrapping_sub(1)).copied().unwrap_or_default();
    match part {
        Part::Text(text) => text.clone(),
        Part::Whole(number) => number.to_string(),
        Part::Field(0) => line.text.to_owned(),
        Part::Field(number) => field(*number).to_owned(),
        // Without fields, `$NF` is `$0`.
        Part::LastField if line.fields.is_empty() => line.text.to_owned(),
        Part::LastField => field(line.fields.len()).to_owned(),
        Part::Fields => line.fields.len().to_string(),
        Part::Number => line.number.to_string(),
    }
}

fn statements(block: &[Token]) -> Option<Vec<Statement>> {
    let statements = block.split(|token| matches!(token, Token::Sign(";") | Token::End));
    let statements = statements.filter(|tokens| !tokens.is_empty()).map(statement);
    let statements = statements.collect::<Option<Vec<Statement>>>()?;
    let parts = statements.iter().flat_map(|statement| &statement.values).map(Vec::len);
    (parts.sum::<usize>() <= AWK_PARTS_MAX).then_some(statements)
}

fn statement(tokens: &[Token]) -> Option<Statement> {
    let (Token::Word(name), values) = tokens.split_first()? else { return None };
    let is_format = match name.as_str() {
        "print" => false,
        "printf" if !values.is_empty() => true,
        _ => return None,
    };
    let values = match values {
        [] => Vec::new(),
        values => values.split(|token| *token == Token::Sign(",")).map(parts).collect::<Option<Vec<_>>>()?,
    };
    Some(Statement { is_format, values })
}

/// Parses an expression: at least one part.
fn parts(mut tokens: &[Token]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    while !tokens.is_empty() || parts.is_empty() {
        let part;
        (part, tokens) = match tokens {
            [Token::Text { value, is_sure: true }, rest @ ..] => (Part::Text(value.clone()), rest),
            // Some programs treat a leading zero as a prefix, and round large numbers.
            [Token::Number(number), rest @ ..] => {
                let whole = number.parse().ok().filter(|whole: &i32| whole.to_string() == *number)?;
                (Part::Whole(whole), rest)
            }
            [Token::Word(word), rest @ ..] if word == "NF" => (Part::Fields, rest),
            [Token::Word(word), rest @ ..] if word == "NR" => (Part::Number, rest),
            [Token::Sign("$"), Token::Word(word), rest @ ..] if word == "NF" => (Part::LastField, rest),
            [Token::Sign("$"), Token::Number(number), rest @ ..] => (Part::Field(number.parse().ok()?), rest),
            _ => return None,
        };
        parts.push(part);
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &[&str], input: &str, expected: Option<&str>) {
        for program in ["gawk", "mawk", "original-awk"].into_iter().filter(|_| expected.is_some()) {
            let made = super::super::real(program, args, input);
            assert!(made.is_none() || made.as_deref() == expected, "{program} {args:?}: {made:?}");
        }
        let args: Vec<Arg> = args.iter().map(|arg| Arg::known(*arg)).collect();
        let made = awk(Given { args: &args, input: Some(&Text::known(input)) });
        assert_eq!(made.as_ref().and_then(Text::as_str), expected, "{args:?}");
    }

    #[test]
    fn text_becomes_what_awk_makes_of_it() {
        check(&["{print $1, $2, $3}"], "rm -rf / x\n", Some("rm -rf /\n"));
        check(&["{print}"], "a b\nc\n", Some("a b\nc\n"));
        check(&["BEGIN{print \"rm -rf /\"}"], "", Some("rm -rf /\n"));
        check(&["BEGIN { printf \"%s -rf %s\\n\", \"rm\", \"/\" }"], "", Some("rm -rf /\n"));
        check(&["{print $1 \" -rf \" $2}"], "rm /\n", Some("rm -rf /\n"));
        check(&["{print $NF; print NF, NR}"], "a b\nc\n", Some("b\n2 1\nc\n1 2\n"));
        check(&["-F:", "{print $2}"], "x:rm -rf /\n", Some("rm -rf /\n"));
        check(&["-F", "|", "{print $1}"], "a|b\n", Some("a\n"));
        check(&["-F\\t", "{print $2}"], "a\tb c\n", Some("b c\n"));
        check(&["{print $0}"], "  a b\n", Some("  a b\n"));
        check(&["{print $9}"], "a\n", Some("\n"));
        check(&["{ print \"\\x72m\" }"], "a\n", Some("rm\n"));
        check(&["{print \"a\\\"b\"}"], "x\n", Some("a\"b\n"));
        check(&["{print $1$2}"], "r m\n", Some("rm\n"));
        check(&["BEGIN{printf \"%c%c -rf %c\", 114, 109, 47}"], "", Some("rm -rf /"));
        check(&["BEGIN{printf \"100%% %c %s\", 47, 47}"], "", Some("100% / 47"));
        check(&["BEGIN{printf \"%c\", \"47\"}"], "", Some("4"));
        check(&["BEGIN{print 1, 2}"], "", Some("1 2\n"));
        check(&["BEGIN{print \"\\303\\251\"}"], "", Some("é\n"));
        check(&["\n{ # comment\nprint $1,\n$2;;print \\\n3 } "], "a b\n", Some("a b\n3\n"));
    }

    #[test]
    fn what_is_more_than_printing_is_not_computed() {
        check(&["{$1=\"\"; print}"], "a b", None);
        check(&["/x/{print}"], "a", None);
        check(&["{print $1 > \"f\"}"], "a", None);
        check(&["{print $1 | \"sh\"}"], "a", None);
        check(&["{print $1+1}"], "1", None);
        check(&["{print substr($1, 2)}"], "ab", None);
        check(&["{print NR==1}"], "ab", None);
        check(&["-v", "x=1", "{print x}"], "a", None);
        check(&["-F", "ab", "{print $1}"], "1ab2", None);
        check(&["{print}}"], "a", None);
        check(&["BEGIN{print 1.5}"], "", None);
        check(&["BEGIN{print 7 - 2}"], "", None);
        check(&["BEGIN{print 0x41}"], "", None);
        check(&["BEGIN{printf \"%*c\", 4, 47}"], "", None);
        check(&["BEGIN{printf \"%c\", 0}"], "", None);
        check(&["{printf \"%c\", $1}"], "114", None);
        check(&["BEGIN{printf \"%c\", 233}"], "", None);
        check(&["BEGIN{printf \"%s%s\", 1}"], "", None);
        check(&["BEGIN{printf \"%s\", 1, 2}"], "", None);
        check(&["BEGIN{print 011}"], "", None);
        check(&["BEGIN{print 3000000000}"], "", None);
        check(&["BEGIN{print \"a\\qb\"}"], "", None);
        check(&["BEGIN\n{print 1}"], "", None);
        check(&["{print \"a\nb\"}"], "x", None);
    }
}
