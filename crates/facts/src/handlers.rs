//! What a model's table cannot say: code for single programs, under the name that the model gives it.

use castellan_programs::{Arg, Invocation};

mod ansible;
mod cloud;
mod container;
mod curl;
mod database;
mod httpie;
mod kubernetes;
mod mongo;
mod netcat;
mod openssl;
mod redis;
mod rsync;
mod ssh;
mod web;
mod wget;

use crate::sink::Sink;

/// Adds what the program does besides what its model's tables say. The arguments are those that were read, the name first.
pub(crate) type Handler = fn(&Invocation, &[Arg], &mut Sink<'_, '_, '_, '_>);

/// Every handler, by the name that models use, in order.
const HANDLERS: &[(&str, Handler)] = &[
    ("ansible", ansible::ansible),
    ("cloud", cloud::cloud),
    ("curl", curl::curl),
    ("docker_build", container::build),
    ("docker_run", container::run),
    ("helm", kubernetes::helm),
    ("hosting", cloud::hosting),
    ("httpie", httpie::httpie),
    ("kubectl", kubernetes::kubectl),
    ("mongo", mongo::mongo),
    ("netcat", netcat::netcat),
    ("openssl", openssl::openssl),
    ("redis", redis::redis),
    ("rsync", rsync::rsync),
    ("salt", ansible::salt),
    ("sftp", ssh::sftp),
    ("socat", netcat::socat),
    ("sql_address", database::address),
    ("sql_client", database::client),
    ("sql_file", database::file),
    ("ssh", ssh::ssh),
    ("wget", wget::wget),
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
