//! Loosening actions are refused without a person, for every daemon that answers.

use std::fs;

use castellan_wire::{CONTROL_BYTES_MAX, Home as CastellanHome, Kind, bind, read_frame, write_frame};

use crate::home::Home;

const CLAUDE: &str = "user/.claude/settings.json";

/// Serves the control socket of a home with one answer to every request.
fn fake_daemon(home: &Home, name: &str, answer: &'static str) -> String {
    let fake = CastellanHome::new(home.path(name)).unwrap();
    fs::create_dir_all(fake.run()).unwrap();
    let listener = bind(&fake.control_socket()).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // A client that only tests the connection sends nothing.
            if read_frame(&mut stream, CONTROL_BYTES_MAX).is_ok() {
                let body = format!("{{\"version\":1,\"body\":{answer}}}");
                write_frame(&mut stream, Kind::Control, body.as_bytes()).unwrap();
            }
        }
    });
    fake.dir().display().to_string()
}

#[test]
fn who_names_a_home_does_not_choose_who_is_asked() {
    let home = Home::new();
    home.run_ok(&["install", "claude", "codex"]);
    let before = home.agent_files();
    let fake = fake_daemon(&home, "fake", "\"done\"");
    for arguments in [&["uninstall", "claude"][..], &["uninstall"], &["uninstall", "--purge"]] {
        let refused = home.run(&[&["--home", &fake], arguments].concat());
        assert_eq!(refused.code, Some(4), "{arguments:?}: {refused:?}");
        assert_eq!(refused.stderr, "error: this needs a person at a terminal\n", "{arguments:?}");
        assert_eq!(home.agent_files(), before, "{arguments:?}");
    }
    let log = home.run_ok(&["log"]);
    assert!(log.contains("uninstall claude") && log.contains("refused"), "{log}");

    // Refused too if no real daemon can be asked.
    let (registered, gone) = (home.castellan_home(), home.path("gone"));
    home.write(CLAUDE, home.read(CLAUDE).replace(&*registered.to_string_lossy(), &gone.to_string_lossy()));
    let before = home.agent_files();
    let refused = home.run(&["--home", &fake, "uninstall", "claude"]);
    assert_eq!((refused.code, home.agent_files()), (Some(4), before), "{refused:?}");
}

#[test]
fn the_daemon_that_the_hooks_lead_to_is_asked_as_well() {
    let home = Home::new();
    home.run_ok(&["install", "claude"]);
    let registered = home.castellan_home().display().to_string();
    let refusing = fake_daemon(&home, "refusing", "{\"refused\":\"not now\"}");
    home.write(CLAUDE, home.read(CLAUDE).replace(&registered, &refusing));
    let before = home.agent_files();

    let uninstall = ["uninstall", "claude"];
    for arguments in [&uninstall[..], &["install", "claude"]] {
        let Some(refused) = home.run_as_person(arguments) else { return };
        assert_eq!(refused.code, Some(4), "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains("not now"), "{arguments:?}: {refused:?}");
        assert_eq!(home.agent_files(), before, "{arguments:?}");
    }
    home.write(CLAUDE, home.read(CLAUDE).replace(&refusing, &home.path("gone").display().to_string()));
    let done = home.run_as_person(&uninstall).unwrap();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!home.path(CLAUDE).exists());
}

#[test]
fn hooks_are_not_led_to_another_castellan_without_a_person() {
    let home = Home::new();
    home.run_ok(&["install", "claude"]);
    let before = home.agent_files();
    let other = home.path("other").display().to_string();
    let install = ["--home", &other, "install", "claude", "codex", "--launchers", "--mode", "monitor"];
    let refused = home.run(&install);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert_eq!(
        refused.stderr,
        "error: the hooks of Claude Code lead to another castellan now: this needs a person at a terminal\n"
    );
    assert_eq!(home.agent_files(), before);
    assert!(!home.path("other").exists() && !home.bin().join("castellan-claude").exists());

    let Some(done) = home.run_as_person(&install) else { return };
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(home.read(CLAUDE).contains(&other));
    let log = home.run_ok(&["log"]);
    assert!(log.contains("install: hooks lead to"), "{log}");
}

#[test]
fn only_a_new_home_begins_in_a_milder_mode() {
    let home = Home::new();
    home.run_ok(&["install", "--no-agents", "--mode", "monitor"]);
    assert_eq!(home.run_ok(&["mode"]), "monitor\n");
    assert!(home.read("user/.config/castellan/config.toml").contains("\nmode = \"monitor\"\n"));
    home.run_ok(&["install", "--no-agents", "--mode", "enforce"]);
    assert_eq!(home.run_ok(&["mode"]), "enforce\n");
    let refused = home.run(&["install", "claude", "--mode", "monitor"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stdout.contains("Claude Code guarded"), "{}", refused.stdout);
    assert_eq!(home.run_ok(&["mode"]), "enforce\n");
}

#[test]
fn a_home_in_use_stays_in_enforce_without_a_person() {
    let check = |name: &str, prepare: fn(&Home, &str)| {
        let home = Home::new();
        prepare(&home, name);
        let dir = home.path(name).display().to_string();
        let refused = home.run(&["--home", &dir, "install", "--no-agents", "--mode", "passthrough"]);
        assert_eq!(refused.code, Some(4), "{name}: {refused:?}");
        assert_eq!(home.run_ok(&["--home", &dir, "mode"]), "enforce\n", "{name}");
        let config = home.read(&format!("{name}/config/config.toml"));
        assert!(config.contains("\nmode = \"enforce\"\n"), "{name}: {config}");
    };
    check("no-daemon", |home, name| {
        home.run_ok(&["install", "--no-agents"]);
        home.write(&format!("{name}/config/config.toml"), home.read("user/.config/castellan/config.toml"));
    });
    check("no-daemon-and-no-configuration", |home, name| {
        fs::create_dir_all(home.path(name).join("state/log")).unwrap();
    });
    check("lost-configuration", |home, name| {
        home.run_ok(&["--home", &home.path(name).display().to_string(), "install", "--no-agents"]);
        fs::remove_file(home.path(name).join("config/config.toml")).unwrap();
    });
    check("not-made-yet", |home, name| {
        home.run_ok(&["install", "claude"]);
        let (made, other) = (home.castellan_home(), home.path(name));
        let settings = home.read(CLAUDE).replace(&*made.to_string_lossy(), &other.to_string_lossy());
        home.write(CLAUDE, settings);
    });
}

#[test]
fn nobody_types_a_pin_to_another_program() {
    let home = Home::new();
    for answer in ["\"pin_needed\"", "\"password_needed\""] {
        let fake = fake_daemon(&home, &answer.replace('"', ""), answer);
        let stopped = home.run(&["--home", &fake, "stop"]);
        assert_eq!(stopped.code, Some(7), "{stopped:?}");
        let own = format!("process {} (`", std::process::id());
        assert!(
            stopped.stderr.contains(&own)
                && stopped
                    .stderr
                    .contains("is another program than this castellan, so you are not asked for your PIN"),
            "{stopped:?}"
        );
        // No PIN is requested for a command that loosens nothing either.
        let status = home.run(&["--home", &fake, "status"]);
        assert!(
            status.stdout.contains("this needs your p") || status.stdout.contains("this needs your P"),
            "{status:?}"
        );
    }
}

#[test]
fn no_question_is_asked_before_a_refusal() {
    let home = Home::new();
    home.run_ok(&["install", "--no-agents"]);
    let config = "user/.config/castellan/config.toml";
    home.write(config, home.read(config).replace("\nmode = \"enforce\"\n", "\nmode = \"monitor\"\n"));
    home.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    home.write("repo/.castellan/config.toml", "version = 1\n");
    for (arguments, logged) in [
        (&["apply"][..], "apply "),
        (&["apply", "--yes"], "apply "),
        (&["approve", "K7"], "approve "),
        (&["trust"], "trust "),
        (&["allow", "Bash(ls)"], "allow add Bash(ls)"),
        (&["config", "set", "ask_wait", "120"], "ask_wait 120"),
    ] {
        let Some((refused, shown)) = home.run_at_unknown_terminal(arguments) else { return };
        assert_eq!(refused.code, Some(4), "{arguments:?}: {refused:?}");
        assert!(
            refused.stderr.contains("castellan does not recognise the program that opened this terminal")
                && refused.stderr.contains("gnome-terminal, kitty"),
            "{arguments:?}: {refused:?}"
        );
        assert!(!shown.contains("[y/N]"), "{arguments:?}: {shown}");
        let log = home.run_ok(&["log"]);
        assert!(
            log.lines().any(|line| line.contains("refused") && line.contains(logged)),
            "{arguments:?}: {log}"
        );
    }
    assert_eq!(home.run_ok(&["mode"]), "enforce\n");
    let Some(agreed) = home.run_as_person(&["apply"]) else { return };
    assert_eq!(agreed.code, Some(0), "{agreed:?}");
    assert_eq!(home.run_ok(&["mode"]), "monitor\n");
}
