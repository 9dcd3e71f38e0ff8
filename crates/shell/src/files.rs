//! [`Files`]: what files hold that a shell would run, as whoever starts the walk tells it. The walk itself must not know files.

use std::rc::Rc;

use castellan_event::Why;

/// How the walk asks for files: with an absolute path, symlinks not resolved. The answer is the text of a file that a shell
/// could run, or why it is not known.
pub struct Files<'f>(&'f mut dyn FnMut(&str) -> Result<Rc<str>, Why>);

impl std::fmt::Debug for Files<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Files")
    }
}

impl<'f> Files<'f> {
    /// Files as this function reads them. Equal questions must have equal answers.
    pub fn new(read: &'f mut dyn FnMut(&str) -> Result<Rc<str>, Why>) -> Files<'f> {
        Files(read)
    }

    pub(crate) fn read(&mut self, path: &str) -> Result<Rc<str>, Why> {
        (self.0)(path)
    }
}

/// The program that the first line of a script names, with its arguments: `#!/usr/bin/env -S bash -e`. None without such a
/// line. Linux splits the rest of the line once, at most; more is split here, which only finds more.
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
}
