//! Settings of git: the format of its files, and the settings that start programs. Source: git-config(1) of Git 2.47.3.

use castellan_event::{Why, matches_star};
use castellan_programs::{Arg, Slot, SlotRole, find};

use super::Starts;
use crate::environment::only_shows;

/// A setting of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// In lower case.
    section: String,
    /// The quoted part of the section, as written; empty if there is none.
    sub: String,
    /// In lower case.
    key: String,
    value: String,
}

/// How the value of a setting starts something, for settings that the model of git does not list for `-c`.
#[derive(Debug, Clone, Copy)]
enum Value {
    /// Shell text that receives a file: an editor.
    Editor,
    /// Shell text that receives git's output.
    Pager,
    /// A program, unless the value is a boolean.
    Watcher,
    /// Shell text, or one of git's own helpers by its name.
    Helper,
    /// Shell text, or a program by its path.
    Program,
    /// A program, if the value is a path.
    Absolute,
    /// A repository: `ext::` at its start begins a command.
    Url,
    Settings,
    Hooks,
    Tree,
}

/// Settings by their names in lower case; `*` matches any text.
const SETTINGS: &[(&str, Value)] = &[
    ("browser.*.path", Value::Program),
    ("core.editor", Value::Editor),
    ("core.fsmonitor", Value::Watcher),
    ("core.hookspath", Value::Hooks),
    ("core.pager", Value::Pager),
    ("core.worktree", Value::Tree),
    ("credential.*.helper", Value::Helper),
    ("credential.helper", Value::Helper),
    ("difftool.*.path", Value::Program),
    ("guitool.*.cmd", Value::Program),
    ("include.path", Value::Settings),
    ("includeif.*.path", Value::Settings),
    ("lfs.customtransfer.*.path", Value::Program),
    ("lfs.extension.*.clean", Value::Program),
    ("lfs.extension.*.smudge", Value::Program),
    ("man.*.path", Value::Program),
    ("mergetool.*.path", Value::Program),
    ("pager.*", Value::Pager),
    ("remote.*.pushurl", Value::Url),
    ("remote.*.url", Value::Url),
    ("sendemail.smtpserver", Value::Absolute),
    ("sequence.editor", Value::Editor),
];

/// Values that git parses as booleans.
const SWITCHES: &[&str] = &["", "true", "false", "yes", "no", "on", "off", "1", "0"];

impl Setting {
    /// Returns the start of the setting, if any.
    pub(super) fn starts(&self) -> Option<Starts> {
        // Only `url` depends on its subsection. A short text replaces any other, so that a long name still matches.
        let middle = match (self.section.as_str(), self.sub.as_str()) {
            (_, "") => String::new(),
            ("url", sub) => format!("{sub}."),
            (_, _) => "x.".to_owned(),
        };
        starts(&format!("{}.{middle}{}", self.section, self.key), &self.value)
    }
}

/// Returns the start of a setting, by its name in any case.
pub(crate) fn starts(name: &str, value: &str) -> Option<Starts> {
    let name = name.to_ascii_lowercase();
    if name.starts_with("url.ext::") {
        return Some(Starts::Unknown(name));
    }
    let of = SETTINGS.iter().find(|(pattern, _)| matches_star(pattern, &name));
    match of {
        Some((_, how)) => of_value(*how, value),
        None => {
            let set = Arg::known(format!("{name}={value}"));
            shell_settings()?.part_of(&set)?.as_str().map(|text| Starts::Shell(text.to_owned()))
        }
    }
}

fn of_value(how: Value, value: &str) -> Option<Starts> {
    let is_path = value.starts_with(['/', '~', '.']);
    let text = value.to_owned();
    match how {
        Value::Editor => (!is_viewer(value)).then(|| Starts::Shell(format!("{value} \"$@\""))),
        Value::Pager => (!is_viewer(value)).then_some(Starts::Shell(text)),
        Value::Watcher => (!SWITCHES.contains(&value)).then_some(Starts::Shell(text)),
        Value::Helper => match value.strip_prefix('!') {
            Some(shell) => Some(Starts::Shell(shell.to_owned())),
            None => is_path.then_some(Starts::Shell(text)),
        },
        Value::Program => Some(Starts::Shell(text)),
        Value::Absolute => is_path.then_some(Starts::Shell(text)),
        Value::Url => value.starts_with("ext::").then_some(Starts::Unknown(text)),
        Value::Settings => Some(Starts::Settings(text)),
        Value::Hooks => (!matches!(value, "" | "/dev/null")).then_some(Starts::Hooks(text)),
        Value::Tree => Some(Starts::Tree(text)),
    }
}

/// Returns true if a value only names a common editor or pager. Another name may be that of a shell.
fn is_viewer(value: &str) -> bool {
    SWITCHES.contains(&value) || only_shows(value) && !value.starts_with("ssh")
}

/// Returns the slot of `git -c`, which lists the settings that hold shell text.
fn shell_settings() -> Option<Slot> {
    let options = find("git")?.options;
    options.iter().map(|option| option.slot).find(|slot| slot.role == SlotRole::Shell)
}

/// Returns the last value of a setting in a text; `None` if it is not set, or if git could not parse the text.
pub(crate) fn text_of(text: &str, section: &str, sub: &str, key: &str) -> Option<String> {
    let is_it =
        |one: &&Setting| one.section == section && one.sub == sub && one.key.eq_ignore_ascii_case(key);
    settings(text).ok()?.iter().rfind(is_it).map(|one| one.value.clone())
}

/// Returns the starts of the settings in a text, without those of aliases: they run only by their names.
pub(crate) fn starts_unasked(text: &str) -> Vec<Starts> {
    let all = settings(text).unwrap_or_default();
    all.iter().filter(|one| one.section != "alias").filter_map(Setting::starts).collect()
}

/// Sections whose programs run only for a subcommand of their own, or only with another machine.
const OF_OTHERS: &[&str] =
    &["alias", "credential", "difftool", "guitool", "mergetool", "remote", "sendemail", "submodule"];

/// Reports whether the settings of a text start programs when git shows or compares files. True if git could not parse
/// the text. The filters of git-lfs are known.
pub(crate) fn starts_when_read(text: &str) -> bool {
    let is_started = |one: &Setting| match one.starts() {
        Some(Starts::Shell(text)) => !["git-lfs ", "git lfs "].iter().any(|known| text.starts_with(known)),
        Some(Starts::Hooks(_) | Starts::Tree(_) | Starts::Registry(_)) | None => false,
        Some(
            Starts::Settings(_)
            | Starts::Program(..)
            | Starts::Module(..)
            | Starts::Package(..)
            | Starts::Later(_)
            | Starts::Text(..)
            | Starts::Unknown(_),
        ) => true,
    };
    settings(text).map_or(true, |all| {
        all.iter().any(|one| !OF_OTHERS.contains(&one.section.as_str()) && is_started(one))
    })
}

/// Returns the files that a text includes, as written.
pub(crate) fn includes(text: &str) -> Vec<String> {
    let all = settings(text).unwrap_or_default();
    let included = all.iter().filter_map(|one| match one.starts()? {
        Starts::Settings(path) => Some(path),
        Starts::Shell(_)
        | Starts::Hooks(_)
        | Starts::Program(..)
        | Starts::Module(..)
        | Starts::Text(..)
        | Starts::Later(_)
        | Starts::Tree(_)
        | Starts::Package(..)
        | Starts::Registry(_)
        | Starts::Unknown(_) => None,
    });
    included.collect()
}

/// Parses all settings of a text, in order.
pub(super) fn settings(text: &str) -> Result<Vec<Setting>, Why> {
    let mut reader = Reader { rest: text.trim_start_matches('\u{feff}') };
    let mut found = Vec::new();
    let (mut section, mut sub) = (String::new(), String::new());
    loop {
        reader.rest = reader.rest.trim_start();
        match reader.rest.chars().next() {
            None => return Ok(found),
            Some('#' | ';') => reader.skip_line(),
            Some('[') => (section, sub) = reader.header().ok_or(Why::Syntax)?,
            Some(letter) if letter.is_ascii_alphabetic() && !section.is_empty() => {
                let (key, value) = reader.setting().ok_or(Why::Syntax)?;
                found.push(Setting { section: section.clone(), sub: sub.clone(), key, value });
            }
            Some(_) => return Err(Why::Syntax),
        }
    }
}

/// The remaining text.
struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn skip_line(&mut self) {
        self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = self.rest.get(letter.len_utf8()..)?;
        Some(letter)
    }

    /// Parses `[section]`, `[section "sub"]`, and the old form `[section.sub]`.
    fn header(&mut self) -> Option<(String, String)> {
        self.next();
        let name = |one: char| one.is_ascii_alphanumeric() || one == '-' || one == '.';
        let end = self.rest.find(|one| !name(one))?;
        let (section, rest) = self.rest.split_at_checked(end)?;
        let section = section.to_ascii_lowercase();
        self.rest = rest.trim_start_matches([' ', '\t']);
        let mut sub = String::new();
        match self.next()? {
            ']' => {
                let (section, sub) = section.split_once('.').unwrap_or((&section, ""));
                return Some((section.to_owned(), sub.to_owned()));
            }
            '"' => loop {
                match self.next()? {
                    '"' => break,
                    '\\' => sub.push(self.next()?),
                    '\n' => return None,
                    letter => sub.push(letter),
                }
            },
            _ => return None,
        }
        (self.next()? == ']').then_some((section, sub))
    }

    /// Parses a name and its value. A name without a value is `true`.
    fn setting(&mut self) -> Option<(String, String)> {
        let end = self.rest.find(|one: char| !one.is_ascii_alphanumeric() && one != '-');
        let (key, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        let key = key.to_ascii_lowercase();
        self.rest = rest.trim_start_matches([' ', '\t', '\r']);
        match self.rest.chars().next() {
            Some('=') => {
                self.next();
                self.rest = self.rest.trim_start_matches([' ', '\t']);
                Some((key, self.value()?))
            }
            None | Some('\n' | '#' | ';') => {
                self.skip_line();
                Some((key, "true".to_owned()))
            }
            Some(_) => None,
        }
    }

    /// Parses the rest of the line, without a comment, quotes and trailing blanks. A backslash at the end continues it.
    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        // Length of the value without trailing blanks outside of quotes.
        let mut kept = 0;
        let mut is_quoted = false;
        while let Some(letter) = self.next() {
            match letter {
                '\n' if is_quoted => return None,
                '\n' => break,
                '#' | ';' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                '"' => {
                    is_quoted = !is_quoted;
                    kept = value.len();
                    continue;
                }
                '\\' => match self.next()? {
                    '\n' => continue,
                    '\r' if self.rest.starts_with('\n') => {
                        self.next();
                        continue;
                    }
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'b' => drop(value.pop()),
                    escaped @ ('\\' | '"') => value.push(escaped),
                    _ => return None,
                },
                letter => value.push(letter),
            }
            if is_quoted || !letter.is_whitespace() {
                kept = value.len();
            }
        }
        value.truncate(kept);
        (!is_quoted).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let check = |text: &str, expected: &[(&str, &str, &str, &str)]| {
            let found = settings(text).unwrap_or_default();
            let found: Vec<_> =
                found.iter().map(|one| (&*one.section, &*one.sub, &*one.key, &*one.value)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("[core]\n\tbare = true\n", &[("core", "", "bare", "true")]);
        check("[CORE] fsMonitor = x y # z", &[("core", "", "fsmonitor", "x y")]);
        check("[a]b\n[a]c=1", &[("a", "", "b", "true"), ("a", "", "c", "1")]);
        check("[a \"B c\\\"\"]\nd = \" e \" ; f", &[("a", "B c\"", "d", " e ")]);
        check("[a.B]\nc = d\\\n e\r\n", &[("a", "b", "c", "d e")]);
        check("[a]\nb = \"c # d\" \\\" e", &[("a", "", "b", "c # d \" e")]);
        check("\u{feff}; x\n[a]\nb = c\\td\\n", &[("a", "", "b", "c\td\n")]);
        for text in ["[a", "[a]\nb = \"c\n", "x = 1", "[a]\n=1", "[a]\nb c", "[a] b = \\x"] {
            assert_eq!(settings(text), Err(Why::Syntax), "{text}");
        }
    }

    #[test]
    fn settings_start_programs() {
        let check = |name: &str, value: &str, expected: Option<Starts>| {
            assert_eq!(starts(name, value), expected, "{name} = {value}");
        };
        let shell = |text: &str| Some(Starts::Shell(text.to_owned()));
        for name in [
            "core.fsmonitor",
            "core.sshCommand",
            "core.gitProxy",
            "core.pager",
            "pager.log",
            "diff.external",
            "diff.x.command",
            "diff.x.textconv",
            "filter.x.clean",
            "filter.x.smudge",
            "filter.x.process",
            "merge.x.driver",
            "gpg.program",
            "gpg.ssh.program",
            "interactive.diffFilter",
            "uploadpack.packObjectsHook",
            "remote.o.uploadpack",
            "trailer.x.command",
            "mergetool.x.cmd",
            "mergetool.x.path",
            "lfs.customtransfer.x.path",
        ] {
            check(name, "evil x", shell("evil x"));
        }
        check("core.editor", "evil", shell("evil \"$@\""));
        check("core.editor", "code --wait", None);
        check("core.editor", "vim -c '!x'", shell("vim -c '!x' \"$@\""));
        check("core.pager", "less -FRX", None);
        check("core.fsmonitor", "true", None);
        check("credential.helper", "store", None);
        check("credential.helper", "!evil", shell("evil"));
        check("credential.https://h.helper", "/x/evil", shell("/x/evil"));
        check("alias.st", "status", None);
        check("alias.st", "!evil", shell("evil"));
        check("submodule.x.update", "!evil", shell("evil"));
        check("include.path", "../x", Some(Starts::Settings("../x".to_owned())));
        check("includeIf.gitdir:/w/.path", "x", Some(Starts::Settings("x".to_owned())));
        check("core.hooksPath", "h", Some(Starts::Hooks("h".to_owned())));
        check("core.worktree", "/x", Some(Starts::Tree("/x".to_owned())));
        check(
            "url.ext::sh -c x.insteadOf",
            "h:",
            Some(Starts::Unknown("url.ext::sh -c x.insteadof".to_owned())),
        );
        check("remote.o.url", "ext::sh -c x", Some(Starts::Unknown("ext::sh -c x".to_owned())));
        for name in ["user.name", "core.bare", "remote.o.url", "branch.main.remote", "core.autocrlf"] {
            check(name, "x", None);
        }
    }

    #[test]
    fn a_long_name_hides_nothing() {
        let text = format!("[diff \"{}\"]\n\tcommand = evil\n", "x".repeat(5000));
        let found: Vec<_> = settings(&text).unwrap_or_default().iter().filter_map(Setting::starts).collect();
        assert_eq!(found, [Starts::Shell("evil".to_owned())]);
    }
}
