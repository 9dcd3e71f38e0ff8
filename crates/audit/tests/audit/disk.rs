//! Disk errors: full, without permission, read-only. The disks are real, in private namespaces for a test that runs
//! again.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use castellan_audit::{Config, Filter, Log, read, verify};

use crate::support::*;

/// Environment variable with the directory for the test that runs again.
const INSIDE: &str = "CASTELLAN_TEST_INSIDE";

/// Runs a test again under `unshare` with these options, after a shell has run `setup` on the directory `$1`.
fn again(test: &str, unshare: &[&str], setup: &str, dir: &Path) {
    let script = format!(r#"{{ {setup}; }} && exec "$2" --exact "$3" --nocapture"#);
    let own = std::env::current_exe().unwrap();
    let args: [&OsStr; 4] = [OsStr::new("sh"), dir.as_ref(), own.as_ref(), test.as_ref()];
    let output = Command::new("unshare")
        .args(unshare)
        .args(["sh", "-c", &script])
        .args(args)
        .env(INSIDE, dir)
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return eprintln!("skipped: {test} (`unshare` cannot be started: {error})"),
    };
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if !text.contains("running ") {
        return eprintln!("skipped: {test} (no private namespace here: {})", text.trim());
    }
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Opens a log and expects an error that names the path and ends with the remedy.
fn check_refused(dir: &Path, remedy: &str) {
    let error = Log::open(dir, Config::default(), at(1)).unwrap_err().to_string();
    assert!(error.contains(&format!("`{}", dir.display())), "{error}");
    assert!(error.ends_with(remedy), "{error}");
}

const PRIVATE_MOUNTS: &[&str] = &["--user", "--map-root-user", "--mount"];

#[test]
fn a_full_disk_refuses_records_and_nothing_is_torn() {
    if let Some(mount) = std::env::var_os(INSIDE) {
        return on_full_disk(Path::new(&mount));
    }
    let mount = tempfile::tempdir().unwrap();
    let setup = r#"mount -t tmpfs -o size=256k tmpfs "$1""#;
    again("disk::a_full_disk_refuses_records_and_nothing_is_torn", PRIVATE_MOUNTS, setup, mount.path());
}

#[test]
fn a_read_only_disk_is_an_error_with_its_remedy() {
    if let Some(mount) = std::env::var_os(INSIDE) {
        return check_refused(&Path::new(&mount).join("log"), "use a home on a writable file system");
    }
    let mount = tempfile::tempdir().unwrap();
    let setup = r#"mount -t tmpfs -o ro tmpfs "$1""#;
    again("disk::a_read_only_disk_is_an_error_with_its_remedy", PRIVATE_MOUNTS, setup, mount.path());
}

/// Without a mapping, even root has no privilege in its namespace.
#[test]
fn a_directory_without_permission_is_an_error_with_its_remedy() {
    if let Some(dir) = std::env::var_os(INSIDE) {
        let remedy = "make it readable and writable for this user, or use another home";
        return check_refused(&Path::new(&dir).join("log"), remedy);
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let test = "disk::a_directory_without_permission_is_an_error_with_its_remedy";
    again(test, &["--user"], "true", dir.path());
}

#[test]
fn a_file_in_the_way_is_an_error_with_its_remedy() {
    let dir = TestDir::new();
    fs::write(dir.path(), "").unwrap();
    check_refused(dir.path(), "something else is in its place: move that away");
    check_refused(&dir.path().join("log"), "a file is in the place of a directory: move that file away");
}

/// Small segments fill the disk up at an anchor, a large one in the middle of a line.
fn on_full_disk(mount: &Path) {
    for routine_segment_bytes in [2_500, 100_000] {
        fill(mount, Config { routine_segments: 1000, routine_segment_bytes, ..small() });
        fs::remove_dir_all(mount.join("log")).unwrap();
    }
}

fn fill(mount: &Path, config: Config) {
    let dir = mount.join("log");
    let ballast = mount.join("ballast");
    let log = Log::open(&dir, config, at(1)).unwrap();
    log.append(&call("deny"), at(1)).unwrap();
    fs::write(&ballast, vec![0; 200 * 1024]).unwrap();
    let mut written = 1;
    let mut refused = 0;
    for round in 0..400 {
        let text = "x".repeat(round * 7 % 1900);
        match log.append(&with_text("allow", text), at(1)) {
            Ok(_) => written += 1,
            Err(error) => {
                refused += 1;
                assert!(
                    error.to_string().starts_with("the disk with castellan's log is full: free some space ("),
                    "{error}"
                );
            }
        }
        assert_eq!(verify(&dir).unwrap().routine.broken, None);
    }
    assert!(refused > 100, "{refused} of 400 refused");
    let calls = || {
        let entries = read(&dir, &Filter::default()).unwrap().entries;
        entries.iter().filter(|entry| entry.record.kind() == "call").count()
    };
    let before = calls();
    assert_eq!(before, written);
    fs::remove_file(&ballast).unwrap();
    log.append(&call("deny"), at(1)).unwrap();
    assert_eq!(calls(), before + 1);
    log.maintain(at(1)).unwrap();
    let verification = verify(&dir).unwrap();
    assert!(verification.ok(), "{verification:#?}");
    drop(log);
    drop(Log::open(&dir, Config::default(), at(1)).unwrap());
    assert!(verify(&dir).unwrap().ok());
}
