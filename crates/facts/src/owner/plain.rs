//! Programs whose words show that they only compute.

/// Words, in lower case, with which programs of any language start others, delete, or reach outside of the project.
const TELLING: &[&str] = &[
    "##", ".aws", ".env", ".ssh", "/bin/", "/etc/", "/root", "`", "asm", "chmod", "chown", "curl", "delete",
    "dlopen", "dlsym", "eval", "exec", "fork", "getenv", "home", "ioctl", "mmap", "open3", "pipe", "popen",
    "process", "remove", "rename", "rmdir", "rmtree", "runtime", "shell", "signal", "socket", "spawn",
    "sudo", "syscall", "system", "truncate", "unlink", "wget", "~/",
];

/// Such words that other words end in: `useJUnitPlatform(` is no `rm(`.
const SHORT: &[&str] = &["nc ", "rm ", "rm(", "run("];

/// Returns true if a program has none of these words.
pub(crate) fn is_plain(text: &str) -> bool {
    let text = text.to_lowercase();
    let begins = |at: usize| !text.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    !TELLING.iter().any(|telling| text.contains(telling))
        && !SHORT.iter().any(|telling| text.match_indices(telling).any(|(at, _)| begins(at)))
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn words_that_start_or_delete_are_found() {
        for text in ["tasks.test { useJUnitPlatform() }", "val x = dryRunner", "sync data"] {
            assert!(is_plain(text), "{text}");
        }
        for text in
            ["rm(\"-rf\")", "x.run(y)", "`ls`", "ProcessBuilder(x)", "; nc x 1", "file.deleteRecursively()"]
        {
            assert!(!is_plain(text), "{text}");
        }
    }
}
