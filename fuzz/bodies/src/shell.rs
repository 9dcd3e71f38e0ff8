//! Shell text: its tree, the shell that reads it, and its effects.

use std::sync::LazyLock;

use castellan_event::{Call, Facts, Recorder, Why};
use castellan_facts::{Setting, analyse};
use castellan_shell::Shell;
use castellan_shell::syntax::parse;
use castellan_shell::tree::{Node, Span};

use crate::accepted::Judge;
use crate::print;
use crate::world::{Same, shell_call};

/// Units of the parser's work for a byte: more would not be linear.
const WORK_PER_BYTE: usize = 40;

/// Parses bytes as text of every shell: no panic, linear work, equal trees from two parses, every hole and statement inside
/// the text. A statement alone has the same tree as in its text, and so has the text that is printed from its tree.
pub fn shell_parse(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for shell in [Shell::Bash, Shell::Zsh, Shell::Posix, Shell::Ksh] {
        let (parsed, work) = parse(text, shell, usize::MAX);
        assert!(work <= WORK_PER_BYTE * text.len() + 1_000, "{shell:?}: {work} units of work");
        assert_eq!(parsed, parse(text, shell, usize::MAX).0, "two trees");
        let printed = print::compared(text, shell);
        assert!(printed.is_ok(), "{}", printed.err().unwrap_or_default());
        let inside = |span: Span| text.get(span.start as usize..span.end as usize);
        assert!(parsed.holes.iter().all(|hole| inside(hole.span).is_some()), "a hole outside the text");
        for statement in &parsed.script.statements {
            let own = inside(statement.span);
            assert!(own.is_some(), "a statement outside the text");
            // The body of a here-document is elsewhere.
            let Some(own) = own.filter(|_| !matches!(statement.node, Node::Hole(_)) && !text.contains('<'))
            else {
                continue;
            };
            let alone = parse(own, shell, usize::MAX).0.script.statements;
            let alone: Vec<String> = alone.iter().map(|one| without_spans(&one.node)).collect();
            let there = without_spans(&statement.node);
            assert_eq!(alone, [there], "{shell:?}: {own:?} of {text:?}");
        }
    }
}

/// Asks `bash -n`, where there is one: bash and the parser accept the same text, but for known reasons.
pub fn shell_accepts(bytes: &[u8]) {
    static BASH: LazyLock<Option<Judge>> = LazyLock::new(|| Judge::new("bash").filter(Judge::is_installed));
    // No argument of a program has a NUL.
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let (Some(text), Some(bash)) = (text, BASH.as_ref()) else { return };
    // Over a limit, the parser gives no answer.
    let is_limit = |why: Why| matches!(why, Why::Nesting | Why::Size | Why::Budget);
    if parse(text, Shell::Bash, usize::MAX).0.holes.iter().any(|hole| is_limit(hole.why)) {
        return;
    }
    let Some(answer) = bash.answer(text) else { return };
    if answer.shell == answer.parser || bash.reason(text, answer).is_some() {
        return;
    }
    // The reasons are those of short texts.
    let short = bash.shrunk(text, answer);
    assert!(bash.reason(&short, answer).is_some(), "{answer:?}: {short:?}");
}

/// Prints a command without its spans.
fn without_spans(node: &Node) -> String {
    let printed = format!("{node:?}");
    let mut pieces = printed.split("Span {");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('}').map_or(piece, |(_, after)| after))
}

/// Reads bytes as a shell call; the text after a byte 1 is the contents of every file. Checks: no panic, equal facts
/// from two analyses, every command inside the text, a role and a reason for each Opaque part.
pub fn shell(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (command, contents) = match text.split_once('\u{1}') {
        Some((command, contents)) => (command, Some(contents)),
        None => (text, None),
    };
    let world = Same { contents: contents.map(str::as_bytes) };
    let call = shell_call(command);
    let facts = find(&call, &world);
    hold(&call, &facts);
    assert_eq!(facts, find(&call, &world), "other facts of {command:?}");
    let is_opaque = |why| facts.effects.iter().any(|effect| effect.is_opaque() && effect.why() == why);
    assert!(!command.contains('\0') || is_opaque(Some(Why::Encoding)), "a NUL in {command:?} is not told");
    if let Some(hole) = first_hole(command) {
        assert!(is_opaque(Some(hole)), "a hole in {command:?} is not told: {facts:?}");
    }
}

/// Returns the facts of a call.
pub(crate) fn find(call: &Call, world: &Same<'_>) -> Facts {
    let setting = Setting { workspace: "/home/u/app".to_owned(), ..Setting::default() };
    analyse(call, &setting, &mut Recorder::new(world))
}

/// Checks the laws for the facts of any call.
pub(crate) fn hold(call: &Call, facts: &Facts) {
    for effect in &facts.effects {
        assert!(effect.command.is_none_or(|at| at < facts.commands.len()), "{effect:?} of no command");
        assert!(effect.file.is_none_or(|at| at < call.files.len()), "{effect:?} of no file");
        let is_explained = effect.role().is_some() && effect.why().is_some();
        assert!(!effect.is_opaque() || is_explained, "{effect:?} does not say why");
    }
    let Some(text) = &call.command else { return };
    for command in &facts.commands {
        let is_inside = |(start, end): (u32, u32)| text.get(start as usize..end as usize).is_some();
        assert!(command.span.is_none_or(is_inside), "{command:?} outside of {text:?}");
    }
}

/// Returns the reason if the first statement has no tree. The first statement always runs.
fn first_hole(text: &str) -> Option<Why> {
    match castellan_shell::parse(text, Shell::Bash).script.statements.first()?.node {
        Node::Hole(hole) => Some(hole.why),
        Node::Simple { .. }
        | Node::Declare { .. }
        | Node::Pipe(_)
        | Node::Chain { .. }
        | Node::Subshell(_)
        | Node::Group(_)
        | Node::If { .. }
        | Node::For { .. }
        | Node::ArithmeticFor { .. }
        | Node::While { .. }
        | Node::Case { .. }
        | Node::Function { .. }
        | Node::Coproc(_)
        | Node::Time(_)
        | Node::Test(_)
        | Node::Arithmetic(_) => None,
    }
}
