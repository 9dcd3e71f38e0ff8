//! A way to disguise a command, and the layers that cover what facts do not show. It must not know what the texts do.

/// A way to disguise a command, or to go around what judges it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The group that it stands in.
    pub group: String,
    /// What it is, in a line.
    pub name: String,
    /// Tests elsewhere.
    pub tests: Vec<Test>,
    /// Which layer covers it, when it is not caught.
    pub left: Option<Left>,
}

/// A test outside of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Its file, from the workspace's root.
    pub file: String,
    /// The function in a file of code.
    pub function: Option<String>,
}

/// What covers a way that is not caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The layer.
    pub layer: Layer,
    /// Why it is not caught, and what the layer does about it.
    pub why: String,
}

/// A layer besides the judgement of a call by its facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Around the agent's commands.
    Sandbox,
    /// The machine-wide registration.
    Managed,
    /// What marks a session for later calls.
    Marks,
    /// A rule of one's own.
    Rule,
    /// The report of what ran without being judged.
    Report,
    /// The audit log.
    Log,
}

impl Layer {
    /// Every layer.
    pub const ALL: [Layer; 6] =
        [Layer::Sandbox, Layer::Managed, Layer::Marks, Layer::Rule, Layer::Report, Layer::Log];

    /// Its word in the file and in the book.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Sandbox => "sandbox",
            Layer::Managed => "managed",
            Layer::Marks => "marks",
            Layer::Rule => "rule",
            Layer::Report => "report",
            Layer::Log => "log",
        }
    }

    /// What it is, and whether it is there yet.
    pub fn meaning(self) -> &'static str {
        match self {
            Layer::Sandbox => {
                "the agent's commands run where they cannot reach it: the agent's own sandbox, a container or a user of \
                 its own; castellan's (`castellan run`) is planned"
            }
            Layer::Managed => "the agents' machine-wide registration (`castellan install --managed`)",
            Layer::Marks => "a rule that marks the session, and one that judges its later calls by the mark",
            Layer::Rule => "a rule of one's own on the command, or on `fx.kind = execute`",
            Layer::Report => {
                "what ran without having been judged as it ran is found afterwards and told (`ungoverned` in the log)"
            }
            Layer::Log => "recorded, not prevented",
        }
    }
}

impl Way {
    pub(super) fn new(group: &str, name: &str) -> Way {
        Way { group: group.to_owned(), name: name.to_owned(), tests: Vec::new(), left: None }
    }

    /// Takes a line of its own, without the `@`; the error says what is wrong with it.
    pub(super) fn note(&mut self, note: &str) -> Result<(), String> {
        let (kind, text) = note.split_once(' ').unwrap_or((note, ""));
        match kind {
            "test" => {
                let (file, function) =
                    text.split_once(' ').map_or((text, None), |(file, name)| (file, Some(name.to_owned())));
                self.tests.push(Test { file: file.to_owned(), function });
            }
            "left" => {
                let (word, why) = text.split_once(": ").ok_or("`@left` takes LAYER: WHY")?;
                let layer = Layer::ALL.into_iter().find(|layer| layer.as_str() == word);
                let layer = layer.ok_or_else(|| format!("no layer is called `{word}`"))?;
                self.left = Some(Left { layer, why: why.to_owned() });
            }
            _ => return Err(format!("`@{kind}` is neither `@test` nor `@left`")),
        }
        Ok(())
    }
}
