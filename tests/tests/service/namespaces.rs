//! A hook in a container, and the daemon outside of it.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{RULES, bash, understood};
use castellan_tests::process::Running;

use crate::rig::LIMIT;

/// Asks about a call that no rule stops, from a script that starts the hook by its arguments. `None`, after a warning, if
/// this system refuses the namespace.
fn ask(home: &Home, program: &[&str], hook: &Path, castellan: &Path) -> Result<Option<(String, String)>> {
    let (first, rest) = program.split_first().context("no program")?;
    let mut command = home.command(Path::new(first));
    command
        .args(rest)
        .arg(hook)
        .args(["--agent", "claude", "--event", "PreToolUse", "--home"])
        .arg(castellan);
    let done = Running::start_with_input(&mut command, bash("ls").to_string().as_bytes())?.finish(LIMIT)?;
    if [first, "chroot", "mount"].iter().any(|name| done.stderr.starts_with(&format!("{name}:"))) {
        ensure!(std::env::var("CI").is_err(), "no namespace: {done:?}");
        println!("NOT RUN: no namespace: {}", done.stderr.trim());
        return Ok(None);
    }
    let told = format!("{}{}", done.stdout, done.stderr);
    Ok(Some((understood(&done).to_owned(), told)))
}

/// Asks with words of `unshare` before the hook.
fn ask_in(home: &Home, words: &[&str]) -> Result<Option<(String, String)>> {
    let map: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--map-root-user"] };
    let program = [&["unshare"], map, words].concat();
    ask(home, &program, &home.bin().join("castellan-hook"), &home.castellan())
}

fn check_denied(what: &str, (verdict, told): &(String, String)) {
    assert_eq!(verdict, "deny", "{what}: {told}");
    assert!(told.contains("the agent runs in a container, and castellan outside of it"), "{what}: {told}");
}

#[test]
fn a_hook_with_other_process_ids_or_other_mounts_is_denied() -> Result<()> {
    // The script mounts something, and then becomes the hook.
    const TEMPORARY: &str = "mount -t tmpfs none /mnt && exec \"$@\"";
    const OTHER_WORKSPACE: &str = "mount --bind /usr \"$0\" && exec \"$@\"";

    let home = Home::with_castellan("namespaces", "version = 1\n", RULES)?;
    home.start_daemon()?;
    // A mount namespace with the same mounts has the same files at the same paths.
    let Some((verdict, told)) = ask_in(&home, &["--mount"])? else { return Ok(()) };
    assert_eq!(verdict, "defer", "{told}");
    let workspace = home.workspace().display().to_string();
    for words in [
        &["--pid", "--fork"][..],
        &["--pid", "--fork", "--mount-proc"],
        &["--mount", "sh", "-c", TEMPORARY, "sh"],
        &["--mount", "sh", "-c", OTHER_WORKSPACE, &workspace],
    ] {
        let Some(answered) = ask_in(&home, words)? else { return Ok(()) };
        check_denied(&words.join(" "), &answered);
    }
    let log = home.run_castellan(&["log", "--json"])?.stdout;
    assert!(log.contains("install castellan inside it"), "{log}");
    Ok(())
}

/// A root directory of the agent's own, in the namespaces of the daemon: the hook reaches the same socket there.
#[test]
fn a_hook_with_another_root_is_denied() -> Result<()> {
    // The hook and its libraries, below a folder that becomes the root.
    const COPY: &str = "cp \"$1\" \"$2/hook\" && for file in $(ldd \"$1\" | grep -o '/[^ ]*'); do \
                        mkdir -p \"$2${file%/*}\" && cp -L \"$file\" \"$2$file\" || exit 1; done";

    let home = Home::with_castellan("another-root", "version = 1\n", RULES)?;
    home.start_daemon()?;
    let root = home.castellan().parent().context("no folder")?.to_owned();
    let mut copy = home.command(Path::new("sh"));
    copy.args(["-c", COPY, "sh"]).arg(home.bin().join("castellan-hook")).arg(&root);
    let copied = Running::start(&mut copy)?.finish(LIMIT)?;
    ensure!(copied.code == Some(0), "{copied:?}");
    let inside = Path::new("/").join(home.castellan().strip_prefix(&root)?);
    let place = root.display().to_string();
    let is_root = rustix::process::geteuid().is_root();
    let map: &[&str] = if is_root { &[] } else { &["unshare", "--map-root-user"] };
    let program = [map, &["chroot", &place]].concat();
    let Some(answered) = ask(&home, &program, Path::new("/hook"), &inside)? else { return Ok(()) };
    check_denied("chroot", &answered);
    // The daemon has answered, and not the hook alone.
    let records = home.records()?;
    ensure!(records.iter().any(|record| record["failure"]["code"] == "namespace"), "{records:#?}");
    Ok(())
}
