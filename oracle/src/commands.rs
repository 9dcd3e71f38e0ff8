//! The corpus: `commands.txt`, in groups. Lines are commands, `⏎` stands for a newline, `# ` begins a comment, `## ` a group.

/// A text to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// The group that it stands in.
    pub(crate) group: String,
    /// The shell text.
    pub(crate) text: String,
}

impl Text {
    /// It is a line of a real script.
    pub(crate) fn is_real(&self) -> bool {
        self.group.starts_with("real:")
    }
}

/// All of the corpus.
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
