//! Environment variables that change the behaviour of programs, with values that only choose how: optimisation,
//! warnings, a known compiler. Does not depend on the program.

/// A variable and its permitted values.
type Row = (&'static str, Value);

#[derive(Clone, Copy)]
enum Value {
    /// Words from this list; `*` at the end matches any rest.
    Words(&'static [&'static str]),
    /// Options of rustc: alone, or a letter and its value in one word or two.
    Rust,
    /// A directory below the one for temporary files.
    Temporary,
    /// A compiler by name, optionally with a version number.
    Compiler,
}

const ROWS: &[Row] = &[
    ("CC", Value::Compiler),
    ("CGO_ENABLED", Value::Words(&["0", "1"])),
    ("CXX", Value::Compiler),
    ("GIT_EDITOR", Value::Words(&[":", "true"])),
    ("GIT_PAGER", Value::Words(PAGERS)),
    ("GIT_SEQUENCE_EDITOR", Value::Words(&[":", "true"])),
    ("GIT_TERMINAL_PROMPT", Value::Words(&["0", "1"])),
    (
        "GOFLAGS",
        Value::Words(&[
            "-mod=mod",
            "-mod=readonly",
            "-mod=vendor",
            "-buildvcs=false",
            "-race",
            "-v",
            "-count=1",
        ]),
    ),
    ("MAKEFLAGS", Value::Words(&["-j*", "-k", "-s", "--no-print-directory"])),
    ("NODE_OPTIONS", Value::Words(NODE)),
    ("PAGER", Value::Words(PAGERS)),
    ("RUSTDOCFLAGS", Value::Rust),
    ("RUSTFLAGS", Value::Rust),
    ("TMPDIR", Value::Temporary),
];

const PAGERS: &[&str] = &["", "cat", "less", "more"];

/// Options of Node.js 24 that load nothing, open nothing and do not change where code comes from.
const NODE: &[&str] = &[
    "--enable-source-maps",
    "--experimental-json-modules",
    "--experimental-strip-types",
    "--experimental-vm-modules",
    "--experimental-wasm-modules",
    "--harmony",
    "--max-old-space-size=*",
    "--max_old_space_size=*",
    "--max-semi-space-size=*",
    "--no-deprecation",
    "--no-experimental-fetch",
    "--no-warnings",
    "--openssl-legacy-provider",
    "--preserve-symlinks",
    "--stack-size=*",
    "--stack-trace-limit=*",
    "--throw-deprecation",
    "--trace-deprecation",
    "--trace-uncaught",
    "--trace-warnings",
    "--unhandled-rejections=*",
];

/// Permitted names after `-C` of rustc: none of them takes a program, a library or a file.
const CODEGEN: &[&str] = &[
    "codegen-units",
    "debug-assertions",
    "debuginfo",
    "embed-bitcode",
    "force-frame-pointers",
    "instrument-coverage",
    "lto",
    "opt-level",
    "overflow-checks",
    "panic",
    "strip",
    "target-cpu",
    "target-feature",
];

const COMPILERS: &[&str] = &["c++", "cc", "clang", "clang++", "g++", "gcc", "musl-gcc", "tcc"];

/// Reports whether `NAME=value` only changes how something is done.
pub(super) fn is_harmless(pair: &str) -> bool {
    let Some((name, value)) = pair.split_once('=') else { return false };
    let words = || value.split_ascii_whitespace();
    let Some((_, row)) = ROWS.iter().find(|(one, _)| *one == name) else { return false };
    match row {
        Value::Words(known) => words().all(|word| known.iter().any(|one| is_word(word, one))),
        Value::Temporary => {
            value.starts_with("/tmp/")
                && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-_".contains(&b))
        }
        Value::Rust => is_rust(&words().collect::<Vec<_>>()),
        Value::Compiler => {
            let plain = value.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
            COMPILERS.contains(&value) || COMPILERS.contains(&plain)
        }
    }
}

/// Compares with a known word. Its `*` at the end matches only letters, digits and `-`.
fn is_word(word: &str, known: &str) -> bool {
    match known.strip_suffix('*') {
        Some(begin) => word
            .strip_prefix(begin)
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')),
        None => word == known,
    }
}

fn is_rust(words: &[&str]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (flag, attached) = match *word {
            "--cfg" => ("--cfg", ""),
            word => word.split_at_checked(2).unwrap_or((word, "")),
        };
        let Some(value) = Some(attached).filter(|text| !text.is_empty()).or_else(|| words.next().copied())
        else {
            return false;
        };
        let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_-+,.:=\"".contains(c));
        let is_known = match flag {
            "-C" => CODEGEN.contains(&value.split('=').next().unwrap_or_default()),
            "-A" | "-D" | "-W" | "-F" | "--cfg" => true,
            _ => false,
        };
        if !is_known || !is_name(value) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_only_how_is_told_from_what_says_what() {
        for pair in [
            "NODE_OPTIONS=--max-old-space-size=4096",
            "NODE_OPTIONS=--no-warnings --experimental-vm-modules",
            "RUSTFLAGS=-D warnings",
            "RUSTFLAGS=-Dwarnings -Ctarget-cpu=native -C opt-level=3 --cfg tokio_unstable",
            "RUSTDOCFLAGS=-D rustdoc::all",
            "CC=clang",
            "CC=gcc-13",
            "CXX=g++",
            "GOFLAGS=-mod=vendor",
            "MAKEFLAGS=-j8",
            "PAGER=cat",
            "TMPDIR=/tmp/app-1",
        ] {
            assert!(is_harmless(pair), "{pair}");
        }
        for pair in [
            "NODE_OPTIONS=--require ./x.js",
            "NODE_OPTIONS=--no-warnings --import=x",
            "NODE_OPTIONS=--inspect",
            "NODE_OPTIONS=--max-old-space-size=$X",
            "NODE_OPTIONS=--openssl-config=x",
            "RUSTFLAGS=-Clinker=./x",
            "RUSTFLAGS=-C linker=x",
            "RUSTFLAGS=-C link-arg=-fuse-ld=./x",
            "RUSTFLAGS=-L /tmp",
            "RUSTFLAGS=-D",
            "RUSTFLAGS=--sysroot /tmp",
            "RUSTFLAGS=-Zcodegen-backend=x",
            "RUSTFLAGS=$X",
            "CC=./gcc",
            "CC=/tmp/gcc",
            "CC=gcc -B/tmp",
            "CC=evil",
            "GOFLAGS=-toolexec=x",
            "MAKEFLAGS=-f x",
            "MAKEFLAGS=--eval=x",
            "PAGER=sh",
            "TMPDIR=/tmp/../home/dev",
            "TMPDIR=/var/lib/x",
            "TMPDIR=/tmp/$X",
            "LD_PRELOAD=x",
            "PATH=x",
        ] {
            assert!(!is_harmless(pair), "{pair}");
        }
    }
}
