//! What a command can do at each level.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use castellan_sandbox::{
    Capabilities, Feature, LaunchError, Level, Network, PolicyError, Read, Reason, Streams, plan, run, start,
    survey,
};

use crate::world::{bubblewrap, can, launcher, levels, null, policy, shell, try_run, world};

#[test]
fn a_command_writes_its_workspace_and_nothing_else() {
    for can in levels() {
        let world = world();
        let policy = policy(&world);
        assert_eq!(shell(&policy, &can, "echo x > made && mkdir d && mv made d/"), 0, "{can:?}");
        assert!(world.work.join("d/made").exists());
        let outside = format!("echo x > {}/outside", world.home.display());
        assert_ne!(shell(&policy, &can, &outside), 0, "{can:?}");
        assert!(!world.home.join("outside").exists());
    }
    let world = world();
    let outside = format!("echo x > {}/outside", world.home.display());
    assert_eq!(
        shell(&policy(&world), &Capabilities::none(), &outside),
        0,
        "without the sandbox it can be written"
    );
}

#[test]
fn a_secret_cannot_be_read_at_any_level() {
    for can in levels() {
        let world = world();
        let script = format!("cat {}/secret", world.home.display());
        assert_ne!(shell(&policy(&world), &can, &script), 0, "{can:?}");
        let link = format!("ln -s {}/secret link; cat link", world.home.display());
        assert_ne!(shell(&policy(&world), &can, &link), 0, "{can:?}");
    }
}

#[test]
fn protected_paths_cannot_be_changed_made_or_moved() {
    for can in [can(), can().at(Level::Namespaces)].into_iter().chain(bubblewrap()) {
        let world = world();
        let policy = policy(&world);
        for script in [
            "echo x > .git/config",
            "mv .git other",
            "rmdir .git",
            "mkdir .castellan/x",
            "rmdir .castellan",
            "mv .castellan other",
            "echo x > .castellan",
        ] {
            assert_ne!(shell(&policy, &can, script), 0, "{script} {can:?}");
        }
        assert!(!world.work.join(".castellan").exists(), "the placeholder is removed");
        assert!(world.work.join(".git").is_dir());
    }
}

#[test]
fn listed_paths_alone_can_be_read() {
    for can in levels() {
        let world = world();
        let mut policy = policy(&world);
        std::fs::write(world.home.join("plain"), "x").unwrap();
        let system =
            ["/usr", "/bin", "/lib", "/lib64"].map(PathBuf::from).into_iter().filter(|path| path.exists());
        policy.files.read = Read::Only(system.collect());
        assert_eq!(shell(&policy, &can, "echo x > made; cat made; ls /usr > /dev/null"), 0, "{can:?}");
        assert_ne!(shell(&policy, &can, &format!("cat {}/plain", world.home.display())), 0, "{can:?}");
        assert_ne!(shell(&policy, &can, "cat /etc/passwd"), 0, "{can:?}");
    }
}

#[test]
fn a_planted_symlink_is_kept_or_ends_the_start() {
    let world = world();
    let policy = policy(&world);
    std::fs::create_dir(world.work.join("mine")).unwrap();
    std::fs::remove_dir(world.work.join(".git")).unwrap();
    std::os::unix::fs::symlink("mine", world.work.join(".git")).unwrap();
    assert_ne!(shell(&policy, &can(), "echo x > .git/config"), 0);
    assert_ne!(shell(&policy, &can(), "rm .git"), 0);
    assert_eq!(shell(&policy, &can(), "cd .git"), 0, "it still leads to its target");
    assert_ne!(shell(&policy, &can(), "echo x > mine/config"), 0);
    // Planted after the survey: nothing is followed, and nothing runs.
    let seen = survey(&policy, &can()).unwrap();
    std::fs::remove_dir(world.work.join("mine")).unwrap();
    std::os::unix::fs::symlink(&world.home, world.work.join("mine")).unwrap();
    let (plan, _) = plan(&policy, &can(), &seen, &["true".into()]).unwrap();
    let streams = Streams { stdin: null(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
    let error = start(&plan, &launcher(), streams).unwrap_err();
    assert_eq!(error.code(), 125, "{error}");
    assert!(error.to_string().contains("mine"), "{error}");
    // A symlink that leads elsewhere since the survey.
    std::fs::remove_file(world.work.join("mine")).unwrap();
    std::fs::create_dir(world.work.join("mine")).unwrap();
    std::fs::remove_file(world.work.join(".git")).unwrap();
    std::os::unix::fs::symlink("d", world.work.join(".git")).unwrap();
    let streams = Streams { stdin: null(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
    let error = start(&plan, &launcher(), streams).unwrap_err();
    assert!(error.to_string().contains(".git"), "{error}");
}

#[test]
fn two_sandboxes_share_a_placeholder() {
    let world = world();
    let policy = policy(&world);
    let first = survey(&policy, &can()).unwrap();
    let (plan, _) = plan(&policy, &can(), &first, &["cat".into()]).unwrap();
    let (input, output) = std::io::pipe().unwrap();
    let streams = Streams { stdin: input.into(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
    let running = start(&plan, &launcher(), streams).unwrap();
    assert_ne!(shell(&policy, &can(), "mkdir .castellan/x"), 0, "the second one protects it too");
    assert!(world.work.join(".castellan").exists(), "the first one still needs it");
    drop(output);
    assert_eq!(running.wait().unwrap().code, 0);
    assert!(!world.work.join(".castellan").exists());
}

#[test]
fn exit_codes_are_those_of_the_command() {
    for can in levels().into_iter().chain([Capabilities::none()]) {
        let world = world();
        let policy = policy(&world);
        assert_eq!(shell(&policy, &can, "exit 7"), 7);
        assert_eq!(shell(&policy, &can, "kill -9 $$"), 137);
        assert_eq!(try_run(&policy, &can, &["no-such-program"]).unwrap_err().code(), 127);
        assert_eq!(try_run(&policy, &can, &["/etc/passwd"]).unwrap_err().code(), 126);
    }
}

#[test]
fn a_command_reports_on_descriptor_3_alone_and_only_if_it_is_given() {
    for can in levels() {
        let world = world();
        let (mut reported, report) = std::io::pipe().unwrap();
        let streams = Streams {
            stdin: null(),
            stdout: Stdio::null(),
            stderr: Stdio::null(),
            report: Some(report.into()),
        };
        // What a process behind the command holds open ends with it.
        let script = "echo told >&3; setsid sleep 1000 & echo more >&3; echo x >&4";
        let command = ["sh", "-c", script].map(OsString::from);
        let (outcome, _) = run(&policy(&world), &can, &command, &launcher(), streams, false).unwrap();
        assert_ne!(outcome.code, 0, "descriptor 4 is open: {can:?}");
        let mut text = String::new();
        reported.read_to_string(&mut text).unwrap();
        assert_eq!(text, "told\nmore\n", "{can:?}");
        assert_ne!(shell(&policy(&world), &can, "echo x >&3"), 0, "nobody gave it: {can:?}");
    }
}

#[test]
fn everything_ends_with_the_command_or_its_time() {
    for can in levels() {
        let world = world();
        let mut policy = policy(&world);
        // The child holds the pipe: it is closed only when the child has ended.
        let (mut output, input) = std::io::pipe().unwrap();
        let streams = Streams { stdin: null(), stdout: input.into(), stderr: Stdio::null(), report: None };
        let command = ["sh", "-c", "setsid sleep 1000 & exit 3"].map(OsString::from);
        let (outcome, _) = run(&policy, &can, &command, &launcher(), streams, false).unwrap();
        assert_eq!((outcome.code, outcome.left), (3, false));
        assert_eq!(output.read(&mut [0]).unwrap(), 0);
        policy.limits.wall_ms = Some(50);
        let outcome = try_run(&policy, &can, &["sleep", "1000"]).unwrap();
        assert_eq!((outcome.code, outcome.reason), (124, Reason::OutOfTime));
    }
}

#[test]
fn dropping_the_caller_ends_the_command() {
    for can in levels() {
        let world = world();
        let (mut output, input) = std::io::pipe().unwrap();
        let policy = policy(&world);
        let (plan, _) =
            plan(&policy, &can, &survey(&policy, &can).unwrap(), &["sleep".into(), "1000".into()]).unwrap();
        let streams = Streams { stdin: null(), stdout: input.into(), stderr: Stdio::null(), report: None };
        drop(start(&plan, &launcher(), streams).unwrap());
        assert_eq!(output.read(&mut [0]).unwrap(), 0);
    }
}

#[test]
fn no_descriptor_is_inherited() {
    let world = world();
    let leak = std::fs::File::open(world.home.join("secret")).unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    for can in levels() {
        assert_eq!(shell(&policy(&world), &can, "test $(ls /proc/self/fd | wc -l) -le 4"), 0, "{can:?}");
    }
}

#[test]
fn a_sandbox_has_no_network_but_its_own() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let world = world();
    for can in levels() {
        for network in [Network::None, Network::Loopback, Network::Hosts { outside: None }] {
            let mut policy = policy(&world);
            policy.network = network;
            let outcome = try_run(&policy, &can, &["bash", "-c", &connect]).unwrap();
            assert_ne!(outcome.code, 0, "{can:?} {:?}", policy.network);
            if !can.network_namespace && can.bubblewrap.is_none() {
                // Landlock does not know datagrams: the filter alone refuses them.
                let send = try_run(&policy, &can, &["bash", "-c", "echo x > /dev/udp/127.0.0.1/9"]).unwrap();
                assert_ne!(send.code, 0, "{can:?} {:?}", policy.network);
            }
        }
        let mut policy = policy(&world);
        policy.network = Network::Full;
        assert_eq!(try_run(&policy, &can, &["bash", "-c", &connect]).unwrap().code, 0);
    }
}

#[test]
fn the_caller_accepts_connections_of_the_inside() {
    let world = world();
    let mut policy = policy(&world);
    policy.network = Network::Hosts { outside: None };
    let command = ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/3128; echo hello >&3"].map(OsString::from);
    let (plan, _) = plan(&policy, &can(), &survey(&policy, &can()).unwrap(), &command).unwrap();
    let streams = Streams { stdin: null(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
    let mut running = start(&plan, &launcher(), streams).unwrap();
    let http: TcpListener = running.listeners.remove(0).into();
    let mut text = String::new();
    http.accept().unwrap().0.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello\n");
    assert_eq!(running.wait().unwrap().code, 0);
    assert!(TcpStream::connect(("127.0.0.1", 3128)).is_err(), "nothing listens outside");
}

#[test]
fn processes_of_the_machine_are_out_of_reach() {
    let world = world();
    let own = std::process::id();
    assert_ne!(shell(&policy(&world), &can(), &format!("test -e /proc/{own}/environ && kill -0 {own}")), 0);
    let landlock = can().at(Level::Landlock);
    assert_ne!(shell(&policy(&world), &landlock, &format!("kill -0 {own}")), 0);
    // The first process holds the end of the sandbox: its memory is closed.
    assert_ne!(shell(&policy(&world), &can(), "cat /proc/1/environ"), 0);
    assert_eq!(shell(&policy(&world), &can(), "cat /proc/$$/environ"), 0);
    for can in bubblewrap() {
        assert_ne!(shell(&policy(&world), &can, "cat /proc/1/environ"), 0, "{can:?}");
        assert_ne!(shell(&policy(&world), &can, &format!("test -e /proc/{own}/environ && kill -0 {own}")), 0);
    }
    assert_ne!(shell(&policy(&world), &can().without(Feature::Seccomp), "unshare -U true"), 0);
    assert_ne!(shell(&policy(&world), &landlock, "unshare -U true"), 0);
}

#[test]
fn odd_paths_are_taken_or_named() {
    let world = world();
    let odd = world.work.join(OsString::from_vec(b"line\nbreak \xff".to_vec()));
    std::fs::create_dir(&odd).unwrap();
    let mut policy = policy(&world);
    policy.files.protected.push(odd.clone());
    assert_ne!(shell(&policy, &can(), "echo x > line*/x"), 0);
    policy.files.writable.push("relative".into());
    let error = try_run(&policy, &can(), &["true"]).unwrap_err();
    assert!(matches!(error, LaunchError::Policy(PolicyError::Relative { field: "writable", .. })), "{error}");
    policy.files.writable = vec![world.home.join("absent")];
    let error = try_run(&policy, &can(), &["true"]).unwrap_err();
    assert!(matches!(error, LaunchError::Policy(PolicyError::Missing { .. })), "{error}");
    policy.files.writable = vec![OsString::from_vec(b"/a\0b".to_vec()).into()];
    let error = try_run(&policy, &can(), &["true"]).unwrap_err();
    assert!(matches!(error, LaunchError::Policy(PolicyError::Nul { .. })), "{error}");
}

#[test]
fn a_directory_that_vanished_is_an_error_and_nothing_stays() {
    let world = world();
    let mut policy = policy(&world);
    let inner = world.work.join("inner");
    std::fs::create_dir(&inner).unwrap();
    policy.directory = inner.clone();
    for can in levels() {
        let seen = survey(&policy, &can).unwrap();
        let (plan, _) = plan(&policy, &can, &seen, &["true".into()]).unwrap();
        std::fs::remove_dir(&inner).unwrap();
        let streams = Streams { stdin: null(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
        let error = start(&plan, &launcher(), streams).unwrap_err();
        assert_eq!(error.code(), 125);
        assert!(error.to_string().contains("inner"), "{error}");
        assert!(!world.work.join(".castellan").exists(), "{can:?}");
        std::fs::create_dir(&inner).unwrap();
    }
}

#[test]
fn a_launcher_that_is_none_is_an_error() {
    let world = world();
    let run_with = |launcher: &str| {
        let streams = Streams { stdin: null(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
        run(&policy(&world), &can(), &["true".into()], Path::new(launcher), streams, false).unwrap_err()
    };
    assert!(matches!(run_with("/no/launcher"), LaunchError::Launcher { .. }));
    assert!(matches!(run_with("/bin/true"), LaunchError::Protocol(_)));
}

#[test]
fn what_is_required_and_missing_is_refused() {
    let world = world();
    let streams = Streams { stdin: null(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
    let can = can().at(Level::Landlock);
    let made = world.work.join("made");
    let command = ["touch".into(), made.clone().into()];
    let error = run(&policy(&world), &can, &command, &launcher(), streams, true).unwrap_err();
    assert!(matches!(error, LaunchError::NotEnforced(_)), "{error}");
    assert!(!made.exists());
}

#[test]
fn the_command_has_its_standard_input() {
    let world = world();
    let (input, mut output) = std::io::pipe().unwrap();
    let streams = Streams { stdin: input.into(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
    output.write_all(b"text").unwrap();
    drop(output);
    let command = ["sh", "-c", "test \"$(cat)\" = text"].map(OsString::from);
    let (outcome, _) = run(&policy(&world), &can(), &command, &launcher(), streams, true).unwrap();
    assert_eq!(outcome.code, 0);
}

#[test]
fn chains_of_symlinks_lead_to_what_is_covered() {
    use std::os::unix::fs::symlink;
    for can in levels() {
        let world = world();
        let mut policy = policy(&world);
        std::fs::write(world.home.join("key"), "key text").unwrap();
        symlink("key", world.home.join("first")).unwrap();
        symlink(world.home.join("first"), world.home.join("second")).unwrap();
        symlink("../work/../second", world.work.join("third")).unwrap();
        symlink("circle", world.home.join("circle")).unwrap();
        policy.files.secret = vec![world.work.join("third"), world.home.join("circle")];
        for name in ["key", "first", "second", "work/third"] {
            let script = format!("cat {}/{name}", world.home.display());
            assert_ne!(shell(&policy, &can, &script), 0, "{name} {can:?}");
        }
        // A writable directory by a chain is writable by its own name.
        symlink("work", world.home.join("a")).unwrap();
        symlink("a", world.home.join("b")).unwrap();
        policy.files.writable = vec![world.home.join("b")];
        assert_eq!(shell(&policy, &can, &format!("echo x > {}/made", world.work.display())), 0, "{can:?}");
    }
}

#[test]
fn input_into_a_terminal_is_refused_by_the_filter() {
    let world = world();
    let mut policy = policy(&world);
    policy.terminal = true;
    // TIOCSTI. The number of the error tells who refused it: the filter (EPERM), or the kernel, as this is no terminal.
    let inject = ["perl", "-e", "my $x = 'x'; ioctl(STDIN, 0x5412, $x) and exit 0; exit $!+0"];
    let (eperm, enotty) = (1, 25);
    for can in levels() {
        assert_eq!(try_run(&policy, &can, &inject).unwrap().code, eperm, "{can:?}");
    }
    assert_eq!(try_run(&policy, &can().without(Feature::Seccomp), &inject).unwrap().code, enotty);
}
