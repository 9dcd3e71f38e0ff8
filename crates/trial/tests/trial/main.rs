//! The shipped packs and settings on whole calls.
#![cfg(test)]

mod accuracy;
mod asks;
mod boundary;
mod exchanges;
mod falco;
mod globals;
mod loads;
mod own_parts;
mod packs;
mod sequence;
mod settings;
mod short;
mod trial;
mod unattended;
