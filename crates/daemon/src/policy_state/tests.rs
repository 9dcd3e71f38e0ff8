//! Bad files of every layer give a clear error and never a milder verdict than before.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use castellan_audit::{Config as LogConfig, Log};
use castellan_policy::NotAllow;

use super::*;
use crate::config::KeyEdit;
use crate::file_set::read_project;
use crate::memory::Memory;
use crate::plans::Plans;
use crate::projects::keep_copy;
use crate::shipped::write_shipped;

mod trial;

/// Content of each layer's good file, whose effect is visible.
const GOOD: &str = "version = 1\nopaque = \"deny\"\n";

/// A home with an organisation above it.
pub(super) struct Place {
    root: tempfile::TempDir,
    pub(super) layout: Layout,
}

/// The daemon's state for a home.
pub(super) struct Served {
    pub(super) judge: Judge,
    pub(super) state: PolicyState,
}

impl Place {
    pub(super) fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        let own = rustix::process::geteuid().as_raw();
        let layout = Layout::read(&root.path().join("home")).unwrap();
        let layout = layout.with_organisation(&root.path().join("organisation"), own);
        layout.create().unwrap();
        write_shipped(&layout).unwrap();
        Place { root, layout }
    }

    fn serve(&self) -> Served {
        self.serve_with(Arc::default())
    }

    pub(super) fn serve_with(&self, engine: Arc<Engine>) -> Served {
        let (state, _, terms) = PolicyState::start_with(&self.layout, None, engine);
        let log = Log::open(&self.layout.log(), LogConfig::default(), SystemTime::now()).unwrap();
        let journal = self.layout.journal();
        let (memory, _) = Memory::open(journal.clone(), !journal.exists(), 1).unwrap();
        let judge =
            Judge::new(terms, log, Vec::new(), memory, Plans::new(self.layout.state()), Arc::default());
        state.record_start(&judge);
        Served { judge, state }
    }

    fn file(&self, layer: Layer) -> PathBuf {
        match layer {
            Layer::Organisation => self.layout.organisation().dir.join("config.toml"),
            Layer::User => self.layout.config_file(),
            Layer::Project => self.root.path().join("repo/.castellan/config.toml"),
        }
    }

    pub(super) fn write(&self, layer: Layer, text: &[u8]) {
        let file = self.file(layer);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&file);
        std::fs::write(file, text).unwrap();
    }

    /// The error in a layer's files, as a person reads it.
    fn error(&self, layer: Layer) -> String {
        let load = |layers: Layers| layers.load(&self.layout).map(|_| ());
        let user = || FileSet::read(&self.layout).map_err(|error| error.to_string());
        let done = match layer {
            Layer::Organisation => organisation_now(&self.layout).map(|_| ()).map_err(Unusable::why),
            Layer::User => user().and_then(|user| {
                load(Layers { organisation: None, user, project: None, trial: Trial::new() })
            }),
            Layer::Project => read_project(&self.root.path().join("repo"))
                .map_err(|error| error.to_string())
                .and_then(|project| {
                    load(Layers { organisation: None, user: user()?, project, trial: Trial::new() })
                }),
        };
        done.err().unwrap_or_default()
    }
}

impl Served {
    fn opaque(&self) -> NotAllow {
        self.judge.terms().policy.settings().opaque
    }

    fn apply(&self, layout: &Layout) -> Result<(), String> {
        let hash = FileSet::read(layout).map(|set| set.hash()).map_err(|error| error.to_string())?;
        self.state.apply(&self.judge, &hash, (0, 0))
    }
}

impl Served {
    fn floor(&self) -> Option<(Mode, String)> {
        self.state.in_force().floor.clone()
    }

    fn loosen(
        &self,
        mode: Mode,
        record: impl FnOnce(Result<(), String>) -> Result<(), String>,
    ) -> Result<(), String> {
        self.state.loosen_mode(&self.judge, mode, record)
    }
}

/// Replaces a file.
type Make = fn(&Path);

/// Possible contents of a configuration file, and part of the resulting error.
const BAD: &[(&str, Make, &str)] = &[
    ("empty", |file| write(file, b""), "config.toml`:1:1: `version` is missing"),
    ("a wrong type", |file| write(file, b"version = 1\nmode = 1"), "config.toml`:2:8: `mode` must be a text"),
    ("an unknown key", |file| write(file, b"version = 1\nmod = 1"), "config.toml`:2:1: unknown key `mod`"),
    (
        "a key twice",
        |file| write(file, b"version = 1\nmode = \"monitor\"\nmode = \"enforce\""),
        "config.toml`:3:1: ",
    ),
    (
        "a newer version",
        |file| write(file, b"version = 2\nnew = 1"),
        "config.toml`:1:11: `version` is 2, but this castellan reads 1",
    ),
    (
        "100 MB",
        |file| std::fs::File::create(file).unwrap().set_len(100 << 20).unwrap(),
        "config.toml`: it has more than ",
    ),
    ("not UTF-8", |file| write(file, b"version = 1\n# \xff\n"), "config.toml`: it is not UTF-8"),
    ("open to all", |file| mode(file, 0o666), "config.toml`: other users can write it"),
    (
        "a folder",
        |file| std::fs::create_dir(file).unwrap(),
        "config.toml`: it is a folder, not a regular file",
    ),
    ("a pipe", pipe, "config.toml`: it is a pipe, not a regular file"),
    ("a link to what never ends", |file| symlink("/dev/zero", file).unwrap(), "config.toml`: "),
];

fn write(file: &Path, text: &[u8]) {
    std::fs::write(file, text).unwrap();
}

fn mode(file: &Path, mode: u32) {
    write(file, GOOD.as_bytes());
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn pipe(file: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
}

fn make(bad: fn(&Path), file: &Path) {
    std::fs::remove_file(file).unwrap();
    bad(file);
}

#[test]
fn every_bad_file_of_every_layer_has_a_clear_error() {
    for layer in Layer::ALL {
        for (what, bad, part) in BAD {
            let place = Place::new();
            place.write(layer, GOOD.as_bytes());
            assert_eq!(place.error(layer), "", "{layer}");
            make(*bad, &place.file(layer));
            assert!(
                place.error(layer).contains(part),
                "{layer}, {what}: {} lacks {part}",
                place.error(layer)
            );
        }
    }
}

#[test]
fn a_bad_file_of_the_organisation_leaves_the_last_good_one_in_force() {
    for (what, bad, part) in BAD {
        let place = Place::new();
        place.write(Layer::Organisation, GOOD.as_bytes());
        let served = place.serve();
        assert_eq!((served.opaque(), served.state.organisation_problem()), (NotAllow::Deny, None), "{what}");
        make(*bad, &place.file(Layer::Organisation));
        served.state.reload_organisation(&served.judge);
        let reported = served.state.report().problems.concat();
        assert!(served.opaque() == NotAllow::Deny && reported.contains(part), "{what}: {reported}");
        drop(served);
        // After a restart, too.
        let served = place.serve();
        let reported = served.state.report().problems.concat();
        assert!(served.opaque() == NotAllow::Deny && reported.contains(part), "{what}: {reported}");
        // And when the user applies other files.
        assert_eq!(served.apply(&place.layout), Ok(()), "{what}");
        assert_eq!(served.opaque(), NotAllow::Deny, "{what}");
    }
}

/// The broken file's prohibitions are unknown. A file that is not the organisation's has none.
#[test]
fn a_bad_file_of_the_organisation_at_the_first_start_denies_all_but_reading() {
    for (what, bad, part) in BAD {
        let place = Place::new();
        place.write(Layer::Organisation, GOOD.as_bytes());
        make(*bad, &place.file(Layer::Organisation));
        let served = place.serve();
        let terms = served.judge.terms();
        let reported = served.state.report().problems.concat();
        assert!(reported.contains(part), "{what}: {reported}");
        assert_eq!(terms.policy.problem().is_none(), *what == "open to all", "{what}");
    }
}

#[test]
fn files_that_are_not_the_organisations_are_refused() {
    let check = |change: &dyn Fn(&Place), part: &str| {
        let place = Place::new();
        place.write(Layer::Organisation, GOOD.as_bytes());
        let rules = place.layout.organisation().dir.join("rules");
        std::fs::create_dir(&rules).unwrap();
        std::fs::write(rules.join("a.yaml"), "").unwrap();
        change(&place);
        let served = place.serve();
        let reported = served.state.report().problems.concat();
        assert!(reported.contains(part), "{part}: {reported}");
        assert!(served.judge.terms().policy.problem().is_none(), "{part}");
        assert_eq!(served.opaque(), NotAllow::Ask, "{part}");
        let records =
            castellan_audit::read(served.judge.log().dir(), &castellan_audit::Filter::default()).unwrap();
        let is_reported =
            |entry: &castellan_audit::Entry| entry.record.kind() == "failure" && entry.line.contains(part);
        assert!(records.entries.iter().any(is_reported), "not recorded: {part}");
    };
    let open = |file: PathBuf, bits: u32| {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(bits)).unwrap();
    };
    let dir = |place: &Place| place.layout.organisation().dir.clone();
    for (bits, name) in
        [(0o777, ""), (0o775, ""), (0o777, "rules"), (0o664, "config.toml"), (0o666, "rules/a.yaml")]
    {
        check(&|place| open(dir(place).join(name), bits), "other users can write it");
    }
    let place = Place::new();
    place.write(Layer::Organisation, GOOD.as_bytes());
    let own = rustix::process::geteuid().as_raw();
    let other = place.layout.clone().with_organisation(&place.layout.organisation().dir, own + 1);
    let why = organisation_now(&other).unwrap_err();
    let expected = format!("it belongs to user {own}, not {}: change its owner", own + 1);
    assert!(matches!(&why, Unusable::Distrusted(why) if why.contains(&expected)), "{why:?}");
}

#[test]
fn no_link_is_followed_but_the_users() {
    let place = Place::new();
    let elsewhere = place.root.path().join("elsewhere.toml");
    write(&elsewhere, GOOD.as_bytes());
    for (layer, expected) in [(Layer::Organisation, false), (Layer::User, true), (Layer::Project, false)] {
        place.write(layer, GOOD.as_bytes());
        std::fs::remove_file(place.file(layer)).unwrap();
        symlink(&elsewhere, place.file(layer)).unwrap();
        assert_eq!(place.error(layer).is_empty(), expected, "{layer}: {}", place.error(layer));
    }
    // castellan does not follow a link in the place of the folder either.
    let place = Place::new();
    place.write(Layer::Project, GOOD.as_bytes());
    let dir = place.file(Layer::Project).parent().unwrap().to_owned();
    std::fs::rename(&dir, place.root.path().join("real")).unwrap();
    symlink(place.root.path().join("real"), &dir).unwrap();
    assert!(place.error(Layer::Project).contains("a symbolic link is not followed"));
}

#[test]
fn what_the_organisation_changes_is_in_force_by_itself() {
    let place = Place::new();
    let served = place.serve();
    assert_eq!(served.opaque(), NotAllow::Ask);
    place.write(Layer::Organisation, GOOD.as_bytes());
    served.state.reload_organisation(&served.judge);
    assert_eq!((served.opaque(), served.state.report().problems), (NotAllow::Deny, vec![]));
    // It is stored: a start finds the set that the log names.
    drop(served);
    let served = place.serve();
    assert_eq!((served.opaque(), served.state.found), (NotAllow::Deny, Some(Found::Recorded)));
    // Another file, while no daemon runs.
    drop(served);
    place.write(Layer::Organisation, b"version = 1\nlocked = [\"mode\"]\n");
    let served = place.serve();
    assert_eq!(served.opaque(), NotAllow::Ask);
    assert_eq!(served.floor().map(|(mode, _)| mode), Some(Mode::Enforce));
    drop(served);
    let served = place.serve();
    assert_eq!(served.state.found, Some(Found::Recorded));
    // A removed file has no effect.
    std::fs::remove_file(place.file(Layer::Organisation)).unwrap();
    served.state.reload_organisation(&served.judge);
    assert_eq!((served.floor(), served.state.report().problems), (None, vec![]));
}

#[test]
fn a_stricter_mode_that_could_not_be_kept_holds_on() {
    let place = Place::new();
    place.write(Layer::User, b"version = 1\nmode = \"monitor\"\n");
    let served = place.serve();
    let mode = || served.judge.terms().mode;
    let organisation = |text: &[u8]| {
        place.write(Layer::Organisation, text);
        served.state.reload_organisation(&served.judge);
    };
    assert_eq!(mode(), Mode::Monitor);
    served.judge.set_mode(Mode::Enforce);
    organisation(b"version = 1\n# other\n");
    assert_eq!(mode(), Mode::Enforce);
    // Stored and then revoked by a person: the files contain it.
    served.loosen(Mode::Monitor, |kept| kept).unwrap();
    organisation(b"version = 1\nmode = \"enforce\"\n");
    assert_eq!(mode(), Mode::Enforce);
    organisation(b"version = 1\n");
    assert_eq!(mode(), Mode::Monitor);
}

#[test]
fn a_milder_mode_is_kept_recorded_and_holds_as_one_change() {
    let place = Place::new();
    place.write(Layer::User, b"version = 1\nmode = \"enforce\" # mine\n");
    let served = place.serve();
    let mode = || served.judge.terms().mode;
    let done = served.loosen(Mode::Monitor, |kept| {
        assert_eq!((&kept, mode()), (&Ok(()), Mode::Enforce), "not before it is recorded");
        assert!(
            served.state.changing.try_lock().is_err(),
            "the organisation could say something else meanwhile"
        );
        kept
    });
    assert_eq!((done, mode()), (Ok(()), Mode::Monitor));
    // The mode cannot go below the organisation's current mode.
    place.write(Layer::Organisation, b"version = 1\nmode = \"monitor\"\n");
    served.state.reload_organisation(&served.judge);
    let why = served.loosen(Mode::Passthrough, |kept| kept).unwrap_err();
    assert!(why.starts_with("the organisation's configuration says `monitor`: "), "{why}");
    assert_eq!(mode(), Mode::Monitor);
    drop(served);
    assert_eq!(place.serve().judge.terms().mode, Mode::Monitor);
}

#[test]
fn a_mode_of_the_organisation_permits_no_pause_and_ends_one() {
    let place = Place::new();
    place.write(Layer::User, b"version = 1\n");
    let served = place.serve();
    assert_eq!(served.state.permits_pause(), Ok(()));
    served.judge.pause(600).unwrap();
    served.state.end_forbidden_pause(&served.judge);
    assert!(served.judge.pause_now().is_some());
    for mode in ["monitor", "enforce"] {
        place.write(Layer::Organisation, format!("version = 1\nmode = \"{mode}\"\n").as_bytes());
        served.state.reload_organisation(&served.judge);
        let why = served.state.permits_pause().unwrap_err();
        assert!(why.starts_with(&format!("the organisation's configuration says `{mode}`: ")), "{why}");
        served.state.end_forbidden_pause(&served.judge);
        assert!(served.judge.pause_now().is_none());
        served.judge.pause(600).unwrap();
    }
    // Without a set, nobody knows the organisation's mode.
    drop(served);
    std::fs::remove_dir_all(place.layout.applied()).unwrap();
    let served = place.serve();
    assert!(served.judge.pause_now().is_some());
    served.state.end_forbidden_pause(&served.judge);
    assert!(served.judge.pause_now().is_none());
}

#[test]
fn a_milder_mode_that_is_not_recorded_leaves_everything_as_it_was() {
    let place = Place::new();
    place.write(Layer::User, b"version = 1\nmode = \"enforce\" # mine\n");
    let served = place.serve();
    let text = || std::fs::read_to_string(place.file(Layer::User)).unwrap();
    let before = (text(), served.state.files());
    let done = served.loosen(Mode::Monitor, |kept| kept.and(Err("the disk is full".to_owned())));
    assert_eq!(done, Err("the disk is full".to_owned()));
    assert_eq!((text(), served.state.files()), before);
    assert_eq!(served.judge.terms().mode, Mode::Enforce);
    drop(served);
    assert_eq!(place.serve().judge.terms().mode, Mode::Enforce);
}

#[test]
fn what_has_become_stricter_stays_so_when_the_mode_of_before_is_asked_for_again() {
    let place = Place::new();
    place.write(Layer::User, b"version = 1\nmode = \"monitor\"\n");
    let served = place.serve();
    // The current mode needs no user presence check, and it is another one by now.
    served.judge.tighten(Mode::Enforce);
    served.state.tighten_mode(&served.judge, Mode::Monitor).unwrap();
    assert_eq!(served.judge.terms().mode, Mode::Enforce);
    drop(served);
    assert_eq!(place.serve().judge.terms().mode, Mode::Enforce);
}

#[test]
fn a_bad_file_of_the_user_leaves_the_applied_one_in_force() {
    for (what, bad, part) in BAD {
        let place = Place::new();
        place.write(Layer::User, GOOD.as_bytes());
        let served = place.serve();
        make(*bad, &place.file(Layer::User));
        let why = served.apply(&place.layout).unwrap_err();
        assert!(why.contains(part), "{what}: {why}");
        assert_eq!(served.opaque(), NotAllow::Deny, "{what}");
        drop(served);
        assert_eq!(place.serve().opaque(), NotAllow::Deny, "{what}");
    }
}

#[test]
fn a_file_of_the_user_that_is_gone_leaves_the_applied_one_in_force() {
    let place = Place::new();
    place.write(Layer::User, GOOD.as_bytes());
    let served = place.serve();
    std::fs::remove_file(place.file(Layer::User)).unwrap();
    assert_eq!(
        (served.opaque(), served.state.report().pending),
        (NotAllow::Deny, vec!["config.toml".to_owned()])
    );
    drop(served);
    let served = place.serve();
    assert_eq!(served.opaque(), NotAllow::Deny);
    // A missing file has no effect once a person has applied that.
    assert_eq!(served.apply(&place.layout), Ok(()));
    assert_eq!(served.opaque(), NotAllow::Ask);
}

#[test]
fn a_projects_files_only_tighten() {
    let place = Place::new();
    place.write(Layer::User, b"version = 1\nmode = \"monitor\"\n");
    let served = place.serve();
    let project = |config: &str| FileSet { config: format!("version = 1\n{config}"), rules: Vec::new() };
    let of = |set: &FileSet| {
        keep_copy(&place.layout, set).unwrap();
        served.judge.terms().projects.get(&set.hash()).unwrap()
    };
    let strict = of(&project("mode = \"enforce\"\nopaque = \"deny\""));
    assert_eq!((strict.policy.settings().opaque, strict.mode), (NotAllow::Deny, Some(Mode::Enforce)));
    let mild = of(&project("mode = \"passthrough\"\nopaque = \"defer\""));
    assert_eq!((mild.policy.settings().opaque, mild.mode), (NotAllow::Ask, Some(Mode::Passthrough)));
    assert!(Arc::ptr_eq(&strict, &of(&project("mode = \"enforce\"\nopaque = \"deny\""))), "compiled twice");
    // Files that do not load allow only reading.
    let broken = of(&project("log.fsync = true"));
    let why = broken.policy.problem().unwrap_or_default();
    assert!(
        why.contains("`log.fsync` is not valid in a project's file") && broken.mode == Some(Mode::Enforce),
        "{why}"
    );
}

/// Prepares and makes a switch; checks whether it needs a person. `Err`: part of the error of an impossible switch.
fn check_switch(organisation: &str, (key, word): (&str, &str), expected: Result<bool, &str>) {
    let place = Place::new();
    place.write(Layer::Organisation, format!("version = 1\n{organisation}").as_bytes());
    place.write(Layer::User, b"version = 1\nopaque = \"defer\" # mine\n");
    let Served { judge, state } = place.serve();
    let in_force = |judge: &Judge| (judge.terms().policy.hash().to_owned(), judge.terms().mode);
    let before = in_force(&judge);
    let prepared = state.prepare_switch(&[(key.to_owned(), KeyEdit::word(word))]);
    match (prepared, expected) {
        (Ok(switch), Ok(needs_person)) => {
            assert_eq!(switch.needs_person, needs_person, "{key} {word}");
            state.switch(&judge, switch, None, (0, 0)).unwrap();
            assert_ne!(in_force(&judge), before, "{key} {word} is in force");
            // The file contains the word, too, so no edit is pending.
            assert_eq!(state.report().pending, [""; 0]);
            let text = std::fs::read_to_string(place.file(Layer::User)).unwrap();
            assert!(text.contains("opaque = \"defer\" # mine\n"), "{text}");
            // The next start finds it.
            let after = in_force(&judge);
            drop(judge);
            assert_eq!(in_force(&place.serve().judge), after, "{key} {word}");
        }
        (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
        (got, expected) => panic!("{key} {word}: {got:?}, expected {expected:?}"),
    }
}

#[test]
fn one_word_is_switched_live_and_kept() {
    check_switch("", ("profile", "strict"), Ok(false));
    check_switch("", ("profile", "autonomous"), Ok(true));
    check_switch("", ("packs.git", "observe"), Ok(true));
    check_switch("", ("tiers.review", "off"), Ok(true));
    check_switch("", ("profile", "x"), Err("`profile`: `x` is not one of"));
    check_switch("", ("packs.self", "off"), Err("(the pack `self`) are always enforced"));
    check_switch("", ("mode", "monitor"), Ok(true));
    check_switch("packs.git = \"enforce\"", ("packs.git", "off"), Err("the organisation sets \"enforce\""));
    check_switch("locked = [\"profile\"]", ("profile", "kit"), Err("the organisation sets \"standard\""));
}

#[test]
fn a_switch_of_what_is_not_in_force_any_more_is_refused() {
    let place = Place::new();
    let Served { judge, state } = place.serve();
    let prepare =
        |word: &str| state.prepare_switch(&[("packs.git".to_owned(), KeyEdit::word(word))]).unwrap();
    let shown = state.files();
    let (first, late) = (prepare("off"), prepare("enforce"));
    state.switch(&judge, first, Some(&shown), (0, 0)).unwrap();
    let refused = |switch, shown| match state.switch(&judge, switch, shown, (0, 0)).unwrap_err() {
        NotPut::Failed(why) => why,
        NotPut::Unchecked(wanted) => panic!("{wanted:?}"),
    };
    for why in [refused(late, None), refused(prepare("enforce"), Some(shown.as_str()))] {
        assert!(why.contains("meanwhile"), "{why}");
    }
}

/// Adds a short rule to the user's list, with an organisation above. `Ok`: it needs a person; `Err`: part of the error.
fn check_added(organisation: &str, expected: Result<bool, &str>) {
    let place = Place::new();
    place.write(Layer::Organisation, format!("version = 1\n{organisation}").as_bytes());
    place.write(Layer::User, b"version = 1\nallow = ['Bash(a)'] # mine\n");
    let Served { judge, state } = place.serve();
    // An edit that still waits keeps waiting.
    place.write(Layer::User, b"version = 1\nallow = ['Bash(a)'] # mine\nmode = 'monitor'\n");
    let prepared = state.prepare_switch(&[("allow".to_owned(), KeyEdit::Add("Bash(b)".to_owned()))]);
    match (prepared, expected) {
        (Ok(switch), Ok(needs_person)) => {
            assert_eq!(switch.needs_person, needs_person, "{organisation}");
            state.switch(&judge, switch, None, (0, 0)).unwrap();
            let text = std::fs::read_to_string(place.file(Layer::User)).unwrap();
            assert_eq!(text, "version = 1\nallow = ['Bash(a)', \"Bash(b)\"] # mine\nmode = 'monitor'\n");
            assert_eq!(state.report().pending, ["config.toml"]);
            assert_eq!(judge.terms().mode, Mode::Enforce);
        }
        (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
        (got, expected) => panic!("{organisation}: {got:?}, expected {expected:?}"),
    }
}

#[test]
fn a_short_rule_is_added_live_where_it_counts() {
    check_added("", Ok(true));
    check_added("allow = ['Bash(c)']", Ok(true));
    check_added("locked = ['allow']", Err("`allow` has no effect: the organisation locked it"));
}
