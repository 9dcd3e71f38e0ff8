//! Python virtual environments that the text creates (`python -m venv DIR`), and the effect of their `bin/activate`,
//! which is always the same. This module must not know anything else about Python.

use castellan_programs::Arg;

/// Returns the effect of every `bin/activate`, by Python 3.14's `venv/scripts/common/activate` and virtualenv 20.
pub(super) fn activation(directory: &str) -> String {
    format!(
        "deactivate () {{ unset VIRTUAL_ENV; }}\n\
         VIRTUAL_ENV='{directory}'; export VIRTUAL_ENV\n\
         PATH=\"$VIRTUAL_ENV/bin:$PATH\"; export PATH\n\
         unset PYTHONHOME\n"
    )
}

/// Options of `venv` and virtualenv with a separate value.
const WITH_VALUE: &[&str] = &["--prompt", "-p", "--python"];

/// Returns the directory of the virtual environment that a program creates, as written.
pub(super) fn made<'a>(name: &str, args: &'a [Arg]) -> Option<&'a str> {
    let known: Vec<&str> = args.iter().map(Arg::as_str).collect::<Option<_>>()?;
    let version =
        name.strip_prefix("python").filter(|rest| rest.chars().all(|one| one.is_ascii_digit() || one == '.'));
    let (rest, default) = match (name, known.as_slice()) {
        ("virtualenv", rest) => (rest, None),
        ("uv", ["venv", rest @ ..]) => (rest, Some(".venv")),
        (_, ["-m", "venv" | "virtualenv", rest @ ..]) if version.is_some() => (rest, None),
        _ => return None,
    };
    let mut directories = Vec::new();
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            directories.push(word);
        }
    }
    match directories.as_slice() {
        [] => default,
        [only] if !only.contains(['\'', '\n']) => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_the_one_operand() {
        let check = |name: &str, args: &[&str], expected: Option<&str>| {
            let args: Vec<Arg> = args.iter().map(|arg| Arg::known(*arg)).collect();
            assert_eq!(made(name, &args), expected, "{name} {args:?}");
        };
        check("python3", &["-m", "venv", "env"], Some("env"));
        check("python3.12", &["-m", "venv", "--prompt", "x", "--clear", ".venv"], Some(".venv"));
        check("virtualenv", &["-p", "python3", "v"], Some("v"));
        check("uv", &["venv"], Some(".venv"));
        check("python3", &["-m", "venv", "a", "b"], None);
        check("python3", &["-m", "http.server"], None);
        check("pythonx", &["-m", "venv", "a"], None);
    }
}
