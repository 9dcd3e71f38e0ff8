//! [`Files`]: contents of files that a shell would run, supplied by the caller. The walk itself must not know files.

use std::rc::Rc;

use castellan_event::Why;

use crate::shells::is_shell;
use castellan_programs::{Quoting, base_name};

/// Callback that reads a file by absolute path, symlinks not resolved. The callback returns the text of a file that a
/// shell could run, or the reason that the text is unknown.
pub struct Files<'f>(&'f mut dyn FnMut(&str) -> Result<Rc<str>, Why>);

impl std::fmt::Debug for Files<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Files")
    }
}

impl<'f> Files<'f> {
    /// Wraps a read function. The function must return equal results for equal paths.
    pub fn new(read: &'f mut dyn FnMut(&str) -> Result<Rc<str>, Why>) -> Files<'f> {
        Files(read)
    }

    pub(crate) fn read(&mut self, path: &str) -> Result<Rc<str>, Why> {
        (self.0)(path)
    }
}

/// Returns the program in the first line of a script, with its arguments: `#!/usr/bin/env -S bash -e`. Linux splits the
/// rest of the line at most once. This function splits further, which only finds more.
pub fn interpreter(text: &str) -> Option<Vec<&str>> {
    let line = text.strip_prefix("#!")?.split('\n').next()?;
    let mut words: Vec<&str> = line.split([' ', '\t', '\r']).filter(|word| !word.is_empty()).collect();
    let is_env = words.first().is_some_and(|program| program.rsplit('/').next() == Some("env"));
    if is_env {
        words.remove(0);
        let own = words.iter().take_while(|word| word.starts_with('-') || word.contains('=')).count();
        words.drain(..own);
    }
    Some(words)
}

/// Returns the command in the first line of a script, without the file. The arguments of `env` are split as `env -S`
/// splits them; other lines are split at blanks, as in [`interpreter`].
pub fn shebang(text: &str) -> Option<Vec<String>> {
    let line = text.strip_prefix("#!")?.split('\n').next()?.trim();
    let (program, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if base_name(program) != "env" {
        return interpreter(text).map(|words| words.into_iter().map(str::to_owned).collect());
    }
    let words = Quoting::XARGS.words(rest);
    let own = |word: &&String| word.starts_with('-') || word.contains('=');
    let begin = words.iter().take_while(own).count();
    // Variables that `env` sets apply to the program that `env` starts.
    if words.iter().take(begin).any(|word| word.contains('=')) {
        let split =
            words.iter().map(|word| word.strip_prefix("-S").unwrap_or(word)).filter(|word| !word.is_empty());
        return Some(std::iter::once(program).chain(split).map(str::to_owned).collect());
    }
    Some(words.get(begin..).unwrap_or_default().to_vec())
}

/// Returns true if the kernel or the shell runs the file with a shell: the first line names a shell or no program.
pub fn is_for_shells(text: &str) -> bool {
    match interpreter(text).as_deref() {
        None => true,
        // With `-c` the shell runs the code in the first line, not the file.
        Some([program, own @ ..]) => is_shell(base_name(program)) && !own.iter().any(|one| takes_code(one)),
        Some([]) => false,
    }
}

fn takes_code(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_interpreter() {
        let check = |text: &str, expected: Option<&[&str]>| {
            assert_eq!(interpreter(text).as_deref(), expected, "{text}");
        };
        check("echo", None);
        check(" #!/bin/sh", None);
        check("#!/bin/sh\nx", Some(&["/bin/sh"]));
        check("#! /bin/bash -eu\r\nx", Some(&["/bin/bash", "-eu"]));
        check("#!/usr/bin/env python3\n", Some(&["python3"]));
        check("#!/usr/bin/env -S A=1 bash -e", Some(&["bash", "-e"]));
        check("#!", Some(&[]));
    }

    #[test]
    fn the_first_line_is_a_command() {
        let check = |text: &str, expected: &[&str]| assert_eq!(shebang(text).unwrap(), expected, "{text}");
        check("#!/bin/x -r -f\nx", &["/bin/x", "-r", "-f"]);
        check("#!/usr/bin/env python3\n", &["python3"]);
        check("#!/usr/bin/env -S python3 -c 'a b'\r\n", &["python3", "-c", "a b"]);
        check("#!/usr/bin/env -S A=1 x \"y z\"", &["/usr/bin/env", "A=1", "x", "y z"]);
        assert_eq!(shebang("x"), None);
    }
}
