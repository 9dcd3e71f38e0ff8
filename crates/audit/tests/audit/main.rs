//! The log through its public interface, on throw-away directories.

// With `cfg(test)` Clippy treats the shared functions of the tests as tests.
#[cfg(test)]
mod copied;
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
