//! Plans and reports as data: no file system, no kernel.

use std::collections::BTreeMap;

use super::*;
use crate::capabilities::{Cgroups, Feature, Level};
use crate::plan::{MountFlags, Resource, Step};
use crate::policy::{Limits, Ports, Read};
use crate::survey::{Kind, Seen};

const WORK: &str = "/home/u/work";

fn seen(path: &str, kind: Kind) -> (PathBuf, Seen) {
    let names = u64::from(kind != Kind::Missing);
    let path = PathBuf::from(path);
    (
        path.clone(),
        Seen {
            place: path.clone(),
            real: path,
            kind,
            link: false,
            text: PathBuf::new(),
            names,
            placeholder: false,
        },
    )
}

/// A machine with a workspace that has `.git`, a secret in the home, and a socket in `/run`.
fn machine() -> Survey {
    let paths = [
        seen("/tmp", Kind::Directory),
        seen("/run", Kind::Directory),
        seen("/dev/null", Kind::File),
        seen("/usr", Kind::Directory),
        seen(WORK, Kind::Directory),
        seen("/home/u/work/.git", Kind::Directory),
        seen("/home/u/work/.castellan", Kind::Missing),
        seen("/home/u/.ssh", Kind::Directory),
        seen("/run/docker.sock", Kind::File),
        seen("/", Kind::Directory),
    ];
    let entries =
        |names: &[(&str, Kind)]| Some(names.iter().map(|(name, kind)| ((*name).into(), *kind)).collect());
    let siblings = BTreeMap::from([
        ("/".into(), entries(&[("bin", Kind::Link), ("home", Kind::Directory), ("usr", Kind::Directory)])),
        ("/home".into(), entries(&[("u", Kind::Directory)])),
        (
            "/home/u".into(),
            entries(&[(".ssh", Kind::Directory), ("work", Kind::Directory), ("x", Kind::File)]),
        ),
    ]);
    let scratch = "/tmp/castellan-sandbox-0".into();
    Survey { uid: 1000, gid: 1000, scratch, paths: BTreeMap::from(paths), siblings }
}

fn policy() -> Policy {
    let mut policy = Policy::workspace_write(Path::new(WORK));
    policy.files.protected = vec!["/home/u/work/.git".into(), "/home/u/work/.castellan".into()];
    policy.files.secret = vec!["/home/u/.ssh".into()];
    policy.files.sockets = vec!["/run/docker.sock".into()];
    policy
}

fn planned(policy: &Policy, can: &Capabilities) -> (Plan, Report) {
    plan(policy, can, &machine(), &["true".into()]).unwrap()
}

fn refused(change: impl FnOnce(&mut Policy, &mut Survey)) -> PolicyError {
    let (mut policy, mut survey) = (policy(), machine());
    change(&mut policy, &mut survey);
    plan(&policy, &Capabilities::all(), &survey, &["true".into()]).unwrap_err()
}

fn missing(report: &Report) -> Vec<Aspect> {
    report.missing().map(|item| item.aspect).collect()
}

#[test]
fn a_whole_plan() {
    let (mut plan, report) = planned(&policy(), &Capabilities::all());
    plan.seccomp.truncate(2);
    insta::assert_debug_snapshot!("workspace_plan", plan);
    insta::assert_debug_snapshot!("workspace_report", report);
    assert!(report.is_enforced());
}

#[test]
fn a_plan_of_a_new_root() {
    let mut policy = policy();
    policy.files.read = Read::Only(vec!["/usr".into()]);
    let (plan, report) = planned(&policy, &Capabilities::all());
    insta::assert_debug_snapshot!("root_steps", plan.steps);
    assert!(report.is_enforced());
}

#[test]
fn each_level_reports_what_it_does_not_enforce() {
    let at = |level| missing(&planned(&policy(), &Capabilities::all().at(level)).1);
    assert_eq!(at(Level::Full), []);
    assert_eq!(at(Level::Namespaces), []);
    let of_landlock = [Aspect::Writes, Aspect::Protected, Aspect::Protected, Aspect::Processes, Aspect::End];
    assert_eq!(at(Level::Landlock), of_landlock);
    let all = planned(&policy(), &Capabilities::all()).1.items.len();
    // The terminal needs no help of the machine.
    assert_eq!(at(Level::None).len(), all - 1);
}

#[test]
fn a_missing_feature_is_never_enforced_silently() {
    let without = |feature| missing(&planned(&policy(), &Capabilities::all().without(feature)).1);
    assert_eq!(without(Feature::FreshProc), [Aspect::Processes]);
    assert_eq!(without(Feature::Seccomp), [Aspect::Privileges, Aspect::SystemCalls]);
    assert_eq!(without(Feature::NetworkNamespace), []);
    let can = Capabilities::all().without(Feature::NetworkNamespace).without(Feature::Seccomp);
    assert_eq!(
        missing(&planned(&policy(), &can).1),
        [Aspect::Privileges, Aspect::SystemCalls, Aspect::Network]
    );
}

#[test]
fn landlock_alone_permits_the_entries_beside_a_secret() {
    let (plan, _) = planned(&policy(), &Capabilities::all().at(Level::Landlock));
    let rules = plan.landlock.unwrap().rules;
    let rights = |path: &str| {
        rules.iter().filter(|rule| rule.path == path.into()).fold(0, |all, rule| all | rule.rights)
    };
    assert_eq!((rights("/"), rights("/home"), rights("/home/u"), rights("/home/u/.ssh")), (0, 0, 0, 0));
    assert_eq!(rights("/home/u/x"), crate::landlock::READ);
    assert_eq!(rights("/usr"), crate::landlock::READ);
    assert_eq!(rights("/bin"), 0, "a symlink leads to a path with its own rule");
    assert_ne!(rights(WORK) & 2, 0, "the workspace can be written");
}

#[test]
fn landlock_alone_shows_no_device_but_the_harmless_ones() {
    let can = Capabilities::all().at(Level::Landlock);
    let mut survey = machine();
    let entries = survey.siblings.get_mut(Path::new("/")).unwrap().as_mut().unwrap();
    entries.push(("dev".into(), Kind::Directory));
    // The directory of devices is closed without any other secret, too.
    for secret in [vec!["/home/u/.ssh".into()], vec![]] {
        let mut policy = policy();
        policy.files.secret = secret;
        let (plan, report) = plan(&policy, &can, &survey, &["true".into()]).unwrap();
        let rules = plan.landlock.unwrap().rules;
        let device = |path: &str| rules.iter().any(|rule| rule.path == path.into());
        assert_eq!(
            (device("/"), device("/dev"), device("/usr"), device("/dev/null")),
            (false, false, true, true)
        );
        assert!(!missing(&report).contains(&Aspect::Devices));
    }
    survey.siblings.insert("/".into(), None);
    let (_, report) = plan(&policy(), &can, &survey, &["true".into()]).unwrap();
    assert!(missing(&report).contains(&Aspect::Devices));
    let mut shown = policy();
    shown.files.read = Read::Only(vec!["/usr".into(), "/dev".into()]);
    let mut survey = machine();
    survey.paths.extend([seen("/dev", Kind::Directory)]);
    let (_, report) = plan(&shown, &can, &survey, &["true".into()]).unwrap();
    assert!(missing(&report).contains(&Aspect::Devices));
}

#[test]
fn a_secret_that_landlock_cannot_hide_is_reported() {
    let can = Capabilities::all().at(Level::Landlock);
    let mut survey = machine();
    survey.siblings.insert("/home/u".into(), None);
    let report = plan(&policy(), &can, &survey, &["true".into()]).unwrap().1;
    assert!(missing(&report).contains(&Aspect::Secret));
    let mut inside = policy();
    inside.files.secret = vec!["/home/u/work/.env".into()];
    let mut survey = machine();
    survey.paths.extend([seen("/home/u/work/.env", Kind::File)]);
    let report = plan(&inside, &can, &survey, &["true".into()]).unwrap().1;
    assert!(missing(&report).contains(&Aspect::Secret));
}

#[test]
fn a_secret_with_a_hard_link_is_reported() {
    let mut survey = machine();
    survey.paths.get_mut(Path::new("/home/u/.ssh")).unwrap().names = 2;
    let report = plan(&policy(), &Capabilities::all(), &survey, &["true".into()]).unwrap().1;
    assert_eq!(missing(&report), [Aspect::Secret]);
}

#[test]
fn contradictions_are_errors() {
    use PolicyError as E;
    let conflict =
        |change: fn(&mut Policy)| matches!(refused(|policy, _| change(policy)), E::Conflict { .. });
    assert!(conflict(|policy| policy.files.secret.push(WORK.into())));
    assert!(conflict(|policy| policy.files.protected.push(WORK.into())));
    assert!(conflict(|policy| policy.files.writable.push("/home/u/.ssh".into())));
    let root = refused(|policy, _| policy.files.writable.push("/".into()));
    assert_eq!(root, E::Root { field: "writable" });
    assert_eq!(refused(|policy, _| policy.files.secret.push("/".into())), E::Root { field: "secret" });
    assert!(matches!(
        refused(|policy, _| policy.files.writable.push("/home/u/work/.castellan".into())),
        E::Missing { field: "writable", .. }
    ));
    assert!(matches!(
        refused(|policy, _| policy.directory = "/home/u/.ssh".into()),
        E::LocksOut { .. } | E::Conflict { .. }
    ));
    let gone = refused(|_, survey| survey.paths.get_mut(Path::new(WORK)).unwrap().kind = Kind::Missing);
    assert!(matches!(gone, E::Missing { .. }));
    let out = refused(|policy, _| {
        policy.files.writable.clear();
        policy.files.read = Read::Only(Vec::new());
    });
    assert!(matches!(out, E::LocksOut { .. }), "{out:?}");
}

#[test]
fn a_nul_and_an_empty_command_are_errors() {
    let all = Capabilities::all();
    let of = |policy: &Policy, command: &[OsString]| plan(policy, &all, &machine(), command).unwrap_err();
    assert_eq!(of(&policy(), &[]), PolicyError::NoCommand);
    assert_eq!(of(&policy(), &["".into()]), PolicyError::NoCommand);
    assert_eq!(of(&policy(), &["a\0b".into()]), PolicyError::Nul { field: "command" });
    let mut variable = policy();
    variable.environment = vec![("A".into(), "\0".into())];
    assert_eq!(of(&variable, &["true".into()]), PolicyError::Nul { field: "environment" });
}

#[test]
fn a_symlink_in_the_place_of_a_protected_path_is_kept_with_its_target() {
    let mut survey = machine();
    let git = survey.paths.get_mut(Path::new("/home/u/work/.git")).unwrap();
    (git.link, git.real) = (true, "/home/u/work/other".into());
    let (plan, _) = plan(&policy(), &Capabilities::all(), &survey, &["true".into()]).unwrap();
    let read_only = MountFlags { read_only: true, no_devices: true, no_execution: false };
    let binds: Vec<(String, String)> = plan
        .steps
        .iter()
        .filter_map(|step| {
            let Step::Bind { from, at, flags, .. } = step else { return None };
            (*flags == read_only).then(|| (from.to_string(), at.to_string()))
        })
        .collect();
    let pair = |from: &str, at: &str| (from.to_owned(), at.to_owned());
    assert!(binds.contains(&pair("/home/u/work/.git", "/home/u/work/.git")), "{binds:?}");
    assert!(binds.contains(&pair("/home/u/work/other", "/home/u/work/other")), "{binds:?}");
}

#[test]
fn directories_above_a_protected_path_cannot_be_moved() {
    let mut policy = policy();
    policy.files.protected = vec!["/home/u/work/a/b/hooks".into()];
    let mut survey = machine();
    survey.paths.extend([seen("/home/u/work/a/b/hooks", Kind::Directory)]);
    let (plan, _) = plan(&policy, &Capabilities::all(), &survey, &["true".into()]).unwrap();
    let mounts: Vec<String> = plan
        .steps
        .iter()
        .filter_map(|step| if let Step::Bind { at, .. } = step { Some(at.to_string()) } else { None })
        .collect();
    assert_eq!(mounts, ["/home/u/work/a", "/home/u/work/a/b", "/home/u/work/a/b/hooks"]);
}

#[test]
fn variables_of_services_are_removed_and_those_of_the_proxy_set() {
    let mut policy = policy();
    policy.network = Network::Hosts { outside: None };
    policy.files.private_home = true;
    let set = [("SSH_AUTH_SOCK", "/run/x"), ("HOME", "/home/u"), ("HTTP_PROXY", "http://evil"), ("A", "1")];
    policy.environment = set.map(|(name, value)| (name.into(), value.into())).to_vec();
    let (plan, _) = planned(&policy, &Capabilities::all());
    let all: Vec<String> = plan.environment.iter().map(ToString::to_string).collect();
    assert!(!all.iter().any(|one| one.starts_with("SSH_AUTH_SOCK") || one.contains("evil")), "{all:?}");
    for one in [
        "A=1",
        "HOME=/tmp/home",
        "TMPDIR=/tmp",
        "HTTP_PROXY=http://127.0.0.1:3128",
        "all_proxy=socks5h://127.0.0.1:1080",
    ] {
        assert!(all.iter().any(|known| known == one), "{one} {all:?}");
    }
    assert_eq!(plan.listeners, [3128, 1080]);
}

#[test]
fn caches_are_in_the_private_places_unless_the_environment_has_them() {
    let mut policy = policy();
    policy.environment = vec![("GOCACHE".into(), "/home/u/go".into())];
    policy.caches = vec![("GOCACHE".into(), "go".into()), ("npm_config_cache".into(), "npm".into())];
    let variables = |can: &Capabilities| -> Vec<String> {
        planned(&policy, can).0.environment.iter().map(ToString::to_string).collect()
    };
    let all = variables(&Capabilities::all());
    assert!(all.contains(&"npm_config_cache=/tmp/npm".to_owned()), "{all:?}");
    assert!(all.contains(&"GOCACHE=/home/u/go".to_owned()), "{all:?}");
    let all = variables(&Capabilities::all().at(Level::Landlock));
    assert!(all.contains(&"npm_config_cache=/tmp/castellan-sandbox-0/npm".to_owned()), "{all:?}");
    // Without a private place they stay as they are.
    let all = variables(&Capabilities::none());
    assert!(!all.iter().any(|one| one.starts_with("npm_config_cache")), "{all:?}");
}

#[test]
fn hosts_without_a_network_namespace_are_reported() {
    let mut policy = policy();
    policy.network = Network::Hosts { outside: Some(Ports { http: 5000, socks: 5001 }) };
    let can = Capabilities::all().without(Feature::NetworkNamespace);
    let (plan, report) = planned(&policy, &can);
    assert_eq!(missing(&report), [Aspect::Network]);
    let landlock = plan.landlock.unwrap();
    assert_eq!((landlock.network, landlock.ports), (3, vec![5000, 5001]));
    assert!(plan.listeners.is_empty());
    // Without a proxy outside there is no way out at all: stricter than requested.
    policy.network = Network::Hosts { outside: None };
    assert_eq!(missing(&planned(&policy, &can).1), []);
}

#[test]
fn limits_are_honest() {
    let mut policy = policy();
    policy.limits.processes = Some(10);
    policy.limits.memory_bytes = Some(1 << 30);
    let all = Capabilities::all();
    let (user, report) = planned(&policy, &all);
    assert!(user.limits.contains(&(Resource::Processes, 10)));
    assert_eq!(missing(&report), [Aspect::MemoryLimit]);
    let root = Survey { uid: 0, ..machine() };
    let (of_root, report) = plan(&policy, &all, &root, &["true".into()]).unwrap();
    assert_eq!(missing(&report), [Aspect::MemoryLimit]);
    // The kernel gives out 300 numbers once, and not again: the limit starts beyond them.
    let written: Vec<(String, String)> = of_root
        .steps
        .iter()
        .filter_map(|step| {
            let Step::Write { path, text } = step else { return None };
            Some((path.to_string(), text.to_string()))
        })
        .collect();
    let wanted = [("/proc/sys/kernel/ns_last_pid", "300"), ("/proc/sys/kernel/pid_max", "310")];
    assert_eq!(written, wanted.map(|(path, text)| (path.to_owned(), text.to_owned())));
    let can = Capabilities { pid_limit: false, ..all.clone() };
    let (_, report) = plan(&policy, &can, &root, &["true".into()]).unwrap();
    assert_eq!(missing(&report), [Aspect::ProcessLimit, Aspect::MemoryLimit]);
    let (_, report) = plan(&policy, &all.clone().at(Level::Landlock), &root, &["true".into()]).unwrap();
    assert!(missing(&report).contains(&Aspect::ProcessLimit));
    let can = Capabilities { cgroups: Cgroups::Delegated("/sys/fs/cgroup/x".into()), ..all };
    let (grouped, report) = planned(&policy, &can);
    assert!(report.is_enforced());
    insta::assert_debug_snapshot!("cgroup", grouped.cgroup);
}

fn through_bubblewrap(policy: &Policy, survey: &Survey) -> (Vec<String>, Plan, Report) {
    let bubblewrap = Some("/usr/bin/bwrap".into());
    let all = Capabilities { bubblewrap, bubblewrap_sizes: true, ..Capabilities::all() };
    let can = all.without(Feature::OwnNamespaces);
    let (mut plan, report) = plan(policy, &can, survey, &["true".into()]).unwrap();
    let options = plan.bubblewrap.take().unwrap().options.iter().map(ToString::to_string).collect();
    (options, plan, report)
}

/// Positions of the options, in the order in which they must come.
fn positions(options: &[String], wanted: &[&[&str]]) -> Vec<usize> {
    let find = |part: &&[&str]| options.windows(part.len()).position(|words| words == *part);
    wanted.iter().map(|part| find(part).unwrap_or_else(|| panic!("{part:?} {options:?}"))).collect()
}

#[test]
fn bubblewrap_gets_the_same_view_of_files() {
    let (options, plan, report) = through_bubblewrap(&policy(), &machine());
    let found = positions(
        &options,
        &[
            &["--unshare-net"],
            &["--ro-bind", "/", "/"],
            &["--size", "1073741824", "--perms", "1777", "--tmpfs", "/tmp"],
            &["--bind", WORK, WORK],
            &["--ro-bind", "/home/u/work/.git", "/home/u/work/.git"],
            &["--perms", "0000", "--tmpfs", "/home/u/.ssh", "--remount-ro", "/home/u/.ssh"],
            &["--proc", "/proc", "--remount-ro", "/proc"],
        ],
    );
    assert!(found.is_sorted(), "a later option must not undo an earlier one: {options:?}");
    assert_eq!((plan.namespaces, plan.steps, plan.loopback), (None, vec![], false));
    assert!(report.is_enforced());
    let how = |aspect| report.items.iter().find(|item| item.aspect == aspect).unwrap().how.clone();
    assert!(how(Aspect::Writes).starts_with("bubblewrap: "), "{report:?}");
    assert!(!how(Aspect::SystemCalls).contains("bubblewrap"), "the launcher applies the filter");
}

#[test]
fn bubblewrap_builds_a_root_of_listed_paths() {
    let mut policy = policy();
    policy.files.read = Read::Only(vec!["/usr".into()]);
    policy.network = Network::Hosts { outside: None };
    policy.files.private_home = true;
    let (options, plan, _) = through_bubblewrap(&policy, &machine());
    let wanted: [&[&str]; 4] = [
        &["--ro-bind", "/usr", "/usr"],
        &["--bind", WORK, WORK],
        &["--remount-ro", "/"],
        &["--perms", "0700", "--dir", "/tmp/home"],
    ];
    assert!(positions(&options, &wanted).is_sorted(), "{options:?}");
    assert!(!options.windows(3).any(|words| words == ["--ro-bind", "/", "/"]), "{options:?}");
    assert_eq!(plan.listeners, [3128, 1080]);
}

#[test]
fn limits_of_bubblewrap_are_reported() {
    let mut survey = machine();
    survey.paths.get_mut(Path::new("/home/u/work/.git")).unwrap().link = true;
    let mut policy = policy();
    policy.limits.processes = Some(10);
    let (_, limited, report) = through_bubblewrap(&policy, &survey);
    assert_eq!(missing(&report), [Aspect::Protected, Aspect::ProcessLimit]);
    assert!(limited.limits.iter().all(|(resource, _)| *resource != Resource::Processes));
    // A set-user-id one has no sizes.
    policy.limits = Limits { private_bytes: Some(1), ..Limits::default() };
    let can = Capabilities { bubblewrap: Some("/usr/bin/bwrap".into()), ..Capabilities::all() };
    let can = can.without(Feature::OwnNamespaces);
    let (plan, report) = plan(&policy, &can, &survey, &["true".into()]).unwrap();
    assert_eq!(missing(&report), [Aspect::Protected, Aspect::SpaceLimit]);
    let options = plan.bubblewrap.unwrap().options;
    assert!(
        !options.contains(&"--size".into()) && !options.contains(&"--unshare-user".into()),
        "{options:?}"
    );
    // Own namespaces come first: bubblewrap is for machines without them.
    let both = Capabilities { bubblewrap: Some("/usr/bin/bwrap".into()), ..Capabilities::all() };
    assert_eq!(planned(&policy, &both).0.bubblewrap, None);
}
