//! What a model's table cannot say: code for single programs, under the name that the model gives it.

mod access;
mod archive;
mod aria;
mod find;
mod link;
mod text;

use castellan_programs::{Arg, Invocation};

mod ansible;
mod build;
mod cloud;
mod container;
mod curl;
mod database;
mod derived;
mod external;
mod git;
mod github;
mod httpie;
mod inline;
mod kubernetes;
pub(crate) mod manifest;
mod modules;
mod mongo;
mod netcat;
mod openssl;
mod osascript;
mod patch;
mod redis;
mod rpc;
mod rsync;
mod ssh;
mod web;
mod wget;

use crate::sink::Sink;

/// Adds what the program does besides what its model's tables say. The arguments are those that were read, the name
/// first.
pub(crate) type Handler = fn(&Invocation, &[Arg], &mut Sink<'_, '_, '_, '_>);

/// Every handler, by the name that models use, in order.
const HANDLERS: &[(&str, Handler)] = &[
    ("access", access::access),
    ("ansible", ansible::ansible),
    ("aria", aria::aria),
    ("awk", text::awk),
    ("cloud", cloud::cloud),
    ("cmake", build::cmake),
    ("compiler", build::compiler),
    ("composer_scripts", manifest::composer_scripts),
    ("compress", archive::compress),
    ("cpio", archive::cpio),
    ("csplit", derived::csplit),
    ("curl", curl::curl),
    ("definitions", build::definitions),
    ("docker_build", container::build),
    ("docker_run", container::run),
    ("ex", text::ex),
    ("external", external::external),
    ("find", find::find),
    ("forfiles", find::forfiles),
    ("gh_api", github::api),
    ("gh_fields", github::fields),
    ("git", git::git),
    ("git_apply", patch::git_apply),
    ("git_checkout", git::checkout),
    ("git_clone", git::clone),
    ("git_config", git::config),
    ("git_each", git::each),
    ("git_fetch", git::fetch),
    ("git_hub", git::hub),
    ("git_push", git::push),
    ("git_read", git::look),
    ("git_remote", git::remotes),
    ("git_remove", git::remove),
    ("git_restore", git::restore),
    ("grpc", rpc::grpc),
    ("helm", kubernetes::helm),
    ("hosting", cloud::hosting),
    ("httpie", httpie::httpie),
    ("hurl", rpc::hurl),
    ("jq", text::jq),
    ("kubectl", kubernetes::kubectl),
    ("less", text::less),
    ("link", link::link),
    ("lua", inline::lua),
    ("make", build::make),
    ("mongo", mongo::mongo),
    ("netcat", netcat::netcat),
    ("node", inline::node),
    ("npm_lifecycle", manifest::lifecycle),
    ("npm_script", manifest::script),
    ("npx", manifest::npx),
    ("openssl", openssl::openssl),
    ("osascript", osascript::osascript),
    ("patch", patch::patch),
    ("perl", inline::perl),
    ("php", inline::php),
    ("python", inline::python),
    ("python_modules", modules::python),
    ("redis", redis::redis),
    ("rsync", rsync::rsync),
    ("ruby", inline::ruby),
    ("salt", ansible::salt),
    ("sed", text::sed),
    ("sftp", ssh::sftp),
    ("socat", netcat::socat),
    ("split", derived::split),
    ("sql_address", database::address),
    ("sql_client", database::client),
    ("sql_file", database::file),
    ("ssh", ssh::ssh),
    ("ssh_keygen", derived::ssh_keygen),
    ("tar", archive::tar),
    ("task_file", build::task_file),
    ("telnet", netcat::telnet),
    ("told", crate::told::concerns_beside_model),
    ("unpack", archive::unpack),
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
        let mut programs: Vec<&Program> = castellan_programs::all().collect();
        while let Some(program) = programs.pop() {
            named.extend(program.handler);
            programs.extend(program.subs);
        }
        let written: Vec<&str> = HANDLERS.iter().map(|(name, _)| *name).collect();
        assert_eq!(named.into_iter().collect::<Vec<_>>(), written);
    }
}
