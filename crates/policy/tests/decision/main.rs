//! Decisions as tables, and the invariants that no stage may break.
#![cfg(test)]

mod allow;
mod contained;
mod denial_keys;
mod engine;
mod engine_settings;
mod grants;
mod layers;
mod limits;
mod marks;
mod messages;
mod operator;
mod overrides;
mod own_parts;
mod persons;
mod profiles;
mod states;
mod support;
mod verdicts;
