//! The fuzz targets on the stored corpus and on texts of their own.
#![cfg(test)]

mod children;
mod corpus;
mod sql_bounds;
