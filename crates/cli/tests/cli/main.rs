//! The real `castellan` in temporary homes. Every test has its own home; no daemon outlives its test.
#![cfg(test)]

mod agents;
mod bench;
mod check;
mod config;
mod doctor;
mod explain;
mod file;
mod help;
mod home;
mod install;
mod key_edit;
mod log;
mod loosen;
mod managed;
mod operator;
mod records;
mod replay;
mod rules;
mod rules_describe;
mod rules_eval;
mod rules_import;
mod rules_new;
mod rules_test;
mod service;
mod settings;
mod status;
mod suggest;
mod upgrade;
mod users_only;
mod weaknesses;
mod why;
