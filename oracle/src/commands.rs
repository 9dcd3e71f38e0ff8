//! The corpus `commands.txt`: lines are commands, with `⏎` for a newline; `# ` starts a comment, `## ` a group.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) group: String,
    pub(crate) text: String,
}

impl Text {
    /// Returns true for a line of a real script.
    pub(crate) fn is_real(&self) -> bool {
        self.group.starts_with("real:")
    }
}

/// Returns the whole corpus.
pub(crate) fn all() -> Vec<Text> {
    let mut group = String::new();
    let mut texts = Vec::new();
    for line in include_str!("../commands.txt").lines() {
        if let Some(name) = line.strip_prefix("## ") {
            name.clone_into(&mut group);
        } else if !line.trim().is_empty() && !line.starts_with("# ") {
            texts.push(Text { group: group.clone(), text: line.replace('⏎', "\n") });
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_and_half_of_them_are_real() {
        let all = all();
        assert!(all.len() >= 400, "{}", all.len());
        let real = all.iter().filter(|text| text.is_real()).count();
        assert!(real * 2 >= all.len(), "{real} of {}", all.len());
        for (at, text) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| other.text != text.text), "twice: {}", text.text);
        }
    }
}
