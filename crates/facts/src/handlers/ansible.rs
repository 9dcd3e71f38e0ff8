//! Ansible and Salt: modules that run text on other machines.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Invocation};

use crate::sink::Sink;

/// Modules whose arguments run, and modules that only ask, by their short names.
const RUNS: &[&str] = &["command", "expect", "raw", "script", "shell", "win_command", "win_shell"];
const ASKS: &[&str] =
    &["debug", "fetch", "find", "gather_facts", "getent", "ping", "service_facts", "setup", "slurp", "stat"];

/// What a module does on the hosts, or a playbook.
pub(super) fn ansible(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for inventory in read.values("--inventory") {
        match inventory.as_str() {
            Some(list) if list.contains(',') => {}
            _ => sink.path(EffectKind::Read, inventory),
        }
    }
    for file in read.values("--extra-vars").filter_map(|value| value.strip_prefix("@")) {
        sink.path(EffectKind::Read, &file);
    }
    if read.given("--become") {
        let user = read.values("--become-user").last();
        sink.on(EffectKind::Elevate, "ansible", "become", user);
    }
    if read.program.name() != "ansible" {
        return sink.on(EffectKind::Mutate, "ansible", "playbook", read.values("--limit").last());
    }
    let hosts = read.operands.first().map(|operand| &operand.arg);
    let module = read.values("--module-name").last();
    let name = module.map_or("command".into(), |module| module.written());
    let short = name.rsplit('.').next().unwrap_or_default();
    let kind = if ASKS.contains(&short) { EffectKind::Query } else { EffectKind::Mutate };
    sink.on(kind, "ansible", short, hosts);
    if RUNS.contains(&short) && !sink.mode.dry {
        let text = read.values("--args").last().map(|text| text.written().into_owned());
        sink.opaque(Role::Code, Why::Unsupported, &text.unwrap_or_default());
    }
}

/// `salt TARGET FUNCTION ARGS`, `salt-call FUNCTION ARGS`
pub(super) fn salt(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let is_local = argv.first().is_some_and(|name| matches!(name.as_str(), Some("salt-call" | "salt-run")));
    let args: Vec<&Arg> = read.operands.iter().map(|operand| &operand.arg).collect();
    let target = args.first().copied().filter(|_| !is_local);
    let Some(function) = args.get(usize::from(!is_local)) else { return };
    let name = function.written();
    let last = name.rsplit('.').next().unwrap_or_default();
    let asks = ["get", "items", "list", "ls", "ping", "show", "status", "version"]
        .iter()
        .any(|word| last.starts_with(word));
    let tests = args.iter().any(|arg| arg.as_str() == Some("test=True"));
    let kind = if asks || tests { EffectKind::Query } else { EffectKind::Mutate };
    sink.on(kind, "salt", &name, target);
    if name.starts_with("cmd.") {
        let text = args.get(usize::from(!is_local) + 1).map(|text| text.written().into_owned());
        sink.opaque(Role::Code, Why::Unsupported, &text.unwrap_or_default());
    }
}
