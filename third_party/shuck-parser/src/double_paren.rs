//! castellan: whether `((` begins an expression. bash looks for the `)` that belongs to the second `(`: it is an expression if
//! another `)` follows at once, else one subshell inside another. Where a scan could count other parentheses than bash does, it
//! is no expression: then commands are read, which shows more than may run, never less.

use crate::work;

/// Where the `))` of the expression stands in the text after `((`.
pub fn arithmetic_end(rest: &str) -> Option<usize> {
    let mut at = 0;
    let end = scan(rest.as_bytes(), &mut at);
    work::spend_bytes(at);
    end
}

fn scan(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let (mut depth, mut braces, mut quoted) = (0_usize, 0_usize, false);
    let mut before = 0;
    while let Some(&byte) = bytes.get(*at) {
        let next = bytes.get(*at + 1).copied();
        match byte {
            b'\\' => *at += 1,
            b'`' => skip_to(bytes, at, b'`')?,
            b'"' => quoted = !quoted,
            // What it holds is quoted anew.
            b'$' if quoted && next == Some(b'(') => return None,
            b'$' if next == Some(b'{') => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            _ if quoted => {}
            // Escapes mean something in this one.
            b'\'' if before == b'$' => return None,
            b'\'' => skip_to(bytes, at, b'\'')?,
            // In a pattern it needs no partner.
            b'(' | b')' if braces > 0 => return None,
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b')' => return (next == Some(b')')).then_some(*at),
            // A comment or the body of a heredoc may hold any.
            b'\n' if depth > 0 => return None,
            _ => {}
        }
        before = byte;
        *at += 1;
    }
    None
}

/// To the next such byte that is not escaped; nothing is escaped in single quotes.
fn skip_to(bytes: &[u8], at: &mut usize, closer: u8) -> Option<()> {
    loop {
        *at += 1;
        match *bytes.get(*at)? {
            byte if byte == closer => return Some(()),
            b'\\' if closer != b'\'' => *at += 1,
            _ => {}
        }
    }
}
