//! The source of output that is not computed, from the program's model: the network, a file, a secret store.

use castellan_event::Why;
use castellan_programs::{Arg, Slot, SlotRole, Trait, find, invoke};

/// Git subcommands that print the contents of objects.
const CONTENTS: &[&str] = &["archive", "cat-file", "diff", "format-patch", "log", "show"];

/// Returns the source of the output. `args` excludes the program's name.
pub(super) fn source_of(name: &str, args: &[Arg]) -> Option<Why> {
    let has = |one: Trait| {
        let is_given = |sign: &&str| args.iter().any(|arg| arg.as_str() == Some(*sign));
        one.signs(name).is_some_and(|signs| signs.is_empty() || signs.iter().any(is_given))
    };
    if has(Trait::OutputsSecrets) {
        return Some(Why::Secret);
    }
    if has(Trait::OutputsNetwork) {
        return Some(Why::Network);
    }
    let program = find(name)?;
    let argv: Vec<Arg> = std::iter::once(Arg::known(name)).chain(args.iter().cloned()).collect();
    let read = invoke(program, &argv);
    let options = read.options.iter().filter_map(|used| Some((used.option.slot, used.value.as_ref()?)));
    let operands = read.operands.iter().map(|operand| (operand.slot, &operand.arg));
    let slots: Vec<(Slot, &Arg)> = options.chain(operands).collect();
    if slots.iter().any(|(slot, _)| is_of_network(*slot)) {
        return Some(Why::Network);
    }
    let is_file = |(slot, arg): &(Slot, &Arg)| is_of_file(slot.role) && arg.as_str() != Some("-");
    let is_git = program.name() == "git" && read.subcommand.first().is_some_and(|sub| CONTENTS.contains(sub));
    (slots.iter().any(is_file) || is_git).then_some(Why::File)
}

fn is_of_network(slot: Slot) -> bool {
    matches!(
        slot.role,
        SlotRole::Host
            | SlotRole::Listen
            | SlotRole::UrlDownload
            | SlotRole::UrlUpload
            | SlotRole::UrlConnect
    ) || slot.role == SlotRole::Where && slot.detail == "host"
}

fn is_of_file(role: SlotRole) -> bool {
    matches!(role, SlotRole::Read | SlotRole::Update | SlotRole::UploadFile)
}
