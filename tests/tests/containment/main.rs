//! Contained calls: ways to leave containment by what was written inside, the end of a call for its agent, and ordinary work.
#![cfg(test)]

mod agents;
mod answers;
mod bypass;
mod ecosystems;
mod effects;
mod extremes;
mod rig;
mod runs;
mod sessions;
mod settled;
mod stage;
mod ways;
mod work;
