//! systemd: what castellan asks it, and each state in which it can be.

use std::fs;

use anyhow::Result;
use castellan_tests::agents;
use serde_json::json;

use crate::managed::{LIMIT, Rig};

const UNITS: &str = "NAME-hook.socket NAME-control.socket NAME.service";

#[test]
fn a_service_is_installed_stopped_started_and_removed() -> Result<()> {
    let rig = Rig::with_systemctl("running", "")?;
    let name = rig.name()?;
    assert_eq!(rig.words(&name)?, ["is-system-running"], "a dry run changes nothing");
    assert!(!rig.units().exists());
    assert_eq!(rig.status()?.0, Some(1), "not installed");

    rig.ok(&["service", "install"])?;
    let enable = format!("enable {UNITS}");
    let (reset, start) = (format!("reset-failed {UNITS}"), format!("start {UNITS}"));
    let asked: Vec<String> =
        rig.words(&name)?.into_iter().filter(|line| !line.starts_with("show ")).collect();
    assert_eq!(asked, ["is-system-running", "daemon-reload", &enable, &reset, &start]);
    let (code, status) = rig.status()?;
    assert_eq!((code, &status["problems"]), (Some(0), &json!([])), "{status}");
    assert_eq!(
        (&status["manager"], &status["enabled"], &status["active"]),
        (&json!("systemd"), &json!(true), &json!(true))
    );
    assert_eq!(rig.forbidden()?, "deny");
    rig.words(&name)?;

    // Without a person nothing stops.
    assert_eq!(rig.run(&["service", "stop"])?.code, Some(4));
    assert_eq!(rig.run(&["service", "uninstall"])?.code, Some(4));
    assert!(rig.daemon()?.is_some() && !rig.words(&name)?.iter().any(|line| line.starts_with("stop")));

    rig.person_ok(&["service", "stop"])?;
    assert_eq!(rig.words(&name)?, [format!("stop {UNITS}")]);
    assert_eq!(rig.status()?.0, Some(3), "no daemon");
    assert_eq!(rig.forbidden()?, "stopped");
    rig.words(&name)?;
    rig.ok(&["service", "start"])?;
    assert_eq!(rig.words(&name)?, [reset, start]);
    assert_eq!(rig.forbidden()?, "deny");

    rig.ok(&["service", "disable"])?;
    rig.ok(&["service", "enable"])?;
    assert_eq!(rig.words(&name)?, [format!("disable {UNITS}"), enable]);
    rig.person_ok(&["service", "uninstall"])?;
    let asked = rig.words(&name)?;
    assert_eq!(asked, [format!("disable {UNITS}"), format!("stop {UNITS}"), "daemon-reload".to_owned()]);
    assert_eq!(fs::read_dir(rig.units())?.count(), 0);
    assert_eq!(rig.status()?.0, Some(1));
    assert_eq!(rig.forbidden()?, "deny", "the daemon runs on without a service");
    Ok(())
}

#[test]
fn a_degraded_systemd_is_used_and_one_that_ends_is_not() -> Result<()> {
    let rig = Rig::with_systemctl("degraded", "")?;
    let shown = rig.ok(&["service", "install"])?;
    assert!(shown.contains("systemd says `degraded`: units of others have failed"), "{shown}");
    assert_eq!(rig.status()?.1["manager"], json!("systemd"));

    for state in ["stopping", "maintenance"] {
        let rig = Rig::with_systemctl(state, "")?;
        let done = rig.run(&["service", "install"])?;
        let expected =
            format!("error: systemd says `{state}` and starts nothing now: try again when it is `running`\n");
        assert_eq!((done.code, done.stderr), (Some(7), expected));
        assert!(!rig.units().exists());
    }
    Ok(())
}

#[test]
fn a_unit_of_the_user_is_never_replaced() -> Result<()> {
    let rig = Rig::with_systemctl("running", "")?;
    let name = rig.name()?;
    rig.words(&name)?;
    for suffix in [".service", "-control.socket"] {
        let own = rig.units().join(format!("{name}{suffix}"));
        rig.home.write(&own, "[Unit]\nDescription=mine\n")?;
        let done = rig.run(&["service", "install"])?;
        assert_eq!(done.code, Some(7), "{done:?}");
        assert!(
            done.stderr.contains(" is in the way: castellan did not write it. Nothing was changed."),
            "{}",
            done.stderr
        );
        assert_eq!(fs::read_to_string(&own)?, "[Unit]\nDescription=mine\n");
        assert_eq!(fs::read_dir(rig.units())?.count(), 1, "nothing else is written");
        let changes = rig.words(&name)?.into_iter().filter(|line| !line.starts_with("show "));
        assert!(changes.into_iter().all(|line| line == "is-system-running"));
        // It is no service of castellan's to remove.
        assert_eq!(rig.person(&["service", "uninstall"])?.code, Some(7));
        rig.person_ok(&["uninstall"])?;
        assert_eq!(fs::read_to_string(&own)?, "[Unit]\nDescription=mine\n");
        fs::remove_file(own)?;
        rig.words(&name)?;
    }
    Ok(())
}

#[test]
fn a_half_finished_installation_is_completed() -> Result<()> {
    let rig = Rig::with_systemctl("running", "")?;
    let name = rig.name()?;
    for step in ["daemon-reload", "enable", "start"] {
        rig.note(&format!("fails-{step}"), "the test")?;
        let done = rig.run(&["service", "install"])?;
        assert_eq!(done.code, Some(7), "{step}: {done:?}");
        assert!(done.stderr.contains(&format!("Failed to {step}: the test")), "{}", done.stderr);
        rig.forget(&format!("fails-{step}"))?;
    }
    rig.ok(&["service", "install"])?;
    assert_eq!(rig.status()?.0, Some(0));

    fs::remove_file(rig.units().join(format!("{name}-hook.socket")))?;
    let service = rig.units().join(format!("{name}.service"));
    fs::write(&service, fs::read_to_string(&service)?.replace("Restart=always", "Restart=no"))?;
    rig.note("drop-ins", "/elsewhere/override.conf")?;
    let (code, status) = rig.status()?;
    let problems = status["problems"].to_string();
    for part in [
        "-hook.socket` is missing",
        ".service` is not what this castellan writes",
        "other files change it: /elsewhere/override.conf",
    ] {
        assert!(problems.contains(part), "{problems} lacks {part}");
    }
    assert_eq!(code, Some(1));
    let shown = rig.ok(&["service", "install"])?;
    assert_eq!(shown.matches("written: ").count(), 2, "{shown}");
    rig.forget("drop-ins")?;
    assert_eq!(rig.status()?.0, Some(0));
    Ok(())
}

/// The mount makes even root's writes fail.
#[test]
fn a_home_that_cannot_be_written_keeps_its_daemon() -> Result<()> {
    let rig = Rig::with_systemctl("running", "")?;
    rig.ok(&["start"])?;
    fs::create_dir_all(rig.home.user().join(".config"))?;
    let script = r#"mount --bind "$HOME/.config" "$HOME/.config" && mount -o remount,ro,bind "$HOME/.config" || exit 99; exec "$@""#;
    let mut command = rig.home.command("unshare".as_ref());
    command
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(rig.home.bin().join("castellan"));
    command.arg("--home").arg(rig.home.castellan()).args(["install", "--no-agents", "--service"]);
    command
        .env("PATH", format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", rig.home.user().join("programs").display()));
    let done = castellan_tests::process::Running::start(&mut command)?.finish(LIMIT)?;
    if done.code == Some(99) || done.stderr.contains("unshare") {
        return agents::not_run(&done.stderr);
    }
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(
        done.stderr.contains("the daemon is no service: ") && done.stderr.contains("cannot be written: "),
        "{done:?}"
    );
    assert!(done.stderr.contains("No service is installed; hooks start the daemon without one"), "{done:?}");
    assert!(rig.daemon()?.is_some());
    Ok(())
}

#[test]
fn install_and_uninstall_have_the_service_with_them() -> Result<()> {
    let rig = Rig::with_systemctl("running", "")?;
    rig.ok(&["install", "--no-agents", "--service"])?;
    assert_eq!(rig.status()?.0, Some(0));
    let shown = rig.run(&["status"])?.stdout;
    assert!(
        shown.lines().any(|line| line.starts_with("service") && line.contains("systemd, castellan-")),
        "{shown}"
    );
    let shown = rig.ok(&["uninstall", "--dry-run"])?;
    assert_eq!(shown.matches("service removed").count(), 3, "{shown}");
    let shown = rig.person_ok(&["uninstall"])?;
    assert_eq!(shown.matches("service removed").count(), 3, "{shown}");
    assert!(rig.daemon()?.is_none() && fs::read_dir(rig.units())?.count() == 0);
    Ok(())
}
