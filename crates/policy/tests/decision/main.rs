//! Decisions as tables, and the laws that no stage may break.

#![cfg(test)]

mod allow;
mod layers;
mod marks;
mod support;
mod verdicts;
