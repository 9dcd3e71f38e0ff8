//! Paths that are not files, or that each process resolves differently.

/// Returns the host and port of bash's `/dev/tcp/HOST/PORT` and `/dev/udp/HOST/PORT`, which redirections open as
/// connections. For other programs the path does not exist, so only redirections should call this function.
pub fn dev_tcp(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    // For bash, text after the second slash belongs to the name of the port, and is no valid port.
    rest.split_once('/').filter(|(host, port)| !host.is_empty() && !port.is_empty())
}

/// Files that a process has open, or that store nothing. They are not resolved: each process has its own target.
const STREAMS: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];

/// Directories of open files; a number follows.
const OPEN_FILES: &[&str] = &["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"];

/// Returns true if a path, without `.` and doubled slashes, is such a file.
pub(crate) fn is_stream(path: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    STREAMS.contains(&path)
        || OPEN_FILES.iter().any(|directory| path.strip_prefix(directory).is_some_and(is_number))
}

/// Returns the target of `/proc/self/root` or `/proc/self/cwd` for a process in `cwd`. Below `root`, both may follow.
pub(super) fn of_process(path: &str, cwd: Option<&str>) -> Option<String> {
    let mut inside = path;
    while let Some(rest) = below(inside, "root") {
        inside = rest;
    }
    if let (Some(rest), Some(cwd)) = (below(inside, "cwd"), cwd) {
        return Some(format!("{cwd}{rest}"));
    }
    let is_other = inside.len() < path.len();
    is_other.then(|| if inside.is_empty() { "/" } else { inside }.to_owned())
}

/// Returns the rest after such a name in the directory of the calling process: empty, or a slash and more.
fn below<'p>(path: &'p str, name: &str) -> Option<&'p str> {
    let inside = ["/proc/self/", "/proc/thread-self/"].iter().find_map(|own| path.strip_prefix(own))?;
    inside.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
