//! Builds the index of a program: counts the rules that use each atom, and files each rule under its rarest atoms. Then
//! builds the tables and automata for these atoms.

use std::collections::{BTreeMap, HashMap};

use aho_corasick::BuildError;
use castellan_event::Level;
use rustc_hash::FxBuildHasher;

use super::atoms::{Atom, clauses};
use super::{Equal, Filed, Index, Lists, Scan, Shortcut};
use crate::bits::Bits;
use crate::program::{Condition, Predicate, Program, Test};
use crate::rule::{Compiled, Rule};

impl Index {
    pub(crate) fn new(program: &Program, rules: &[Rule], compiled: &[Compiled]) -> Self {
        let survey = Survey::new(program, compiled);
        let needs = Level::ALL.map(|level| survey.needs(level, rules, compiled));
        // Automata of more than 2^31 states cannot be built. Without an index, every rule is tested on every row.
        survey.index(&needs, rules.len()).unwrap_or_else(|_| Self::testing_all(rules.len()))
    }

    fn testing_all(rules: usize) -> Self {
        let always: Vec<u32> = (0..rules).filter_map(|rule| u32::try_from(rule).ok()).collect();
        let levels = Level::ALL.map(|_| Filed { always: always.clone(), ..Filed::default() });
        Self { rules, levels, ..Self::default() }
    }
}

/// Necessary predicates of a rule on rows of one level.
#[derive(Debug, PartialEq)]
enum Need {
    /// The rule cannot match.
    Never,
    /// One of these predicates must hold; the number is their cost.
    AnyOf(u64, Vec<u32>),
    /// No predicate that can be looked up.
    Nothing,
}

/// The necessary atoms of all predicates.
struct Survey<'p> {
    program: &'p Program,
    /// The clauses of each predicate, as numbers of atoms.
    clauses: Vec<Vec<Box<[u32]>>>,
    /// By predicate: the position and cost of the rarest clause.
    rarest: Vec<Option<(usize, u64)>>,
    atoms: Vec<Atom>,
}

impl<'p> Survey<'p> {
    fn new(program: &'p Program, compiled: &[Compiled]) -> Self {
        let mut numbers: HashMap<Atom, u32, FxBuildHasher> = HashMap::default();
        let mut clauses_of = Vec::with_capacity(program.predicates.len());
        for predicate in &program.predicates {
            let mut number = |atom: Atom| {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                *numbers.entry(atom).or_insert(next)
            };
            let all = clauses(predicate).into_iter();
            clauses_of.push(all.map(|clause| clause.into_iter().map(&mut number).collect()).collect());
        }
        let mut atoms: Vec<(u32, Atom)> = numbers.into_iter().map(|(atom, number)| (number, atom)).collect();
        atoms.sort_unstable_by_key(|(number, _)| *number);
        let atoms: Vec<Atom> = atoms.into_iter().map(|(_, atom)| atom).collect();
        let mut survey = Self { program, clauses: clauses_of, rarest: Vec::new(), atoms };
        survey.rarest = survey.rarest_clauses(compiled);
        survey
    }

    fn rarest_clauses(&self, compiled: &[Compiled]) -> Vec<Option<(usize, u64)>> {
        let mut uses = vec![0u64; self.clauses.len()];
        compiled.iter().for_each(|rule| count(&rule.condition, &mut uses));
        let mut named = vec![0u64; self.atoms.len()];
        for (clauses, uses) in self.clauses.iter().zip(uses) {
            for atom in clauses.iter().flatten() {
                if let Some(named) = named.get_mut(*atom as usize) {
                    *named = named.saturating_add(uses);
                }
            }
        }
        let costs: Vec<u64> =
            self.atoms.iter().zip(named).map(|(atom, named)| atom.weight().saturating_mul(named)).collect();
        let cost = |clause: &[u32]| {
            let all = clause.iter().filter_map(|atom| costs.get(*atom as usize));
            all.fold(0, |sum: u64, cost| sum.saturating_add(*cost))
        };
        let rarest = |clauses: &Vec<Box<[u32]>>| {
            clauses.iter().map(|clause| cost(clause)).enumerate().min_by_key(|(_, cost)| *cost)
        };
        self.clauses.iter().map(rarest).collect()
    }

    fn needs(&self, level: Level, rules: &[Rule], compiled: &[Compiled]) -> Vec<Need> {
        let need = |(rule, compiled): (&Rule, &Compiled)| {
            if rule.level < level { Need::Never } else { self.need(&compiled.condition, level) }
        };
        rules.iter().zip(compiled).map(need).collect()
    }

    fn need(&self, condition: &Condition, level: Level) -> Need {
        match condition {
            Condition::And(all) => {
                all.iter().fold(Need::Nothing, |need, child| match (need, self.need(child, level)) {
                    (Need::Never, _) | (_, Need::Never) => Need::Never,
                    (Need::Nothing, other) | (other, Need::Nothing) => other,
                    (Need::AnyOf(a, of_a), Need::AnyOf(b, of_b)) => {
                        if b < a {
                            Need::AnyOf(b, of_b)
                        } else {
                            Need::AnyOf(a, of_a)
                        }
                    }
                })
            }
            Condition::Or(all) => {
                all.iter().fold(Need::Never, |need, child| match (need, self.need(child, level)) {
                    (Need::Nothing, _) | (_, Need::Nothing) => Need::Nothing,
                    (Need::Never, other) | (other, Need::Never) => other,
                    (Need::AnyOf(a, mut of_a), Need::AnyOf(b, of_b)) => {
                        of_a.extend(of_b);
                        Need::AnyOf(a.saturating_add(b), of_a)
                    }
                })
            }
            Condition::Literal { predicate, negated } => self.need_of_literal(*predicate, *negated, level),
            Condition::Const(true) => Need::Nothing,
            Condition::Const(false) => Need::Never,
        }
    }

    fn need_of_literal(&self, predicate: usize, negated: bool, level: Level) -> Need {
        let known = self.program.predicates.get(predicate).is_some_and(|found| found.level <= level);
        if !known {
            return Need::Never;
        }
        let rarest = self.rarest.get(predicate).copied().flatten().filter(|_| !negated);
        match (rarest, u32::try_from(predicate)) {
            (Some((_, cost)), Ok(predicate)) => Need::AnyOf(cost, vec![predicate]),
            _ => Need::Nothing,
        }
    }

    /// Builds the tables for the needs of the rules.
    fn index(&self, needs: &[Vec<Need>; Level::ALL.len()], rules: usize) -> Result<Index, BuildError> {
        let mut keys: Vec<u32> = needs.iter().flatten().flat_map(Need::predicates).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let tables = Tables::new(self, &keys)?;
        Ok(Index {
            rules,
            levels: needs.each_ref().map(|needs| tables.filed(needs, &keys)),
            keys: Lists::new(tables.atom_count, tables.keys_of_atoms.clone()),
            key_count: keys.len(),
            shortcuts: self.shortcuts(&tables),
            equal: tables.equal,
            scans: tables.scans,
        })
    }

    /// Returns the atoms to look up: the atoms of the keys, and literals that answer a comparison. More literals do not
    /// make a pass over the text slower.
    fn wanted(&self, keys: &[u32]) -> Bits {
        let mut wanted = Bits::new(self.atoms.len());
        for atom in keys.iter().flat_map(|key| self.clause(*key)) {
            wanted.insert(*atom as usize);
        }
        let answered = self.program.predicates.iter().zip(&self.clauses);
        let answered = answered.filter(|(found, _)| matches!(found.test, Test::Contains(_) | Test::Regex(_)));
        for atom in answered.flat_map(|(_, clauses)| clauses.iter().flatten()) {
            wanted.insert(*atom as usize);
        }
        wanted
    }

    /// Returns the clause of a key.
    fn clause(&self, predicate: u32) -> &[u32] {
        let predicate = predicate as usize;
        let rarest = self.rarest.get(predicate).copied().flatten();
        let clause =
            rarest.and_then(|(at, _)| self.clauses.get(predicate).and_then(|clauses| clauses.get(at)));
        clause.map(|clause| &**clause).unwrap_or_default()
    }

    fn shortcuts(&self, tables: &Tables) -> Box<[Shortcut]> {
        let shortcut = |(predicate, clauses): (&Predicate, &Vec<Box<[u32]>>)| {
            let literals = |clause: &[u32]| -> Option<Box<[u32]>> {
                clause.iter().map(|atom| tables.place(*atom).map(|(_, literal)| literal)).collect()
            };
            let scan = clauses.first().and_then(|clause| clause.first()).and_then(|atom| tables.place(*atom));
            let Some((scan, first)) = scan else { return Shortcut::None };
            if matches!(predicate.test, Test::Contains(_)) {
                return Shortcut::Holds { scan, literal: first };
            }
            // All other predicates are as cheap to test as to look up.
            let regex = matches!(predicate.test, Test::Regex(_));
            let clauses: Option<_> =
                clauses.iter().filter(|_| regex).map(|clause| literals(clause)).collect();
            match clauses {
                Some(clauses) if regex => Shortcut::Needs { scan, clauses },
                Some(_) | None => Shortcut::None,
            }
        };
        self.program.predicates.iter().zip(&self.clauses).map(shortcut).collect()
    }
}

impl Need {
    fn predicates(&self) -> &[u32] {
        if let Self::AnyOf(_, predicates) = self { predicates } else { &[] }
    }
}

/// The tables under construction.
struct Tables {
    equal: Box<[Equal]>,
    scans: Box<[Scan]>,
    /// By atom of the survey: its scan and literal.
    places: Vec<Option<(u32, u32)>>,
    atom_count: usize,
    keys_of_atoms: Vec<(u32, u32)>,
}

impl Tables {
    fn new(survey: &Survey<'_>, keys: &[u32]) -> Result<Self, BuildError> {
        let mut equal: BTreeMap<usize, Equal> = BTreeMap::new();
        let mut literals: BTreeMap<usize, Vec<(usize, &[u8])>> = BTreeMap::new();
        // The number of each atom of the survey in the index.
        let mut numbers: Vec<Option<u32>> = vec![None; survey.atoms.len()];
        let mut next = 0;
        let level = |slot| survey.program.level(slot);
        let table = |slot| {
            let (texts, numbers) = Default::default();
            Equal { slot, level: level(slot), texts, longest: 0, numbers }
        };
        for atom in survey.wanted(keys).iter() {
            match survey.atoms.get(atom) {
                Some(Atom::Literal(slot, text)) => {
                    literals.entry(*slot).or_default().push((atom, text));
                    continue;
                }
                Some(Atom::Text(slot, text)) => {
                    let of = equal.entry(*slot).or_insert_with(|| table(*slot));
                    of.texts.insert(text.clone(), next);
                    of.longest = of.longest.max(text.len());
                }
                Some(Atom::Number(slot, number)) => {
                    equal.entry(*slot).or_insert_with(|| table(*slot)).numbers.insert(*number, next);
                }
                None => continue,
            }
            put(&mut numbers, atom, next);
            next += 1;
        }
        let mut scans = Vec::with_capacity(literals.len());
        let mut places = vec![None; survey.atoms.len()];
        for ((slot, literals), number) in literals.into_iter().zip(0..) {
            let texts: Vec<&[u8]> = literals.iter().map(|(_, text)| *text).collect();
            scans.push(Scan::new((slot, level(slot)), &texts, next)?);
            for ((atom, _), literal) in literals.iter().zip(0..) {
                put(&mut places, *atom, (number, literal));
                put(&mut numbers, *atom, next);
                next += 1;
            }
        }
        let mut keys_of_atoms = Vec::with_capacity(keys.len());
        for (key, number) in keys.iter().zip(0..) {
            let atoms = survey.clause(*key).iter();
            let atoms = atoms.filter_map(|atom| numbers.get(*atom as usize).copied().flatten());
            keys_of_atoms.extend(atoms.map(|atom| (atom, number)));
        }
        let (equal, scans) = (equal.into_values().collect(), scans.into());
        Ok(Self { equal, scans, places, atom_count: next as usize, keys_of_atoms })
    }

    fn place(&self, atom: u32) -> Option<(u32, u32)> {
        self.places.get(atom as usize).copied().flatten()
    }

    fn filed(&self, needs: &[Need], keys: &[u32]) -> Filed {
        let mut always = Vec::new();
        let mut pairs = Vec::new();
        let mut used = Bits::new(keys.len());
        for (need, rule) in needs.iter().zip(0u32..) {
            match need {
                Need::Never => {}
                Need::Nothing => always.push(rule),
                Need::AnyOf(_, predicates) => {
                    for key in predicates.iter().filter_map(|key| keys.binary_search(key).ok()) {
                        used.insert(key);
                        pairs.extend(u32::try_from(key).map(|key| (key, rule)));
                    }
                }
            }
        }
        let mut atoms = Bits::new(self.atom_count);
        for (atom, _) in self.keys_of_atoms.iter().filter(|(_, key)| used.contains(*key as usize)) {
            atoms.insert(*atom as usize);
        }
        let wanted = |atom: u32| atoms.contains(atom as usize);
        let equal =
            |table: &Equal| table.texts.values().chain(table.numbers.values()).any(|atom| wanted(*atom));
        Filed {
            always,
            rules: Lists::new(if pairs.is_empty() { 0 } else { keys.len() }, pairs),
            equal: self.equal.iter().map(equal).collect(),
            scans: self.scans.iter().map(|scan| scan.atoms().any(wanted)).collect(),
        }
    }
}

fn put<T>(table: &mut [Option<T>], at: usize, value: T) {
    if let Some(place) = table.get_mut(at) {
        *place = Some(value);
    }
}

/// Counts the positive uses of each predicate.
fn count(condition: &Condition, uses: &mut [u64]) {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().for_each(|child| count(child, uses)),
        Condition::Literal { predicate, negated: false } => {
            if let Some(uses) = uses.get_mut(*predicate) {
                *uses += 1;
            }
        }
        Condition::Literal { negated: true, .. } | Condition::Const(_) => {}
    }
}
