//! `castellan config`: effective values, their sources and errors, with an organisation in a private `/etc`.

use serde_json::{Value as Json, json};

use crate::home::{Done, Home};

const USER: &str = "h/config/config.toml";
const ORGANISATION: &str = "etc/castellan/config.toml";

fn arguments<'a>(home: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&["--home", home, "config"], words].concat()
}

fn run(home: &Home, words: &[&str]) -> Done {
    home.run(&arguments(&home.path("h").display().to_string(), words))
}

/// Runs with the private `/etc`; returns `None` if the system cannot provide one.
fn run_below(home: &Home, words: &[&str]) -> Option<Done> {
    home.run_as_root_program(&arguments(&home.path("h").display().to_string(), words))
}

/// Returns the row of a key, with its columns one blank apart.
fn row(done: &Done, key: &str) -> String {
    let is_row = |line: &&str| line.split_whitespace().next() == Some(key);
    let line = done.stdout.lines().find(is_row).unwrap_or_else(|| panic!("no {key}: {done:?}"));
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_value_has_an_origin() {
    let home = Home::new();
    home.write(USER, "version = 1\nprofile = \"strict\"\nopaque = \"ask\"\ndeny = [\n  \"Bash(x)\",\n]\n");
    let file = home.path(USER).display().to_string();
    let shown = run(&home, &["show", "--origin"]);
    assert_eq!(row(&shown, "opaque"), format!("opaque \"ask\" user {file}:3"));
    assert_eq!(
        row(&shown, "level.session"),
        format!("level.session \"workspace-write\" user {file}:2 (profile)")
    );
    assert_eq!(row(&shown, "deny"), format!("deny \"Bash(x)\" user {file}:5"));
    assert_eq!(row(&shown, "mode"), "mode \"enforce\" default");
    // Without origin, and for one table.
    let plain = run(&home, &["show", "level"]);
    let lines: Vec<&str> = plain.stdout.lines().collect();
    let expected = [
        "key                    value",
        "level.session          \"workspace-write\"",
        "level.on_insufficient  \"ask\"",
    ];
    assert_eq!(lines, expected);
    assert_eq!(row(&shown, "key"), "key value from file and line");
    let unknown = run(&home, &["show", "lvel"]);
    assert!(unknown.code == Some(7) && unknown.stderr.contains("no key `lvel`"), "{unknown:?}");
}

/// A path of a file that does not exist would mislead the reader.
#[test]
fn what_has_no_file_yet_says_so() {
    let home = Home::new();
    let dir = home.path("h").display().to_string();
    let notes = |words: &[&str]| {
        let shown = home.run(&[&["--home", &dir], words].concat());
        shown.stdout.lines().filter(|line| line.starts_with("note: there is no home yet")).count()
    };
    let shows = [&["config", "show"][..], &["profile"]];
    assert_eq!(shows.map(notes), [1, 1]);
    home.write(USER, "version = 1\n");
    assert_eq!(shows.map(notes), [0, 0]);
}

#[test]
fn an_organisation_stands_above() {
    let home = Home::new();
    home.write(USER, "version = 1\nmode = \"monitor\"\nopaque = \"defer\"\nallow = [\"Bash(a)\"]\n");
    home.write(
        ORGANISATION,
        "version = 1\nmode = \"enforce\"\nlocked = [\"opaque\", \"allow\"]\ndeny = [\"Bash(b)\"]\n",
    );
    let Some(shown) = run_below(&home, &["show", "--origin"]) else { return };
    let user = home.path(USER).display().to_string();
    assert_eq!(row(&shown, "mode"), "mode \"enforce\" organisation /etc/castellan/config.toml:2");
    assert!(shown.stdout.contains("not \"monitor\""), "{}", shown.stdout);
    assert_eq!(row(&shown, "opaque"), "opaque \"ask\" default (profile) locked");
    assert_eq!(row(&shown, "deny"), "deny \"Bash(b)\" organisation /etc/castellan/config.toml:4");
    assert_eq!(row(&shown, "allow"), "allow []");
    let reported = format!(
        "`{user}`:4: `allow` has no effect: the organisation locked it (`/etc/castellan/config.toml`:3)"
    );
    assert!(shown.stdout.contains(&reported), "{}", shown.stdout);
    let laxer = format!(
        "`{user}`:2: `mode` has no effect: the organisation sets \"enforce\" (`/etc/castellan/config.toml`:2)"
    );
    assert!(shown.stdout.contains(&laxer), "{}", shown.stdout);

    let json: Json =
        serde_json::from_str(&run_below(&home, &["show", "mode", "--json"]).unwrap().stdout).unwrap();
    let value = |value: &str, layer: &str, file: &str| json!({"value": value, "layer": layer, "file": file, "line": 2, "preset": false});
    let expected = json!({
        "key": "mode",
        "values": [value("enforce", "organisation", "/etc/castellan/config.toml")],
        "overruled": [value("monitor", "user", &user)],
        "locked": false,
    });
    assert_eq!(json["settings"], json!([expected]));

    // The organisation's rule decides.
    let home_dir = home.path("h").display().to_string();
    let check = home.run_as_root_program(&["--home", &home_dir, "check", "b"]).unwrap();
    assert!(check.stdout.contains("the organisation's deny list contains"), "{check:?}");
}

#[test]
fn an_organisations_files_that_others_can_write_do_not_count() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.write(ORGANISATION, "version = 1\nopaque = \"deny\"\n");
    let Some(shown) = run_below(&home, &["show", "opaque"]) else { return };
    assert_eq!(row(&shown, "opaque"), "opaque \"deny\"");
    std::fs::set_permissions(home.path(ORGANISATION), std::fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(row(&run_below(&home, &["show", "opaque"]).unwrap(), "opaque"), "opaque \"ask\"");
    let checked = run_below(&home, &["check"]).unwrap();
    let why = "`/etc/castellan/config.toml`: other users can write it: run `chmod go-w` on it";
    assert!(checked.code == Some(1) && checked.stdout.contains(why), "{checked:?}");
}

#[test]
fn every_mistake_is_told_with_its_place() {
    let home = Home::new();
    home.write(USER, "version = 1\nmod = \"monitor\"\n[log]\nfsyn = true\n");
    let file = home.path(USER).display().to_string();
    let checked = run(&home, &["check"]);
    let expected = format!(
        "error: `{file}`:2:1: unknown key `mod`: did you mean `mode`?\nerror: `{file}`:4:1: unknown key `log.fsyn`: did \
         you mean `log.fsync`?\n"
    );
    assert_eq!((checked.code, checked.stdout), (Some(1), expected));
    let json: Json = serde_json::from_str(&run(&home, &["check", "--json"]).stdout).unwrap();
    assert_eq!(
        (&json["ok"], &json["errors"][1]["line"], &json["errors"][1]["column"]),
        (&json!(false), &json!(4), &json!(1))
    );

    home.write(USER, "version = 1\n");
    let checked = run(&home, &["check"]);
    assert_eq!((checked.code, checked.stdout), (Some(0), format!("ok: `{file}` (user)\n")));

    // The place of a named file selects its layer.
    let project = home.repo().join(".castellan/config.toml");
    home.write("repo/.castellan/config.toml", "version = 1\nlog.fsync = true\n");
    let project = project.display().to_string();
    let checked = run(&home, &["check", &project]);
    assert!(
        checked.code == Some(1) && checked.stdout.contains("`log.fsync` is not valid in a project's file"),
        "{checked:?}"
    );
    let missing = run(&home, &["check", "/nowhere/config.toml"]);
    assert!(missing.code == Some(1) && missing.stdout.contains("No such file"), "{missing:?}");
}

#[test]
fn a_project_is_shown_as_if_it_were_trusted() {
    let home = Home::new();
    home.write(USER, "version = 1\n");
    home.write("repo/.castellan/config.toml", "version = 1\nprofile = \"strict\"\nmode = \"monitor\"\n");
    let repo = home.repo().display().to_string();
    let shown = run(&home, &["show", "--origin", "--project", &repo]);
    assert_eq!(row(&shown, "opaque"), "opaque \"deny\" project .castellan/config.toml:2 (profile)");
    assert_eq!(row(&shown, "mode"), "mode \"enforce\" default");
    assert_eq!(row(&run(&home, &["show"]), "opaque"), "opaque \"ask\"");
}

/// The environment has no effect, because an agent's project settings could set it.
#[test]
fn the_environment_says_nothing() {
    let words: Vec<&'static str> = vec![
        "CASTELLAN_MODE",
        "CASTELLAN_PROFILE",
        "CASTELLAN_OPAQUE",
        "CASTELLAN_CONFIG",
        "CASTELLAN_ORGANISATION",
        "CASTELLAN_ETC",
        "CASTELLAN_RULES",
        "CASTELLAN_LOCKED",
        "XDG_CONFIG_DIRS",
    ];
    let home = Home::new();
    home.write(USER, "version = 1\n");
    home.write("elsewhere/castellan/config.toml", "version = 1\nmode = \"passthrough\"\n");
    let before = run(&home, &["show", "--origin", "--json"]);
    assert_eq!(before.code, Some(0), "{before:?}");
    let elsewhere = home.path("elsewhere");
    let home = words.into_iter().fold(home, |home, name| home.with_variable(name, elsewhere.clone()));
    assert_eq!(run(&home, &["show", "--origin", "--json"]), before);
    let home = home
        .with_variable("CASTELLAN_MODE", "passthrough".into())
        .with_variable("MODE", "passthrough".into());
    assert_eq!(run(&home, &["show", "--origin", "--json"]), before);
}

#[test]
fn the_schema_is_one() {
    let home = Home::new();
    let schema: Json = serde_json::from_str(&home.run_ok(&["config", "schema"])).unwrap();
    assert_eq!(schema["properties"]["mode"]["enum"], json!(["passthrough", "monitor", "enforce"]));
    assert!(home.run_ok(&["config", "schema", "--markdown"]).contains("\n| `mode` | "));
}
