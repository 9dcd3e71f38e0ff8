//! Programs that print one word with a known alphabet, or the path of a directory. As part of a path, a word with a
//! known alphabet cannot lead to another directory. This module excludes output that variables and settings can change
//! arbitrarily, and output that identifies the user, because a command may send it away.

use castellan_event::Why;
use castellan_programs::Arg;

use crate::state::State;
use crate::text::Text;

/// A digit and any characters after it.
const NUMBER: &str = "[0-9]*";
const LETTERS: &str = "[A-Za-z]*";
/// The name of a git object.
const HASH: &str = "[0-9a-f]*";
/// The name of a branch or tag. Git forbids `..`, a leading slash or dash, and a leading dot in any part.
const REFERENCE: &str = "[0-9A-Za-z_@+]**";
/// The branch of the work tree: the same names, written so that only these commands give this pattern.
pub const HEAD_BRANCH: &str = "[+0-9@A-Z_a-z]**";

/// Programs and arguments with output in a known alphabet.
const WORDS: &[(&str, &[&str], &str)] = &[
    ("arch", &[], LETTERS),
    ("dpkg", &["--print-architecture"], LETTERS),
    ("getconf", &["_NPROCESSORS_ONLN"], NUMBER),
    ("git", &["branch", "--show-current"], HEAD_BRANCH),
    ("nproc", &[], NUMBER),
    ("nproc", &["--all"], NUMBER),
    ("sysctl", &["-n", "hw.ncpu"], NUMBER),
    ("sysctl", &["-n", "hw.logicalcpu"], NUMBER),
    ("uname", &[], LETTERS),
    ("uname", &["-m"], LETTERS),
    ("uname", &["-o"], LETTERS),
    ("uname", &["-p"], LETTERS),
    ("uname", &["-r"], NUMBER),
    ("uname", &["-s"], LETTERS),
];

/// Programs and first arguments that print a directory of a language's tools.
const PLACES: &[(&str, &[&str])] = &[
    ("brew", &["--prefix"]),
    ("git", &["rev-parse", "--git-dir"]),
    ("git", &["rev-parse", "--show-toplevel"]),
    ("go", &["env", "GOBIN"]),
    ("go", &["env", "GOMODCACHE"]),
    ("go", &["env", "GOPATH"]),
    ("go", &["env", "GOROOT"]),
    ("npm", &["bin"]),
    ("npm", &["prefix"]),
    ("npm", &["root"]),
    ("pnpm", &["bin"]),
    ("pnpm", &["root"]),
    ("rustc", &["--print", "sysroot"]),
    ("xcode-select", &["-p"]),
    ("yarn", &["bin"]),
];

/// Variables that change these directories.
const MOVERS: &[&str] = &[
    "DEVELOPER_DIR",
    "GOBIN",
    "GOENV",
    "GOFLAGS",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GOTOOLCHAIN",
    "HOMEBREW_PREFIX",
    "RUSTC_WRAPPER",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "XDG_CONFIG_HOME",
];

/// Programs that print the path of an interpreter version, with the interpreter's name.
const VERSIONS: &[(&str, &str)] = &[("nvm", "node"), ("nvs", "node")];

/// Returns the output of a program about itself, its machine or its repository.
pub(super) fn word(name: &str, args: &[Arg], state: &State) -> Option<Text> {
    let known: Vec<&str> = args.iter().map(Arg::as_str).collect::<Option<_>>()?;
    if let Some((.., pattern)) = WORDS.iter().find(|(one, with, _)| *one == name && *with == known) {
        return Some(line(pattern));
    }
    if PLACES
        .iter()
        .any(|(one, with)| *one == name && known.starts_with(with) && known.len() <= with.len() + 1)
        && is_unmoved(state)
    {
        return Some(place(&format!("$({name} {})", known.join(" ")), ""));
    }
    if let Some((_, program)) =
        VERSIONS.iter().find(|(one, _)| *one == name && known.first() == Some(&"which"))
    {
        return Some(place(&format!("$({name} {})", known.join(" ")), &format!("/{program}")));
    }
    match (name, known.as_slice()) {
        ("git", ["rev-parse", rest @ ..]) => rev_parse(rest),
        ("git", ["describe", rest @ ..]) => described(rest),
        ("git", ["rev-list", "--count", "HEAD"]) => Some(line(NUMBER)),
        ("wc", ["-l" | "-c" | "-w"]) => Some(line(NUMBER)),
        ("date", all) => date(all),
        _ => None,
    }
}

/// Returns true if neither the text nor the known environment sets a variable that changes these directories.
fn is_unmoved(state: &State) -> bool {
    let is_absent = state.absent.is_none_or(|why| why == Why::Variable);
    is_absent && state.is_at_home() && MOVERS.iter().all(|name| state.variable(name).is_none())
}

fn line(pattern: &str) -> Text {
    let mut text = Text::unknown(Why::Glob, pattern);
    text.push_str("\n");
    text
}

/// Returns an unknown path with a known end.
fn place(written: &str, behind: &str) -> Text {
    let mut text = Text::unknown(Why::Unresolved, written);
    text.push_str(&format!("{behind}\n"));
    text
}

fn rev_parse(rest: &[&str]) -> Option<Text> {
    let (options, operands): (Vec<&str>, Vec<&str>) = rest.iter().partition(|arg| arg.starts_with('-'));
    let [revision] = operands.as_slice() else { return None };
    // Git prints a path or a range unchanged.
    let is_plain = revision.chars().all(|one| one.is_ascii_alphanumeric() || "_^~@{}".contains(one));
    let is_hash = options
        .iter()
        .all(|one| matches!(*one, "--short" | "--verify" | "-q" | "--quiet") || one.starts_with("--short="));
    // Without these options, git prints an unknown revision unchanged.
    let is_verified = *revision == "HEAD"
        || options.contains(&"--verify")
        || options.iter().any(|one| one.starts_with("--short"));
    if is_plain && is_hash && is_verified {
        return Some(line(HASH));
    }
    (options == ["--abbrev-ref"] && *revision == "HEAD").then(|| line(HEAD_BRANCH))
}

fn described(rest: &[&str]) -> Option<Text> {
    let is_known = |arg: &&str| {
        let option = arg.split('=').next().unwrap_or_default();
        matches!(option, "--tags" | "--always" | "--all" | "--long" | "--abbrev" | "--exact-match" | "--match" | "--first-parent")
            // The suffix for local changes is a word of the call.
            || matches!(*arg, "--dirty" | "--broken" | "HEAD")
    };
    rest.iter().all(is_known).then(|| line(REFERENCE))
}

/// `date +%Y-%m-%d`: the literal text of the format, and a digit pattern for each field.
fn date(args: &[&str]) -> Option<Text> {
    let mut format = None;
    for arg in args {
        match *arg {
            "-u" | "--utc" | "--universal" => {}
            _ => format = Some(arg.strip_prefix('+').filter(|_| format.is_none())?),
        }
    }
    let mut text = Text::default();
    let mut signs = format?.chars();
    while let Some(one) = signs.next() {
        if one != '%' {
            text.push_str(one.encode_utf8(&mut [0; 4]));
            continue;
        }
        match signs.next()? {
            'Y' | 'y' | 'm' | 'd' | 'H' | 'I' | 'M' | 'S' | 'N' | 's' | 'j' | 'U' | 'V' | 'G' | 'C' | 'u'
            | 'w' => {
                text.push_unknown(Why::Glob, NUMBER);
            }
            'F' | 'T' | 'R' => text.push_unknown(Why::Glob, NUMBER),
            _ => return None,
        }
    }
    text.push_str("\n");
    Some(text)
}
