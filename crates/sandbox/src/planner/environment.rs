//! The environment of a command.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::bytes::Bytes;
use crate::plan::{Plan, Step};

use super::Ground;
use super::network::proxy;

/// Variables that lead to services outside.
const SERVICES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "XDG_RUNTIME_DIR",
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XAUTHORITY",
];

/// Variables of proxies, which each program reads in its own spelling.
const HTTP: &[&str] = &["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
const SOCKS: &[&str] = &["ALL_PROXY", "all_proxy"];
const EXCEPTIONS: &[&str] = &["NO_PROXY", "no_proxy"];

/// Returns the variables. Adds the private home, if there is one, to the steps.
pub(super) fn plan(ground: &Ground<'_>, plan: &mut Plan) -> Vec<Bytes> {
    let policy = ground.policy;
    let mut all: Vec<(OsString, OsString)> = policy
        .environment
        .iter()
        .filter(|(name, _)| !name.is_empty() && !name.as_bytes().contains(&b'='))
        .filter(|(name, _)| !SERVICES.iter().any(|service| name == service))
        .cloned()
        .collect();
    let mut set = |name: &str, value: &OsStr| {
        all.retain(|(known, _)| known != name);
        all.push((name.into(), value.to_owned()));
    };
    if policy.files.private_tmp && (ground.can.namespaces || ground.can.landlock > 0) {
        let tmp = if ground.can.namespaces { Path::new("/tmp") } else { &ground.survey.scratch };
        if !ground.can.namespaces {
            plan.scratch = Some(Bytes::from(tmp));
        }
        for name in ["TMPDIR", "TMP", "TEMP"] {
            set(name, tmp.as_os_str());
        }
        let known: Vec<&OsString> = policy.environment.iter().map(|(name, _)| name).collect();
        for (name, place) in policy.caches.iter().filter(|(name, _)| !known.contains(&name)) {
            if let Some(name) = name.to_str() {
                set(name, tmp.join(place).as_os_str());
            }
        }
        if policy.files.private_home {
            let home = tmp.join("home");
            // Without namespaces the caller makes it, with the directory above it.
            if ground.can.namespaces {
                plan.steps.push(Step::Directory { at: Bytes::from(home.as_path()), mode: 0o700 });
            }
            set("HOME", home.as_os_str());
        }
    }
    if let Some(ports) = proxy(ground, plan) {
        let http = format!("http://127.0.0.1:{}", ports.http);
        let socks = format!("socks5h://127.0.0.1:{}", ports.socks);
        HTTP.iter().for_each(|name| set(name, OsStr::new(&http)));
        SOCKS.iter().for_each(|name| set(name, OsStr::new(&socks)));
        EXCEPTIONS.iter().for_each(|name| set(name, OsStr::new("localhost,127.0.0.1,::1")));
    }
    all.iter().map(|(name, value)| Bytes([name.as_bytes(), b"=", value.as_bytes()].concat())).collect()
}
