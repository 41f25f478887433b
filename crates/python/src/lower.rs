//! Function bodies as core IR.
