//! Programs that import the user's own Python modules by their names: `flask --app x`, `gunicorn x:app`, `invoke`. Only
//! those that lie beside the command count; others are of packages that are installed.

use castellan_programs::{Arg, Invocation, SlotRole};

use super::inline::{HERE, found, loaded};
use crate::sink::Sink;

/// How a program names modules.
struct Names {
    program: &'static str,
    /// Options whose values name some.
    options: &'static [&'static str],
    /// Whether its first operand does.
    operands: bool,
    /// Those that it looks for where none is named.
    usual: &'static [&'static str],
}

const NAMES: &[Names] = &[
    Names { program: "coverage", options: &[], operands: true, usual: &[] },
    Names { program: "flask", options: &["--app"], operands: false, usual: &["wsgi", "app"] },
    Names { program: "gunicorn", options: &["-c"], operands: true, usual: &["gunicorn.conf"] },
    Names { program: "invoke", options: &["-c"], operands: false, usual: &["tasks"] },
    Names { program: "pydoc", options: &[], operands: true, usual: &[] },
    Names { program: "pytest", options: &["-p"], operands: false, usual: &[] },
];

/// Adds the modules that the program imports.
pub(super) fn python(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let name = read.program.name();
    let Some(names) = NAMES.iter().find(|names| names.program == name) else { return };
    let mut modules: Vec<Arg> =
        names.options.iter().flat_map(|option| read.values(option)).cloned().collect();
    if names.operands {
        let named = read.operands.iter().filter(|operand| operand.slot.role != SlotRole::Execute);
        modules.extend(named.take(1).map(|operand| operand.arg.clone()));
    }
    if modules.is_empty() || name == "gunicorn" {
        modules.extend(names.usual.iter().copied().map(Arg::known));
    }
    for module in modules {
        let Some(text) = module.as_str() else { continue };
        let text = text.split([':', '(']).next().unwrap_or_default().trim_end_matches(".py");
        let path = Arg::known(text.replace('.', "/"));
        let file = found(&path, &[HERE], &[".py", "/__init__.py"], sink)
            .or_else(|| found(&Arg::known(text), &[HERE], &[".py"], sink));
        if let Some(file) = file {
            loaded("python", &Arg::known(file), sink);
        }
    }
}
