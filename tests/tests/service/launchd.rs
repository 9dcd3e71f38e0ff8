//! launchd: what castellan asks it.

use std::fs;

use anyhow::{Context, Result};
use rustix::process::getuid;
use serde_json::json;

use crate::managed::Rig;

#[test]
fn a_service_is_installed_stopped_started_and_removed() -> Result<()> {
    let rig = Rig::with_launchctl()?;
    let folder = rig.home.user().join("Library/LaunchAgents");
    let user = getuid().as_raw();
    rig.ok(&["service", "install"])?;
    let file = fs::read_dir(&folder)?.next().context("no file")??.path();
    let label = file.file_stem().and_then(|name| name.to_str()).context("no name")?.to_owned();
    assert!(label.starts_with("dev.castellan.daemon."), "{label}");
    let target = format!("gui/{user}/NAME");
    let changes = |rig: &Rig| -> Result<Vec<String>> {
        Ok(rig.words(&label)?.into_iter().filter(|line| !line.starts_with("print")).collect())
    };
    let bootstrap = format!("bootstrap gui/{user} {}", file.display()).replace(&label, "NAME");
    assert_eq!(changes(&rig)?, [format!("enable {target}"), bootstrap.clone()]);
    let (code, status) = rig.status()?;
    assert_eq!(
        (code, &status["manager"], &status["active"]),
        (Some(0), &json!("launchd"), &json!(true)),
        "{status}"
    );
    assert_eq!(rig.forbidden()?, "deny");

    rig.person_ok(&["service", "stop"])?;
    assert_eq!(changes(&rig)?, [format!("bootout {target}")]);
    assert_eq!((rig.status()?.0, rig.forbidden()?), (Some(3), "stopped".to_owned()));
    rig.ok(&["service", "start"])?;
    assert_eq!(changes(&rig)?, [bootstrap]);
    rig.ok(&["service", "disable"])?;
    assert_eq!(rig.status()?.1["enabled"], json!(false));
    changes(&rig)?;
    rig.person_ok(&["service", "uninstall"])?;
    assert_eq!(changes(&rig)?, [format!("disable {target}"), format!("bootout {target}")]);
    assert!(!file.exists());
    assert_eq!(rig.forbidden()?, "deny", "the daemon runs on without a service");
    Ok(())
}

/// A session by ssh has no desktop.
#[test]
fn without_a_desktop_the_domain_is_that_of_the_user() -> Result<()> {
    let rig = Rig::with_launchctl()?;
    rig.note("without-desktop", "")?;
    rig.ok(&["service", "install"])?;
    let user = format!("bootstrap user/{} ", getuid().as_raw());
    assert!(rig.words("-")?.iter().any(|line| line.starts_with(&user)));
    Ok(())
}
