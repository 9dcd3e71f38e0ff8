//! Bad input of each kind. castellan understands it as a shell does, or reports it as Opaque with a reason. No panics.

use crate::call;
use castellan_event::{Answer, Effect, FileKind, Process, Query, Recorder, Role, Why, World};
use castellan_facts::{Setting, analyse};

/// A machine with a cycle of symlinks, a closed directory, a FIFO and a device.
struct Machine;

impl World for Machine {
    fn answer(&self, query: &Query) -> Option<Answer> {
        Some(match query {
            Query::RealPath { base, path } => {
                let whole = if path.starts_with('/') { path.clone() } else { format!("{base}/{path}") };
                let names: Vec<&str> = whole.split('/').filter(|name| !["", "."].contains(name)).collect();
                if matches!(names.as_slice(), ["w", "loop", ..] | ["w", "closed", _, ..]) {
                    return None;
                }
                Answer::RealPath(format!("/{}", names.join("/")))
            }
            Query::FileKind { path } => Answer::FileKind(match path.as_str() {
                "/w/fifo" => FileKind::Fifo,
                "/w" | "/w/closed" => FileKind::Directory,
                path if path.starts_with("/dev/") => FileKind::Device,
                _ => FileKind::Missing,
            }),
            Query::Contents { .. } => Answer::Contents(None),
            Query::Executable { name, .. } => {
                let is_there = ["ls", "rm", "sh", "cat", "tee"].contains(&name.as_str());
                Answer::Executable(is_there.then(|| format!("/usr/bin/{name}")))
            }
            Query::Repository { .. } => Answer::Repository(Some("/w".to_owned())),
            Query::Newest { .. } => Answer::Newest(None),
            Query::Inode { .. } => Answer::Inode(None),
            Query::Head { .. } => Answer::Head(None),
            Query::OtherNames { .. } => Answer::OtherNames(Vec::new()),
            Query::Process { .. } => Answer::Process(Some(Process {
                env: vec![("PATH".to_owned(), "/usr/bin".to_owned())],
                home: "/home/u".to_owned(),
                ..Process::default()
            })),
        })
    }

    fn program(&self, _sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        castellan_languages::answer(request)
    }
}

fn effects(text: &str) -> Vec<Effect> {
    let call = call::shell("codex", text);
    let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
    analyse(&call, &setting, &mut Recorder::new(&Machine)).effects
}

/// `KIND PATH` or `KIND NAME`, then the reason. For Opaque effects the role and the reason.
fn shown(effect: &Effect) -> String {
    let what = effect.path().or(effect.path_raw()).or(effect.target());
    let what = if effect.is_opaque() { effect.role().map(Role::as_str) } else { what };
    let words = [Some(effect.kind().as_str()), what, effect.why().map(Why::as_str)];
    words.into_iter().flatten().map(short).collect::<Vec<_>>().join(" ")
}

fn short(word: &str) -> &str {
    word.get(..40).unwrap_or(word)
}

fn check(text: &str, expected: &[&str]) {
    let found: Vec<String> = effects(text).iter().map(shown).collect();
    assert_eq!(found, expected, "{:?}", short(text));
}

#[test]
fn text_that_does_not_end_is_not_understood() {
    let open =
        ["rm 'a", "rm \"a", "rm $'a", "rm $(a", "rm `a", "rm ${a", "rm $((1", "rm <(a", "sh <<", "rm <<< "];
    for text in open {
        for text in [text.to_owned(), format!("ls x\n{text}")] {
            let found: Vec<String> = effects(&text).iter().map(shown).collect();
            assert!(found.contains(&"opaque code syntax".to_owned()), "{text:?}: {found:?}");
        }
    }
    // The end of the text ends a heredoc, and a final backslash is a literal backslash.
    check("sh <<E\nrm /x\n", &["delete /x"]);
    check("sh <<'E'\nrm /x", &["delete /x"]);
    check("sh <<-E\n\trm /x", &["delete /x"]);
    check("cat <<E\nrm /x\n", &[]);
    check("cat <<E\n$(rm /x)\n", &["delete /x"]);
    // No shell runs anything of this body.
    check("cat <<E\n$(rm /x\n", &["opaque code syntax", "opaque operand syntax"]);
    check("rm a\\", &["delete /w/a\\"]);
}

#[test]
fn what_is_too_deep_or_too_long_is_not_understood() {
    let nested = |count: usize| format!("rm {}a{}", "$(".repeat(count), ")".repeat(count));
    check(&nested(100_000), &["opaque code size"]);
    check(&"$(".repeat(100_000), &["opaque code size"]);
    for count in [100, 1_000, 20_000] {
        let found: Vec<String> = effects(&nested(count)).iter().map(shown).collect();
        let is_told = |one: &String| one == "opaque code nesting" || one == "opaque code budget";
        assert!(found.iter().any(is_told), "{count} times: {found:?}");
    }
    let word = |bytes: usize| "a".repeat(bytes);
    check(&format!("rm {}", word(1 << 20)), &["opaque code size"]);
    check(&word(1 << 20), &["opaque code size"]);
    check(&format!("rm {}", word(60_000)), &[&format!("delete {}", word(40)), "opaque target size"]);
    check(&word(60_000), &[&format!("execute {} unresolved", word(40))]);
    check(
        &format!("rm '{}'", "a/".repeat(200)),
        &[&format!("delete {}", "a/".repeat(20)), "opaque target size"],
    );
    check(&format!("cd {0}; cd {0}; rm b", "a/".repeat(100)), &["delete b", "opaque target size"]);
}

#[test]
fn a_long_search_path_is_not_looked_through_for_every_name() {
    let directories: String = (0..1_000).map(|number| format!("/a{number}:")).collect();
    let look_ups = |names: usize| {
        let names: String = (0..names).map(|number| format!("b{number};")).collect();
        let (call, setting) =
            (call::shell("codex", &format!("PATH={directories};{names}")), Setting::default());
        let mut world = Recorder::new(&Machine);
        analyse(&call, &setting, &mut world);
        world.answers().iter().filter(|(query, _)| matches!(query, Query::Executable { .. })).count()
    };
    assert_eq!(look_ups(2), 2);
    assert!(look_ups(1_000) < 20, "a million files would be looked at");
}

#[test]
fn what_no_shell_can_be_given_is_not_understood() {
    check("rm a\0b", &["opaque code encoding"]);
    check("rm a\n\0", &["opaque code encoding"]);
}

/// For a shell on Linux these are ordinary letters: they make another, missing name.
#[test]
fn letters_that_are_not_seen_make_other_names() {
    for letter in
        ["\u{feff}", "\u{200b}", "\u{200d}", "\u{2060}", "\u{202e}", "\u{2066}", "\u{200f}", "\u{ad}", "\r"]
    {
        check(&format!("{letter}rm /x"), &[&format!("execute {letter}rm unresolved")]);
        check(&format!("r{letter}m /x"), &[&format!("execute r{letter}m unresolved")]);
        check(&format!("rm{letter} /x"), &[&format!("execute rm{letter} unresolved")]);
        check(&format!("rm /x{letter}"), &[&format!("delete /x{letter}")]);
        check(&format!("ls {letter}; rm /x"), &[&format!("read /w/{letter}"), "delete /x"]);
    }
    check("rm\u{a0}a", &["execute rm\u{a0}a unresolved"]);
    check("rm /x\r\nls\r\n", &["delete /x\r", "execute ls\r unresolved"]);
    // A keyword with a carriage return is not a keyword, so the text is incomplete.
    check("if true\r\nthen rm a\r\nfi\r\n", &["opaque code syntax"]);
    check("sh <<E\r\nrm /x\r\nE\r\n", &["delete /x\r"]);
}

#[test]
fn lines_that_go_on_are_one() {
    check("r\\\nm -r\\\nf /\\\nx", &["delete /x"]);
    check("rm \\\n/x", &["delete /x"]);
    check("rm '/x\\\ny'", &["delete /x\\\ny"]);
    check("sh <<\\\nE\nrm /x\nE\n", &["delete /x"]);
    // Before a carriage return the backslash quotes the carriage return.
    check("rm \\\r\n/x", &["delete /w/\r", "execute /x"]);
}

#[test]
fn where_symlinks_lead_in_a_circle_nothing_is_known() {
    check("cat loop/x", &["read loop/x", "opaque operand unreadable"]);
    check("rm loop/x", &["delete loop/x", "opaque target unreadable"]);
    check("rm loop/x/", &["delete loop/x/", "opaque target unreadable"]);
    check("ls > loop", &["write loop", "opaque target unreadable", "read /w"]);
    check("sh loop/x", &["execute loop/x", "opaque program unreadable", "opaque code unreadable"]);
    check("loop/x", &["opaque program unreadable", "execute loop/x unresolved"]);
    check("cd loop; rm x", &["delete x", "opaque target unreadable"]);
    // The name itself exists.
    check("rm loop", &["delete /w/loop"]);
    // The call makes these links.
    check(
        "ln -s a b; ln -s b a; rm a/x",
        &["link /w/b", "link /w/a", "delete a/x", "opaque target unreadable"],
    );
    check("ln -s b/x b; cat b/y", &["link /w/b", "read b/y", "opaque operand unreadable"]);
    check("ln -s /etc a; ln -s a b; cat b/y", &["link /w/a", "link /w/b", "read /etc/y"]);
}

#[test]
fn below_a_closed_directory_nothing_is_known() {
    check("rm closed", &["delete /w/closed"]);
    check("cat closed/x", &["read closed/x", "opaque operand unreadable"]);
    check(
        "chmod 700 closed; rm closed/a/x",
        &["permission /w/closed", "delete closed/a/x", "opaque target unreadable"],
    );
    check("ls > closed/x", &["write closed/x", "opaque target unreadable", "read /w"]);
    check("closed/x", &["opaque program unreadable", "execute closed/x unresolved"]);
    check("git checkout closed/x", &["destroy closed/x", "write closed/x", "opaque target unreadable"]);
}

#[test]
fn what_is_no_file_gives_code_that_is_not_known() {
    check("sh fifo", &["execute /w/fifo", "opaque code input"]);
    check(". ./fifo", &["opaque code input", "execute /w/fifo", "opaque code input"]);
    check("sh < fifo", &["read /w/fifo", "opaque code input"]);
    check("echo rm > fifo", &["inject /w/fifo", "write /w/fifo"]);
    check("tee fifo < a", &["read /w/a", "inject /w/fifo", "write /w/fifo"]);
    check("sh /dev/sda", &["execute /dev/sda", "opaque code input"]);
    for open in ["/dev/tty", "/dev/stdin", "/dev/fd/3", "/proc/self/fd/0", "/dev/zero"] {
        for text in [format!("sh {open}"), format!("curl https://example.com/x | sh {open}")] {
            let found: Vec<String> = effects(&text).iter().map(shown).collect();
            assert!(found.contains(&"opaque code input".to_owned()), "{text}: {found:?}");
        }
    }
    check("sh < /dev/tty", &["opaque code input"]);
    check("sh /dev/null", &[]);
    check("cat /dev/sda", &["read /dev/sda"]);
    check("ls > /dev/sda", &["write /dev/sda", "read /w"]);
}
