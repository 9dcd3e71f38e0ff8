//! [`Finding`], its [`Layer`] and its [`Exemption`]: the results of stages.

use std::fmt;
use std::ops::Range;

use crate::code::Code;
use crate::obligation::ObligationKind;
use crate::verdict::Verdict;

/// The reason why a finding is exempt. An exempt finding is recorded and does not affect the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exemption {
    /// A person granted this call.
    Grant,
    /// A plan that a person approved covers every effect of the call.
    Plan,
    /// The operator's allow rules cover every leaf of the call.
    Operator,
    /// The finding's rule is in the state "observe". The rule's state gives this exemption, not a stage.
    Observe,
    /// An obligation of this kind is met. For example, castellan does not ask about a contained call.
    Met(ObligationKind),
}

impl Exemption {
    /// Returns the word used in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Exemption::Grant => "grant",
            Exemption::Plan => "plan",
            Exemption::Operator => "operator",
            Exemption::Observe => "observe",
            Exemption::Met(kind) => kind.as_str(),
        }
    }
}

/// The owner of rules, highest first. A lower layer may tighten a higher layer's decisions, not change its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Rules above the user's files, castellan's own among them.
    Organisation,
    /// The shipped packs and the user's files.
    User,
    /// A workspace's own files, if a person trusts the workspace.
    Project,
}

impl Layer {
    /// All layers.
    pub const ALL: [Layer; 3] = [Layer::Organisation, Layer::User, Layer::Project];

    /// Returns the word used in records and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Organisation => "organisation",
            Layer::User => "user",
            Layer::Project => "project",
        }
    }
}

/// The result of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The verdict of this finding alone.
    pub verdict: Verdict,
    /// The reason.
    pub code: Code,
    /// Name of the rule that made the finding; empty if no rule did.
    pub rule: String,
    /// The layer of that rule.
    pub layer: Option<Layer>,
    /// Positions of the rows that the rule fired on, ascending, as [`crate::rows`] makes them.
    pub rows: Vec<usize>,
    /// The message for the person and the agent.
    pub message: String,
    /// The byte of the message at which its remedy starts, if it has one.
    pub remedy_at: Option<usize>,
    /// The bytes of the message that are values from outside, such as a path, ascending.
    pub values: Vec<Range<usize>>,
    /// Exemptions that the finding's stage admits, from the table of stages. Empty: nothing exempts the finding.
    pub liftable_by: &'static [Exemption],
    /// Nothing exempts the finding, despite `liftable_by`: the organisation's rules, unless their tags say otherwise.
    pub is_firm: bool,
    /// The exemption in force, if any.
    pub lifted: Option<Exemption>,
}

impl Finding {
    /// Returns a finding that no rule made.
    pub fn new(verdict: Verdict, code: Code, message: impl Into<String>) -> Finding {
        Finding {
            verdict,
            code,
            rule: String::new(),
            layer: None,
            rows: Vec::new(),
            message: message.into(),
            remedy_at: None,
            values: Vec::new(),
            liftable_by: &[],
            is_firm: false,
            lifted: None,
        }
    }

    /// Adds a value from outside to the end of the message.
    #[must_use]
    pub fn with_value(mut self, value: &str) -> Finding {
        let start = self.message.len();
        self.message.push_str(value);
        self.values.push(start..self.message.len());
        self
    }

    /// Adds text of castellan to the end of the message.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Finding {
        self.message.push_str(text);
        self
    }

    /// Returns the finding with a remedy after its message.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &str) -> Finding {
        self.message.push_str(". Instead: ");
        self.remedy_at = Some(self.message.len());
        self.message.push_str(remedy);
        self
    }

    /// Reports whether the finding admits the exemption.
    pub fn is_liftable_by(&self, exemption: Exemption) -> bool {
        !self.is_firm && self.liftable_by.contains(&exemption)
    }

    /// Reports whether the verdict keeps the call from running without a question.
    pub fn stops(&self) -> bool {
        self.verdict >= Verdict::Ask
    }

    /// Reports whether the finding affects the decision.
    pub fn counts(&self) -> bool {
        self.verdict > Verdict::Defer && self.lifted.is_none()
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
