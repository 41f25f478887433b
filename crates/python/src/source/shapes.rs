//! stub
use super::Sources;
use super::index::Param;
use rethrow_core::program::{Parameter, Program};
pub fn of_code(_: &Program, sources: &Sources, (file, code): (usize, usize)) -> Vec<Parameter> {
    let params = &sources.files[file].index.codes[code].params;
    params.iter().map(|p| Parameter { name: p.name.clone(), taking: p.taking, optional: p.optional, shapes: Vec::new() }).collect()
}
pub fn of_fields(_: &Program, _: &Sources, _: (usize, usize), params: &[Param]) -> Vec<Parameter> {
    params.iter().map(|p| Parameter { name: p.name.clone(), taking: p.taking, optional: p.optional, shapes: Vec::new() }).collect()
}
