//! Shell text.

use castellan_shell::tree::Span;

/// Parses bytes as shell text: no panic, the same tree twice, every hole and statement inside the text.
pub fn shell_parse(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let parsed = castellan_shell::parse(text);
    let inside = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
    assert!(parsed.holes.iter().all(|hole| inside(hole.span)), "a hole outside the text");
    assert!(parsed.script.statements.iter().all(|one| inside(one.span)), "a statement outside the text");
    assert_eq!(parsed, castellan_shell::parse(text), "two trees");
}
