//! [`RecordedWorld`]: rebuilds from a record the world that its call was judged in. The inverse of `record`. Does not
//! depend on the use of the answers.

use std::cell::Cell;
use std::collections::HashMap;

use castellan_audit::CallRecord;
use castellan_event::{Answer, FileKind, Inode, Process, Query, World, sha256_hex};

use crate::limits::KNOWN_TEXTS_MAX;
use crate::record::{AS_WRITTEN, BETWEEN_NAMES, BRIEF_BYTES_MAX, GIVEN_UP, NONE, program_text, query_text};
use crate::world::FileSystem;

/// End of a shortened text in a record, and start of the placeholder for a secret.
const CUT: &str = "…[cut ";
const REDACTED: &str = "[redacted ";

/// Texts by hash, because records contain a text in full only from time to time. Learns from the log, oldest first.
#[derive(Debug, Default)]
pub struct KnownTexts {
    by_hash: HashMap<String, String>,
}

impl KnownTexts {
    /// Stores the full texts of a record.
    pub fn learn(&mut self, record: &CallRecord) {
        let texts = record.world.iter().flat_map(|reported| [&reported.query, &reported.answer]);
        for (first, text) in texts.filter_map(|text| text.split_once('\n')) {
            let hash = first.rsplit(' ').next().unwrap_or(first);
            if is_hash(hash) && !self.by_hash.contains_key(hash) {
                if self.by_hash.len() >= KNOWN_TEXTS_MAX {
                    self.by_hash.clear();
                }
                self.by_hash.insert(hash.to_owned(), text.to_owned());
            }
        }
    }
}

/// The world of a record. This machine answers questions that the record does not, and the number of these is counted.
/// Records have only hashes of file contents, so the file is read again; a changed file is unreadable.
#[derive(Debug)]
pub struct RecordedWorld<'r> {
    answers: HashMap<&'r str, &'r str>,
    reported: &'r KnownTexts,
    machine: FileSystem,
    changed: Cell<usize>,
    asked_now: Cell<usize>,
}

impl<'r> RecordedWorld<'r> {
    /// The world of a call.
    pub fn new(record: &'r CallRecord, reported: &'r KnownTexts) -> RecordedWorld<'r> {
        // The query may be followed by the text of its hash.
        let first_line = |text: &'r str| text.split('\n').next().unwrap_or(text);
        let whole = record.world.iter().filter(|one| !one.query.is_empty());
        let answers = whole.map(|one| (first_line(&one.query), one.answer.as_str())).collect();
        let (changed, asked_now) = (Cell::default(), Cell::default());
        RecordedWorld { answers, reported, machine: FileSystem::default(), changed, asked_now }
    }

    /// Number of files that have changed since.
    pub fn changed(&self) -> usize {
        self.changed.get()
    }

    /// Number of questions without a recorded answer.
    pub fn asked_now(&self) -> usize {
        self.asked_now.get()
    }

    fn recorded(&self, query: &Query) -> Option<Answer> {
        let brief = |path: &str| {
            if path.len() <= BRIEF_BYTES_MAX { path.to_owned() } else { sha256_hex(path.as_bytes()) }
        };
        let answer = *self.answers.get(query_text(query, brief).as_str())?;
        let optional = || Some(answer.to_owned()).filter(|answer| answer != NONE);
        if answer.contains(CUT) && !matches!(query, Query::Process { .. }) || answer.starts_with(REDACTED) {
            return None;
        }
        Some(match query {
            Query::RealPath { base, path } if answer == AS_WRITTEN => Answer::RealPath(joined(base, path)),
            Query::RealPath { .. } => Answer::RealPath(answer.to_owned()),
            Query::FileKind { .. } => Answer::FileKind(kind(answer)?),
            Query::Contents { .. } if answer == NONE => Answer::Contents(None),
            Query::Contents { .. } => return self.contents(query, answer),
            Query::Executable { .. } => Answer::Executable(optional()),
            Query::Repository { .. } => Answer::Repository(optional()),
            Query::Newest { .. } => Answer::Newest(optional()),
            Query::Inode { .. } if answer == NONE => Answer::Inode(None),
            Query::Inode { .. } => Answer::Inode(Some(inode(answer)?)),
            Query::Head { .. } if answer == NONE => Answer::Head(None),
            Query::Head { .. } => Answer::Head(Some(answer.parse().ok()?)),
            Query::OtherNames { .. } => {
                let names = answer.split(BETWEEN_NAMES).filter(|name| !name.is_empty());
                Answer::OtherNames(names.map(str::to_owned).collect())
            }
            Query::Process { .. } if answer == NONE => Answer::Process(None),
            Query::Process { .. } => Answer::Process(Some(process(self.reported(answer)?))),
        })
    }

    /// The helper for this program was given up at the time.
    fn is_given_up(&self, sha256: &str) -> bool {
        self.answers.get(program_text(sha256).as_str()) == Some(&GIVEN_UP)
    }

    /// Returns the contents of a file if they are unchanged, else that it is unreadable.
    fn contents(&self, query: &Query, recorded: &str) -> Option<Answer> {
        let now = self.machine.answer(query);
        if let Some(Answer::Contents(Some(bytes))) = &now
            && sha256_hex(bytes) == recorded
        {
            return now;
        }
        self.changed.set(self.changed.get() + 1);
        Some(Answer::Contents(None))
    }

    /// Returns the text of a hash, from this record or an earlier one.
    fn reported<'a>(&'a self, answer: &'a str) -> Option<&'a str> {
        match answer.split_once('\n') {
            Some((_, text)) => Some(text),
            None => self.reported.by_hash.get(answer).map(String::as_str),
        }
    }
}

impl World for RecordedWorld<'_> {
    fn answer(&self, query: &Query) -> Option<Answer> {
        if let Some(answer) = self.recorded(query) {
            return Some(answer);
        }
        self.asked_now.set(self.asked_now.get() + 1);
        // The process has ended or its pid was reused. Agents of this user start in the same environment as this one.
        let own = Query::Process { pid: std::process::id() };
        self.machine.answer(if matches!(query, Query::Process { .. }) { &own } else { query })
    }

    fn program(&self, sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        if self.is_given_up(sha256) { None } else { self.machine.program(sha256, request) }
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn joined(base: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", base.trim_end_matches('/')) }
}

fn kind(word: &str) -> Option<FileKind> {
    let kinds = [
        FileKind::Missing,
        FileKind::File,
        FileKind::Directory,
        FileKind::Device,
        FileKind::Fifo,
        FileKind::Socket,
        FileKind::Unreadable,
    ];
    kinds.into_iter().find(|kind| format!("{kind:?}").eq_ignore_ascii_case(word))
}

/// Parses `links 1 size 20`.
fn inode(text: &str) -> Option<Inode> {
    let (links, size) = text.strip_prefix("links ")?.split_once(" size ")?;
    Some(Inode { links: links.parse().ok()?, size: size.parse().ok()? })
}

/// Parses the output of `record::process_text` up to its cut. An unknown line continues a variable of several lines.
fn process(text: &str) -> Process {
    let mut process = Process::default();
    let whole = text.split(CUT).next().unwrap_or(text);
    for (at, line) in whole.lines().enumerate() {
        let variable = line.split_once('=').filter(|(name, _)| is_name(name));
        if let (0, Some(home)) = (at, line.strip_prefix("home ")) {
            home.clone_into(&mut process.home);
        } else if let (1, Some(is_root)) = (at, line.strip_prefix("root ")) {
            process.is_root = is_root == "true";
        } else if let Some((name, value)) = variable {
            process.env.push((name.to_owned(), value.to_owned()));
        } else if let Some((path, real)) = line.split_once(" -> ").filter(|(path, _)| path.starts_with('/')) {
            process.links.push((path.to_owned(), real.to_owned()));
        } else if let Some(point) = line.strip_prefix("network /") {
            process.network.push(format!("/{point}"));
        } else if let Some((_, value)) = process.env.last_mut() {
            value.push('\n');
            value.push_str(line);
        }
    }
    process
}

/// Reports whether a shell can set a variable of this name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use castellan_audit::WorldRecord;

    use super::*;
    use crate::record::process_text;

    fn record(world: &[(&str, &str)]) -> CallRecord {
        let reported = |(query, answer): &(&str, &str)| WorldRecord {
            query: (*query).to_owned(),
            answer: (*answer).to_owned(),
        };
        CallRecord { world: world.iter().map(reported).collect(), ..CallRecord::default() }
    }

    #[test]
    fn what_was_recorded_is_answered_again() {
        let long = "/a-directory-that-lies-deep".repeat(8);
        let reported = format!("{}\nhome /home/u\nroot false\nPATH=/a:/b\n/a -> /c", sha256_hex(b"process"));
        let long_query = format!("executable rm in {}\n{long}", sha256_hex(long.as_bytes()));
        let record = record(&[
            ("real_path x from /no/such", "="),
            ("real_path y from /no/such", "/really/y"),
            ("file_kind /no/such/x", "file"),
            ("file_kind /no/such/y", "of the future"),
            ("repository /no/such", "none"),
            ("inode /no/such/x", "links 2 size 70"),
            ("inode /no/such/y", "none"),
            ("head /no/such/x", "true"),
            ("head /no/such/y", "none"),
            ("other_names /no/such/x in /a:/b", "/a/x\0/b/y"),
            ("other_names /no/such/y in /a:/b", ""),
            (&long_query, "/no/rm"),
            ("process 7", &reported),
        ]);
        let texts = KnownTexts::default();
        let world = RecordedWorld::new(&record, &texts);
        let text = |text: &str| text.to_owned();
        let real = |path: &str| Query::RealPath { base: text("/no/such"), path: text(path) };
        let numbers = |name: &str| Query::Inode { path: format!("/no/such/{name}") };
        let names = |name: &str| Query::OtherNames {
            path: format!("/no/such/{name}"),
            directories: vec![text("/a"), text("/b")],
        };
        let process = Process {
            env: vec![(text("PATH"), text("/a:/b"))],
            home: text("/home/u"),
            links: vec![(text("/a"), text("/c"))],
            ..Process::default()
        };
        for (query, expected) in [
            (real("x"), Answer::RealPath(text("/no/such/x"))),
            (real("y"), Answer::RealPath(text("/really/y"))),
            (Query::FileKind { path: text("/no/such/x") }, Answer::FileKind(FileKind::File)),
            (Query::Repository { of: text("/no/such") }, Answer::Repository(None)),
            (numbers("x"), Answer::Inode(Some(Inode { links: 2, size: 70 }))),
            (numbers("y"), Answer::Inode(None)),
            (Query::Head { path: text("/no/such/x") }, Answer::Head(Some(true))),
            (Query::Head { path: text("/no/such/y") }, Answer::Head(None)),
            (names("x"), Answer::OtherNames(vec![text("/a/x"), text("/b/y")])),
            (names("y"), Answer::OtherNames(Vec::new())),
            (Query::Executable { name: text("rm"), path: long }, Answer::Executable(Some(text("/no/rm")))),
            (Query::Process { pid: 7 }, Answer::Process(Some(process))),
        ] {
            assert_eq!(world.answer(&query), Some(expected), "{query:?}");
        }
        assert_eq!(world.asked_now(), 0);
        // A word that this version does not know is no answer, so the machine answers.
        let now = world.answer(&Query::FileKind { path: text("/no/such/y") });
        assert_eq!((now, world.asked_now()), (Some(Answer::FileKind(FileKind::Missing)), 1));
    }

    #[test]
    fn a_program_that_was_given_up_is_given_up_again() {
        let (lost, read) = ("0".repeat(64), "1".repeat(64));
        let machine = FileSystem::default();
        let mut answers = castellan_event::Recorder::new(&machine);
        assert_eq!(answers.program(&lost, b"request", |_| Some(())), None, "tests have no helper");
        let recorded = crate::record::given_up(answers.answers());
        let record = CallRecord { world: recorded.collect(), ..CallRecord::default() };
        let texts = KnownTexts::default();
        let world = RecordedWorld::new(&record, &texts);
        assert_eq!((world.is_given_up(&lost), world.is_given_up(&read)), (true, false));
    }

    #[test]
    fn a_text_that_an_earlier_record_told_is_known() {
        let hash = sha256_hex(b"process");
        let earlier = record(&[("process 7", &format!("{hash}\nhome /home/u\nroot true"))]);
        let later = record(&[("process 7", &hash)]);
        let mut texts = KnownTexts::default();
        let home =
            |texts: &KnownTexts| match RecordedWorld::new(&later, texts).answer(&Query::Process { pid: 7 }) {
                Some(Answer::Process(Some(process))) => process.home,
                other => panic!("{other:?}"),
            };
        assert_ne!(home(&texts), "/home/u");
        texts.learn(&earlier);
        assert_eq!(home(&texts), "/home/u");
    }

    #[test]
    fn a_file_that_has_changed_since_is_not_known() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.sh").display().to_string();
        std::fs::write(&file, "ls\n").unwrap();
        let record = record(&[(&format!("contents {file}"), &sha256_hex(b"ls\n"))]);
        let texts = KnownTexts::default();
        let query = Query::Contents { path: file.clone() };
        let world = RecordedWorld::new(&record, &texts);
        assert_eq!(world.answer(&query), Some(Answer::Contents(Some(b"ls\n".to_vec()))));
        assert_eq!(world.changed(), 0);
        std::fs::write(&file, "other\n").unwrap();
        let world = RecordedWorld::new(&record, &texts);
        assert_eq!(world.answer(&query), Some(Answer::Contents(None)));
        assert_eq!(world.changed(), 1);
    }

    #[test]
    fn a_process_is_read_as_it_was_written() {
        let text = |text: &str| text.to_owned();
        let whole = Process {
            env: vec![(text("PATH"), text("/a:/b")), (text("TWO"), text("one\ntwo -> x"))],
            home: text("/home/u"),
            is_root: true,
            links: vec![(text("/a"), text("/c"))],
            network: vec![text("/mnt")],
        };
        assert_eq!(process(&process_text(&whole)), whole);
        let cut = process("home /home/u\nroot false\nPATH=/a:/b…[cut 90 bytes]");
        assert_eq!((cut.var("PATH"), cut.home.as_str()), (Some("/a:/b"), "/home/u"));
    }
}
