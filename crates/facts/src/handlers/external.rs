//! Programs whose subcommands may be programs of their own: `cargo fuzz` runs `cargo-fuzz`, `gh dash` runs `gh-dash`.

use castellan_event::{EffectKind, Operation};
use castellan_programs::{Arg, Invocation};

use crate::sink::Sink;

/// A subcommand that the model does not know is another program.
pub(crate) fn external(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let unknown = read.unknown_subcommand.filter(|_| read.subcommand.is_empty());
    let Some(name) = unknown.and_then(|at| argv.get(at)).and_then(Arg::as_str) else { return };
    sink.knows_subcommand = true;
    let target = Some(format!("{}-{name}", read.program.name()));
    sink.add(Operation { target, ..Operation::of(EffectKind::Execute) });
}
