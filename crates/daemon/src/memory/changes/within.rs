//! Limits the size of a path set without losing a path: a directory replaces its paths. Independent of their use.

use std::collections::BTreeSet;

/// Reduces a set of paths to `most` entries by replacing paths with their directory. Returns false if the root
/// directory alone has more entries.
pub(in crate::memory) fn keep_within(paths: &mut BTreeSet<String>, most: usize) -> bool {
    while paths.len() > most {
        let before = paths.len();
        let deepest = paths.iter().map(|path| depth(path)).max().unwrap_or_default();
        if deepest < 2 {
            return false;
        }
        let coarser = |path: String| match path.rsplit_once('/') {
            Some((above, _)) if depth(&path) == deepest => above.to_owned(),
            _ => path,
        };
        *paths = std::mem::take(paths).into_iter().map(coarser).collect();
        debug_assert!(paths.len() <= before, "a directory is one entry");
    }
    true
}

fn depth(path: &str) -> usize {
    path.split('/').filter(|name| !name.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str], most: usize, expected: (&[&str], bool)) {
        let mut kept: BTreeSet<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let fits = keep_within(&mut kept, most);
        assert_eq!(
            (kept.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), fits),
            expected,
            "{paths:?}"
        );
    }

    #[test]
    fn directories_stand_for_what_they_hold() {
        check(&["/a/b", "/c"], 2, (&["/a/b", "/c"], true));
        check(&["/a/b", "/a/c", "/d"], 2, (&["/a", "/d"], true));
        check(&["/a/b/c", "/a/b/d", "/a/e", "/f"], 3, (&["/a/b", "/a/e", "/f"], true));
        check(&["/a/b/c", "/a/b/d", "/a/e", "/f"], 2, (&["/a", "/f"], true));
        check(&["/a", "/b", "/c"], 2, (&["/a", "/b", "/c"], false));
    }
}
