//! Located paths: a table of arguments as a shell passes them, and properties.

use std::collections::BTreeMap;

use castellan_event::{Answer, Process, Query, Recorder, Scope, Why, World};
use castellan_facts::path::{Located, Places, dev_tcp, locate, locate_entry};
use castellan_facts::scope::classify;
use castellan_programs::{Arg, Piece};
use proptest::prelude::*;

/// A file system of symlinks only.
struct Links(BTreeMap<&'static str, &'static str>);

impl World for Links {
    fn answer(&self, query: &Query) -> Option<Answer> {
        let Query::RealPath { base, path } = query else { return None };
        let mut rest: Vec<String> = format!("{}/{path}", if path.starts_with('/') { "" } else { base })
            .split('/')
            .rev()
            .map(str::to_owned)
            .collect();
        let mut real: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(name) = rest.pop() {
            match name.as_str() {
                "" | "." => {}
                ".." => drop(real.pop()),
                _ => real.push(name),
            }
            let here = format!("/{}", real.join("/"));
            if ["/proc/self", "/proc/thread-self"].contains(&here.as_str()) {
                return None;
            }
            if let Some(target) = self.0.get(here.as_str()) {
                links += 1;
                if links > 40 {
                    return None;
                }
                real.pop();
                if target.starts_with('/') {
                    real.clear();
                }
                rest.extend(target.split('/').rev().map(str::to_owned));
            }
        }
        Some(Answer::RealPath(format!("/{}", real.join("/"))))
    }
}

fn links() -> Links {
    Links(BTreeMap::from([
        ("/home/u/.bashrc", "dotfiles/rc"),
        ("/home/u/app/to-etc", "/etc"),
        ("/home/u/app/to-key", "/home/u/.ssh/id_rsa"),
        ("/home/u/app/loop", "loop"),
        ("/home/u/app/self", "/proc/self"),
        ("/home/u/app/in", "src/deep"),
        ("/bin", "usr/bin"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/fd", "/proc/self/fd"),
        ("/var/run", "/run"),
    ]))
}

fn places() -> Places {
    Places {
        homes: vec!["/home/u".to_owned()],
        workspace: Some("/home/u/app".to_owned()),
        temporary: vec!["/scratch".to_owned()],
        castellan: vec!["/data/castellan".to_owned()],
        stand_ins: vec![("/data/claude".to_owned(), ".claude".to_owned())],
        programs: vec!["/data/tools".to_owned()],
        startup: vec!["/data/env.sh".to_owned()],
        ..Places::default()
    }
}

/// An argument: `<*>` is a shell pattern, `<$x>` any other unknown part.
fn arg(text: &str) -> Arg {
    let mut pieces = Vec::new();
    for (at, part) in text.split(['<', '>']).enumerate() {
        pieces.push(match (at % 2, part.starts_with('$')) {
            (0, _) => Piece::Text(part.to_owned()),
            (_, true) => Piece::Unknown { why: Why::Variable, written: part.to_owned() },
            (_, false) => Piece::Unknown { why: Why::Glob, written: part.to_owned() },
        });
    }
    Arg::from_pieces(pieces, false)
}

fn shown(located: &Located) -> String {
    let word = |scope: Option<Scope>| scope.map_or("?", Scope::as_str);
    let path = located.path.clone().unwrap_or_else(|| located.why.map_or("?", Why::as_str).to_owned());
    assert_eq!(located.path.is_some(), located.why.is_none(), "{located:?}");
    format!("{path} {} {}", word(located.scope), word(located.place))
}

fn check(raw: &str, cwd: Option<&str>, expected: &str) {
    let links = links();
    let located = locate(&arg(raw), cwd, &places(), &mut Recorder::new(&links));
    assert_eq!(shown(&located), expected, "{raw} from {cwd:?}");
}

#[test]
fn paths_lead_where_they_really_lead() {
    let cases =
        include_str!("path/cases.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut count = 0;
    for case in cases {
        let (raw, expected) = case.split_once(" => ").unwrap_or_else(|| panic!("{case}"));
        let (cwd, raw) = match raw.split_once(" | ") {
            Some(("?", raw)) => (None, raw),
            Some((cwd, raw)) => (Some(cwd), raw),
            None => (Some("/home/u/app"), raw),
        };
        check(raw, cwd, expected);
        count += 1;
    }
    assert!(count > 80, "{count} cases");
}

#[test]
fn what_is_done_to_a_name_is_not_done_to_what_it_leads_to() {
    let links = links();
    let cases = [
        ("to-etc", "/home/u/app/to-etc workspace workspace"),
        ("to-key", "/home/u/app/to-key workspace workspace"),
        ("to-etc/passwd", "/etc/passwd hijack system"),
        ("to-etc/", "/etc system system"),
        ("to-etc/.", "/etc system system"),
        ("/home/u/.bashrc", "/home/u/.bashrc startup home"),
        ("in/../x", "/home/u/app/src/x workspace workspace"),
        ("loop", "/home/u/app/loop workspace workspace"),
        ("x", "/home/u/app/x workspace workspace"),
        ("/etc", "/etc system system"),
        ("/", "/ root root"),
    ];
    for (raw, expected) in cases {
        let located = locate_entry(&arg(raw), Some("/home/u/app"), &places(), &mut Recorder::new(&links));
        assert_eq!(shown(&located), expected, "{raw}");
    }
}

#[test]
fn paths_of_windows_are_known_by_their_shape() {
    let places = Places {
        homes: vec!["C:/Users/u".to_owned()],
        workspace: Some("C:/Users/u/app".to_owned()),
        folds_case: true,
        is_windows: true,
        ..Places::default()
    };
    let links = links();
    let cases = [
        (r"C:\Users\u\app\x.txt", r"C:/Users/u/app/x.txt workspace workspace"),
        (r"c:\users\U\.SSH\id_rsa", "c:/users/U/.SSH/id_rsa secret home"),
        (r"src\..\..\.ssh\id_rsa", "C:/Users/u/.ssh/id_rsa secret home"),
        (r"\Windows\System32", "C:/Windows/System32 system system"),
        (r"C:\", "C: root root"),
        (r"\\server\share\x", "//server/share/x network network"),
        ("//server/share/x", "//server/share/x network network"),
        (r"\\?\C:\Windows\x", "C:/Windows/x system system"),
        (r"\\?\UNC\server\share", "//server/share network network"),
        (r"\\.\PhysicalDrive0", "//./PhysicalDrive0 device device"),
        (r"C:relative\.env", "dynamic secret ?"),
        (r".env::$DATA", "C:/Users/u/app/.env::$DATA secret workspace"),
        (r"D:\data\x", "D:/data/x outside outside"),
    ];
    for (raw, expected) in cases {
        let raw = Arg::known(raw);
        let located = locate(&raw, Some(r"C:\Users\u\app"), &places, &mut Recorder::new(&links));
        assert_eq!(shown(&located), expected, "{raw:?}");
    }
}

#[test]
fn connections_that_look_like_paths() {
    assert_eq!(dev_tcp("/dev/tcp/10.0.0.1/4444"), Some(("10.0.0.1", "4444")));
    assert_eq!(dev_tcp("/dev/udp/example.org/domain"), Some(("example.org", "domain")));
    for none in [
        "/dev/tcp",
        "/dev/tcp/",
        "/dev/tcp/host",
        "/dev/tcp//80",
        "/dev/tcp/host/",
        "dev/tcp/a/1",
        "/dev/tty",
    ] {
        assert_eq!(dev_tcp(none), None, "{none}");
    }
}

#[test]
fn limits() {
    let links = links();
    for (raw, expected) in
        [("x/".repeat(300), "size ? ?"), ("x".repeat(5000), "size ? ?"), ("a\0b".to_owned(), "encoding ? ?")]
    {
        let located = locate(&arg(&raw), Some("/"), &places(), &mut Recorder::new(&links));
        assert_eq!(shown(&located), expected);
    }
    struct Silent;
    impl World for Silent {
        fn answer(&self, _: &Query) -> Option<Answer> {
            None
        }
    }
    for (raw, expected) in [
        ("x", "unreadable ? ?"),
        ("/etc/shadow", "unreadable secret ?"),
        (".ss<*>/id<*>", "unreadable secret ?"),
    ] {
        let located = locate(&arg(raw), Some("/home/u"), &places(), &mut Recorder::new(&Silent));
        assert_eq!(shown(&located), expected, "{raw}");
    }
}

#[test]
fn places_of_a_session() {
    let links = [
        ("/home/u", "/data/home/u"),
        ("/home/u/x", "/data/home/u/x"),
        ("/home/u/app", "/data/home/u/app"),
        ("/tmp/mine", "/scratch/mine"),
    ];
    let vars = [
        ("HOME", "/home/u"),
        ("PATH", "/opt/tools:relative::/home/u/x"),
        ("CLAUDE_CONFIG_DIR", "/data/claude"),
        ("TMPDIR", "/tmp/mine"),
        ("BASH_ENV", "/data/env.sh"),
        ("PYTHONPATH", "/data/python:lib"),
        ("XDG_CONFIG_HOME", "relative"),
    ];
    let process = |vars: &[(&str, &str)]| Process {
        env: vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        home: "/home/user".to_owned(),
        links: links.map(|(path, real)| (path.to_owned(), real.to_owned())).to_vec(),
        network: ["/data", "/home/user/remote", "/mnt/share"].map(str::to_owned).to_vec(),
        ..Process::default()
    };
    let of = |vars: &[(&str, &str)]| {
        Places::of_session(Some(&process(vars)), Some("/data/home/u/app"), &["/data/c".to_owned()])
    };
    let places = of(&vars);
    let cases = [
        ("/data/home/u/.ssh/id_rsa", Scope::Secret, Scope::Home),
        ("/home/user/x", Scope::Home, Scope::Home),
        ("/data/home/u/app/x", Scope::Workspace, Scope::Workspace),
        ("/data/claude/settings.json", Scope::Agent, Scope::Network),
        ("/scratch/mine/x", Scope::Temporary, Scope::Temporary),
        ("/opt/tools/x", Scope::Hijack, Scope::System),
        ("/opt/tools/lib/x", Scope::System, Scope::System),
        ("/data/env.sh", Scope::Startup, Scope::Network),
        ("/data/python/x.py", Scope::Hijack, Scope::Network),
        ("/data/c/run/hook.sock", Scope::Castellan, Scope::Network),
        ("/mnt/share/x", Scope::Network, Scope::Network),
        ("/mnt/shared/x", Scope::Outside, Scope::Outside),
        ("/home/user/remote/x", Scope::Network, Scope::Network),
        ("/relative/x", Scope::Outside, Scope::Outside),
    ];
    for (path, scope, place) in cases {
        let kind = classify(path, &places);
        assert_eq!((kind.scope, kind.place), (scope, place), "{path}");
    }
    // A temporary directory does not make a home, the workspace or the system temporary.
    for directory in
        ["/", "/home", "/home/u", "/data/home", "/home/u/app", "/etc", "/usr/lib", "relative", ""]
    {
        let places = of(&[("HOME", "/home/u"), ("TMPDIR", directory)]);
        for path in ["/data/home/u/x", "/data/home/u/app/x", "/etc/x", "/usr/lib/x"] {
            let place = classify(path, &places).place;
            assert_ne!(place, Scope::Temporary, "{path} with TMPDIR={directory}");
        }
    }
    // A home or a directory above it is never a workspace, wherever the session began.
    for workspace in ["/home/user", "/home", "/home/u", "/data/home/u"] {
        let places = Places::of_session(Some(&process(&[("HOME", "/home/u")])), Some(workspace), &[]);
        for path in ["/home/user/x", "/data/home/u/x", "/home/user"] {
            assert_eq!(classify(path, &places).place, Scope::Home, "{path} in {workspace}");
        }
    }
}

#[test]
fn without_a_known_home_any_directory_may_be_one() {
    for process in [None, Some(&Process::default())] {
        let places = Places::of_session(process, Some("/data/u"), &["/data/u/c".to_owned()]);
        assert_eq!(classify("/data/u/x", &places).place, Scope::Outside, "{process:?}");
        assert_eq!(classify("/data/u/c", &places).scope, Scope::Castellan, "{process:?}");
        let home = classify("/home/x/.ssh/id_rsa", &places);
        assert_eq!(home.scope, Scope::Secret, "homes are known by their look");
    }
}

/// Path-like text with many special parts.
fn path_text() -> impl Strategy<Value = String> {
    let component = prop_oneof![
        Just("..".to_owned()),
        Just(".".to_owned()),
        Just(String::new()),
        "[a-z.*~]{1,6}",
        prop::sample::select(vec![
            "home", "u", "app", "etc", ".ssh", "id_rsa", ".env", ".git", "hooks", "proc", "self", "root",
            "cwd", "dev", "fd", "0", "tmp", "to-etc", "<*>", "<$x>", "id<*>", "<?>.pem", ".e<*>", "private",
            "C:", "..<*>",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,4}".prop_map(|text| text.replace(['<', '>'], "")),
    ];
    (any::<bool>(), prop::collection::vec(component, 0..8))
        .prop_map(|(absolute, parts)| format!("{}{}", if absolute { "/" } else { "" }, parts.join("/")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_located(text in path_text(), known_cwd: bool, windows: bool, folds: bool) {
        let links = links();
        let places = Places { is_windows: windows, folds_case: folds, ..places() };
        let cwd = known_cwd.then_some(if windows { "C:/Users/u" } else { "/home/u/app" });
        for find in [locate, locate_entry] {
            let located = find(&arg(&text), cwd, &places, &mut Recorder::new(&links));
            prop_assert_eq!(located.path.is_some(), located.why.is_none());
            prop_assert_eq!(located.path.is_some(), located.place.is_some());
            if let (Some(scope), Some(place)) = (located.scope, located.place) {
                prop_assert!(scope <= place && place >= Scope::Root, "{:?}", located);
            }
        }
    }

    /// Without symlinks, the located path locates to itself.
    #[test]
    fn a_located_path_stays_where_it_is(text in path_text()) {
        let nothing = Links(BTreeMap::new());
        let once = locate(&arg(&text), Some("/home/u/app"), &places(), &mut Recorder::new(&nothing));
        if let (Some(path), false) = (&once.path, text.contains('<')) {
            let again = locate(&Arg::known(path.as_str()), Some("/home/u/app"), &places(), &mut Recorder::new(&nothing));
            prop_assert_eq!((&again.path, again.place), (&once.path, once.place));
            prop_assert!(again.scope >= once.scope);
            if !text.contains("..") {
                prop_assert_eq!(again.scope, once.scope);
            }
        }
    }

    /// A shell pattern is at least as sensitive as each of a few names that it matches.
    #[test]
    fn a_pattern_is_as_sensitive_as_what_it_matches_clearly(cut in 1_usize..6) {
        for path in [".ssh/id_rsa", ".bashrc", ".netrc", ".aws/credentials", "app/.env", "app/.git/config", ".claude/settings.json"] {
            let name_at = path.rfind('/').map_or(0, |at| at + 1);
            let kept: String = path.chars().take(name_at + cut.max(2)).collect();
            let pattern = format!("/home/u/{kept}<*>");
            let nothing = Links(BTreeMap::new());
            let whole = classify(&format!("/home/u/{path}"), &places());
            let found = locate(&arg(&pattern), None, &places(), &mut Recorder::new(&nothing));
            prop_assert!(found.scope <= Some(whole.scope), "{} is {:?}, {} is {:?}", pattern, found.scope, path, whole.scope);
        }
    }
}
