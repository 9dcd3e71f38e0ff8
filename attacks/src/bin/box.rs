//! Runs a program in castellan's sandbox as castellan itself would: `castellan-attack-box LEVEL TARGETS PROGRAM ARGUMENT...`.
//!
//! LEVEL is `full`, `namespaces` or `landlock`: the features of the machine that the sandbox may use. TARGETS names the scene.
//! The launcher is beside this program. `castellan-attack-box --probe` prints what the machine permits this user; the harness
//! keeps that beside the program, since a probe takes as long as several attacks.
//!
//!  Exit codes are those of `castellan sandbox run`.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use castellan_attacks::attempts::asked;
use castellan_attacks::targets::Targets;
use castellan_proxy::{HostRule, Proxy, Range, Settings};
use castellan_sandbox::{Capabilities, Level, Limits, Network, Policy, Ports, Streams};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let done = match words.as_slice() {
        [probe] if probe == "--probe" => print_capabilities(),
        [level, targets, command @ ..] if !command.is_empty() => run(level, targets, command),
        _ => {
            eprintln!("usage: castellan-attack-box LEVEL TARGETS PROGRAM ARGUMENT... | --probe");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("castellan-attack-box: {error:#}");
            ExitCode::from(125)
        }
    }
}

/// The launcher.
fn launcher() -> anyhow::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("castellan-sandbox"))
}

fn print_capabilities() -> anyhow::Result<u8> {
    print!("{}", toml::to_string(&castellan_sandbox::probe(&launcher()?).can)?);
    Ok(0)
}

fn run(level: &OsString, targets: &OsString, command: &[OsString]) -> anyhow::Result<u8> {
    let level = match level.to_str() {
        Some("full") => Level::Full,
        Some("namespaces") => Level::Namespaces,
        Some("landlock") => Level::Landlock,
        other => bail!("no level {other:?}"),
    };
    let targets = Targets::parse(&std::fs::read_to_string(targets)?);
    let launcher = launcher()?;
    let settings = proxy_settings(&targets)?;
    let outside = TcpListener::bind("127.0.0.1:0")?;
    let policy = policy(&targets, outside.local_addr()?.port())?;
    let file = targets.text_of("capabilities").map_err(|stop| anyhow::anyhow!("{stop:?}"))?;
    let can: Capabilities = toml::from_str(&std::fs::read_to_string(file)?)?;
    let can = can.at(level);
    let survey = castellan_sandbox::survey(&policy, &can)?;
    let (plan, _) = castellan_sandbox::plan(&policy, &can, &survey, command)?;
    let mut running = castellan_sandbox::start(&plan, &launcher, Streams::inherit()?)?;
    let mut listeners: Vec<TcpListener> = running.listeners.drain(..).map(TcpListener::from).collect();
    if plan.listeners.is_empty() {
        listeners.push(outside);
    }
    let proxies: Vec<Proxy> = listeners
        .into_iter()
        .map(|listener| Proxy::start(listener, settings.clone(), |_| {}))
        .collect::<Result<_, _>>()?;
    let outcome = running.wait()?;
    drop(proxies);
    Ok(outcome.code)
}

/// The proxy may reach `allowed.test`, whose address is that of the harness. `private.test` has the same address, without
/// leave for it.
fn proxy_settings(targets: &Targets) -> anyhow::Result<Settings> {
    let port = targets.text_of("server-port").map_err(|stop| anyhow::anyhow!("{stop:?}"))?;
    let mut allowed = HostRule::parse(&format!("allowed.test:{port}"))?;
    allowed.addresses = vec![Range::parse("127.0.0.0/8").context("a range of addresses")?];
    let rebound = HostRule::parse(&format!("private.test:{port}"))?;
    let resolve = |_: &str| Ok(vec![std::net::IpAddr::from([127, 0, 0, 1])]);
    Ok(Settings::new(vec![allowed, rebound], Vec::new())?.with_resolver(Arc::new(resolve)))
}

/// Folders and files of the home folder that hold secrets.
const SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".config/gcloud",
    ".azure",
    ".config/gh",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials.toml",
    ".docker/config.json",
    ".kube",
    ".gnupg",
    ".password-store",
    ".mozilla",
];

/// Files of the workspace that make others act.
const PROTECTED: &[&str] = &[".git/hooks", ".git/config", ".claude", ".castellan", ".codex"];

fn policy(targets: &Targets, port: u16) -> anyhow::Result<Policy> {
    let folder = |name| targets.below(name, "").map_err(|stop| anyhow::anyhow!("{stop:?}"));
    let (work, home) = (folder("work")?, folder("home")?);
    let below = |folder: &Path, paths: &[&str]| -> Vec<PathBuf> {
        paths.iter().map(|path| folder.join(path)).collect()
    };
    // A path without the separator at its end.
    let work: PathBuf = work.components().collect();
    let mut policy = Policy::workspace_write(&work);
    policy.files.protected = below(&work, PROTECTED);
    policy.files.secret = below(&home, SECRETS);
    policy.files.sockets = vec![folder("sockets")?.components().collect()];
    policy.network = Network::Hosts { outside: Some(Ports { http: port, socks: port }) };
    if targets.text_of("limits") != Ok("none") {
        policy.limits = limits();
    }
    let kept =
        ["PATH", "HOME", "USER", "LANG", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "PYENV_ROOT", "PYENV_VERSION"];
    policy.environment =
        kept.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))).collect();
    Ok(policy)
}

fn limits() -> Limits {
    Limits {
        processes: Some(asked::PROCESSES),
        memory_bytes: Some(asked::MEMORY),
        cpu_s: Some(asked::CPU.as_secs()),
        file_bytes: Some(asked::FILE),
        open_files: Some(asked::DESCRIPTORS),
        wall_ms: u64::try_from(asked::WALL.as_millis()).ok(),
        private_bytes: Some(asked::TMP),
    }
}
