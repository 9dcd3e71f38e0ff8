//! Copies of projects' files: only the trusted content has an effect, never a changed copy.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use castellan_policy::NotAllow;
use castellan_rules::Source;

use super::*;
use crate::trial::Trial;

/// A home with one copy.
struct Place {
    layout: Layout,
    set: FileSet,
    _root: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        let layout = Layout::read(root.path()).unwrap();
        layout.create().unwrap();
        let rules = vec![Source { name: "/w/.castellan/rules/a.yaml".to_owned(), text: String::new() }];
        let set = FileSet { config: "version = 1\nopaque = \"deny\"\n".to_owned(), rules };
        keep_copy(&layout, &set).unwrap();
        Place { layout, set, _root: root }
    }

    fn projects(&self) -> Projects {
        let user = FileSet { config: "version = 1\n".to_owned(), rules: Vec::new() };
        Projects::below(
            &self.layout,
            Arc::new(Layers { organisation: None, user, project: None, trial: Trial::new() }),
        )
    }

    fn file(&self) -> PathBuf {
        self.layout.projects().join(format!("{}.json", self.set.hash()))
    }
}

#[test]
fn a_copy_is_private_and_read_once() {
    let place = Place::new();
    assert_eq!(place.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let projects = place.projects();
    let first = projects.get(&place.set.hash()).unwrap();
    assert_eq!(first.policy.settings().opaque, NotAllow::Deny);
    std::fs::remove_file(place.file()).unwrap();
    assert!(Arc::ptr_eq(&first, &projects.get(&place.set.hash()).unwrap()));
}

#[test]
fn files_are_named_from_the_workspace_on() {
    let place = Place::new();
    let read = read_copy(&place.layout, &place.set.hash()).unwrap();
    let names: Vec<_> = read.rules.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, [".castellan/rules/a.yaml"]);
}

#[test]
fn a_copy_that_is_not_what_was_trusted_does_not_count() {
    let check = |what: &str, damage: &dyn Fn(&Path), part: &str| {
        let place = Place::new();
        let text = std::fs::read(place.file()).unwrap();
        damage(&place.file());
        let (projects, hash) = (place.projects(), place.set.hash());
        let lost = projects.get(&hash).unwrap_err();
        assert!(lost.why.contains(part) && lost.is_news, "{what}: {lost:?}");
        assert!(!projects.get(&hash).unwrap_err().is_news, "{what}: told twice");
        // Trusted again, the copy exists again.
        let _ = std::fs::remove_file(place.file());
        keep_copy(&place.layout, &place.set).unwrap();
        assert_eq!(std::fs::read(place.file()).unwrap(), text, "{what}");
        projects.look_again(&hash);
        assert!(projects.get(&hash).is_ok(), "{what}");
    };
    let change = |file: &Path, from: &str, to: &str| {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains(from));
        std::fs::write(file, text.replace(from, to)).unwrap();
    };
    check("gone", &|file| std::fs::remove_file(file).unwrap(), "No such file");
    check("edited", &|file| change(file, "deny", "defer"), "it is not what was trusted");
    check("empty", &|file| std::fs::write(file, "").unwrap(), "EOF");
    check("not UTF-8", &|file| std::fs::write(file, b"\xff").unwrap(), "not UTF-8");
    check(
        "newer",
        &|file| change(file, "\"version\":1,\"files\"", "\"version\":2,\"files\""),
        "version is 2",
    );
    check("more", &|file| change(file, "{\"version\":1,", "{\"version\":1,\"mode\":1,"), "unknown field");
    check(
        "too long",
        &|file| std::fs::File::create(file).unwrap().set_len(100_000_000).unwrap(),
        "more than",
    );
    let open = |file: &Path| {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o606)).unwrap();
    };
    check("open to all", &open, "other users can write it");
    let link = |file: &Path| {
        std::fs::rename(file, file.with_extension("real")).unwrap();
        symlink(file.with_extension("real"), file).unwrap();
    };
    check("a link", &link, "a symbolic link");
}

#[test]
fn copies_that_nobody_needs_are_removed() {
    let place = Place::new();
    let hash = place.set.hash();
    forget_copies(&place.layout, |needed| needed == hash).unwrap();
    assert!(place.file().exists());
    forget_copies(&place.layout, |_| false).unwrap();
    assert!(!place.file().exists());
}

#[test]
fn what_is_too_long_for_a_copy_is_refused() {
    let place = Place::new();
    let text = "#".repeat(usize::try_from(crate::limits::PROJECT_BYTES_MAX).unwrap());
    let why = keep_copy(&place.layout, &FileSet { config: text, rules: Vec::new() }).unwrap_err();
    assert!(why.contains("more than"), "{why}");
}

#[test]
fn below_nothing_only_reading_is_left() {
    let project = Projects::default().get("ab").unwrap();
    assert!(project.policy.problem().is_some());
}
