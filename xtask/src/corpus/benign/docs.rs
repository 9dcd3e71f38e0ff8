//! Shell commands in Markdown: fenced blocks of shell, and text after a `$ ` prompt. Lines of one command (loops,
//! here-documents, multi-line quotes) stay together. Must not depend on the meaning of commands.

use super::super::item::bash_accepts;

/// Languages of fenced blocks in which lines are commands.
const SHELL: &[&str] = &["sh", "bash", "shell", "zsh"];
/// Languages of blocks that show a terminal. Only text after a prompt is a command.
const SESSION: &[&str] =
    &["console", "shell-session", "sh-session", "terminal", "shellsession", "text", "", "plaintext"];
/// Limit of lines in one command; no documentation has more.
const LINES_MAX: usize = 40;

/// An open block: its language, its fence, and its lines with their numbers.
type Block<'t> = (String, &'t str, Vec<(usize, &'t str)>);

/// Returns commands with their lines, from 1.
pub(super) fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut block: Option<Block<'_>> = None;
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let fence = ["```", "~~~"].into_iter().find(|fence| trimmed.starts_with(fence));
        match (&mut block, fence) {
            (None, Some(fence)) => {
                let language = trimmed.trim_start_matches(['`', '~']).trim();
                let language = language.split([' ', ',', '{']).next().unwrap_or_default();
                block = Some((language.to_ascii_lowercase(), fence, Vec::new()));
            }
            (Some((_, open, _)), Some(fence)) if *open == fence => {
                if let Some((language, _, lines)) = block.take() {
                    of_block(&language, &lines, &mut found);
                }
            }
            (Some((_, _, lines)), _) => lines.push((number + 1, line)),
            (None, None) => {}
        }
    }
    found
}

fn of_block(language: &str, lines: &[(usize, &str)], found: &mut Vec<(usize, String)>) {
    let indent = lines.iter().filter(|(_, line)| !line.trim().is_empty());
    let indent = indent.map(|(_, line)| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines: Vec<(usize, &str)> =
        lines.iter().map(|(number, line)| (*number, line.get(indent..).unwrap_or_default())).collect();
    let prompts = lines.iter().any(|(_, line)| line.starts_with("$ "));
    let is_shell = SHELL.contains(&language);
    if !(is_shell || (prompts && SESSION.contains(&language))) {
        return;
    }
    let mut rest = lines.into_iter().peekable();
    while let Some((number, line)) = rest.next() {
        let first = if prompts { line.strip_prefix("$ ") } else { Some(line) };
        let Some(first) = first.map(str::trim_end).filter(|line| is_command(line)) else { continue };
        let mut command = first.to_owned();
        let mut count = 1;
        while !is_whole(&command) {
            let next = rest.next_if(|(_, line)| !(prompts && line.starts_with("$ ")));
            let Some((_, next)) = next.filter(|_| count < LINES_MAX) else { break };
            command.push('\n');
            command.push_str(next.strip_prefix("> ").filter(|_| prompts).unwrap_or(next));
            count += 1;
        }
        if is_whole(&command) {
            found.push((number, without_comment(&command)));
        }
    }
}

fn is_command(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#')
}

/// Removes a comment after a command of one line.
fn without_comment(command: &str) -> String {
    if command.contains(['\n', '"', '\'']) {
        return command.to_owned();
    }
    command.split_once(" # ").map_or(command, |(command, _)| command).trim_end().to_owned()
}

/// Returns true for a complete command. bash accepts a here-document without its last line, hence the own check.
fn is_whole(text: &str) -> bool {
    const OPENERS: &[&str] = &["if ", "for ", "while ", "case ", "until ", "do", "function ", "select "];
    if text.ends_with('\\') || is_inside_here_document(text) {
        return false;
    }
    let is_plain = !text.contains(['\'', '"', '`', '(', ')', '{', '}', '<', '\\', '|', '&'])
        && !OPENERS.iter().any(|word| text.starts_with(word));
    is_plain || bash_accepts(text).unwrap_or(false)
}

fn is_inside_here_document(text: &str) -> bool {
    let Some((_, after)) = text.split_once("<<") else { return false };
    if after.starts_with('<') {
        return false;
    }
    let word = after.trim_start_matches(['-', ' ', '\'', '"', '\\']);
    let word: String = word.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    !word.is_empty() && !text.lines().skip(1).any(|line| line.trim_start_matches('\t') == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_shell_are_taken_line_by_line() {
        let check = |text: &str, expected: &[(usize, &str)]| {
            let found = commands(text);
            let found: Vec<(usize, &str)> = found.iter().map(|(line, text)| (*line, text.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("x\n```sh\nls # all\n# no\ncd a &&\n  make\n```\n", &[(3, "ls"), (5, "cd a &&\n  make")]);
        check("```console\n$ ls\nfile\n$ pwd\n```\n", &[(2, "ls"), (4, "pwd")]);
        check("```console\nls\n```\n", &[]);
        check("```\n$ npm test\nok\n```\n", &[(2, "npm test")]);
        check(
            "```js\nls\n```\n```bash\ncat <<E > a\nx\nE\nls\n```\n",
            &[(5, "cat <<E > a\nx\nE"), (8, "ls")],
        );
        check(
            "* a\n  ```sh\n  for i in 1 2; do\n    echo $i\n  done\n  ```\n",
            &[(3, "for i in 1 2; do\n  echo $i\ndone")],
        );
        check("```sh\nif true\n```\n", &[]);
    }
}
