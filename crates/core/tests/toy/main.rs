//! The core on the toy language: operators, objectives, evaluator, minimiser and engines without any worker process.

// as in unit tests: a failed unwrap is a failed test, wherever it stands
#![allow(clippy::unwrap_used)]

mod blocked;
mod determinism;
mod evaluator;
mod goals;
mod grt;
mod language;
mod minimizer;
mod objectives;
mod operators;
mod quality;
mod takers;
mod worlds;
