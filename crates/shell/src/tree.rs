//! The syntax tree of shell text. This module must not know the parser or the meaning of the nodes.
//!
//! Every node has a byte span in the parsed text. The parser inserts a [`Hole`] for a part that it does not understand.

use castellan_event::Why;

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

/// A word: adjacent parts without a blank between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// The parts in order. An empty quoted string is a quoted [`Part::Text`] without text.
    pub parts: Vec<Part>,
    /// The span of the word.
    pub span: Span,
}

/// A part of a word. `quoted` parts are not split and are no patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text without quotes and escapes. Unquoted text may contain `~`, braces and patterns to expand. An escaped
    /// character is a separate quoted text.
    Text {
        /// The text.
        text: String,
        /// In quotes, or escaped.
        quoted: bool,
    },
    /// `$name`, `${name...}`
    Parameter {
        /// The expanded parameter.
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
        /// True for `>( ... )`: the commands read from it.
        written: bool,
    },
    /// `$(( ... ))` and `$[ ... ]`
    Arithmetic {
        /// The expression.
        expression: Arithmetic,
        /// In double quotes.
        quoted: bool,
    },
    /// A part that the parser did not understand.
    Hole(Hole),
}

/// An arithmetic expression, with the parts that can run code or change variables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arithmetic {
    /// The text as written.
    pub text: String,
    /// Expanded words of the expression: substitutions, parameters with `$`, indices.
    pub words: Vec<Word>,
    /// Variables that the expression changes.
    pub assigns: Vec<String>,
    /// The expression as written; `None` if it is not read. The shell expands words first: the value of an expansion is
    /// text, which may contain operators.
    pub tree: Option<Box<Expression>>,
}

/// The structure of an [`Arithmetic`]. Its depth is limited, as all of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// Digits, with the base as written: `1`, `0x1f`, `16#ff`.
    Number(String),
    /// A variable, whose value the shell evaluates again.
    Variable(Variable),
    /// The expansion with this number in [`Arithmetic::words`].
    Expansion(usize),
    /// `-a`, `!a`
    Unary {
        /// The operator.
        operator: &'static str,
        /// The operand.
        operand: Box<Expression>,
    },
    /// `a + b - c`: operators of one precedence from left to right. `**` has its operands from right to left.
    Chain {
        /// The first operand.
        first: Box<Expression>,
        /// The operators, each with the operand after it.
        rest: Vec<(&'static str, Expression)>,
    },
    /// `a ? b : c`
    Conditional {
        /// The condition.
        condition: Box<Expression>,
        /// Evaluated if the condition is not 0.
        yes: Box<Expression>,
        /// Evaluated if the condition is 0.
        no: Box<Expression>,
    },
    /// `a = b`, `a += b`
    Assign {
        /// The variable.
        variable: Variable,
        /// The operator.
        operator: &'static str,
        /// The value.
        value: Box<Expression>,
    },
    /// `++a`, `a--`
    Step {
        /// The variable.
        variable: Variable,
        /// The operator.
        operator: &'static str,
        /// `++a`: the value is that after the change.
        is_before: bool,
    },
    /// `a, b`; an empty expression is an empty list.
    List(Vec<Expression>),
}

/// A variable of an [`Expression`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// `[...]`: an expression, or the key of an associative array.
    pub index: Option<Box<Expression>>,
}

/// A parameter and the operation on its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// A variable's name, a number, or one of `@ * # ? - $ ! 0 _`.
    pub name: String,
    /// The index, for arrays.
    pub index: Option<Index>,
    /// `${!name...}`: the value is the name of another variable.
    pub indirect: bool,
    /// The operation on the value.
    pub operation: Operation,
    /// The rest of an expansion that only zsh has.
    pub zsh: Option<Box<ZshExpansion>>,
    /// The span of the parameter.
    pub span: Span,
}

/// Parts of an expansion of zsh. Any of them changes the value, and some of them run code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ZshExpansion {
    /// The letters of `${(flags)x}`, with their arguments. `e` expands the value again.
    pub flags: String,
    /// `=`, `~`, `^`, `+`, before the name: `=` splits the value, `~` makes it a pattern.
    pub signs: String,
    /// `${${x}...}`, `${"$x"...}`: the word in place of a name.
    pub nested: Option<Word>,
    /// The operation, if only zsh has it, from its `:` on; further indices.
    pub operation: Option<Word>,
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

/// The operation of an expansion on a parameter's value.
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
    /// `${x-word}` and similar.
    Substitute {
        /// The kind of substitution.
        kind: Substitute,
        /// `:`: an empty value is treated as unset.
        colon: bool,
        /// The word.
        word: Word,
    },
    /// `${x#pattern}` and similar.
    Remove {
        /// True for the end (`%`), false for the start (`#`).
        suffix: bool,
        /// True for the longest match (`##`, `%%`).
        longest: bool,
        /// The pattern.
        pattern: Word,
    },
    /// `${x/pattern/replacement}`
    Replace {
        /// The position of the match.
        at: ReplaceAt,
        /// The pattern.
        pattern: Word,
        /// The replacement; `None` for an empty one.
        replacement: Option<Word>,
    },
    /// `${x^}`, `${x,,}` and similar.
    Case {
        /// True for upper case.
        upper: bool,
        /// True for every character, false for the first.
        all: bool,
        /// The pattern of the characters to change.
        pattern: Option<Word>,
    },
    /// `${x:offset:length}`
    Slice {
        /// The offset of the first character.
        offset: Word,
        /// The number of characters.
        length: Option<Word>,
    },
    /// `${x@Q}` and similar.
    Transform(char),
}

/// The kind of [`Operation::Substitute`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Substitute {
    /// `-`: the word, if there is no value.
    Default,
    /// `=`: like `-`, and assigns the word to the parameter.
    Assign,
    /// `+`: the word, if there is a value.
    Alternative,
    /// `?`: without a value, the shell exits.
    Error,
}

/// The position of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReplaceAt {
    /// `/`: the first match.
    First,
    /// `//`: every match.
    All,
    /// `/#`: at the start.
    Start,
    /// `/%`: at the end.
    End,
}
