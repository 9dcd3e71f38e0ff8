//! Starts on a machine that is short of something: an error that names it, nothing runs, and nothing stays.
//!
//! The ignored tests run inside others, which prepare the machine in namespaces of their own.

use std::path::Path;

use castellan_sandbox::{Level, Network};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::world::{again, can, levels, place, policy, shell, try_run, world};

/// Runs an ignored test in new user and mount namespaces, after a script that gets a directory.
fn prepared(script: &str, test: &str) {
    let directory = tempfile::tempdir_in(place()).unwrap();
    let path = directory.path().to_str().unwrap();
    let script = format!("directory=$0; {script}; export CASTELLAN_TEST_PLACE=$directory; exec \"$@\"");
    again(&["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", &script, path], test);
}

#[test]
fn space() {
    // The root, the three directories of a world, its secret, and one more.
    let script = "mount -t tmpfs -o nr_inodes=6 none $directory";
    prepared(script, "short_of::inside_a_full_file_system");
}

#[test]
#[ignore = "runs inside `space`"]
fn inside_a_full_file_system() {
    let world = world();
    let mut policy = policy(&world);
    policy.files.protected = vec![world.work.join("first"), world.work.join("second")];
    let error = try_run(&policy, &can(), &["true"]).unwrap_err();
    assert_eq!(error.code(), 125, "{error}");
    let text = error.to_string();
    assert!(text.contains("second") && text.contains("space"), "{text}");
    assert!(!world.work.join("first").exists(), "what was made before the failure is removed");
    policy.files.protected.pop();
    assert_eq!(shell(&policy, &can(), "true"), 0, "one fits");
}

#[test]
fn proc() {
    prepared("mount -t tmpfs none /proc", "short_of::inside_without_proc");
}

#[test]
#[ignore = "runs inside `proc`"]
fn inside_without_proc() {
    let world = world();
    let found = can();
    assert!(!found.namespaces && found.landlock > 0, "{found:?}: the probe finds what works");
    let all = castellan_sandbox::Capabilities::all();
    let error = try_run(&policy(&world), &all, &["true"]).unwrap_err();
    assert_eq!(error.code(), 125);
    assert!(error.to_string().contains("/proc/self/setgroups"), "{error}");
    assert!(!world.work.join(".castellan").exists());
    assert_eq!(shell(&policy(&world), &all.at(Level::Landlock), "true"), 0);
}

#[test]
fn descriptors() {
    again(&["setpriv"], "short_of::inside_with_few_descriptors");
}

#[test]
#[ignore = "runs inside `descriptors`, because the limit is that of the whole process"]
fn inside_with_few_descriptors() {
    for can in levels() {
        let mut starts = 0;
        for most in (5..64).rev() {
            let world = world();
            let ran = world.work.join("ran");
            let limit = Rlimit { current: Some(most), maximum: Some(1024) };
            setrlimit(Resource::Nofile, limit).unwrap();
            let done = try_run(&policy(&world), &can, &["sh", "-c", "true > ran"]);
            setrlimit(Resource::Nofile, Rlimit { current: Some(1024), maximum: Some(1024) }).unwrap();
            match done {
                Ok(outcome) if outcome.code == 0 => starts += 1,
                // The command itself had too few.
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.code(), 125, "{most}: {error}");
                    assert!(!ran.exists(), "{most}: {error}");
                }
            }
            assert!(!world.work.join(".castellan").exists(), "{most} {can:?}");
        }
        assert!((1..59).contains(&starts), "some limits permit a start and some do not: {starts} {can:?}");
    }
}

#[test]
fn resolver() {
    // As systemd-resolved has it. `/etc` needs nothing else.
    let script = "mkdir $directory/etc && ln -s ../run/systemd/resolve/stub-resolv.conf $directory/etc/resolv.conf \
        && mount --bind $directory/etc /etc && mount -t tmpfs none /run && mkdir -p /run/systemd/resolve \
        && echo nameserver 127.0.0.53 > /run/systemd/resolve/stub-resolv.conf && echo other > /run/other";
    prepared(script, "short_of::inside_with_a_linked_resolver");
}

#[test]
#[ignore = "runs inside `resolver`"]
fn inside_with_a_linked_resolver() {
    let world = world();
    let mut policy = policy(&world);
    assert!(Path::new("/etc/resolv.conf").is_symlink());
    let read = "grep -q 127.0.0.53 /etc/resolv.conf";
    for can in [can(), can().at(Level::Namespaces)] {
        policy.network = Network::Full;
        assert_eq!(shell(&policy, &can, read), 0, "{can:?}");
        assert_ne!(shell(&policy, &can, "cat /run/other"), 0, "the rest of /run stays hidden: {can:?}");
        assert_ne!(shell(&policy, &can, "echo x > /run/systemd/resolve/stub-resolv.conf"), 0, "{can:?}");
        policy.network = Network::None;
        assert_ne!(shell(&policy, &can, read), 0, "without a network it needs no names: {can:?}");
    }
}
