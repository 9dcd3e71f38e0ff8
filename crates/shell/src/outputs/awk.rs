//! `awk` with one block that only prints: `{print $1, $2}`, `BEGIN{printf "%s%c", "x", 47}`. Others are not computed.

use castellan_programs::Arg;

use super::{Given, print};
use crate::limits::AWK_PARTS_MAX;
use crate::literals::{Escapes, unescaped};
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
    let program = program.trim();
    let at_start = program.strip_prefix("BEGIN").map(str::trim_start);
    let block = at_start.unwrap_or(program).strip_prefix('{')?.strip_suffix('}')?;
    let statements = statements(block)?;
    let mut made = Text::default();
    if at_start.is_some() {
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
    Whole(u32),
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
    for (at, conversion) in format.split('%').enumerate().skip(1) {
        let kind = conversion.trim_start_matches(|one: char| !one.is_ascii_alphabetic());
        // A width argument (`*`) shifts the other arguments.
        if conversion.strip_suffix(kind)?.contains('*') {
            return None;
        }
        if let (true, Some([Part::Whole(code)])) = (kind.starts_with('c'), values.get(at).map(Vec::as_slice))
        {
            *args.get_mut(at)? = Arg::known(char::from_u32(*code).filter(|one| *one != '\0')?.to_string());
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

fn statements(block: &str) -> Option<Vec<Statement>> {
    let mut statements = Vec::new();
    let mut rest = block.trim_start();
    let mut count = 0;
    while !rest.is_empty() {
        let (is_format, after) = match rest.strip_prefix("printf") {
            Some(after) => (true, after),
            None => (false, rest.strip_prefix("print")?),
        };
        let mut values: Vec<Vec<Part>> = Vec::new();
        let mut parts = Vec::new();
        rest = after.trim_start_matches(BLANKS);
        if after.starts_with(|one: char| one.is_ascii_alphanumeric() || one == '_') {
            return None;
        }
        while !rest.is_empty() && !rest.starts_with([';', '\n']) {
            count += 1;
            if count > AWK_PARTS_MAX {
                return None;
            }
            if let Some(after) = rest.strip_prefix(',') {
                values.push(std::mem::take(&mut parts));
                if values.last()?.is_empty() {
                    return None;
                }
                rest = after;
            } else {
                let (part, after) = part(rest)?;
                parts.push(part);
                rest = after;
            }
            rest = rest.trim_start_matches(BLANKS);
        }
        if !parts.is_empty() {
            values.push(parts);
        } else if !values.is_empty() || is_format {
            return None;
        }
        statements.push(Statement { is_format, values });
        rest = rest.trim_start_matches([';', '\n', ' ', '\t']);
    }
    Some(statements)
}

const BLANKS: [char; 2] = [' ', '\t'];

/// Parses one part of an expression and returns the rest.
fn part(text: &str) -> Option<(Part, &str)> {
    if let Some(rest) = text.strip_prefix('"') {
        let mut is_escaped = false;
        let end = rest.find(|one| {
            let ends = one == '"' && !is_escaped;
            is_escaped = one == '\\' && !is_escaped;
            ends
        })?;
        let inner = rest.get(..end)?.replace("\\\"", "\"").replace("\\/", "/");
        return Some((Part::Text(unescaped(&inner, Escapes::Format)?.0), rest.get(end + 1..)?));
    }
    for (name, part) in [("$NF", Part::LastField), ("NF", Part::Fields), ("NR", Part::Number)] {
        if let Some(rest) = text.strip_prefix(name) {
            let goes_on =
                rest.starts_with(|one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '(' | '['));
            return (!goes_on).then_some((part, rest));
        }
    }
    if text.starts_with(|one: char| one.is_ascii_digit()) {
        let (digits, rest) = digits(text)?;
        let goes_on = rest.starts_with(|one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '.'));
        return (!goes_on).then_some((Part::Whole(digits.parse().ok()?), rest));
    }
    let (number, rest) = digits(text.strip_prefix('$')?)?;
    Some((Part::Field(number.parse().ok()?), rest))
}

/// Returns the leading digits of a text and the rest.
fn digits(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(text.len() - text.trim_start_matches(|one: char| one.is_ascii_digit()).len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &[&str], input: &str, expected: Option<&str>) {
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
    }
}
