//! Programs whose words show that they only compute.

/// Words, in lower case, with which programs of any language start others, delete, or reach outside of the project.
const TELLING: &[&str] = &[
    "##", ".aws", ".env", ".ssh", "/bin/", "/etc/", "/root", "`", "asm", "chmod", "chown", "curl", "delete",
    "dlopen", "dlsym", "eval", "exec", "fork", "getenv", "home", "ioctl", "mmap", "nc ", "open3", "pipe",
    "popen", "process", "remove", "rename", "rm ", "rm(", "rmdir", "rmtree", "run(", "runtime", "shell",
    "signal", "socket", "spawn", "sudo", "syscall", "system", "truncate", "unlink", "wget", "~/",
];

/// Returns true if a program has none of these words.
pub(crate) fn is_plain(text: &str) -> bool {
    let text = text.to_lowercase();
    !TELLING.iter().any(|telling| text.contains(telling))
}
