//! The common tree for all languages: few forms, all of them expressions. Must not know grammars, nor the meaning of
//! names.

use std::rc::Rc;

use castellan_event::Why;

/// The first byte of a node in the text, and the byte after its last.
pub(crate) type Span = (u32, u32);

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) at: Span,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Text(Rc<str>),
    Number(i64),
    /// A value without effects: `None`, `1.5`, a pattern.
    Constant,
    Name(Rc<str>),
    Member(Box<Node>, Rc<str>),
    Index(Box<Node>, Box<Node>),
    /// From, to, step.
    Slice(Box<Node>, [Option<Box<Node>>; 3]),
    Call(Box<Node>, Vec<Node>),
    /// As [`Kind::Call`], for a new object.
    New(Box<Node>, Vec<Node>),
    Keyword(Rc<str>, Box<Node>),
    /// The elements of a value, in a list, map, target or among arguments.
    Spread(Box<Node>),
    List(Vec<Node>),
    /// Keys and values; a [`Kind::Spread`] as the key represents the whole entry.
    Map(Vec<(Node, Node)>),
    /// Text with values in it.
    Join(Vec<Node>),
    /// `a + b + c`
    Add(Vec<Node>),
    /// `a / b`, which joins paths.
    Divide(Box<Node>, Box<Node>),
    /// `a % b`, which formats text.
    Modulo(Box<Node>, Box<Node>),
    /// `a * b`, which repeats text.
    Multiply(Box<Node>, Box<Node>),
    /// All parts run; the value is data.
    Inert(Vec<Node>),
    /// All parts run; the value is that of the last.
    Sequence(Vec<Node>),
    /// The first part runs, then perhaps the others, in order. The value is that of one of them.
    Or(Vec<Node>),
    /// Exactly one part runs.
    Either(Vec<Node>),
    Function(Rc<Function>),
    Class(Rc<Class>),
    Assign(Box<Node>, Box<Node>),
    /// `a += b`, which changes a list in place.
    Augment(Box<Node>, Box<Node>),
    Loop(Box<Loop>),
    /// The parts run in order, and each may be left in the middle.
    Try(Vec<Node>),
    Return(Option<Box<Node>>),
    Yield(Option<Box<Node>>),
    /// A block with names of its own.
    Scope(Vec<Rc<str>>, Box<Node>),
    Load(Box<Node>),
    /// All names of a module.
    LoadAll(Box<Node>),
    /// A command of a shell language.
    Command(Box<Invoked>),
    /// Commands whose input is the output of the command before. The first part may be any expression.
    Pipe(Vec<Node>),
    /// `-name` among the words of a command. The command decides if the next word is its value.
    Flag(Rc<str>),
    /// A part that was not understood.
    Hole(Why),
}

/// A command of a shell language, with its words. A word without quotes is a [`Kind::Text`] or begins with one. A
/// [`Kind::Keyword`] is `-name:value`.
#[derive(Debug)]
pub(crate) struct Invoked {
    pub(crate) name: Node,
    pub(crate) words: Vec<Node>,
    pub(crate) way: Way,
}

/// The way to call a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By its name.
    Plain,
    /// `&`: the name is a value.
    Call,
    /// `.`: as `&`, in the current scope.
    Source,
}

/// A loop, or a comprehension; the value of a comprehension is the list of its bodies' values.
#[derive(Debug)]
pub(crate) struct Loop {
    /// The target that is bound, and the value with the elements. `None`: a loop with a condition.
    pub(crate) over: Option<(Node, Node)>,
    pub(crate) body: Node,
    /// The body may contain `break` or `continue`.
    pub(crate) jumps: bool,
    pub(crate) collects: bool,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) parameters: Vec<Parameter>,
    /// Names that are its own, parameters included.
    pub(crate) locals: Vec<Rc<str>>,
    pub(crate) body: Node,
    /// The body sees `this`.
    pub(crate) has_this: bool,
    /// As a member of a class, the function gets the object as its first argument.
    pub(crate) takes_self: bool,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) target: Node,
    pub(crate) default: Option<Node>,
    pub(crate) rest: Rest,
}

/// The arguments that a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
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
    /// Assigns the members.
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

    pub(crate) fn nothing(at: Span) -> Node {
        Node { at, kind: Kind::Constant }
    }

    pub(crate) fn hole(at: Span, why: Why) -> Node {
        Node { at, kind: Kind::Hole(why) }
    }

    /// Data of which nothing is known.
    pub(crate) fn unknown(at: Span) -> Node {
        Node::inert(at, vec![Node::nothing(at)])
    }

    pub(crate) fn inert(at: Span, parts: Vec<Node>) -> Node {
        Node { at, kind: Kind::Inert(parts) }
    }

    pub(crate) fn sequence(at: Span, parts: Vec<Node>) -> Node {
        Node { at, kind: Kind::Sequence(parts) }
    }

    pub(crate) fn list(at: Span, values: Vec<Node>) -> Node {
        Node { at, kind: Kind::List(values) }
    }

    pub(crate) fn or(at: Span, parts: Vec<Node>) -> Node {
        Node { at, kind: Kind::Or(parts) }
    }

    pub(crate) fn either(at: Span, parts: Vec<Node>) -> Node {
        Node { at, kind: Kind::Either(parts) }
    }

    pub(crate) fn spread(at: Span, value: Node) -> Node {
        Node { at, kind: Kind::Spread(value.into()) }
    }

    pub(crate) fn load(at: Span, name: Node) -> Node {
        Node { at, kind: Kind::Load(name.into()) }
    }

    pub(crate) fn keyword(at: Span, name: impl Into<Rc<str>>, value: Node) -> Node {
        Node { at, kind: Kind::Keyword(name.into(), value.into()) }
    }

    pub(crate) fn member(at: Span, of: Node, name: impl Into<Rc<str>>) -> Node {
        Node { at, kind: Kind::Member(of.into(), name.into()) }
    }

    pub(crate) fn index(at: Span, of: Node, index: Node) -> Node {
        Node { at, kind: Kind::Index(of.into(), index.into()) }
    }

    pub(crate) fn call(at: Span, callee: Node, arguments: Vec<Node>) -> Node {
        Node { at, kind: Kind::Call(callee.into(), arguments) }
    }

    /// `of.name(arguments)`
    pub(crate) fn method(at: Span, of: Node, name: impl Into<Rc<str>>, arguments: Vec<Node>) -> Node {
        Node::call(at, Node::member(at, of, name), arguments)
    }

    /// All conditions run, then one of the bodies.
    pub(crate) fn branch(at: Span, conditions: Vec<Node>, bodies: Vec<Node>) -> Node {
        Node::sequence(at, vec![Node::or(at, conditions), Node::either(at, bodies)])
    }

    /// A loop with a condition, which is a part of its body.
    pub(crate) fn repeated(at: Span, body: Node) -> Node {
        Node { at, kind: Kind::Loop(Box::new(Loop { over: None, body, jumps: true, collects: false })) }
    }

    /// A loop whose condition is one of its parts.
    pub(crate) fn repeats(at: Span, parts: Vec<Node>) -> Node {
        Node::repeated(at, Node::sequence(at, parts))
    }

    /// A loop over elements, without a value.
    pub(crate) fn for_each(at: Span, target: Node, over: Node, body: Node, jumps: bool) -> Node {
        let over = Some((target, over));
        Node { at, kind: Kind::Loop(Box::new(Loop { over, body, jumps, collects: false })) }
    }

    /// A call of a function that every program has.
    pub(crate) fn library(at: Span, name: &str, arguments: Vec<Node>) -> Node {
        Node::call(at, Node::name(at, name), arguments)
    }

    /// Returns the only node, or one of several.
    pub(crate) fn only(parts: Vec<Node>, several: impl FnOnce(Vec<Node>) -> Node) -> Node {
        match <[Node; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => several(parts),
        }
    }
}
