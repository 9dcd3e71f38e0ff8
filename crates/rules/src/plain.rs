//! The plain evaluator: walks the conditions of a rule set in source order, by full Kleene logic, and reads each value
//! when a comparison needs it. It has no index, no caches and no folding. Tests and fuzzing compare the engine with it,
//! and the benchmark shows the engine's savings. It knows nothing of the engine's compilation.

use std::fmt;
use std::rc::Rc;

use castellan_event::{FieldType, Level, Row, Value};
use memchr::memmem;

use crate::ast::{Argument, Check, Expr, Modifier, Op, Operand, OperandKind, Right, Word};
use crate::catalogue::{Catalogue, ValueType};
use crate::check;
use crate::eval::{Evaluation, called, transformed};
use crate::format;
use crate::options::Matching;
use crate::pattern::{Glob, PathSet, Regex};
use crate::plain_tree::{Against, Side, Tree};
use crate::problem::Fault;
use crate::program::Order;
use crate::rule::Hit;
use crate::rule_set::RuleSet;

/// A rule set for plain evaluation.
#[derive(Debug)]
pub struct Plain<'s> {
    set: &'s RuleSet,
    trees: Vec<&'s Tree>,
}

/// The rule set was loaded without [`crate::Options::describe`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotDescribed;

impl fmt::Display for NotDescribed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the set must be loaded with `describe`")
    }
}

impl std::error::Error for NotDescribed {}

impl<'s> Plain<'s> {
    /// Returns the evaluator of a rule set that was loaded with [`crate::Options::describe`]; an error otherwise.
    pub fn new(set: &'s RuleSet) -> Result<Self, NotDescribed> {
        let trees: Vec<&Tree> = set.trees.iter().collect();
        if trees.len() == set.rules.len() { Ok(Self { set, trees }) } else { Err(NotDescribed) }
    }

    /// Like [`RuleSet::evaluate`].
    pub fn evaluate(&self, row: &dyn Row) -> Vec<Hit> {
        let matches = self.set.rules.iter().zip(&self.set.compiled).zip(&self.trees).enumerate();
        let hits = matches.filter_map(|(number, ((rule, compiled), tree))| {
            let tested = rule.enabled && row.level() <= rule.level;
            if !tested || tree.value(row) != Some(true) {
                return None;
            }
            let evaluation = Evaluation::new(&self.set.program, &self.set.index, row);
            let message = format::render(&compiled.output, |slot| evaluation.value(slot));
            Some(Hit {
                rule: number,
                message: message.text,
                remedy_at: message.remedy_at,
                values: message.values,
            })
        });
        match self.set.matching {
            Matching::All => hits.collect(),
            Matching::First => hits.take(1).collect(),
        }
    }
}

impl Tree {
    /// Returns the value of the condition; `None` is "unknown".
    fn value(&self, row: &dyn Row) -> Option<bool> {
        match self {
            Self::And(all) => kleene(all, row, false),
            Self::Or(all) => kleene(all, row, true),
            Self::Not(inner) => inner.value(row).map(|value| !value),
            Self::Check { left, op, right } => {
                let levels = left.level().max(if let Against::Side(side) = right {
                    side.level()
                } else {
                    Level::Call
                });
                (levels <= row.level()).then(|| holds(*op, left, right, row))
            }
        }
    }
}

/// Evaluates a chain by Kleene's logic: a `decisive` child decides, else an unknown child makes it unknown.
fn kleene(all: &[Tree], row: &dyn Row, decisive: bool) -> Option<bool> {
    let mut result = Some(!decisive);
    for child in all {
        match child.value(row) {
            Some(value) if value == decisive => return Some(decisive),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}

impl Side {
    fn level(&self) -> Level {
        match self {
            Self::Field { level, .. } => *level,
            Self::Transformed { of, .. } => of.level(),
            Self::Called { args, .. } => args.iter().map(Self::level).max().unwrap_or_default(),
            Self::Constant(_) => Level::Call,
        }
    }

    fn value<'r>(&self, row: &'r dyn Row) -> Value<'r> {
        let value = match self {
            Self::Field { field, arg, .. } => row.value(*field, arg.as_deref()),
            Self::Transformed { by, of } => transformed(*by, &of.value(row)),
            Self::Called { by, args, option } => {
                let args: Vec<Value<'r>> = args.iter().map(|arg| arg.value(row)).collect();
                called(*by, &args.iter().collect::<Vec<_>>(), option.as_deref())
            }
            Self::Constant(value) => value.clone(),
        };
        if value == Value::List(Vec::new()) { Value::Absent } else { value }
    }
}

fn holds(op: Op, left: &Side, right: &Against, row: &dyn Row) -> bool {
    match (left.value(row), right) {
        (Value::Absent, _) => false,
        (_, Against::Nothing) => true,
        (value, Against::Side(side)) => same_type(op, &value, &side.value(row)),
        (Value::List(all), right) if op == Op::In => all.iter().all(|one| passes(op, one, right)),
        (Value::List(all), right) => all.iter().any(|one| passes(op, one, right)),
        (value, right) => passes(op, &value, right),
    }
}

fn passes(op: Op, value: &Value<'_>, right: &Against) -> bool {
    match (value, right) {
        (value, Against::Each(modifier, all)) => {
            let passed = all.iter().filter(|one| passes(op, value, one)).count();
            match modifier {
                Modifier::Any => passed > 0,
                Modifier::All => passed == all.len(),
                Modifier::One => passed == 1,
            }
        }
        (Value::Ip(address), Against::Networks(all)) => all.contains(*address) != (op == Op::NotEqual),
        (Value::Net(net), Against::Networks(all)) => all.covers(*net) != (op == Op::NotEqual),
        (Value::U64(number), Against::Number(constant)) => ordered(op, number, constant),
        (Value::U64(number), Against::Numbers(all)) => all.contains(number),
        (Value::Bool(value), Against::Bools(all)) => all.contains(value) != (op == Op::NotEqual),
        (Value::Text(text), Against::Text(constant)) => text_holds(op, text, constant),
        (Value::Text(text), Against::Texts(all)) => all.iter().any(|one| **one == **text),
        (Value::Text(text), Against::Glob(glob)) if op == Op::IGlob => {
            glob.matches(&text.to_ascii_lowercase())
        }
        (Value::Text(text), Against::Glob(glob)) => glob.matches(text),
        (Value::Text(text), Against::Regex(regex)) => regex.as_ref().is_some_and(|regex| regex.matches(text)),
        (Value::Text(text), Against::Paths(paths)) => paths.matches(text),
        _ => false,
    }
}

fn same_type(op: Op, left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => text_holds(op, left, right),
        (Value::U64(left), Value::U64(right)) => ordered(op, left, right),
        (Value::Bool(left), Value::Bool(right)) => ordered(op, left, right),
        (Value::Ip(left), Value::Ip(right)) => ordered(op, left, right),
        (Value::Net(left), Value::Net(right)) => (left == right) == (op != Op::NotEqual),
        (Value::List(left), Value::List(right)) if op == Op::In => left.iter().all(|one| right.contains(one)),
        (Value::List(left), Value::List(right)) => left.iter().any(|one| right.contains(one)),
        _ => false,
    }
}

fn text_holds(op: Op, left: &[u8], right: &[u8]) -> bool {
    match op {
        Op::Contains | Op::BContains => memmem::find(left, right).is_some(),
        Op::IContains => memmem::find(&left.to_ascii_lowercase(), &right.to_ascii_lowercase()).is_some(),
        Op::StartsWith | Op::BStartsWith => left.starts_with(right),
        Op::EndsWith => left.ends_with(right),
        Op::Glob => Glob::new(right).matches(left),
        Op::IGlob => Glob::new(&right.to_ascii_lowercase()).matches(&left.to_ascii_lowercase()),
        Op::Exists
        | Op::LessEqual
        | Op::Less
        | Op::GreaterEqual
        | Op::Greater
        | Op::Equal
        | Op::NotEqual
        | Op::Regex
        | Op::Intersects
        | Op::In
        | Op::PMatch => ordered(op, left, right),
    }
}

fn ordered<T: Ord + ?Sized>(op: Op, left: &T, right: &T) -> bool {
    Order::of(op).unwrap_or(Order::Equal).holds(left, right)
}

/// Returns the tree of a condition that compiles. Conditions are hundreds of levels deep: the frame of this function is small.
pub(crate) fn tree(expr: &Expr, catalogue: &Catalogue<'_>) -> Result<Tree, Fault> {
    match expr {
        Expr::And(chain) => trees(chain, catalogue).map(Tree::And),
        Expr::Or(chain) => trees(chain, catalogue).map(Tree::Or),
        Expr::Not(inner) => tree(inner, catalogue).map(|inner| Tree::Not(Box::new(inner))),
        Expr::Macro(name) => Err(Fault::new("", name.place, format!("the macro `{}` was left", name.text))),
        Expr::Check(check) => leaf(check, catalogue),
    }
}

fn trees(chain: &[Rc<Expr>], catalogue: &Catalogue<'_>) -> Result<Vec<Tree>, Fault> {
    let mut trees = Vec::with_capacity(chain.len());
    for expr in chain {
        trees.push(tree(expr, catalogue)?);
    }
    Ok(trees)
}

fn leaf(check: &Check, catalogue: &Catalogue<'_>) -> Result<Tree, Fault> {
    Ok(Tree::Check { left: side(&check.left, catalogue)?, op: check.op, right: against(check, catalogue)? })
}

fn side(operand: &Operand, catalogue: &Catalogue<'_>) -> Result<Side, Fault> {
    Ok(match &operand.kind {
        OperandKind::Field { name, arg } => {
            let found = catalogue.index(name).and_then(|field| Some((field, catalogue.get(field)?.level)));
            let (field, level) = found.ok_or_else(|| Fault::new("", operand.place, "no such field"))?;
            Side::Field { field, arg: arg.clone(), level }
        }
        OperandKind::Transformed { by, inner } => {
            Side::Transformed { by: *by, of: Box::new(side(inner, catalogue)?) }
        }
        OperandKind::Function { by, args, option } => {
            let args = args.iter().map(|arg| argument(arg, catalogue)).collect::<Result<_, _>>()?;
            Side::Called { by: *by, args, option: option.clone() }
        }
    })
}

fn argument(arg: &Argument, catalogue: &Catalogue<'_>) -> Result<Side, Fault> {
    let text = |word: &Word| Value::Text(bytes(word).into());
    match arg {
        Argument::Operand(operand) => side(operand, catalogue),
        Argument::Constant(word) => Ok(Side::Constant(text(word))),
        Argument::List(words) => Ok(Side::Constant(Value::List(words.iter().map(text).collect()))),
    }
}

fn against(check: &Check, catalogue: &Catalogue<'_>) -> Result<Against, Fault> {
    let ty = catalogue.type_of(&check.left)?;
    Ok(match &check.right {
        Right::Nothing => Against::Nothing,
        _ if check::never_equal(check, ty) => Against::Texts(Vec::new()),
        Right::Val(operand) | Right::Transformed(operand) => Against::Side(side(operand, catalogue)?),
        Right::Value(word) => constant(ty, check.op, word)?,
        Right::Each(modifier, words) => {
            let all = words.iter().map(|word| constant(ty, check.op, word)).collect::<Result<_, _>>()?;
            Against::Each(*modifier, all)
        }
        Right::List(all) => match ty.of {
            FieldType::U64 => Against::Numbers(all.iter().map(check::number).collect::<Result<_, _>>()?),
            FieldType::Bool => Against::Bools(all.iter().map(check::boolean).collect::<Result<_, _>>()?),
            FieldType::Ip | FieldType::Net => Against::Networks(check::networks(ty, all)?),
            FieldType::Text if check.op == Op::PMatch => {
                Against::Paths(PathSet::new(all.iter().map(|word| word.text.as_bytes())))
            }
            FieldType::Text | FieldType::Bytes => Against::Texts(all.iter().map(bytes).collect()),
        },
    })
}

fn constant(ty: ValueType, op: Op, word: &Word) -> Result<Against, Fault> {
    Ok(match (ty.of, op) {
        (FieldType::U64, _) => Against::Number(check::number(word)?),
        (FieldType::Bool, _) => Against::Bools(vec![check::boolean(word)?]),
        (FieldType::Ip | FieldType::Net, _) => {
            Against::Networks(check::networks(ty, std::slice::from_ref(word))?)
        }
        (_, Op::BContains | Op::BStartsWith) => Against::Text(check::bytes(word)?),
        (_, Op::Glob) => Against::Glob(Glob::new(&bytes(word))),
        (_, Op::IGlob) => Against::Glob(Glob::new(&bytes(word).to_ascii_lowercase())),
        (_, Op::Regex) => Against::Regex(Regex::new(&word.text).ok().map(Box::new)),
        (FieldType::Text | FieldType::Bytes, _) => Against::Text(bytes(word)),
    })
}

fn bytes(word: &Word) -> Vec<u8> {
    word.text.clone().into_bytes()
}
