//! Limits of resources: each command succeeds without the limit and fails with it.

use castellan_sandbox::{Capabilities, Level, Limits};

use crate::world::{bubblewrap, can, levels, policy, shell, try_run, world};

/// Runs a script with bash, without and with a limit. Returns the exit code with it.
fn limited(can: &Capabilities, set: fn(&mut Limits), script: &str) -> u8 {
    let world = world();
    let mut policy = policy(&world);
    let free = try_run(&policy, can, &["bash", "-c", script]).unwrap().code;
    assert_eq!(free, 0, "without a limit: {script} {can:?}");
    set(&mut policy.limits);
    try_run(&policy, can, &["bash", "-c", script]).unwrap().code
}

#[test]
fn memory_of_a_process() {
    for can in levels() {
        let script = "head -c 100000000 /dev/zero | tail -c 90000000 > /dev/null";
        let code = limited(&can, |limits| limits.memory_bytes = Some(32 << 20), script);
        assert_ne!(code, 0, "{can:?}");
    }
}

#[test]
fn sizes_of_files() {
    for can in levels() {
        let script = "head -c 3000 /dev/zero > big";
        assert_ne!(limited(&can, |limits| limits.file_bytes = Some(1000), script), 0, "{can:?}");
        let script = "head -c 900 /dev/zero > big";
        assert_eq!(limited(&can, |limits| limits.file_bytes = Some(1000), script), 0, "{can:?}");
    }
}

#[test]
fn open_files() {
    for can in levels() {
        let script = "exec 20< /dev/null";
        assert_ne!(limited(&can, |limits| limits.open_files = Some(16), script), 0, "{can:?}");
    }
}

#[test]
fn processor_time() {
    let world = world();
    let mut policy = policy(&world);
    policy.limits.cpu_s = Some(1);
    // SIGKILL at the hard limit, which is the soft one too.
    assert_eq!(shell(&policy, &can(), "while :; do :; done"), 128 + 9);
}

#[test]
fn processes() {
    // More than the kernel's least limit for a namespace, so that it holds for root and ordinary users.
    let script = "exec perl -e 'for (1..350) { my $child = fork // exit 1; $child or sleep(100), exit }'";
    for can in [can(), can().at(Level::Namespaces)] {
        assert_ne!(limited(&can, |limits| limits.processes = Some(310), script), 0, "{can:?}");
    }
}

#[test]
fn private_places() {
    for can in [can(), can().at(Level::Namespaces)].into_iter().chain(bubblewrap()) {
        for place in ["/tmp", "/run", "/dev/shm"] {
            let script = format!("head -c 3000000 /dev/zero > {place}/big");
            let world = world();
            let mut policy = policy(&world);
            assert_eq!(shell(&policy, &can, &script), 0, "{place} {can:?}");
            policy.limits.private_bytes = Some(1 << 20);
            assert_ne!(shell(&policy, &can, &script), 0, "{place} {can:?}");
        }
    }
}
