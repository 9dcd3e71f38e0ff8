//! The syntax tree of shell text. This module must not know the parser or the meaning of the nodes.
//!
//! Every node has a byte span in the parsed text. The parser inserts a [`Hole`] for a part that it does not understand.

mod words;

use castellan_event::Why;
pub use words::{
    Arithmetic, Expression, Index, Operation, Parameter, Part, ReplaceAt, Substitute, Variable, Word,
    ZshExpansion,
};

/// A half-open byte range in the parsed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

/// A part of the text that the parser did not understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// The reason.
    pub why: Why,
    /// The span of the part.
    pub span: Span,
}

/// Shell text, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The tree.
    pub script: Script,
    /// Every hole of the tree, in the order in which the parser found them.
    pub holes: Vec<Hole>,
    /// True if a `&` puts something into the background, anywhere in the text.
    pub background: bool,
    /// The comments, without their `#`, in the order of the text; at most [`COMMENTS_MAX`](crate::limits::COMMENTS_MAX).
    pub comments: Vec<Span>,
}

/// A sequence of statements.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The statements.
    pub statements: Vec<Statement>,
    /// The span of the statements.
    pub span: Span,
}

/// A statement with its redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The command of the statement.
    pub node: Node,
    /// Redirects of the whole statement, in order.
    pub redirects: Vec<Redirect>,
    /// True if the statement runs in the background (`&`).
    pub background: bool,
    /// True after `!`: the statement succeeds if its command fails.
    pub negated: bool,
    /// The span of the statement.
    pub span: Span,
}

/// The command of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Assignments, and a command with its arguments; either may be empty.
    Simple {
        /// `NAME=value` before the command.
        assignments: Vec<Assignment>,
        /// The command's name and its arguments.
        words: Vec<Word>,
    },
    /// `export`, `declare`, `local`, `readonly`, `typeset`: a command with assignments as operands.
    Declare {
        /// `NAME=value` before the command.
        assignments: Vec<Assignment>,
        /// The name of the command.
        builtin: String,
        /// The operands in order, including options.
        operands: Vec<Operand>,
    },
    /// Commands that run concurrently; each reads the output of the previous command.
    Pipe(Vec<Statement>),
    /// `first && second || third`: every command after the first is conditional.
    Chain {
        /// The commands.
        all: Vec<Statement>,
        /// The connectors, each before the command after the first with its number.
        connectors: Vec<Connector>,
    },
    /// `( ... )`: changes of variables and directory stay inside.
    Subshell(Script),
    /// `{ ...; }`. In zsh also `{ ... } always { ... }`, as the group of both, and a function without a name, as its
    /// definition and its call.
    Group(Script),
    /// `if` with its `elif` branches.
    If {
        /// The condition and body of each branch.
        branches: Vec<(Script, Script)>,
        /// The `else` body.
        otherwise: Option<Script>,
    },
    /// `for NAME in WORDS` and `select`. Without words, the loop uses the positional parameters.
    For {
        /// The variable. zsh has several: each round takes as many values.
        names: Vec<String>,
        /// The values of the variable.
        words: Option<Vec<Word>>,
        /// The body.
        body: Script,
    },
    /// `for ((...; ...; ...))`. In zsh also `repeat COUNT`: the count is the condition, so that 0 has no round.
    ArithmeticFor {
        /// Evaluated before the first round.
        first: Arithmetic,
        /// The condition of a round; an empty condition is true.
        condition: Arithmetic,
        /// Evaluated after each round.
        step: Arithmetic,
        /// The body.
        body: Script,
    },
    /// `while` and `until`.
    While {
        /// True for `until`.
        until: bool,
        /// The condition.
        condition: Script,
        /// The body.
        body: Script,
    },
    /// `case`.
    Case {
        /// The matched word.
        word: Word,
        /// Patterns and body of each arm.
        arms: Vec<(Vec<Word>, Script)>,
    },
    /// The definition of a function, which does not run the body.
    Function {
        /// The names that are static. Only zsh has several.
        names: Vec<String>,
        /// The body.
        body: Box<Statement>,
    },
    /// `coproc`
    Coproc(Box<Statement>),
    /// `time`; without a statement, `time` only prints.
    Time(Option<Box<Statement>>),
    /// `[[ ... ]]`: its words in order, without operators.
    Test(Vec<Word>),
    /// `(( ... ))`: an arithmetic expression.
    Arithmetic(Arithmetic),
    /// Not understood.
    Hole(Hole),
}

/// The condition of a command in [`Node::Chain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Connector {
    /// `&&`: runs if the command before succeeds.
    And,
    /// `||`: runs if the command before fails.
    Or,
}

/// An operand of [`Node::Declare`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// An option, a name, or a word that becomes an assignment only after expansion.
    Word(Word),
    /// `NAME=value`
    Assignment(Assignment),
}

/// `NAME=value`, `NAME+=value`, `NAME[index]=value`, `NAME=(a b)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The index, for one element of an array.
    pub index: Option<Word>,
    /// `+=`
    pub append: bool,
    /// The assigned value.
    pub value: AssignedValue,
    /// The span of the assignment.
    pub span: Span,
}

impl Assignment {
    /// Reports whether the value has no expansions.
    pub(crate) fn is_literal(&self) -> bool {
        let is_text = |word: &Word| word.parts.iter().all(|part| matches!(part, Part::Text { .. }));
        match &self.value {
            AssignedValue::Scalar(word) => is_text(word),
            AssignedValue::Array(elements) => elements.iter().all(|(_, word)| is_text(word)),
        }
    }
}

/// The right side of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssignedValue {
    /// A single value.
    Scalar(Word),
    /// `( ... )`: the elements, with optional indices.
    Array(Vec<(Option<Word>, Word)>),
}

/// A redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The file descriptor; `None` for the operator's default.
    pub fd: Option<FdWord>,
    /// The kind of redirect.
    pub kind: RedirectKind,
    /// The file, descriptor or text.
    pub target: Word,
    /// The span of the redirect.
    pub span: Span,
}

/// The descriptor before a redirect operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FdWord {
    /// `2>`
    Number(u32),
    /// `{name}>`: the shell allocates a descriptor and stores its number in the variable.
    Variable(String),
}

/// The kind of redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>` and `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`: a descriptor, or `-`.
    DuplicateInput,
    /// `>&` with a descriptor or `-`; a file name is [`RedirectKind::WriteBoth`].
    DuplicateOutput,
    /// `&>` and `>& file`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<<`
    HereString,
    /// `<<` and `<<-`, with quoted or unquoted delimiter: the target is the body as read, with its expansions.
    Heredoc,
}
