//! The source of output that is not computed, from the program's model: the network, a file, a secret store.

use castellan_event::Why;
use castellan_programs::{Arg, Slot, SlotRole, find, invoke};

/// Programs whose output comes from the network with any arguments.
const NETWORK: &[&str] = &[
    "aria2c",
    "curl",
    "dig",
    "drill",
    "etcdctl",
    "fetch",
    "ftp",
    "host",
    "http",
    "https",
    "lynx",
    "mongosh",
    "mysql",
    "nc",
    "ncat",
    "netcat",
    "nslookup",
    "psql",
    "redis-cli",
    "socat",
    "ssh",
    "telnet",
    "w3m",
    "wget",
];

/// Programs whose output comes from the network if their arguments contain such a word. Other output, such as shell
/// completions, is local.
const NETWORK_WITH: &[(&str, &[&str])] = &[
    ("aws", &["s3", "s3api", "ssm", "dynamodb", "logs", "lambda", "ec2", "sqs"]),
    ("az", &["storage", "rest"]),
    ("gcloud", &["storage"]),
    ("gh", &["api", "gist", "issue", "pr", "release", "variable"]),
    ("glab", &["api", "issue", "mr", "snippet", "variable"]),
    ("gsutil", &["cat", "cp"]),
    ("kubectl", &["describe", "exec", "get", "logs"]),
    ("oc", &["describe", "exec", "get", "logs"]),
];

/// Programs that print secrets.
const SECRETS: &[&str] = &[
    "age",
    "aws-vault",
    "bw",
    "gopass",
    "gpg",
    "gpg2",
    "infisical",
    "keyring",
    "lpass",
    "op",
    "pass",
    "rage",
    "rbw",
    "secret-tool",
    "security",
    "sops",
    "vault",
];

/// Programs that print secrets if their arguments contain such a word.
const SECRETS_WITH: &[(&str, &[&str])] =
    &[("aws", &["secretsmanager"]), ("az", &["keyvault"]), ("gcloud", &["secrets"])];

/// Git subcommands that print the contents of objects.
const CONTENTS: &[&str] = &["archive", "cat-file", "diff", "format-patch", "log", "show"];

/// Returns the source of the output. `args` excludes the program's name.
pub(super) fn source_of(name: &str, args: &[Arg]) -> Option<Why> {
    let is_with = |table: &[(&str, &[&str])]| {
        let words = table.iter().find(|(one, _)| *one == name).map_or(&[][..], |(_, words)| words);
        args.iter().filter_map(Arg::as_str).any(|arg| words.contains(&arg))
    };
    if SECRETS.contains(&name) || is_with(SECRETS_WITH) {
        return Some(Why::Secret);
    }
    if NETWORK.contains(&name) || is_with(NETWORK_WITH) {
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
