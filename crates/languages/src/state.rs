//! The stored values at one point of a run: names in scopes, and the heap of lists, maps and objects. A log records
//! every change, so that branches can run from the same state and be joined. Must not know how programs are run.

use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::Arg;

use crate::limits::{ELEMENTS_MAX, ENTRIES_COPIED_PER_WORK};
use crate::value::{CellId, ScopeId, TooMany, Value};
use crate::work::Purse;

/// Up to this number, slots are searched linearly; above it, by hash.
const SEARCHED_SLOTS: usize = 16;

/// The names of a function, block, class or program.
#[derive(Debug)]
struct Scope {
    parent: Option<ScopeId>,
    names: HashMap<Rc<str>, Option<Value>>,
    /// Functions inside it do not see its names.
    is_class: bool,
}

/// The content of a list, map or object.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    /// Keys of maps and objects; a list has none.
    pub(crate) entries: Vec<(Option<Rc<str>>, Value)>,
    /// There may be further elements, or the elements may be at other positions.
    pub(crate) is_open: bool,
    /// The class of an object.
    pub(crate) class: Option<usize>,
}

impl Cell {
    /// Appends elements; `known`: these are all elements, in order.
    pub(crate) fn extend(&mut self, elements: impl IntoIterator<Item = Value>, known: bool) {
        self.entries.extend(elements.into_iter().map(|value| (None, value)));
        self.is_open |= !known;
    }

    /// Returns the values of all entries.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// Returns the value of a key.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(own, _)| own.as_deref() == Some(key)).map(|(_, value)| value)
    }

    /// A cell that the budget did not cover: it may contain anything.
    fn lost() -> Cell {
        Cell { is_open: true, ..Cell::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Slot {
    Name(ScopeId, Rc<str>),
    Cell(CellId),
}

#[derive(Debug, Clone, PartialEq)]
enum Held {
    Name(Option<Value>),
    Cell(Cell),
}

impl Held {
    /// Returns the number of values that a join compares.
    fn size(&self) -> u64 {
        match self {
            Held::Name(value) => value.as_ref().map_or(0, |value| value.choices().len() as u64),
            Held::Cell(cell) => cell.entries.len() as u64,
        }
    }
}

/// The state at the end of one branch, as its changes.
pub(crate) type Outcome = Vec<(SlotOf, HeldIn)>;
#[derive(Debug)]
pub(crate) struct SlotOf(Slot);
#[derive(Debug)]
pub(crate) struct HeldIn(Held);

#[derive(Debug, Default)]
pub(crate) struct State {
    scopes: Vec<Scope>,
    cells: Vec<Cell>,
    log: Vec<(Slot, Held)>,
    /// The budget of the run. A change that is not paid does not happen.
    pub(crate) purse: Purse,
}

impl State {
    pub(crate) fn within(work_max: u64) -> State {
        State { purse: Purse::of(work_max), ..State::default() }
    }

    pub(crate) fn scope(&mut self, parent: Option<ScopeId>, locals: &[Rc<str>], is_class: bool) -> ScopeId {
        let locals = if self.purse.pays(locals.len() as u64) { locals } else { &[] };
        let names = locals.iter().map(|name| (Rc::clone(name), None)).collect();
        self.scopes.push(Scope { parent, names, is_class });
        self.scopes.len() - 1
    }

    /// Returns the scope that a function defined here sees.
    pub(crate) fn seen_from(&self, scope: ScopeId) -> ScopeId {
        match self.scopes.get(scope) {
            Some(Scope { is_class: true, parent: Some(parent), .. }) => *parent,
            _ => scope,
        }
    }

    /// Returns the value of a name; `None` if it has no value.
    pub(crate) fn name(&self, scope: ScopeId, name: &str) -> Option<Value> {
        let mut at = Some(scope);
        while let Some(scope) = at.and_then(|at| self.scopes.get(at)) {
            if let Some(value) = scope.names.get(name) {
                // Before a class has its own value for a name, the outer value applies.
                if value.is_some() || !scope.is_class {
                    return value.clone();
                }
            }
            at = scope.parent;
        }
        None
    }

    /// Like [`State::name`], but a local name without a value has the value of the enclosing scope.
    pub(crate) fn name_around(&self, scope: ScopeId, name: &str) -> Option<Value> {
        let mut at = Some(scope);
        while let Some(scope) = at.and_then(|at| self.scopes.get(at)) {
            if let Some(Some(value)) = scope.names.get(name) {
                return Some(value.clone());
            }
            at = scope.parent;
        }
        None
    }

    pub(crate) fn set_name(&mut self, scope: ScopeId, name: &Rc<str>, value: Value) {
        let mut at = scope;
        while let Some(scope) = self.scopes.get(at) {
            match scope.parent {
                Some(parent) if !scope.names.contains_key(name) => at = parent,
                _ => break,
            }
        }
        self.put(Slot::Name(at, Rc::clone(name)), Held::Name(Some(value)));
    }

    /// Returns the value of a name of this scope only.
    pub(crate) fn own_name(&self, scope: ScopeId, name: &str) -> Option<Value> {
        self.scopes.get(scope)?.names.get(name)?.clone()
    }

    pub(crate) fn set_own(&mut self, scope: ScopeId, name: &Rc<str>, value: Value) {
        self.put(Slot::Name(scope, Rc::clone(name)), Held::Name(Some(value)));
    }

    /// Returns the names of a scope that have a value.
    pub(crate) fn names(&self, scope: ScopeId) -> Vec<(Rc<str>, Value)> {
        let names = self.scopes.get(scope).into_iter().flat_map(|scope| &scope.names);
        let mut names: Vec<_> =
            names.filter_map(|(name, value)| Some((Rc::clone(name), value.clone()?))).collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        names
    }

    pub(crate) fn new_cell(&mut self, cell: Cell) -> CellId {
        let is_paid = self.purse.pays(cell.entries.len() as u64);
        self.cells.push(if is_paid { cell } else { Cell::lost() });
        self.cells.len() - 1
    }

    /// Returns a copy of the content.
    pub(crate) fn cell(&self, id: CellId) -> Cell {
        let Some(cell) = self.cells.get(id) else { return Cell::default() };
        if !self.purse.pays(cell.entries.len() as u64 / ENTRIES_COPIED_PER_WORK) {
            return Cell::lost();
        }
        cell.clone()
    }

    pub(crate) fn cell_ref(&self, id: CellId) -> Option<&Cell> {
        self.cells.get(id)
    }

    pub(crate) fn set_cell(&mut self, id: CellId, mut cell: Cell) {
        if cell.entries.len() > ELEMENTS_MAX {
            cell.entries.retain(|(_, value)| value.is_callable());
            cell.is_open = true;
        }
        if self.purse.pays(cell.entries.len() as u64) {
            self.put(Slot::Cell(id), Held::Cell(cell));
        }
    }

    fn held(&self, slot: &Slot) -> Held {
        match slot {
            Slot::Name(scope, name) => {
                Held::Name(self.scopes.get(*scope).and_then(|scope| scope.names.get(name)).cloned().flatten())
            }
            Slot::Cell(id) => Held::Cell(self.cell(*id)),
        }
    }

    fn put(&mut self, slot: Slot, held: Held) {
        if self.purse.pays(1) {
            let before = self.replace(&slot, held);
            self.log.push((slot, before));
        }
    }

    fn replace(&mut self, slot: &Slot, held: Held) -> Held {
        match (slot, held) {
            (Slot::Name(scope, name), Held::Name(value)) => {
                let Some(scope) = self.scopes.get_mut(*scope) else { return Held::Name(None) };
                Held::Name(scope.names.insert(Rc::clone(name), value).flatten())
            }
            (Slot::Cell(id), Held::Cell(cell)) => match self.cells.get_mut(*id) {
                Some(place) => Held::Cell(std::mem::replace(place, cell)),
                None => Held::Cell(Cell::default()),
            },
            (_, held) => held,
        }
    }

    /// Replaces a text by another in every name and cell that holds it.
    pub(crate) fn change_text(&mut self, old: &Rc<Arg>, new: &Value) -> Result<(), TooMany> {
        let is_in = |value: &Value| value.choices().iter().any(|one| is_same(one, old));
        let mut slots = Vec::new();
        for (id, scope) in self.scopes.iter().enumerate() {
            if !self.purse.pays(1 + scope.names.len() as u64 / 4) {
                return Ok(());
            }
            let names = scope.names.iter().filter(|(_, value)| value.as_ref().is_some_and(is_in));
            slots.extend(names.map(|(name, _)| Slot::Name(id, Rc::clone(name))));
        }
        for (id, cell) in self.cells.iter().enumerate() {
            if !self.purse.pays(1 + cell.entries.len() as u64 / 4) {
                return Ok(());
            }
            if cell.entries.iter().any(|(_, value)| is_in(value)) {
                slots.push(Slot::Cell(id));
            }
        }
        for slot in slots {
            let held = match self.held(&slot) {
                Held::Name(value) => {
                    Held::Name(value.map(|value| with_text_changed(&value, old, new)).transpose()?)
                }
                Held::Cell(mut cell) => {
                    for (_, value) in &mut cell.entries {
                        *value = with_text_changed(value, old, new)?;
                    }
                    Held::Cell(cell)
                }
            };
            self.put(slot, held);
        }
        Ok(())
    }

    /// A point to which [`State::leave`] returns.
    pub(crate) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Returns the slots that changed since a mark, each once.
    fn changed(&self, mark: usize) -> Vec<Slot> {
        let log = self.log.get(mark..).unwrap_or_default();
        if !self.purse.pays(log.len() as u64) {
            return Vec::new();
        }
        grouped(log.iter().map(|(slot, _)| (slot, ()))).into_iter().map(|(slot, _)| slot.clone()).collect()
    }

    /// Returns the numbers of scopes and cells.
    pub(crate) fn extent(&self) -> (usize, usize) {
        (self.scopes.len(), self.cells.len())
    }

    /// Returns the values of each slot that changed since a mark. Includes only slots that existed at the given extent.
    pub(crate) fn values_since(&self, mark: usize, (scopes, cells): (usize, usize)) -> Vec<Vec<Value>> {
        let was_there = |slot: &Slot| match slot {
            Slot::Name(scope, _) => *scope < scopes,
            Slot::Cell(cell) => *cell < cells,
        };
        let held = self.changed(mark).into_iter().filter(was_there).map(|slot| self.held(&slot));
        let values = held.map(|held| match held {
            Held::Name(value) => value.into_iter().collect(),
            Held::Cell(cell) => cell.entries.into_iter().map(|(_, value)| value).collect::<Vec<_>>(),
        });
        values.map(|values| values.iter().flat_map(Value::choices).cloned().collect()).collect()
    }

    /// Ends a branch: restores the state of the mark and returns the branch's changes.
    pub(crate) fn leave(&mut self, mark: usize) -> Outcome {
        if self.purse.is_over() {
            return Outcome::new();
        }
        let changed = self.changed(mark);
        let outcome =
            changed.into_iter().map(|slot| (SlotOf(slot.clone()), HeldIn(self.held(&slot)))).collect();
        let log = self.log.split_off(mark.min(self.log.len()));
        for (slot, before) in log.into_iter().rev() {
            self.replace(&slot, before);
        }
        outcome
    }

    /// Applies the state after one of several branches.
    pub(crate) fn join(&mut self, outcomes: Vec<Outcome>) -> Result<(), TooMany> {
        let count = outcomes.len();
        let slots = grouped(outcomes.into_iter().flatten().map(|(slot, held)| (slot.0, held.0)));
        for (slot, mut all) in slots {
            if all.len() < count {
                all.push(self.held(&slot));
            }
            if !self.purse.pays(all.iter().map(Held::size).sum()) {
                return Ok(());
            }
            let joined = joined(all)?;
            self.put(slot, joined);
        }
        Ok(())
    }

    /// Gives each slot that changed since the mark all of its values since then. With `widens` also an unknown value.
    pub(crate) fn join_history(&mut self, mark: usize, widens: bool) -> Result<(), TooMany> {
        if self.purse.is_over() {
            return Ok(());
        }
        let log = self.log.get(mark..).unwrap_or_default();
        if !self.purse.pays(log.iter().map(|(_, held)| 1 + held.size() / ENTRIES_COPIED_PER_WORK).sum()) {
            return Ok(());
        }
        let slots = grouped(log.iter().map(|(slot, held)| (slot.clone(), held.clone())));
        for (slot, mut all) in slots {
            all.push(self.held(&slot));
            if !self.purse.pays(all.iter().map(Held::size).sum()) {
                return Ok(());
            }
            let joined = joined(all)?;
            self.put(slot, if widens { widened(joined)? } else { joined });
        }
        Ok(())
    }

    /// Reports whether anything changed since a mark.
    pub(crate) fn has_changed(&self, mark: usize) -> bool {
        self.log.len() > mark
    }
}

/// Reports whether a value is this very text, and not an equal one.
fn is_same(value: &Value, text: &Rc<Arg>) -> bool {
    matches!(value, Value::Text(own) if Rc::ptr_eq(own, text))
}

fn with_text_changed(value: &Value, old: &Rc<Arg>, new: &Value) -> Result<Value, TooMany> {
    let choices = value.choices().iter();
    Value::any(choices.map(|one| if is_same(one, old) { new.clone() } else { one.clone() }))
}

/// Collects the values of each slot, ordered by the slot's first change.
fn grouped<S: Eq + Hash + Clone, H>(changes: impl Iterator<Item = (S, H)>) -> Vec<(S, Vec<H>)> {
    let mut slots: Vec<(S, Vec<H>)> = Vec::new();
    let mut places: HashMap<S, usize> = HashMap::new();
    for (slot, held) in changes {
        let few = slots.len() <= SEARCHED_SLOTS;
        let place =
            if few { slots.iter().position(|(one, _)| *one == slot) } else { places.get(&slot).copied() };
        match place.and_then(|place| slots.get_mut(place)) {
            Some((_, all)) => all.push(held),
            None => {
                slots.push((slot, vec![held]));
                if slots.len() == SEARCHED_SLOTS + 1 {
                    places = slots.iter().enumerate().map(|(at, (slot, _))| (slot.clone(), at)).collect();
                } else if !few && let Some((slot, _)) = slots.last() {
                    places.insert(slot.clone(), slots.len() - 1);
                }
            }
        }
    }
    slots
}

fn joined(all: Vec<Held>) -> Result<Held, TooMany> {
    if all.iter().any(|held| matches!(held, Held::Cell(_))) {
        let cells = all.into_iter().filter_map(|held| match held {
            Held::Cell(cell) => Some(cell),
            Held::Name(_) => None,
        });
        return joined_cells(cells.collect()).map(Held::Cell);
    }
    let values: Vec<Value> = all
        .into_iter()
        .filter_map(|held| match held {
            Held::Name(value) => value,
            Held::Cell(_) => None,
        })
        .collect();
    if values.is_empty() {
        return Ok(Held::Name(None));
    }
    Value::any(values).map(|value| Held::Name(Some(value)))
}

fn joined_cells(mut cells: Vec<Cell>) -> Result<Cell, TooMany> {
    cells.dedup();
    let Some(first) = cells.first() else { return Ok(Cell::default()) };
    let class = first.class;
    let is_open = cells.iter().any(|cell| cell.is_open);
    let keys = |cell: &Cell| cell.entries.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    let same = cells.iter().all(|cell| keys(cell) == keys(first));
    if same {
        let mut entries = Vec::new();
        for (at, key) in keys(first).into_iter().enumerate() {
            let values = cells.iter().filter_map(|cell| cell.entries.get(at).map(|(_, value)| value.clone()));
            entries.push((key, Value::any(values)?));
        }
        return Ok(Cell { entries, is_open, class });
    }
    let mut entries: Vec<(Option<Rc<str>>, Value)> = Vec::new();
    for entry in cells.into_iter().flat_map(|cell| cell.entries) {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    Ok(Cell { entries, is_open: true, class })
}

/// Adds an unknown value. Values that can act stay.
fn widened(held: Held) -> Result<Held, TooMany> {
    match held {
        Held::Name(Some(value))
            if matches!(value, Value::Function(_) | Value::Class(_) | Value::Module(_)) =>
        {
            Ok(Held::Name(Some(value)))
        }
        Held::Name(Some(value)) => {
            Ok(Held::Name(Some(Value::any([value, Value::unknown(Why::Dynamic, "changed in a loop")])?)))
        }
        Held::Name(None) => Ok(Held::Name(None)),
        Held::Cell(cell) => {
            let class = cell.class;
            let mut entries = Vec::new();
            for (key, value) in cell.entries {
                let unknown = Value::unknown(Why::Dynamic, "changed in a loop");
                let value = if value.is_callable() { value } else { Value::any([value, unknown])? };
                if !entries.contains(&(key.clone(), value.clone())) {
                    entries.push((key, value));
                }
            }
            Ok(Held::Cell(Cell { entries, is_open: true, class }))
        }
    }
}
