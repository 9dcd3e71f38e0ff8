//! The syntax tree of shell text: what the parser understood, in castellan's own words. It must not know which parser made
//! it, nor what anything means.
//!
//! Every node has a byte span in the text that was parsed. What was not understood is an [`Hole`] in its place, never
//! nothing.

use castellan_event::Why;

/// A half-open range of bytes in the text that was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

/// A part of the text that was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// Why.
    pub why: Why,
    /// Where.
    pub span: Span,
}

/// Statements that run one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The statements.
    pub statements: Vec<Statement>,
    /// Where they stand.
    pub span: Span,
}

/// One statement with its redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What runs.
    pub node: Node,
    /// Redirects of the whole of it, in order.
    pub redirects: Vec<Redirect>,
    /// It runs in the background (`&`).
    pub background: bool,
    /// `!` stands before it: it succeeds when what runs fails.
    pub negated: bool,
    /// Where it stands.
    pub span: Span,
}

/// What a statement runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Assignments, and a command with its arguments; either may be empty.
    Simple {
        /// `NAME=value` before the command.
        assignments: Vec<Assignment>,
        /// The command's name and its arguments.
        words: Vec<Word>,
    },
    /// `export`, `declare`, `local`, `readonly`, `typeset`: a command whose operands may be assignments.
    Declare {
        /// `NAME=value` before the command.
        assignments: Vec<Assignment>,
        /// Its name.
        builtin: String,
        /// Its operands in order, options among them.
        operands: Vec<Operand>,
    },
    /// Commands that run at the same time, each reading what the one before writes.
    Pipe(Vec<Statement>),
    /// `first && second || third`: all but the first run or not.
    Chain(Vec<Statement>),
    /// `( ... )`: its changes of variables and directory stay inside.
    Subshell(Script),
    /// `{ ...; }`
    Group(Script),
    /// `if` with its `elif`s: condition and body each.
    If {
        /// Conditions and bodies.
        branches: Vec<(Script, Script)>,
        /// The `else` body.
        otherwise: Option<Script>,
    },
    /// `for NAME in WORDS` and `select`. No words: the positional parameters.
    For {
        /// The variable.
        name: String,
        /// What it takes as values.
        words: Option<Vec<Word>>,
        /// The body.
        body: Script,
    },
    /// `for ((...; ...; ...))`
    ArithmeticFor {
        /// Before the first round.
        first: Arithmetic,
        /// Whether there is a round; none is yes.
        condition: Arithmetic,
        /// After each round.
        step: Arithmetic,
        /// The body.
        body: Script,
    },
    /// `while` and `until`.
    While {
        /// It is `until`.
        until: bool,
        /// The condition.
        condition: Script,
        /// The body.
        body: Script,
    },
    /// `case`.
    Case {
        /// What is matched.
        word: Word,
        /// Patterns and body of each arm.
        arms: Vec<(Vec<Word>, Script)>,
    },
    /// A function's definition; nothing of it runs yet.
    Function {
        /// Its name; `None` when it is not static.
        name: Option<String>,
        /// The body.
        body: Box<Statement>,
    },
    /// `coproc`
    Coproc(Box<Statement>),
    /// `time`; without a statement it only prints.
    Time(Option<Box<Statement>>),
    /// `[[ ... ]]`: its words in order, without operators.
    Test(Vec<Word>),
    /// `(( ... ))`: an arithmetic expression.
    Arithmetic(Arithmetic),
    /// Not understood.
    Hole(Hole),
}

/// An operand of [`Node::Declare`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// An option, a name or a word that becomes an assignment only when it is expanded.
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
    /// What is assigned.
    pub value: AssignedValue,
    /// Where it stands.
    pub span: Span,
}

/// The right side of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssignedValue {
    /// One value.
    Scalar(Word),
    /// `( ... )`: the elements, each with its index if it has one.
    Array(Vec<(Option<Word>, Word)>),
}

/// One redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Which file descriptor; `None` for the usual one of the operator.
    pub fd: Option<FdWord>,
    /// What it does.
    pub kind: RedirectKind,
    /// The file, descriptor or text.
    pub target: Word,
    /// Where it stands.
    pub span: Span,
}

/// The descriptor before a redirect operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FdWord {
    /// `2>`
    Number(u32),
    /// `{name}>`: the shell picks one and stores it there.
    Variable(String),
}

/// What a redirect does.
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
    /// `<<` and `<<-`, the delimiter unquoted or quoted: the target is the body as it will be read, expansions in it.
    Heredoc,
}

/// One word: parts that stand together without a blank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// The parts in order. An empty quoted string is a quoted [`Part::Text`] without text.
    pub parts: Vec<Part>,
    /// Where it stands.
    pub span: Span,
}

/// One part of a word. `quoted` parts are neither split nor taken for patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text, quotes and escapes taken off. Unquoted text may hold `~`, braces and patterns that are still to be expanded;
    /// an escaped character is quoted text of its own.
    Text {
        /// The text.
        text: String,
        /// In quotes, or escaped.
        quoted: bool,
    },
    /// `$name`, `${name...}`
    Parameter {
        /// What is expanded.
        parameter: Box<Parameter>,
        /// In double quotes.
        quoted: bool,
    },
    /// `$( ... )`, backquotes, `${ ...; }`
    Command {
        /// The commands.
        body: Script,
        /// In double quotes.
        quoted: bool,
    },
    /// `<( ... )` and `>( ... )`
    Process {
        /// The commands.
        body: Script,
        /// `>( ... )`: what is written to it is read by the commands.
        written: bool,
    },
    /// `$(( ... ))` and `$[ ... ]`
    Arithmetic {
        /// The expression.
        expression: Arithmetic,
        /// In double quotes.
        quoted: bool,
    },
    /// Not understood.
    Hole(Hole),
}

/// An arithmetic expression: what of it can run or change something.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arithmetic {
    /// The text as written.
    pub text: String,
    /// Words in it that are expanded: substitutions, parameters with `$`, indices.
    pub words: Vec<Word>,
    /// Variables that it changes.
    pub assigns: Vec<String>,
}

/// A parameter and what is done with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// A variable's name, a number, or one of `@ * # ? - $ ! 0 _`.
    pub name: String,
    /// The index, for arrays.
    pub index: Option<Index>,
    /// `${!name...}`: the value names the variable that is meant.
    pub indirect: bool,
    /// What is done with the value.
    pub operation: Operation,
    /// Where it stands.
    pub span: Span,
}

/// The index of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Index {
    /// `[@]`
    Each,
    /// `[*]`
    Joined,
    /// `[word]`
    At(Word),
}

/// What an expansion does with a parameter's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `${x}`
    Value,
    /// `${#x}`
    Length,
    /// `${!x[@]}`
    Keys,
    /// `${!prefix*}`
    Names,
    /// `${x-word}` and the like.
    Substitute {
        /// Which of them.
        kind: Substitute,
        /// `:`: an empty value counts as none.
        colon: bool,
        /// The word.
        word: Word,
    },
    /// `${x#pattern}` and the like.
    Remove {
        /// At the end (`%`), not at the beginning (`#`).
        suffix: bool,
        /// The longest match (`##`, `%%`).
        longest: bool,
        /// The pattern.
        pattern: Word,
    },
    /// `${x/pattern/replacement}`
    Replace {
        /// Where it may match.
        at: ReplaceAt,
        /// The pattern.
        pattern: Word,
        /// What it is replaced by; nothing when there is none.
        replacement: Option<Word>,
    },
    /// `${x^}`, `${x,,}` and the like.
    Case {
        /// To upper case.
        upper: bool,
        /// Every character, not the first only.
        all: bool,
        /// Only characters that match.
        pattern: Option<Word>,
    },
    /// `${x:offset:length}`
    Slice {
        /// From where.
        offset: Word,
        /// How many.
        length: Option<Word>,
    },
    /// `${x@Q}` and the like.
    Transform(char),
}

/// Which value takes the place of a parameter's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Substitute {
    /// `-`: the word, when there is no value.
    Default,
    /// `=`: the same, and it is assigned.
    Assign,
    /// `+`: the word, when there is a value.
    Alternative,
    /// `?`: no value ends the shell.
    Error,
}

/// Where a replacement applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReplaceAt {
    /// `/`: the first match.
    First,
    /// `//`: every match.
    All,
    /// `/#`: at the beginning.
    Start,
    /// `/%`: at the end.
    End,
}
