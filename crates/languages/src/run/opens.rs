//! Files that Perl opens: a text may contain a mode or be a command, and so may names on the command line. Must not
//! know what a shell does with a command.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Piece};

use super::Machine;
use super::bound::Bound;
use crate::act::{Operand, What};
use crate::language::Language;
use crate::tree::Node;
use crate::value::Value;

/// While this variable is set, files read by `<>` are edited in place.
const IN_PLACE: &str = "$^I";
/// The same for `ARGF`.
pub(super) const IN_PLACE_OF_RUBY: &str = "$-i";

impl Machine<'_> {
    /// `open`, without its handle.
    pub(super) fn opened(&mut self, node: &Node, bound: &Bound) -> Value {
        let (values, known) = self.flattened(node, bound);
        let Some((mode, rest)) = values.split_first() else {
            if !known {
                self.lost(node, Why::Dynamic);
            }
            return self.unknown(node, Why::File);
        };
        for mode in self.args(node, mode) {
            if rest.is_empty() {
                self.opened_by_one(node, &mode, bound);
                continue;
            }
            let Some(mode) = mode.as_str().map(str::trim) else {
                // The mode may be one for commands.
                self.lost(node, mode.why().unwrap_or(Why::Dynamic));
                continue;
            };
            self.opened_by_mode(node, mode, rest, bound);
        }
        self.unknown(node, Why::File)
    }

    /// `IO::File->new(file, mode)`, with a mode of `open` or of C. Without a mode, the file name contains it.
    pub(super) fn opened_object(&mut self, node: &Node, bound: &Bound) -> Value {
        let (values, known) = self.flattened(node, bound);
        let [path, mode, ..] = values.as_slice() else {
            return if known { self.opened(node, bound) } else { self.lost(node, Why::Dynamic) };
        };
        for mode in self.args(node, mode) {
            let mode = match mode.as_str() {
                Some(mode) if mode.trim_start().starts_with(['<', '>', '+', '|', '-']) => mode.trim(),
                Some(mode) => match (mode.contains('+'), mode.contains(['w', 'a'])) {
                    (true, _) => "+<",
                    (false, true) => ">",
                    (false, false) => "<",
                },
                None if mode.written().ends_with("O_RDONLY") => "<",
                None => ">",
            };
            self.opened_by_mode(node, mode, std::slice::from_ref(path), bound);
        }
        self.unknown(node, Why::File)
    }

    fn opened_by_mode(&mut self, node: &Node, mode: &str, rest: &[Value], bound: &Bound) {
        if mode.contains('&') {
            return;
        }
        if mode.contains('|') {
            match rest {
                [only] => self.shell_with(node, only, bound, mode.starts_with('|')),
                _ => {
                    let list = self.list(rest.iter().cloned());
                    self.starts_or_shell(node, &list, bound);
                }
            }
            return;
        }
        let Some(path) = rest.first().filter(|path| !matches!(path, Value::List(_))) else { return };
        let reads = mode.starts_with('<') || mode.starts_with('+') || !mode.contains('>');
        let writes = mode.contains('>') || mode.starts_with('+');
        if reads {
            self.path(node, EffectKind::Read, path, false);
        }
        if writes {
            self.path(node, EffectKind::Write, path, false);
        }
    }

    /// Reports the effects of an open file.
    pub(super) fn opens(&mut self, node: &Node, path: &Arg, reads: bool, writes: bool) {
        for (kind, _) in [(EffectKind::Read, reads), (EffectKind::Write, writes)].iter().filter(|one| one.1) {
            self.effect(node, *kind, Operand::Path(path.clone()));
        }
    }

    /// Opens a file or command from one text with its mode.
    fn opened_by_one(&mut self, node: &Node, spec: &Arg, bound: &Bound) {
        let begin = spec.prefix().trim_start();
        if ends_in_pipe(spec) || begin.starts_with('|') {
            let text = trimmed(spec, |text| text.trim().trim_matches('|').trim_end().to_owned());
            self.shell_with(node, &Value::arg(text), bound, begin.starts_with('|'));
            return;
        }
        if begin.contains('&') || matches!(spec.as_str().map(str::trim), Some("-" | ">-")) {
            return;
        }
        let has_mode = begin.starts_with(['<', '>', '+']);
        let is_open = !has_mode && spec.as_str().is_none();
        if is_open {
            // The unknown part may make it a command.
            self.hole(node.at, Role::Code, spec.why().unwrap_or(Why::Dynamic), &spec.written());
        }
        let mode: String = begin.chars().take_while(|letter| matches!(letter, '<' | '>' | '+')).collect();
        let path =
            trimmed(spec, |text| text.trim().trim_start_matches(['<', '>', '+']).trim_start().to_owned());
        self.opened_by_mode(node, &mode, &[Value::arg(path)], bound);
    }

    /// Runs shell text, which may read the program's output.
    fn shell_with(&mut self, node: &Node, text: &Value, bound: &Bound, is_fed: bool) {
        if !is_fed {
            return self.shell(node, text, bound);
        }
        for text in self.args(node, text) {
            let stdin = Some(Arg::unknown(Why::Dynamic, "what is written to it", false));
            self.act(node.at, What::Shell { text: (*text).clone(), cwd: None, env: Vec::new(), stdin });
        }
    }

    /// `<>` reads the files on the command line. In Perl a file name may contain a mode, which `<<>>` ignores.
    pub(super) fn read_arguments(&mut self, node: &Node, heeds_modes: bool) -> Value {
        let files = self.name(node, &if self.language == Language::Perl { "@ARGV" } else { "ARGV" }.into());
        // With a value, the files are edited in place.
        let suffix = if self.language == Language::Perl { IN_PLACE } else { IN_PLACE_OF_RUBY };
        let suffix = self.state.name(self.scope, suffix).unwrap_or(Value::Constant);
        let writes = suffix.choices().iter().any(|suffix| *suffix != Value::Constant);
        let lists = files.choices().iter().filter(|one| matches!(one, Value::List(_)));
        let paths: Vec<Arg> = lists.flat_map(|list| self.operands(node, list)).collect();
        for path in paths.into_iter().filter(|path| path.as_str() != Some("-")) {
            if heeds_modes && self.language == Language::Perl && has_mode(&path) {
                self.opened_by_one(node, &path, &Bound::default());
                continue;
            }
            self.opens(node, &path, true, writes);
        }
        self.unknown(node, Why::File)
    }
}

/// Reports whether a file name is a command whose output is read.
fn ends_in_pipe(spec: &Arg) -> bool {
    match spec.pieces().last() {
        Some(Piece::Text(text)) => text.trim_end().ends_with('|'),
        Some(Piece::Unknown { .. }) | None => false,
    }
}

/// Reports whether the known part of a file name contains a mode.
fn has_mode(spec: &Arg) -> bool {
    ends_in_pipe(spec) || spec.prefix().trim_start().starts_with(['<', '>', '+', '|'])
}

/// Trims a text at its known ends, like the whole text.
fn trimmed(arg: &Arg, cut: impl Fn(&str) -> String) -> Arg {
    let pieces = arg.pieces();
    if let Some(text) = arg.as_str() {
        return Arg::known(cut(text));
    }
    let last = pieces.len().saturating_sub(1);
    let changed = pieces.iter().enumerate().map(|(at, piece)| match piece {
        Piece::Text(text) if at == 0 => {
            let cut = cut(text);
            // Blanks before an unknown piece stay.
            let blanks = text.len() - text.trim_end().len();
            Piece::Text(cut + text.get(text.len() - blanks..).unwrap_or_default())
        }
        Piece::Text(text) if at == last => {
            Piece::Text(text.trim_end().trim_end_matches('|').trim_end().to_owned())
        }
        other => other.clone(),
    });
    Arg::from_pieces(changed, false)
}
