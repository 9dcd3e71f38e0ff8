//! A policy as a profile of macOS (Seatbelt, `sandbox-exec -p`). Pure. **Unverified**: it is tested as text only, on Linux.
//!
//! The last rule that matches applies, so the order is: general rules, writable paths, protected paths, secrets.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::PolicyError;
use crate::policy::{Network, Policy, Ports, Read};

/// What every program needs.
const BASE: &str = "(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-ioctl (literal \"/dev/tty\"))
(allow file-read* file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\"))
(allow file-read* (literal \"/dev/random\") (literal \"/dev/urandom\"))
";

/// What every program needs where not everything is readable.
const SYSTEM: &str =
    "(allow file-read* (literal \"/\") (subpath \"/usr/lib\") (subpath \"/System/Library\"))\n";

/// Returns the profile of a policy. Limits, a private `/tmp` and the environment are no part of it.
///
/// # Errors
/// A path is relative, or is not UTF-8, which a profile cannot hold.
pub fn seatbelt(policy: &Policy) -> Result<String, PolicyError> {
    let files = &policy.files;
    let mut text = BASE.to_owned();
    match &files.read {
        Read::Everything => text.push_str("(allow file-read*)\n"),
        Read::Only(paths) => {
            text.push_str(SYSTEM);
            rules(&mut text, "allow file-read*", "readable", paths)?;
        }
    }
    rules(&mut text, "allow file-read*", "directory", [&policy.directory])?;
    rules(&mut text, "allow file-read* file-write*", "writable", &files.writable)?;
    network(&mut text, &policy.network);
    rules(&mut text, "deny file-write*", "protected", &files.protected)?;
    for (field, paths) in [("secret", &files.secret), ("sockets", &files.sockets)] {
        rules(&mut text, "deny file-read* file-write* network-outbound", field, paths)?;
    }
    Ok(text)
}

fn rules<'a>(
    text: &mut String,
    rule: &str,
    field: &'static str,
    paths: impl IntoIterator<Item = &'a std::path::PathBuf>,
) -> Result<(), PolicyError> {
    for path in paths {
        let quoted = quoted(path, field)?;
        // Writing to a `String` does not fail.
        let _ = writeln!(text, "({rule} (subpath {quoted}))");
    }
    Ok(())
}

fn quoted(path: &Path, field: &'static str) -> Result<String, PolicyError> {
    if path.as_os_str().as_bytes().contains(&0) {
        return Err(PolicyError::Nul { field });
    }
    if !path.is_absolute() {
        return Err(PolicyError::Relative { field, path: path.to_owned() });
    }
    let text = path.to_str().ok_or_else(|| PolicyError::Unreadable {
        field,
        path: path.to_owned(),
        reason: "a profile of macOS holds UTF-8 only".to_owned(),
    })?;
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

fn network(text: &mut String, network: &Network) {
    match network {
        Network::None => {}
        Network::Loopback => text.push_str(
            "(allow network-outbound (remote ip \"localhost:*\"))\n(allow network-bind network-inbound (local ip \"localhost:*\"))\n",
        ),
        Network::Hosts { outside } => {
            let Ports { http, socks } = outside.unwrap_or(Ports::INSIDE);
            for port in [http, socks] {
                let _ = writeln!(text, "(allow network-outbound (remote ip \"localhost:{port}\"))");
            }
        }
        Network::Full => text.push_str("(allow network*)\n(allow system-socket)\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let mut policy = Policy::workspace_write(Path::new("/w"));
        policy.files.protected = vec!["/w/.git".into()];
        policy.files.secret = vec!["/h/.ssh".into()];
        policy
    }

    #[test]
    fn stricter_rules_come_after_looser_ones() {
        let text = seatbelt(&policy()).unwrap();
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"));
        let order = [
            at("(deny default)"),
            at("(allow file-read*)"),
            at("(allow file-read* file-write* (subpath \"/w\"))"),
            at("(deny file-write* (subpath \"/w/.git\"))"),
            at("(deny file-read* file-write* network-outbound (subpath \"/h/.ssh\"))"),
        ];
        assert!(order.is_sorted(), "{order:?} {text}");
        assert!(!text.contains("(allow network"));
    }

    #[test]
    fn each_network_has_its_rules() {
        let of = |network| seatbelt(&Policy { network, ..policy() }).unwrap();
        let hosts = of(Network::Hosts { outside: Some(Ports { http: 5, socks: 6 }) });
        assert!(hosts.contains("\"localhost:5\"") && hosts.contains("\"localhost:6\""));
        assert!(!hosts.contains("localhost:*"));
        assert!(of(Network::Loopback).contains("localhost:*"));
        assert!(of(Network::Full).contains("(allow network*)"));
    }

    #[test]
    fn a_path_cannot_end_its_text() {
        let mut odd = policy();
        odd.files.writable = vec!["/w\") (allow default) (\"\\".into()];
        let text = seatbelt(&odd).unwrap();
        assert!(text.contains("(subpath \"/w\\\") (allow default) (\\\"\\\\\"))"), "{text}");
        odd.files.writable = vec!["w".into()];
        assert!(matches!(seatbelt(&odd), Err(PolicyError::Relative { .. })));
        odd.files.writable = vec![std::ffi::OsStr::from_bytes(b"/\xff").into()];
        assert!(matches!(seatbelt(&odd), Err(PolicyError::Unreadable { .. })));
    }
}
