//! What a model's table cannot say: code for single programs, under the name that the model gives it.

mod access;
mod archive;
mod find;
mod link;
mod text;

use castellan_programs::{Arg, Invocation};

mod build;
mod external;
mod git;
mod github;
pub(crate) mod manifest;

use crate::sink::Sink;

/// Adds what the program does besides what its model's tables say. The arguments are those that were read, the name first.
pub(crate) type Handler = fn(&Invocation, &[Arg], &mut Sink<'_, '_, '_, '_>);

/// Every handler, by the name that models use, in order.
const HANDLERS: &[(&str, Handler)] = &[
    ("access", access::access),
    ("awk", text::awk),
    ("cmake", build::cmake),
    ("compiler", build::compiler),
    ("compress", archive::compress),
    ("cpio", archive::cpio),
    ("external", external::external),
    ("find", find::find),
    ("gh_api", github::api),
    ("git", git::git),
    ("git_checkout", git::checkout),
    ("git_clone", git::clone),
    ("git_config", git::config),
    ("git_each", git::each),
    ("git_fetch", git::fetch),
    ("git_hub", git::hub),
    ("git_push", git::push),
    ("git_read", git::look),
    ("jq", text::jq),
    ("link", link::link),
    ("make", build::make),
    ("npm_script", manifest::script),
    ("npx", manifest::npx),
    ("patch", text::patch),
    ("sed", text::sed),
    ("tar", archive::tar),
    ("unpack", archive::unpack),
];

/// The handler of this name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    let at = HANDLERS.binary_search_by_key(&name, |(one, _)| one).ok()?;
    HANDLERS.get(at).map(|(_, handler)| *handler)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use castellan_programs::Program;

    use super::*;

    #[test]
    fn models_and_code_name_the_same_handlers() {
        let mut named = BTreeSet::new();
        let mut programs: Vec<&Program> = castellan_programs::all().iter().collect();
        while let Some(program) = programs.pop() {
            named.extend(program.handler);
            programs.extend(program.subs);
        }
        let written: Vec<&str> = HANDLERS.iter().map(|(name, _)| *name).collect();
        assert_eq!(named.into_iter().collect::<Vec<_>>(), written);
    }
}
