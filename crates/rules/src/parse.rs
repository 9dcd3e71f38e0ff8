//! Condition text to syntax tree, by the grammar of Falco 0.43 or 0.44, with its quirks. A blank or parenthesis must follow
//! a keyword, and `or(` takes only the parenthesis. Nesting is limited. It looks up no names.

mod operand;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use crate::ast::{Check, Expr, MODIFIERS, Modifier, OPERATORS, Op, Operand, Right, Takes, Word};
use crate::lex::Cursor;
use crate::limits::NESTING_MAX;
use crate::options::Engine;
use crate::problem::Fault;
use crate::suggest::did_you_mean;
use crate::text::{Place, Text};

/// Parsed conditions by their text: each file is built with all files before it, and all files together again.
#[derive(Debug, Default)]
pub(crate) struct Conditions(RefCell<HashMap<Text, Rc<Expr>, FxBuildHasher>>);

impl Conditions {
    /// Calls [`parse`], once for each text with its places.
    pub(crate) fn parse(&self, text: Text, engine: Engine) -> Result<Rc<Expr>, Fault> {
        if let Some(known) = self.0.borrow().get(&text) {
            return Ok(Rc::clone(known));
        }
        let expr = parse(&text, engine)?;
        self.0.borrow_mut().insert(text, Rc::clone(&expr));
        Ok(expr)
    }
}

/// Parses a whole condition.
pub(crate) fn parse(text: &Text, engine: Engine) -> Result<Rc<Expr>, Fault> {
    let mut parser = Parser::new(text, engine);
    let expr = parser.condition()?;
    parser.cursor.blank();
    if parser.cursor.rest().is_empty() {
        return Ok(expr);
    }
    let word = parser.cursor.rest().split_ascii_whitespace().next().unwrap_or_default();
    let message = format!("unexpected `{word}`, expected `and`, `or` or the end of the condition");
    let help = did_you_mean(word, ["and", "or"]).filter(|_| word.len() > 1);
    Err(parser.fault(parser.cursor.at(), word.len(), message).help_if(help))
}

/// Parses a single field or transformed field.
pub(crate) fn operand(text: &Text, engine: Engine) -> Result<Operand, Fault> {
    let mut parser = Parser::new(text, engine);
    parser.cursor.blank();
    match parser.operand()? {
        Some(operand) if parser.cursor.rest().trim().is_empty() => Ok(operand),
        Some(_) => Err(parser.expected("the end of the field")),
        None => Err(parser.expected("a field")),
    }
}

/// Parses a field or transformed field at the start of `text`, as in outputs: a field's argument is the text between
/// the brackets, with its quotes. Returns the operand and its number of bytes.
pub(crate) fn operand_prefix(text: &str, engine: Engine) -> Option<(Operand, usize)> {
    let own = Text::derived(text, Place::NOWHERE);
    let mut parser = Parser { raw_arguments: true, ..Parser::new(&own, engine) };
    let operand = parser.operand().ok().flatten()?;
    Some((operand, parser.cursor.at()))
}

type Parsed<T> = Result<T, Fault>;

/// The part of a condition between two parentheses, as far as it was read.
#[derive(Debug, Default)]
struct Level {
    /// The chains of `and` that an `or` ended.
    or: Vec<Rc<Expr>>,
    /// The operands of the present chain of `and`.
    and: Vec<Rc<Expr>>,
    /// The present chain began with `or(`: it has one operand.
    is_single: bool,
    /// An odd number of `not` is before the parenthesis that is open in this level.
    negated: bool,
}

impl Level {
    fn end_and(&mut self) {
        self.or.push(join(std::mem::take(&mut self.and), Expr::And));
    }

    fn into_expr(mut self) -> Rc<Expr> {
        self.end_and();
        join(self.or, Expr::Or)
    }
}

struct Parser<'t> {
    text: &'t Text,
    cursor: Cursor<'t>,
    engine: Engine,
    /// Open transformers.
    depth: usize,
    /// Quotes in a field's brackets are part of the argument.
    raw_arguments: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t Text, engine: Engine) -> Self {
        Self { text, cursor: Cursor::new(text.as_str()), engine, depth: 0, raw_arguments: false }
    }

    /// Parses a condition until its end, or until a `)` that nothing opened. Open parentheses are in a list, so that their
    /// number does not matter to the stack.
    fn condition(&mut self) -> Parsed<Rc<Expr>> {
        let mut outer = Vec::new();
        let mut level = Level::default();
        loop {
            let negated = self.nots();
            if self.cursor.eat("(") {
                self.cursor.blank();
                outer.push(Level { negated, ..std::mem::take(&mut level) });
                self.limit(outer.len() + 1, NESTING_MAX)?;
                continue;
            }
            level.and.push(negate(self.check()?, negated));
            // An operand may be the last of its parentheses, which are then an operand themselves.
            while !self.next_operand(&mut level)? {
                let whole = level.into_expr();
                let Some(around) = outer.pop() else { return Ok(whole) };
                level = around;
                self.close(")", "a `)`")?;
                level.and.push(negate(whole, level.negated));
            }
        }
    }

    /// Skips each `not`. Returns true if they negate.
    fn nots(&mut self) -> bool {
        self.cursor.blank();
        let mut negated = false;
        while self.cursor.not() {
            negated = !negated;
            self.cursor.blank();
        }
        negated
    }

    /// Skips the keyword before a further operand. Returns false if there is none. After `or(...)` no `and` may follow.
    fn next_operand(&mut self, level: &mut Level) -> Parsed<bool> {
        self.cursor.blank();
        let word = if !level.is_single && self.cursor.eat("and") {
            "and"
        } else if self.cursor.eat("or") {
            level.end_and();
            "or"
        } else {
            return Ok(false);
        };
        let is_blank = self.cursor.blank();
        let is_open = self.cursor.rest().starts_with('(');
        if !is_blank && !is_open {
            return Err(self.expected(&format!("a blank or `(` after `{word}`")));
        }
        level.is_single = word == "or" && !is_blank;
        Ok(true)
    }

    fn check(&mut self) -> Parsed<Rc<Expr>> {
        let start = self.cursor.at();
        if let Some(left) = self.operand()? {
            return self.comparison(left);
        }
        match self.cursor.identifier() {
            Some(name) => Ok(Rc::new(Expr::Macro(self.word(name, start)))),
            None => Err(self.expected("`(`, a field or the name of a macro")),
        }
    }

    fn comparison(&mut self, left: Operand) -> Parsed<Rc<Expr>> {
        self.cursor.blank();
        let (op, takes) = self.operator()?;
        self.cursor.blank();
        let right = match takes {
            Takes::Nothing => Right::Nothing,
            Takes::Number => match self.right_operand()? {
                Some(right) => right,
                None => self.number()?,
            },
            Takes::String | Takes::SpacedString => match self.modifier()? {
                Some(modifier) => {
                    self.cursor.blank();
                    Right::Each(modifier, self.list()?)
                }
                None => match self.right_operand()? {
                    Some(right) => right,
                    None => Right::Value(self.string()?),
                },
            },
            Takes::List => match self.right_operand()? {
                Some(right) => right,
                None => Right::List(self.list()?),
            },
        };
        Ok(Rc::new(Expr::Check(Check { left, op, right })))
    }

    fn operator(&mut self) -> Parsed<(Op, Takes)> {
        let start = self.cursor.at();
        let rest = self.cursor.rest();
        let found = OPERATORS.iter().find(|(name, _, _)| rest.starts_with(name));
        if let Some((name, op, takes)) = found {
            self.cursor.eat(name);
            let spaced = self.cursor.rest().bytes().next().is_some_and(crate::lex::is_blank);
            if *takes != Takes::SpacedString || spaced {
                return Ok((*op, *takes));
            }
            return Err(self.expected(&format!("a blank after `{name}`")));
        }
        let word = rest.split_ascii_whitespace().next().unwrap_or_default();
        let names = OPERATORS.map(|(name, _, _)| name);
        let help = did_you_mean(word, names).unwrap_or_else(|| format!("use one of: {}", names.join(" ")));
        let message = if word.is_empty() {
            "expected an operator after the field".to_owned()
        } else {
            format!("expected an operator, found `{word}`")
        };
        Err(self.fault(start, word.len(), message).help(help))
    }

    /// Parses a modifier before its list. A string that looks like a modifier has no list after it.
    fn modifier(&mut self) -> Parsed<Option<Modifier>> {
        let start = self.cursor.at();
        for (name, modifier) in MODIFIERS {
            let mut ahead = self.cursor;
            if !ahead.eat(name) {
                continue;
            }
            let blank = ahead.blank();
            let listed = blank && ahead.identifier().is_some_and(|word| !matches!(word, "and" | "or"));
            if !listed && !ahead.rest().starts_with('(') {
                continue;
            }
            self.needs_0_44(name, start)?;
            self.cursor.eat(name);
            return Ok(Some(modifier));
        }
        Ok(None)
    }

    fn number(&mut self) -> Parsed<Right> {
        let start = self.cursor.at();
        match self.cursor.number() {
            Some(number) => Ok(Right::Value(self.word(number, start))),
            None => Err(self.expected("a number or a transformed field")),
        }
    }

    fn string(&mut self) -> Parsed<Word> {
        let start = self.cursor.at();
        if let Some(text) = self.quoted()? {
            return Ok(Word { text, place: self.text.place(start..self.cursor.at()) });
        }
        match self.cursor.bare_string() {
            Some(text) => Ok(self.word(text, start)),
            None => Err(self.expected("a string, `val(field)` or a transformed field")),
        }
    }

    fn list(&mut self) -> Parsed<Vec<Word>> {
        let start = self.cursor.at();
        if !self.cursor.eat("(") {
            return match self.cursor.identifier() {
                Some(name) => Ok(vec![self.word(name, start)]),
                None => Err(self.expected("a list such as `(a, b)`")),
            };
        }
        let mut words = Vec::new();
        self.cursor.blank();
        let opens_string = |rest: &str| !rest.starts_with([')', '(', '=', ',']) && !rest.is_empty();
        if opens_string(self.cursor.rest()) {
            words.push(self.string()?);
            self.cursor.blank();
            while self.cursor.eat(",") {
                self.cursor.blank();
                words.push(self.string()?);
                self.cursor.blank();
            }
        }
        self.close(")", "`,` or `)` in the list")?;
        Ok(words)
    }

    fn quoted(&mut self) -> Parsed<Option<String>> {
        self.cursor.quoted().map_err(|bad| {
            let help = "write a backslash as `\\\\`; known escapes are \\b \\f \\n \\r \\t \\\\ \\/ and the string's own quote";
            self.fault(bad.at, 1, bad.message.to_owned()).help(help)
        })
    }

    fn close(&mut self, token: &str, what: &str) -> Parsed<()> {
        if self.cursor.eat(token) { Ok(()) } else { Err(self.expected(what)) }
    }

    fn limit(&self, levels: usize, max: usize) -> Parsed<()> {
        if levels <= max {
            return Ok(());
        }
        let message = format!("more than {max} levels of nesting");
        Err(self.fault(self.cursor.at(), 1, message).help("split the condition into macros"))
    }

    fn word(&self, text: &str, start: usize) -> Word {
        Word { text: text.to_owned(), place: self.text.place(start..start + text.len()) }
    }

    fn expected(&self, what: &str) -> Fault {
        let rest = self.cursor.rest();
        let found = rest.split_ascii_whitespace().next().unwrap_or_default();
        let message = if found.is_empty() {
            format!("expected {what}, found the end of the condition")
        } else {
            format!("expected {what}, found `{found}`")
        };
        self.fault(self.cursor.at(), found.len(), message)
    }

    fn fault(&self, start: usize, len: usize, message: String) -> Fault {
        let place = self.text.place(start..start + len.max(1));
        Fault::new("LOAD_ERR_COMPILE_CONDITION", place, message)
    }
}

fn join(mut all: Vec<Rc<Expr>>, of: fn(Vec<Rc<Expr>>) -> Expr) -> Rc<Expr> {
    match (all.len(), all.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            all.extend(last);
            Rc::new(of(all))
        }
    }
}

fn negate(expr: Rc<Expr>, negated: bool) -> Rc<Expr> {
    if negated { Rc::new(Expr::Not(expr)) } else { expr }
}
