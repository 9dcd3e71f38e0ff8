//! Paths that are none, or that mean something else to each process that looks.

/// The host and port of bash's `/dev/tcp/HOST/PORT` and `/dev/udp/HOST/PORT`, which redirections open as connections. Other
/// programs see a path that does not exist, so only redirections should ask.
pub fn dev_tcp(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    // What follows the second slash is part of the port's name for bash, and no port.
    rest.split_once('/').filter(|(host, port)| !host.is_empty() && !port.is_empty())
}

/// Files that are what the process has open, or that nothing is kept of. They are not resolved: they lead elsewhere for each
/// process.
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

/// Directories of open files: a number follows.
const OPEN_FILES: &[&str] = &["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"];

/// Whether a path, `.` and doubled slashes taken out, is such a file.
pub(crate) fn is_stream(path: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    STREAMS.contains(&path)
        || OPEN_FILES.iter().any(|directory| path.strip_prefix(directory).is_some_and(is_number))
}

/// What `/proc/self/root` and `/proc/self/cwd` lead to for a process that runs in `cwd`. Below the former may stand either again.
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

/// What follows such a name in the directory of the process that looks: nothing, or a slash and more.
fn below<'p>(path: &'p str, name: &str) -> Option<&'p str> {
    let inside = ["/proc/self/", "/proc/thread-self/"].iter().find_map(|own| path.strip_prefix(own))?;
    inside.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
