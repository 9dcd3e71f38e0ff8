//! Random farms of symlinks on a real file system. The tests compare castellan's answers, and the boundary of the workspace
//! in the facts, with the kernel's.

use std::ffi::OsStr;
use std::fs::create_dir_all;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use castellan_event::{
    Agent, Answer, Call, Change, Effect, EffectKind, Escape, FileTarget, Query, Recorder, Scope, Tool,
    ToolKind, World, lexical_path,
};
use castellan_facts::{Setting, analyse};
use proptest::prelude::*;
use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;

use super::FileSystem;

/// A directory with the workspace `w`, a sibling whose name begins so, and a directory outside.
struct Farm {
    _dir: tempfile::TempDir,
    base: PathBuf,
}

impl Farm {
    fn new() -> Farm {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in ["w/a/b", "w/c", "w-evil/a", "out/a/b"] {
            create_dir_all(base.join(name)).unwrap();
        }
        for name in ["w/a/f", "w/f", "w-evil/f", "out/f", "out/a/f"] {
            std::fs::write(base.join(name), "x").unwrap();
        }
        Farm { _dir: dir, base }
    }

    fn workspace(&self) -> PathBuf {
        self.base.join("w")
    }

    /// Puts a symlink, if its place is free and its directory is there.
    fn link(&self, place: &str, target: &str) {
        let target = target.replace("BASE", &self.base.display().to_string());
        let _ = symlink(target, self.base.join(place));
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let query = Query::RealPath {
            base: self.workspace().display().to_string(),
            path: path.display().to_string(),
        };
        let Answer::RealPath(real) = FileSystem::default().answer(&query)? else { panic!("{query:?}") };
        Some(real.into())
    }

    /// The effects of a tool that writes a path in the workspace.
    fn written(&self, path: &str) -> Vec<Effect> {
        let machine = FileSystem::default();
        let setting = Setting { workspace: self.workspace().display().to_string(), ..Setting::default() };
        let call = write_call(&setting.workspace, path);
        analyse(&call, &setting, &mut Recorder::new(&machine)).effects
    }
}

fn write_call(cwd: &str, path: &str) -> Call {
    let name = "Write".to_owned();
    Call {
        correlation_id: 1,
        agent: Agent { cwd: cwd.to_owned(), pid: std::process::id(), ..Agent::default() },
        tool: Tool {
            name: name.clone(),
            name_raw: name,
            use_id: String::new(),
            kind: ToolKind::Write,
            mcp: None,
        },
        input: serde_json::Value::Null,
        input_text: String::new(),
        command: None,
        files: vec![FileTarget {
            path: path.to_owned(),
            patch_op: None,
            patch_text: String::new(),
            change: Change::Whole(String::new()),
        }],
        in_background: false,
        problems: Vec::new(),
    }
}

/// A relative path of few names, so that links meet.
fn route() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "f", "l", "m", "n", "..", ".", ""]);
    prop::collection::vec(name, 1..7).prop_map(|names| names.join("/").trim_start_matches('/').to_owned())
}

fn target() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec![
        "",
        "../",
        "../../",
        "BASE/w/",
        "BASE/out/",
        "BASE/w-evil/",
        "../out/",
        "../w/",
    ]);
    (start, route())
        .prop_map(|(start, route)| format!("{start}{route}"))
        .prop_filter("a link has a target", |target| !target.is_empty())
}

fn place() -> impl Strategy<Value = String> {
    let directory = prop::sample::select(vec!["w", "w/a", "w/a/b", "w/c", "out", "out/a", "w-evil"]);
    let name = prop::sample::select(vec!["l", "m", "n"]);
    (directory, name).prop_map(|(directory, name)| format!("{directory}/{name}"))
}

/// True if the kernel resolves a path of the workspace without ever leaving it.
fn stays_beneath(workspace: &Path, path: &str) -> Result<bool, Errno> {
    let directory = open(workspace, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    match openat2(&directory, path, OFlags::PATH, Mode::empty(), ResolveFlags::BENEATH) {
        Ok(_) => Ok(true),
        Err(Errno::XDEV) => Ok(false),
        Err(errno) => Err(errno),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_kernel_agrees(links in prop::collection::vec((place(), target()), 0..10), path in route()) {
        let farm = Farm::new();
        for (place, target) in &links {
            farm.link(place, target);
        }
        let whole = farm.workspace().join(&path);
        let real = farm.real(Path::new(&path));
        let kernel = std::fs::canonicalize(&whole);
        match &kernel {
            Ok(kernel) => prop_assert_eq!(real.as_ref(), Some(kernel)),
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => prop_assert_eq!(real.as_ref(), None),
            // What is missing stays as written. Nothing real is above it but what the kernel finds there.
            Err(_) => {
                let above = real.as_ref().and_then(|real| real.ancestors().find(|one| one.exists()).map(Path::to_owned));
                if let Some(above) = above {
                    prop_assert_eq!(std::fs::canonicalize(&above).unwrap(), above);
                }
            }
        }
        let Ok(kernel) = kernel else { return Ok(()) };
        let is_inside = kernel.starts_with(farm.workspace());
        if let Ok(stays) = stays_beneath(&farm.workspace(), if path.is_empty() { "." } else { &path }) {
            prop_assert!(is_inside || !stays, "the kernel stays in the workspace and castellan does not");
        }
        // As written it is inside, in fact outside: an escape. Each other path is none.
        let written = lexical_path(&farm.workspace().display().to_string(), &path);
        let is_written_inside = Path::new(&written).starts_with(farm.workspace());
        let effects = farm.written(if path.is_empty() { "." } else { &path });
        let effect = effects.iter().find(|effect| effect.kind() == EffectKind::Write).unwrap();
        prop_assert_eq!(effect.escape() == Some(Escape::Symlink), is_written_inside && !is_inside, "{} is {}", path, kernel.display());
        prop_assert_eq!(effect.place() == Some(Scope::Workspace), is_inside);
    }
}

#[test]
fn as_many_links_are_followed_as_the_kernel_follows() {
    let farm = Farm::new();
    for number in 0..50 {
        farm.link(&format!("w/{number}"), &(number + 1).to_string());
    }
    std::fs::write(farm.base.join("w/50"), "").unwrap();
    for first in 0..50 {
        let path = farm.workspace().join(first.to_string());
        let kernel = std::fs::canonicalize(&path).ok();
        assert_eq!(farm.real(&path), kernel, "{} links", 50 - first);
        assert_eq!(kernel.is_some(), 50 - first <= 40);
    }
}

#[test]
fn odd_names_lead_where_the_kernel_says() {
    let farm = Farm::new();
    farm.link("w/new\nline", "../out");
    farm.link("w/-rf", "../out");
    farm.link("w/sp ace", "c");
    for (path, escape) in [
        ("new\nline/x", Some(Escape::Symlink)),
        ("-rf/x", Some(Escape::Symlink)),
        ("sp ace/x", None),
        ("no\nlink/x", None),
    ] {
        let effects = farm.written(path);
        assert_eq!(effects.iter().map(Effect::escape).collect::<Vec<_>>(), [escape], "{path:?}");
    }
    // Bytes that are no text: the path in the answer is not the file's, so the target is Opaque.
    let odd = farm.workspace().join(OsStr::from_bytes(b"\xff"));
    create_dir_all(&odd).unwrap();
    symlink(&odd, farm.workspace().join("bytes")).unwrap();
    let effects = farm.written("bytes/x");
    assert!(effects.iter().any(Effect::is_opaque), "{effects:?}");
}

/// A hard link is found on a real file system, by the directories of secrets in the home of the agent's process.
#[test]
fn a_hard_link_to_a_guarded_file_is_found() {
    let farm = Farm::new();
    let own = farm.base.join("castellan");
    create_dir_all(&own).unwrap();
    std::fs::write(own.join("config.toml"), "version = 1\n").unwrap();
    std::fs::hard_link(own.join("config.toml"), farm.workspace().join("notes")).unwrap();
    std::fs::hard_link(farm.base.join("w/f"), farm.workspace().join("again")).unwrap();
    let machine = FileSystem::default();
    let workspace = farm.workspace().display().to_string();
    let setting =
        Setting { workspace: workspace.clone(), own: vec![own.display().to_string()], ..Setting::default() };
    for (path, escape, links) in [("notes", Some(Escape::HardLink), 2), ("again", None, 2), ("a/f", None, 1)]
    {
        let call = write_call(&workspace, path);
        let effects = analyse(&call, &setting, &mut Recorder::new(&machine)).effects;
        let effect = effects.first().unwrap();
        assert_eq!(effect.escape(), escape, "{path}");
        assert_eq!(effect.measured().unwrap().links, Some(links), "{path}");
        assert_eq!(effect.guard().is_some(), escape.is_some(), "{path}");
    }
}

/// Another program changes the link while castellan looks. Each answer is of one of both states, or Opaque.
#[test]
fn a_link_that_changes_meanwhile_leads_to_one_of_its_targets() {
    let farm = Farm::new();
    for (name, target) in [("in", "c"), ("out", "../out"), ("swap", "c")] {
        farm.link(&format!("w/{name}"), target);
    }
    let workspace = farm.workspace();
    let is_done = AtomicBool::new(false);
    let (mut inside, mut outside) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0_u32;
            while !is_done.load(Ordering::Relaxed) {
                number += 1;
                let target = if number.is_multiple_of(2) { "c" } else { "../out" };
                let next = workspace.join("next");
                symlink(target, &next).unwrap();
                std::fs::rename(&next, workspace.join("swap")).unwrap();
            }
        });
        // Enough for both states to be seen; the number of rounds ends a machine that shows one only.
        for _ in 0..20_000 {
            for effect in farm.written("swap/x") {
                let is_inside = effect.path().is_some_and(|path| Path::new(path).starts_with(&workspace));
                match (effect.is_opaque(), is_inside, effect.escape()) {
                    (true, ..) => {}
                    (false, true, None) => inside += 1,
                    (false, false, Some(Escape::Symlink)) => outside += 1,
                    other => panic!("{other:?}: {effect:?}"),
                }
            }
            if inside > 50 && outside > 50 {
                break;
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(inside > 0 && outside > 0, "{inside} inside, {outside} outside");
}
