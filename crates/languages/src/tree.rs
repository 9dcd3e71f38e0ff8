//! The tree that every language is brought into: few forms, all of them expressions. It must not know a language's grammar,
//! nor what anything means.

use std::rc::Rc;

use castellan_event::Why;

/// The bytes of the text that a node stands in: the first, and the one after the last.
pub(crate) type Span = (u32, u32);

/// A part of a program.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) at: Span,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Text(Rc<str>),
    Number(i64),
    /// A value that does nothing: `None`, `1.5`, a pattern.
    Constant,
    Name(Rc<str>),
    Member(Box<Node>, Rc<str>),
    Index(Box<Node>, Box<Node>),
    /// From, to, step.
    Slice(Box<Node>, [Option<Box<Node>>; 3]),
    Call(Box<Node>, Vec<Node>),
    /// As [`Kind::Call`], for a new object.
    New(Box<Node>, Vec<Node>),
    /// An argument with a name.
    Keyword(Rc<str>, Box<Node>),
    /// The elements of a value, in a list, map, target or among arguments.
    Spread(Box<Node>),
    List(Vec<Node>),
    /// Keys and values; a [`Kind::Spread`] as the key stands for the whole entry.
    Map(Vec<(Node, Node)>),
    /// Text with values in it.
    Join(Vec<Node>),
    /// `a + b + c`
    Add(Vec<Node>),
    /// `a / b`, by which paths are joined.
    Divide(Box<Node>, Box<Node>),
    /// `a % b`, by which text is formatted.
    Modulo(Box<Node>, Box<Node>),
    /// `a * b`, by which text is repeated.
    Multiply(Box<Node>, Box<Node>),
    /// All of them run; the value is data.
    Inert(Vec<Node>),
    /// All of them run; the value is that of the last.
    Sequence(Vec<Node>),
    /// The first runs, then perhaps the others, in order; the value is that of one of them.
    Or(Vec<Node>),
    /// One of them runs.
    Either(Vec<Node>),
    Function(Rc<Function>),
    Class(Rc<Class>),
    Assign(Box<Node>, Box<Node>),
    /// `a += b`, which changes a list in place.
    Augment(Box<Node>, Box<Node>),
    Loop(Box<Loop>),
    /// They run one after the other, and each may be left in the middle.
    Try(Vec<Node>),
    Return(Option<Box<Node>>),
    Yield(Option<Box<Node>>),
    /// A block with names of its own.
    Scope(Vec<Rc<str>>, Box<Node>),
    /// A module.
    Load(Box<Node>),
    /// All that a module offers, as names.
    LoadAll(Box<Node>),
    /// A command of a shell language.
    Command(Box<Invoked>),
    /// Commands, each of which is given what the one before gives; the first may be any expression.
    Pipe(Vec<Node>),
    /// `-name` among the words of a command: whether the next word is its value, the command decides.
    Flag(Rc<str>),
    /// A part that was not understood.
    Hole(Why),
}

/// A command of a shell language, with its words. One that is not in quotes is a [`Kind::Text`] or begins with one; a
/// [`Kind::Keyword`] is `-name:value`.
#[derive(Debug)]
pub(crate) struct Invoked {
    pub(crate) name: Node,
    pub(crate) words: Vec<Node>,
    pub(crate) way: Way,
}

/// How a command is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By its name.
    Plain,
    /// `&`: the name is a value.
    Call,
    /// `.`: the same, in the scope that is there.
    Source,
}

/// A loop, or a comprehension, whose value is the list of its bodies' values.
#[derive(Debug)]
pub(crate) struct Loop {
    /// What is bound, and the elements of what; `None`: it runs while something holds.
    pub(crate) over: Option<(Node, Node)>,
    pub(crate) body: Node,
    /// Whether it may end, or go on to the next element, in the middle of the body.
    pub(crate) jumps: bool,
    pub(crate) collects: bool,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) parameters: Vec<Parameter>,
    /// Names that are its own, parameters included.
    pub(crate) locals: Vec<Rc<str>>,
    pub(crate) body: Node,
    /// It is given `this`.
    pub(crate) has_this: bool,
    /// As a member of a class it is given the object as its first argument.
    pub(crate) takes_self: bool,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) target: Node,
    pub(crate) default: Option<Node>,
    pub(crate) rest: Rest,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// One argument.
    One,
    /// One argument with its name.
    Named,
    /// All further arguments.
    List,
    /// All further arguments that have names.
    Map,
}

#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) bases: Vec<Node>,
    /// Names of its members.
    pub(crate) locals: Vec<Rc<str>>,
    /// Assigns them.
    pub(crate) body: Node,
}

impl Node {
    pub(crate) fn new(at: Span, kind: Kind) -> Node {
        Node { at, kind }
    }

    pub(crate) fn name(at: Span, name: &str) -> Node {
        Node { at, kind: Kind::Name(name.into()) }
    }

    pub(crate) fn text(at: Span, text: &str) -> Node {
        Node { at, kind: Kind::Text(text.into()) }
    }

    pub(crate) fn assign(at: Span, target: Node, value: Node) -> Node {
        Node { at, kind: Kind::Assign(Box::new(target), Box::new(value)) }
    }
}
