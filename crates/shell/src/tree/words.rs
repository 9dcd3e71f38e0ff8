//! The parts of words in the syntax tree: text, parameters, expressions. This module must not know the parser.

use super::{Hole, Script, Span};

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
