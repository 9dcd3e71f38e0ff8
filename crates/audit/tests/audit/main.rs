//! The log through its public interface, on throw-away directories.

// `cfg(test)` tells Clippy that the functions the tests share are tests too.
#[cfg(test)]
mod disk;
#[cfg(test)]
mod keep;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod read;
#[cfg(test)]
mod recover;
#[cfg(test)]
mod size;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tamper;
#[cfg(test)]
mod write;
