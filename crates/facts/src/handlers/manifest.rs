//! Package managers that run programs of packages, and scripts of the project's manifest.

use castellan_event::{Answer, EffectKind, FileKind, Operation, Query, Role, Why};
use castellan_programs::{Arg, Invocation};

use crate::declared;
use crate::limits::PARENTS_MAX;
use crate::manifests;
use crate::next::From;
use crate::packages::package;
use crate::sink::Sink;
use crate::targets::is_standard_stream;

/// `npx`, `npm exec`, `bunx`: runs a program of a package, which is fetched when the project has none of that name.
pub(crate) fn npx(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let packages: Vec<&Arg> = read.values("--package").collect();
    for package_name in &packages {
        package("npm", package_name, sink);
    }
    let Some(program) = read.operands.first().map(|operand| &operand.arg) else { return };
    if !packages.is_empty() {
        return;
    }
    if let Some(path) = program.as_str().and_then(|name| own_program(name, sink)) {
        let kind = EffectKind::Execute;
        sink.path(kind, &Arg::known(path));
    } else if is_of_declared(program, sink) {
        sink.on(EffectKind::Install, "npm", "declared", Some(program));
    } else {
        package("npm", program, sink);
    }
}

/// Whether the project declares the package that a program comes from which is called otherwise.
fn is_of_declared(program: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    match (program.as_str(), sink.cwd.clone()) {
        (Some(name), Some(cwd)) => declared::has_package(name, &cwd, sink.scene),
        _ => false,
    }
}

/// `yarn build`, `pnpm lint`: what is no subcommand is a script of the manifest, or a file for bun; a bare `yarn`
/// installs.
pub(crate) fn script(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if !read.subcommand.is_empty() {
        return;
    }
    let first = read.unknown_subcommand.or(read.operands.first().map(|operand| operand.at));
    let Some(script) = first.and_then(|at| argv.get(at)) else {
        let is_bare = read.operands.is_empty();
        if is_bare && read.command.name() == "yarn" {
            sink.on(EffectKind::Install, "npm", "manifest", None);
            lifecycle(read, argv, sink);
        }
        return;
    };
    sink.knows_subcommand = script.as_str().is_some();
    if is_standard_stream(script) && read.program.name() == "bun" {
        return sink.on(EffectKind::Interactive, "javascript", "", None);
    }
    let is_file = script
        .as_str()
        .is_some_and(|text| text.contains('/') || text.contains(".ts") || text.contains(".js"));
    if is_file {
        sink.path(EffectKind::Execute, script);
        if read.program.name() == "bun" {
            sink.program("javascript", From::File(script.clone()));
        }
        return;
    }
    let target = Some(script.written().into_owned());
    let (system, verb) = (Some("npm".to_owned()), Some("run".to_owned()));
    let effect = Operation { system, verb, target, ..Operation::of(EffectKind::Execute) };
    sink.path_effect(effect, &Arg::known("package.json"));
}

/// `npm ci`, `npm publish`: the project's own scripts run that its manifest has for it. With packages to install only
/// yarn and bun run them.
pub(crate) fn lifecycle(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let is_without = |flag: &&str| read.given(flag);
    if sink.mode.dry || ["--ignore-scripts", "-g", "--location"].iter().any(is_without) {
        return;
    }
    let name = read.command.name();
    let has_packages = name == "install" && !read.operands.is_empty();
    if has_packages && matches!(read.program.name(), "npm" | "pnpm") {
        return;
    }
    let verb = if matches!(name, "add" | "ci" | "yarn") { "install" } else { name };
    sink.task("npm", verb, None, "package.json");
}

/// Where Composer keeps the project that `composer global` works in, below the home directory.
const COMPOSER_GLOBAL: &[&str] = &[".config/composer/composer.json", ".composer/composer.json"];

/// `composer install`: the project's own scripts run that its manifest has for it. What is no subcommand is one of
/// them.
pub(crate) fn composer_scripts(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    const FILE: &str = "composer.json";
    if let Some(script) =
        read.unknown_subcommand.and_then(|at| argv.get(at)).filter(|arg| arg.as_str().is_some())
    {
        sink.knows_subcommand = true;
        let text = |text: &str| Some(text.to_owned());
        let (system, verb, target) = (text("composer"), text("run"), Some(script.written().into_owned()));
        let effect = Operation { system, verb, target, ..Operation::of(EffectKind::Execute) };
        return sink.path_effect(effect, &Arg::known(FILE));
    }
    if read.given("--no-scripts") || sink.mode.dry {
        return;
    }
    let verb = match read.command.name() {
        "install" => "install",
        "update" | "require" | "remove" => "update",
        "dump-autoload" => "dump-autoload",
        // Those of a project that is fetched first.
        "create-project" if !read.given("--no-install") => {
            return sink.opaque(Role::Code, Why::Network, "create-project");
        }
        _ => return,
    };
    if read.subcommand.first().is_some_and(|first| *first == "global") {
        let home = sink.scene.session.places.home().to_owned();
        return COMPOSER_GLOBAL
            .iter()
            .for_each(|file| sink.task("composer", verb, None, &format!("{home}/{file}")));
    }
    sink.task("composer", verb, None, FILE);
}

/// The program in the project's own packages.
fn own_program(name: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    let mut directory = sink.cwd.clone();
    for _ in 0..=PARENTS_MAX {
        let here = directory?;
        let path = format!("{}/node_modules/.bin/{name}", here.trim_end_matches('/'));
        let kind = sink.scene.world.ask(Query::FileKind { path: path.clone() });
        if matches!(kind, Some(Answer::FileKind(FileKind::File))) {
            return Some(path);
        }
        directory = manifests::parent(&here).map(str::to_owned);
    }
    None
}
