//! Unknown parts of an effect's target, and their role. This module must not know paths.

use castellan_event::{Doubt, EffectKind, Object, Operation, Role, Scope, Why};
use castellan_programs::{Arg, Piece, System};

use super::Sink;

impl Sink<'_, '_, '_, '_> {
    pub(crate) fn opaque(&mut self, role: Role, why: Why, written: &str) {
        let target = (!written.is_empty()).then(|| written.to_owned());
        let op = Operation { target, ..Operation::of(EffectKind::Opaque) };
        self.push(op, Object::Unknown(Doubt { role: Some(role), why }));
    }

    pub(super) fn unless_known(&mut self, (kind, system, verb): (EffectKind, &str, &str), arg: &Arg) {
        // The process that the call itself has started in the background.
        let is_child = |piece: &Piece| matches!(piece, Piece::Unknown { written, .. } if written == "$!");
        let is_own = |piece: &Piece| is_child(piece) || is_listener(piece.written());
        if kind == EffectKind::Signal && arg.pieces().iter().all(is_own) {
            return;
        }
        if let Some(why) = arg.why() {
            // A name that is known in part is not an option, and the change can be undone.
            let is_named = arg.prefix().starts_with(|first: char| first.is_ascii_alphanumeric());
            let is_output = matches!(why, Why::Substitution | Why::File | Why::Glob | Why::Dynamic);
            let known = System::find(system);
            let is_tag = is_named && known.is_some_and(|known| known.new_names.contains(&verb));
            let is_label = is_output && (is_tag || known.is_some_and(|known| known.names.contains(&verb)));
            let is_harmless = kind == EffectKind::Mutate && (is_named && !arg.splits() || is_label);
            // Files selected by a part of their names.
            let is_choice = why == Why::Glob
                && known.is_some_and(|known| !known.changes_tree.is_empty())
                && arg.written().contains(|one: char| one.is_alphanumeric());
            let role = if is_harmless || is_choice { Role::Operand } else { role_of(kind, None) };
            self.opaque(role, why, &arg.written());
        }
    }
}

/// True if a command lists the processes that listen on a port: `lsof -ti:3000`.
fn is_listener(written: &str) -> bool {
    let inner = written.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(written);
    let Some(words) = inner.trim().strip_prefix("lsof ") else { return false };
    let is_port = |word: &str| {
        let place = word.strip_prefix("tcp").or_else(|| word.strip_prefix("TCP")).unwrap_or(word);
        place
            .strip_prefix(':')
            .is_some_and(|port| !port.is_empty() && port.bytes().all(|one| one.is_ascii_digit()))
    };
    let words: Vec<&str> = words.split_whitespace().filter(|word| *word != "2>/dev/null").collect();
    let is_option = |word: &str| {
        let plain = matches!(
            word,
            "-t" | "-i" | "-ti" | "-it" | "-tiTCP" | "-iTCP" | "-nP" | "-n" | "-P" | "-sTCP:LISTEN"
        );
        plain || ["-ti", "-i", "-tni"].iter().any(|option| word.strip_prefix(option).is_some_and(is_port))
    };
    let names_port = |word: &&str| is_port(word) || is_port(word.trim_start_matches(['-', 't', 'n', 'i']));
    words.iter().any(names_port) && words.iter().all(|word| is_port(word) || is_option(word))
}

/// An unknown target is as important as the effect on it.
pub(super) fn role_of(kind: EffectKind, scope: Option<Scope>) -> Role {
    use EffectKind::{
        Connect, Delete, Destroy, Download, Elevate, Environment, Execute, Inject, Install, Link, Mutate,
        Permission, Publish, Read, Schedule, Service, Signal, Upload, Write,
    };
    match kind {
        Execute => Role::Program,
        Read if scope.is_none_or(|scope| scope > Scope::Vcs) => Role::Operand,
        Read | Write | Delete | Link | Permission | Upload | Download | Connect | Install | Publish
        | Mutate | Destroy | Signal | Service | Schedule | Inject | Environment | Elevate => Role::Target,
        EffectKind::Interactive
        | EffectKind::Listen
        | EffectKind::Query
        | EffectKind::Detach
        | EffectKind::Spawn
        | EffectKind::Mcp
        | EffectKind::Opaque => Role::Operand,
    }
}
