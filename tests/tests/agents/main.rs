//! The real agents, with scripted models.
#![cfg(test)]

mod claude;
mod codex;
mod gemini;
mod qwen;
mod rig;
