//! Packages that are installed: whether the project's manifest declares them. A name that it does not declare may be
//! anyone's. Must not know which command installs them.

use castellan_event::{EffectKind, FileOrigin, Object, Operation, Remote, Why};
use castellan_programs::Arg;

use crate::manifests;
use crate::sink::Sink;

/// Adds the effects of installing a package. `detail`: the package manager, and after a colon what is known without a
/// manifest (`npm:global`).
pub(crate) fn package(detail: &str, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let (system, known) = detail.split_once(':').unwrap_or((detail, ""));
    let mut origin = None;
    let verb = match (arg.as_str(), manifests::is_manager(system)) {
        (Some(text), _) if text.contains("://") || manifests::is_remote(text, system) => {
            let url = Some(text.to_owned());
            sink.add_remote(Operation::of(EffectKind::Download), Remote { url, ..Remote::default() });
            "undeclared"
        }
        (Some(text), _) if manifests::is_local(text) => {
            sink.path(EffectKind::Read, arg);
            let located = sink.locate(arg);
            let path = located.path.as_deref();
            origin = path.and_then(|path| sink.scene.origin_of(path, located.place));
            "local"
        }
        // A pattern of them.
        (None, _) if arg.why() == Some(Why::Glob) && manifests::is_local(&arg.written()) => {
            sink.path(EffectKind::Read, arg);
            let (system, target) = (Some(system.to_owned()), Some(arg.written().into_owned()));
            let verb = Some("local".to_owned());
            return sink.add(Operation { system, verb, target, ..Operation::of(EffectKind::Install) });
        }
        (_, false) if known.is_empty() => "system",
        (_, _) if !known.is_empty() => known,
        (Some(text), true) if is_declared(text, system, sink) => "declared",
        (Some(_) | None, _) => "undeclared",
    };
    // Of what was there before, the project's manifests say where it comes from.
    if origin == Some(FileOrigin::Downloaded) {
        let text = |text: &str| Some(text.to_owned());
        let (system, verb, target) = (text(system), text(verb), text(&arg.written()));
        let op = Operation { system, verb, target, ..Operation::of(EffectKind::Install) };
        let name = manifests::name_of_package(&op);
        return sink.add_on(op, Object::Package { name, origin });
    }
    sink.on(EffectKind::Install, system, verb, Some(arg));
}

fn is_declared(spec: &str, system: &str, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    let directory = sink.cwd.clone();
    directory.is_some_and(|directory| manifests::names_package(system, spec, &directory, sink.scene))
}
