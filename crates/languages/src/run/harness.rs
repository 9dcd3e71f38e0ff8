//! Commands that Perl modules start with redirected files. Must not know what the commands do.

use castellan_event::{EffectKind, Why};

use super::Machine;
use super::bound::Bound;
use crate::tree::Node;
use crate::value::Value;

impl Machine<'_> {
    /// `IPC::Run`: lists are commands, with signs for pipes and files between them. A text may have both a sign and its
    /// file.
    pub(super) fn harnessed(&mut self, node: &Node, bound: &Bound) -> Value {
        let values: Vec<Value> = bound.plain().cloned().collect();
        let mut sign = String::new();
        for (at, value) in values.iter().enumerate() {
            let (own, file) = value.as_str().map(signed).unwrap_or_default();
            match value {
                Value::List(_) | Value::Text(_) if at == 0 || matches!(&*sign, "|" | "&") => {
                    self.starts_or_shell(node, value, bound);
                }
                Value::Text(_) if sign.contains('>') => self.path(node, EffectKind::Write, value, false),
                Value::Text(_) if sign.contains('<') => self.path(node, EffectKind::Read, value, false),
                Value::Text(_) if own.contains(['<', '>']) && !file.is_empty() => {
                    let kind = if own.contains('>') { EffectKind::Write } else { EffectKind::Read };
                    self.path(node, kind, &Value::text(file), false);
                }
                other => self.hand(node, other),
            }
            sign = if file.is_empty() { own.to_owned() } else { String::new() };
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `IPC::Run3`: a command, then its input, output and error files. A text is a file name; a reference is no file.
    pub(super) fn ran_with_files(&mut self, node: &Node, bound: &Bound) -> Value {
        let values: Vec<Value> = bound.plain().cloned().collect();
        let Some((command, files)) = values.split_first() else { return self.unknown(node, Why::Dynamic) };
        for one in command.choices() {
            self.starts_or_shell(node, one, bound);
        }
        let kinds = [EffectKind::Read, EffectKind::Write, EffectKind::Write];
        for (file, kind) in files.iter().zip(kinds) {
            match file {
                Value::Text(_) => self.path(node, kind, file, false),
                other => self.hand(node, other),
            }
        }
        self.unknown(node, Why::Dynamic)
    }
}

/// Splits a text after its leading sign and number.
fn signed(text: &str) -> (&str, &str) {
    let number = text.bytes().take_while(u8::is_ascii_digit).count();
    let signs = text.bytes().skip(number).take_while(|one| b"<>|&".contains(one)).count();
    match signs {
        0 => ("", ""),
        _ => text.split_at_checked(number + signs).unwrap_or_default(),
    }
}
