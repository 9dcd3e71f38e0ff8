//! The real agents, with scripted models.

mod claude;
mod codex;
mod gemini;
mod qwen;
mod rig;
