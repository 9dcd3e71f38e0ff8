//! Parses the lines of `strace -f -y`: process, system call, arguments and result. Must not depend on a call's meaning.

use std::collections::BTreeMap;

/// A finished system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Syscall {
    pub(crate) pid: u32,
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    /// The returned value, followed by strace's notes.
    pub(crate) result: String,
}

impl Syscall {
    pub(crate) fn arg(&self, at: usize) -> &str {
        self.args.get(at).map_or("", String::as_str)
    }

    pub(crate) fn is_done(&self) -> bool {
        !self.result.starts_with('-') && !self.result.starts_with('?')
    }
}

/// A line of the output, rejoined if strace split it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// The start of a call that creates a process. The new process may appear before the call ends.
    Begun(u32),
    /// The end of a call.
    Ended(Syscall),
}

/// Returns all lines in order, without signals and exits.
pub(crate) fn lines(trace: &str) -> Vec<Line> {
    let mut begun: BTreeMap<u32, String> = BTreeMap::new();
    let mut lines = Vec::new();
    for line in trace.lines() {
        let Some((pid, rest)) = line.trim_start().split_once(' ') else { continue };
        let (Ok(pid), rest) = (pid.parse(), rest.trim_start()) else { continue };
        if let Some(first) = rest.strip_suffix("<unfinished ...>") {
            if ["clone", "fork", "vfork"].iter().any(|name| first.starts_with(name)) {
                lines.push(Line::Begun(pid));
            }
            begun.insert(pid, first.to_owned());
        } else if let Some((_, after)) = rest.split_once(" resumed>").filter(|_| rest.starts_with("<... ")) {
            let whole = begun.remove(&pid).unwrap_or_default() + after;
            lines.extend(syscall(pid, &whole).map(Line::Ended));
        } else {
            lines.extend(syscall(pid, rest).map(Line::Ended));
        }
    }
    lines
}

fn syscall(pid: u32, text: &str) -> Option<Syscall> {
    let (name, rest) = text.split_once('(')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let (args, result) = rest.rsplit_once(" = ").filter(|_| is_name)?;
    let args = args.trim_end().strip_suffix(')')?;
    Some(Syscall { pid, name: name.to_owned(), args: split(args), result: result.to_owned() })
}

/// Splits arguments at commas outside of strings, braces and notes.
fn split(text: &str) -> Vec<String> {
    let (mut args, mut arg) = (Vec::new(), String::new());
    let (mut depth, mut is_quoted, mut is_escaped) = (0_i32, false, false);
    for char in text.chars() {
        if is_quoted {
            is_quoted = is_escaped || char != '"';
            is_escaped = !is_escaped && char == '\\';
        } else {
            match char {
                '"' => is_quoted = true,
                '{' | '[' | '<' | '(' => depth += 1,
                '}' | ']' | '>' | ')' => depth -= 1,
                ',' if depth == 0 => {
                    args.push(std::mem::take(&mut arg).trim().to_owned());
                    continue;
                }
                _ => {}
            }
        }
        arg.push(char);
    }
    args.push(arg.trim().to_owned());
    args
}

/// Returns the text of a string argument, with escapes resolved; `None` for another argument.
pub(crate) fn string(arg: &str) -> Option<String> {
    let inner = arg.strip_prefix('"')?;
    let inner = inner.strip_suffix('"').or_else(|| inner.strip_suffix("\"..."))?;
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            digit @ b'0'..=b'7' => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(next) = rest.next_if(|next| (b'0'..=b'7').contains(next)) else { break };
                    value = value * 8 + u32::from(next - b'0');
                }
                bytes.push(u8::try_from(value).ok()?);
            }
            other => bytes.push(other),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the texts of an argument that is an array of strings.
pub(crate) fn strings(arg: &str) -> Vec<String> {
    let inner = arg.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or_default();
    split(inner).iter().filter_map(|one| string(one)).collect()
}

/// Returns the note of a descriptor, such as the path of `3</path>`.
pub(crate) fn note(arg: &str) -> Option<&str> {
    let (_, note) = arg.split_once('<')?;
    note.strip_suffix('>').map(|note| note.trim_end_matches(">(deleted)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_and_put_together() {
        let trace = "7 openat(AT_FDCWD</w>, \"a,\\\"b\\303\\244\", O_WRONLY|O_CREAT, 0666) = 3</w/a>\n\
            7 clone(child_stack=NULL <unfinished ...>\n8 unlink(\"x\") = -1 ENOENT (No such file)\n\
            7 <... clone resumed>, flags=SIGCHLD) = 8\n7 +++ exited with 0 +++\n";
        let found = lines(trace);
        let [Line::Ended(open), Line::Begun(7), Line::Ended(unlink), Line::Ended(clone)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(note(open.arg(0)), Some("/w"));
        assert_eq!(string(open.arg(1)).as_deref(), Some("a,\"bä"));
        assert_eq!((open.arg(2), open.is_done()), ("O_WRONLY|O_CREAT", true));
        assert_eq!((unlink.pid, unlink.is_done()), (8, false));
        assert_eq!(strings(r#"["a", "b, \"c", ""]"#), ["a", "b, \"c", ""]);
        assert_eq!((clone.name.as_str(), clone.args.len(), clone.result.as_str()), ("clone", 2, "8"));
    }
}
