//! Expanded syntax trees to programs: looks up fields, checks types, parses constants, compiles patterns. A value or
//! comparison of several rules is compiled once; its canonical print is its key.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use castellan_event::{FieldType, Level, Value};
use rustc_hash::FxBuildHasher;

use crate::ast::{Argument, Check, Expr, Modifier, Op, Operand, OperandKind, Right, Transformer, Word};
use crate::catalogue::{Catalogue, ROW_LEVEL, ValueType};
use crate::check;
use crate::fold;
use crate::limits::LARGE_REGEXES_MAX;
use crate::pattern::{Glob, PathSet, Regex, RegexError, simpler_than_regex};
use crate::print;
use crate::problem::Fault;
use crate::program::{Condition, Members, Order, Predicate, Program, Slot, Test, TextSet};

/// Compiled patterns by their text: each file is compiled with all files before it, and all files together again.
#[derive(Debug, Default)]
pub(crate) struct Patterns(RefCell<HashMap<String, Regex, FxBuildHasher>>);

impl Patterns {
    fn regex(&self, pattern: &str) -> Result<Regex, RegexError> {
        if let Some(known) = self.0.borrow().get(pattern) {
            return Ok(known.clone());
        }
        let regex = Regex::new(pattern)?;
        self.0.borrow_mut().insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    }
}

/// Compiles the conditions and outputs of one source into one program.
#[derive(Debug)]
pub(crate) struct Compiler<'c> {
    catalogue: &'c Catalogue<'c>,
    regex_compat_falco: bool,
    patterns: &'c Patterns,
    program: Program,
    slots: HashMap<String, usize, FxBuildHasher>,
    predicates: HashMap<String, usize, FxBuildHasher>,
    /// Number of patterns so large that they were compiled at load.
    large_regexes: usize,
}

/// Results of compiling one condition.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) errors: Vec<Fault>,
    pub(crate) warnings: Vec<Fault>,
    /// The numbers of the fields that the condition reads.
    pub(crate) fields: BTreeSet<usize>,
}

const CODE: &str = "LOAD_ERR_COMPILE_CONDITION";

impl<'c> Compiler<'c> {
    pub(crate) fn new(
        catalogue: &'c Catalogue<'c>,
        regex_compat_falco: bool,
        patterns: &'c Patterns,
    ) -> Self {
        let (slots, predicates) = (HashMap::default(), HashMap::default());
        Self {
            catalogue,
            regex_compat_falco,
            patterns,
            program: Program::default(),
            slots,
            predicates,
            large_regexes: 0,
        }
    }

    pub(crate) fn finish(self) -> Program {
        self.program
    }

    /// Compiles a condition; `None` after errors, which are all in `checked`.
    pub(crate) fn condition(&mut self, expr: &Expr, checked: &mut Checked) -> Option<Condition> {
        let mut condition = self.normal_form(expr, false, checked)?;
        fold::order(&mut condition, &self.program);
        Some(condition)
    }

    /// Returns the negation normal form of a condition or of its negation.
    fn normal_form(&mut self, expr: &Expr, negated: bool, checked: &mut Checked) -> Option<Condition> {
        match expr {
            Expr::And(all) => self.chain(all, negated, if negated { fold::or } else { fold::and }, checked),
            Expr::Or(all) => self.chain(all, negated, if negated { fold::and } else { fold::or }, checked),
            Expr::Not(inner) => self.normal_form(inner, !negated, checked),
            Expr::Check(check) => match self.check(check, checked) {
                Ok(predicate) => Some(fold::literal(&self.program, predicate, negated)),
                Err(fault) => {
                    checked.errors.push(fault);
                    None
                }
            },
            Expr::Macro(name) => {
                checked.errors.push(Fault::new(CODE, name.place, "castellan did not insert this macro"));
                None
            }
        }
    }

    /// Returns the slot of a field, by its number.
    pub(crate) fn field_slot(&mut self, field: usize, name: &str, arg: Option<&str>) -> usize {
        let key = arg.map_or_else(|| name.to_owned(), |arg| format!("{name}[{arg}]"));
        let level = self.catalogue.get(field).map_or(Level::Call, |def| def.level);
        self.program.reads_level |= name == ROW_LEVEL;
        self.slot(key, Slot::Field { field, arg: arg.map(str::to_owned), level })
    }

    /// Returns the slot of a checked operand; `None` for a field that does not exist.
    pub(crate) fn operand_slot(&mut self, operand: &Operand, fields: &mut BTreeSet<usize>) -> Option<usize> {
        match &operand.kind {
            OperandKind::Field { name, arg } => {
                let field = self.catalogue.index(name)?;
                fields.insert(field);
                Some(self.field_slot(field, name, arg.as_deref()))
            }
            OperandKind::Transformed { by, inner } => {
                let slot = self.operand_slot(inner, fields)?;
                Some(self.slot(print::operand(operand), Slot::Transformed { by: *by, slot }))
            }
            OperandKind::Function { by, args, option } => {
                let slots: Option<_> = args.iter().map(|arg| self.argument_slot(arg, fields)).collect();
                let slot = Slot::Function { by: *by, slots: slots?, option: option.clone() };
                Some(self.slot(print::operand(operand), slot))
            }
        }
    }

    fn argument_slot(&mut self, arg: &Argument, fields: &mut BTreeSet<usize>) -> Option<usize> {
        let text = |word: &Word| Value::Text(Cow::Owned(word.text.clone().into_bytes()));
        match arg {
            Argument::Operand(operand) => self.operand_slot(operand, fields),
            // The key of no other slot begins like these keys.
            Argument::Constant(word) => {
                Some(self.slot(format!("{:?}", word.text), Slot::Constant(text(word))))
            }
            Argument::List(words) => {
                let key = format!("{:?}", words.iter().map(|word| &word.text).collect::<Vec<_>>());
                let list = words.iter().map(text).collect();
                Some(self.slot(key, Slot::Constant(Value::List(list))))
            }
        }
    }

    fn chain(
        &mut self,
        all: &[std::rc::Rc<Expr>],
        negated: bool,
        join: fn(Vec<Condition>) -> Condition,
        checked: &mut Checked,
    ) -> Option<Condition> {
        let compiled: Vec<_> =
            all.iter().filter_map(|expr| self.normal_form(expr, negated, checked)).collect();
        if compiled.len() == all.len() { Some(join(compiled)) } else { None }
    }

    fn slot(&mut self, key: String, slot: Slot) -> usize {
        let slots = &mut self.program.slots;
        *self.slots.entry(key).or_insert_with(|| {
            slots.push(slot);
            slots.len() - 1
        })
    }

    /// Returns the predicate of a comparison.
    fn check(&mut self, check: &Check, checked: &mut Checked) -> Result<usize, Fault> {
        let ty = self.type_of(&check.left)?;
        let left = word(&check.left);
        check::operator(check.op, ty, &left)?;
        self.warn_of_constants(check, checked);
        let slot = self.slot_of(&check.left, checked)?;
        let key = print::check(check);
        if let Some(known) = self.predicates.get(&key).copied() {
            // This condition also reads the fields on the right side.
            if let Right::Val(operand) | Right::Transformed(operand) = &check.right {
                self.slot_of(operand, checked)?;
            }
            return Ok(known);
        }
        let (slot, test) = match &check.right {
            Right::Nothing => (slot, Test::Exists),
            Right::Value(value) => self.constant(slot, ty, check.op, value, checked)?,
            Right::List(values) => (slot, set(ty, check.op, values)?),
            Right::Each(modifier, values) => {
                check::modifier(*modifier, ty, &left)?;
                self.each(slot, ty, (check.op, *modifier), values, checked)?
            }
            Right::Val(right) | Right::Transformed(right) => {
                let right_type = self.type_of(right)?;
                check::right_field(check.op, ty, right_type, &word(right))?;
                (slot, Test::Slot(check.op, self.slot_of(right, checked)?))
            }
        };
        let test = if check::never_equal(check, ty) {
            let message = "like in Falco, a transformed list has no element that equals a text";
            let fault = Fault::new("CASTELLAN_TRANSFORMED_LIST", left.place, message);
            checked.warnings.push(fault.help("compare the list as it is, or transform both sides"));
            Test::Never
        } else {
            test
        };
        let right = if let Test::Slot(_, right) = &test { self.program.level(*right) } else { Level::Call };
        let level = self.program.level(slot).max(right);
        let index = self.program.predicates.len();
        // A comparison that never matches is compiled again for each rule, so that each rule gets the warning.
        if !matches!(test, Test::Never) {
            self.predicates.insert(key, index);
        }
        self.program.predicates.push(Predicate { slot, level, test: fold::test(test) });
        Ok(index)
    }

    fn type_of(&self, operand: &Operand) -> Result<ValueType, Fault> {
        let is_unknown_field = self.catalogue.index(field_name(operand)).is_none();
        self.catalogue.type_of(operand).map_err(|fault| Fault { is_unknown_field, ..fault })
    }

    fn slot_of(&mut self, operand: &Operand, checked: &mut Checked) -> Result<usize, Fault> {
        let slot = self.operand_slot(operand, &mut checked.fields);
        slot.ok_or_else(|| {
            Fault::new(CODE, operand.place, format!("there is no field `{}`", field_name(operand)))
        })
    }

    /// Compiles a comparison with each of several constants.
    fn each(
        &mut self,
        slot: usize,
        ty: ValueType,
        (op, modifier): (Op, Modifier),
        values: &[Word],
        checked: &mut Checked,
    ) -> Result<(usize, Test), Fault> {
        if (op, modifier) == (Op::Equal, Modifier::Any) {
            return Ok((slot, set(ty, Op::In, values)?));
        }
        let mut of = slot;
        let mut tests = Vec::with_capacity(values.len());
        for value in values {
            let (slot, test) = self.constant(slot, ty, op, value, checked)?;
            of = slot;
            tests.push(fold::test(test));
        }
        Ok((of, Test::Each(modifier, tests.into())))
    }

    /// Compiles a comparison with one constant.
    fn constant(
        &mut self,
        slot: usize,
        ty: ValueType,
        op: Op,
        value: &Word,
        checked: &mut Checked,
    ) -> Result<(usize, Test), Fault> {
        let bytes = check::constant(value)?;
        let test = match (ty.of, Order::of(op)) {
            (FieldType::U64, Some(order)) => Test::Number(order, check::number(value)?),
            (FieldType::Bool, _) => {
                let equal = check::boolean(value)? == (op == Op::Equal);
                Test::BoolSet([!equal, equal])
            }
            (FieldType::Ip | FieldType::Net, _) => {
                let set = check::networks(ty, std::slice::from_ref(value))?;
                Test::Networks { of: Box::new(Members { set, all: true }), negated: op == Op::NotEqual }
            }
            (_, Some(order)) => Test::Text(order, bytes.into()),
            (_, None) => return self.pattern(slot, op, value, checked),
        };
        Ok((slot, test))
    }

    /// Compiles a comparison of a string with a substring or a pattern.
    fn pattern(
        &mut self,
        slot: usize,
        op: Op,
        value: &Word,
        checked: &mut Checked,
    ) -> Result<(usize, Test), Fault> {
        let bytes = value.text.as_bytes();
        let folded = bytes.to_ascii_lowercase();
        let test = match op {
            Op::Contains => Test::Contains(bytes.into()),
            Op::IContains => Test::Contains(folded.into()),
            Op::StartsWith => Test::StartsWith(bytes.into()),
            Op::BContains => Test::Contains(check::bytes(value)?.into()),
            Op::BStartsWith => Test::StartsWith(check::bytes(value)?.into()),
            Op::EndsWith => Test::EndsWith(bytes.into()),
            Op::Glob => Test::Glob(Glob::new(bytes)),
            Op::IGlob => Test::Glob(Glob::new(&folded)),
            Op::Regex => self.regex(value, checked)?,
            // In the grammar, no other operator takes one string.
            Op::Exists
            | Op::LessEqual
            | Op::Less
            | Op::GreaterEqual
            | Op::Greater
            | Op::Equal
            | Op::NotEqual
            | Op::Intersects
            | Op::In
            | Op::PMatch => return Err(Fault::new(CODE, value.place, "this operator takes no string")),
        };
        // Letters are folded once per row, not once per comparison.
        let folds = matches!(op, Op::IContains | Op::IGlob);
        let slot = if folds { self.folded(slot) } else { slot };
        Ok((slot, test))
    }

    fn folded(&mut self, slot: usize) -> usize {
        let by = Transformer::ToLower;
        let same = |known: &Slot| matches!(known, Slot::Transformed { by: known, slot: of } if *known == by && *of == slot);
        match self.program.slots.iter().position(same) {
            Some(known) => known,
            None => {
                self.program.slots.push(Slot::Transformed { by, slot });
                self.program.slots.len() - 1
            }
        }
    }

    fn regex(&mut self, value: &Word, checked: &mut Checked) -> Result<Test, Fault> {
        if self.large_regexes > LARGE_REGEXES_MAX {
            let message = format!("the rules have more than {LARGE_REGEXES_MAX} large patterns");
            return Err(
                Fault::new("CASTELLAN_LIMIT", value.place, message).help("use smaller counts in `{}`")
            );
        }
        let error = match self.patterns.regex(&value.text) {
            Ok(regex) => {
                self.large_regexes += usize::from(!regex.waits());
                return Ok(Test::Regex(Box::new(regex)));
            }
            Err(error) => error,
        };
        if self.regex_compat_falco {
            let message = format!("{}; like in Falco, it never matches", error.message);
            checked.warnings.push(Fault::new("CASTELLAN_REGEX", value.place, message).help_if(error.help));
            return Ok(Test::Never);
        }
        Err(Fault::new(CODE, value.place, error.message).help_if(error.help))
    }

    /// Warns of constants that look like a mistake.
    fn warn_of_constants(&self, check: &Check, checked: &mut Checked) {
        let words = match &check.right {
            Right::Value(word) => std::slice::from_ref(word),
            Right::List(words) | Right::Each(_, words) => words.as_slice(),
            Right::Nothing | Right::Val(_) | Right::Transformed(_) => &[],
        };
        for word in words {
            if self.catalogue.index(&word.text).is_some() {
                let message = format!("`{}` is a constant here, but a field has the same name", word.text);
                let fault = Fault::new("LOAD_COMPILE_CONDITION", word.place, message);
                checked
                    .warnings
                    .push(fault.help(format!("to compare with the field, write `val({})`", word.text)));
            }
        }
        if let (Op::Regex, Right::Value(word)) = (check.op, &check.right)
            && simpler_than_regex(&word.text)
        {
            let message =
                "this pattern needs no `regex`: `=`, `contains`, `startswith` or `endswith` is faster";
            checked.warnings.push(Fault::new("LOAD_COMPILE_CONDITION", word.place, message));
        }
    }
}

/// Compiles a comparison with a list of constants.
fn set(ty: ValueType, op: Op, values: &[Word]) -> Result<Test, Fault> {
    let texts = values.iter().map(check::constant).collect::<Result<Vec<_>, _>>()?;
    let all = op == Op::In;
    Ok(match ty.of {
        FieldType::U64 => {
            let mut set = values.iter().map(check::number).collect::<Result<Vec<_>, _>>()?;
            set.sort_unstable();
            Test::NumberSet(Members { set: set.into(), all })
        }
        FieldType::Bool => {
            let values = values.iter().map(check::boolean).collect::<Result<Vec<_>, _>>()?;
            let set = [values.contains(&false), values.contains(&true)];
            if ty.list { Test::BoolList(Members { set, all }) } else { Test::BoolSet(set) }
        }
        FieldType::Ip | FieldType::Net => {
            let set = check::networks(ty, values)?;
            Test::Networks { of: Box::new(Members { set, all }), negated: false }
        }
        FieldType::Text if op == Op::PMatch => Test::PathSet(Box::new(PathSet::new(texts))),
        FieldType::Text | FieldType::Bytes => Test::TextSet(Members { set: TextSet::new(texts), all }),
    })
}

fn word(operand: &Operand) -> Word {
    Word { text: print::operand(operand), place: operand.place }
}

fn field_name(operand: &Operand) -> &str {
    match &operand.kind {
        OperandKind::Field { name, .. } => name,
        OperandKind::Transformed { inner, .. } => field_name(inner),
        OperandKind::Function { args, .. } => args
            .iter()
            .find_map(|arg| match arg {
                Argument::Operand(operand) => Some(field_name(operand)),
                Argument::Constant(_) | Argument::List(_) => None,
            })
            .unwrap_or_default(),
    }
}
