//! L2: finds every command that a shell text would run, through quotes, expansions, substitutions, wrappers, functions
//! and text that the shell runs in turn. The crate reports every part that it does not understand as a [`Gap`].
//!
//! `syntax` parses the text to a `tree` as one of four shells. The other modules walk the tree as that shell would,
//! with values instead of processes, and return [`Found`]. `walk` follows statements, `words` expands words, `run`
//! resolves commands, `builtins` models those of the shell. `outputs` computes output of programs, and `state` holds
//! the state of the shell at one point. The crate must not know files: the crate `facts` handles the effects of a
//! program's arguments.

mod arithmetic;
mod builtins;
mod choices;
mod files;
mod found;
mod limits;
mod literals;
mod outputs;
mod patterns;
mod run;
mod scope;
mod shells;
mod start;
mod state;
#[doc(hidden)]
pub mod syntax;
mod text;
pub mod tree;
mod walk;
mod words;
mod work;

pub use files::{Files, interpreter, is_for_shells, shebang};
pub use found::{Found, FoundRedirect, Gap, Item, Origin, Run, Script, Set, Stdin, Wrapped};
pub use outputs::HEAD_BRANCH;
pub use shells::{SH, agent_shells};
pub use start::Start;
pub use syntax::Shell;
pub use tree::Parsed;
pub use walk::{commands, commands_within, program_within};
pub use work::Work;

/// Returns the comments that every one of these shells finds in a text, without `#`. Empty if a shell leaves a hole:
/// its comments may then be something else.
pub fn comments<'t>(text: &'t str, shells: &[Shell]) -> Vec<&'t str> {
    let mut found: Option<Vec<tree::Span>> = None;
    for shell in shells {
        let Parsed { holes, comments, .. } = parse(text, *shell);
        if !holes.is_empty() {
            return Vec::new();
        }
        match &mut found {
            Some(found) => found.retain(|span| comments.contains(span)),
            None => found = Some(comments),
        }
    }
    let texts = found.unwrap_or_default().into_iter();
    texts.filter_map(|span| text.get(span.start as usize..span.end as usize)).collect()
}

/// Parses text as the shell would. A part that the parser does not understand is a hole.
pub fn parse(text: &str, shell: Shell) -> Parsed {
    syntax::parse(text, shell, usize::MAX).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(comments(text, &[Shell::Bash, Shell::Zsh, Shell::Posix]), expected, "{text:?}");
    }

    #[test]
    fn only_real_comments_are_comments() {
        check("ls # a", &[" a"]);
        check("# a\nls #b\n#c", &[" a", "b", "c"]);
        check("f() { ls; # a\n}; x=$(ls # b\n)", &[" a", " b"]);
        for text in [
            "echo '# a'",
            "echo \"# a\"",
            "echo a# b#c",
            "echo \\# a",
            "cat <<E\n# a\nE",
            "cat <<'E'\n# a\nE",
            "echo ${#x} $((16#ff))",
            "echo `ls # a`",
            "bash -c 'ls # a'",
            // An error of syntax: the shells may read the rest in another way.
            "ls # a\n)",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn comments_have_a_limit() {
        let text = "#\n".repeat(limits::COMMENTS_MAX + 1);
        assert_eq!(comments(&text, &[Shell::Bash]).len(), limits::COMMENTS_MAX);
    }
}
