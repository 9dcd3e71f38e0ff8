//! Branches, loops, and code that may stop in the middle.

use castellan_event::Why;

use super::Machine;
use crate::limits::{ITERATIONS_MAX, LOOP_ROUNDS_MAX};
use crate::tree::{Loop, Node};
use crate::value::Value;

impl Machine<'_> {
    pub(super) fn or(&mut self, node: &Node, parts: &[Node]) -> Value {
        let mut values = Vec::new();
        let mut mark = None;
        for part in parts {
            values.push(self.eval(part));
            mark = mark.or(Some(self.state.mark()));
        }
        self.rejoin(node, mark.unwrap_or(usize::MAX), false);
        self.any(node, values)
    }

    pub(super) fn attempt(&mut self, node: &Node, parts: &[Node]) -> Value {
        for part in parts {
            let mark = self.state.mark();
            self.eval(part);
            self.rejoin(node, mark, false);
        }
        Value::Constant
    }

    pub(super) fn repeat(&mut self, node: &Node, one: &Loop) -> Value {
        let elements = one.over.as_ref().map(|(_, iterable)| {
            let iterable_value = self.eval(iterable);
            self.elements(iterable, &iterable_value)
        });
        let mut collected = Vec::new();
        match elements {
            Some((elements, true)) if elements.len() <= ITERATIONS_MAX => {
                let mark = self.state.mark();
                for element in elements {
                    self.round(one, Some(element), &mut collected);
                }
                if one.jumps {
                    self.rejoin(node, mark, false);
                }
                if one.collects { self.list(collected) } else { Value::Constant }
            }
            elements => {
                let element = elements.map(|(mut elements, _)| {
                    if elements.is_empty() {
                        elements.push(self.unknown(node, Why::Dynamic));
                    }
                    self.any(node, elements)
                });
                self.again(node, one, element.as_ref(), &mut collected);
                if !one.collects {
                    return Value::Constant;
                }
                let value = self.any(node, collected);
                self.listed([value], true)
            }
        }
    }

    /// Runs a loop as often as needed: once from the state before it, then, if that changed anything, from any state
    /// that it may reach. Repeats the body while values that can act reach new places.
    fn again(&mut self, node: &Node, one: &Loop, element: Option<&Value>, collected: &mut Vec<Value>) {
        let (mark, extent) = (self.state.mark(), self.state.extent());
        let mut before = None;
        for number in 0..LOOP_ROUNDS_MAX {
            self.round(one, element.cloned(), collected);
            if !self.state.has_changed(mark) {
                return;
            }
            self.rejoin(node, mark, number == 0);
            let held = self.capable_since(mark, extent);
            if before.as_ref() == Some(&held) {
                return;
            }
            before = Some(held);
        }
        self.lost(node, Why::Dynamic);
    }

    /// Returns the values that can act, for each place that changed since a mark.
    fn capable_since(&mut self, mark: usize, extent: (usize, usize)) -> Vec<Vec<Value>> {
        let mut held = self.state.values_since(mark, extent);
        for values in &mut held {
            values.retain(|value| value.is_callable() && self.is_capable(value));
        }
        held.retain(|values| !values.is_empty());
        held
    }

    fn round(&mut self, one: &Loop, element: Option<Value>, collected: &mut Vec<Value>) {
        if !self.step(1) {
            return;
        }
        if let (Some((target, _)), Some(element)) = (&one.over, element) {
            self.assign(target, element);
        }
        let value = self.eval(&one.body);
        if !one.collects {
            return;
        }
        if matches!(&one.body.kind, crate::tree::Kind::Loop(inner) if inner.collects) {
            let (elements, _) = self.elements(&one.body, &value);
            collected.extend(elements);
        } else {
            collected.push(value);
        }
    }

    pub(super) fn returns(&mut self, value: Option<&Node>) -> Value {
        let value = value.map_or(Value::Constant, |value| self.untruncated(value));
        if let Some(frame) = self.frames.last_mut() {
            frame.returns.push(value);
        }
        Value::Constant
    }

    pub(super) fn yielded(&mut self, node: &Node, value: Option<&Node>) -> Value {
        let value = value.map_or(Value::Constant, |value| self.eval(value));
        if let Some(frame) = self.frames.last_mut() {
            frame.yields.get_or_insert_default().push(value);
        }
        self.unknown(node, Why::Dynamic)
    }
}
