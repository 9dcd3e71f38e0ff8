//! The hand-written texts of `written.txt`: `## SHELL... : TOPIC` begins the texts for these shells, each on one line, with
//! `⏎` for a newline; `# ` starts a comment.

const SOURCE: &str = include_str!("written.txt");

/// Returns the texts for the shell of this name, in order.
pub(crate) fn texts(shell: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut is_for_it = false;
    for line in SOURCE.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let shells = heading.split(':').next().unwrap_or_default();
            is_for_it = shells.split_whitespace().any(|one| one == shell);
        } else if is_for_it && !line.trim().is_empty() && !line.starts_with("# ") {
            texts.push(line.replace('⏎', "\n"));
        }
    }
    texts
}

/// Returns the number of different texts, of all shells.
pub(crate) fn count() -> usize {
    let is_text =
        |line: &&str| !line.trim().is_empty() && !line.starts_with("# ") && !line.starts_with("## ");
    SOURCE.lines().filter(is_text).collect::<std::collections::BTreeSet<_>>().len()
}
