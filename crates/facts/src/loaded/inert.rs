//! Files that no tool loads as code or settings, by their names. Must not know tools.

use castellan_programs::base_name;

/// Endings of files that no tool runs as code and no tool takes its configuration from.
const INERT: &[&str] = &[
    ".adoc", ".bmp", ".css", ".csv", ".diff", ".eot", ".gif", ".ico", ".jpeg", ".jpg", ".less", ".log",
    ".md", ".mp3", ".mp4", ".otf", ".patch", ".pdf", ".png", ".po", ".rst", ".sass", ".scss", ".snap",
    ".svg", ".tsv", ".ttf", ".webp", ".woff", ".woff2",
];

/// Names of files that are no configuration of a test or build tool.
const INERT_NAMES: &[&str] =
    &[".dockerignore", ".editorconfig", ".gitignore", ".gitkeep", ".nvmrc", "CHANGELOG", "LICENSE", "README"];

/// Returns true for a file that no tool loads as code or settings. A name without an ending is a program or a directory.
pub(super) fn is_inert(path: &str) -> bool {
    let name = base_name(path);
    let is_setting = name.starts_with('.') || name.ends_with("file") || name.ends_with("rc");
    INERT.iter().any(|end| name.ends_with(end))
        || INERT_NAMES.contains(&name)
        || !name.contains('.') && !is_setting
}
