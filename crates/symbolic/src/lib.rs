//! Backward symbolic execution: crash conditions, summaries and composition of method sequences. Empty: no engine of this crate is written yet; the crate
//! exists so that the only code that will talk to a solver cannot be depended on by the languages.
