//! The coverage page: branches and blocks that the search covered, by class.

use rethrow_core::program::{Program, TypeId};
use rethrow_core::search::grt::Generator;
use rethrow_core::search::grt::coverage::Share;

/// As Markdown; classes with most left to cover first.
pub fn page(program: &Program, types: &[TypeId], generator: &Generator<'_>) -> String {
    let mut rows: Vec<(String, Share, Share)> = Vec::new();
    let (mut all_branches, mut all_blocks) = (Share::default(), Share::default());
    for ty in types {
        let (mut branches, mut blocks) = (Share::default(), Share::default());
        for probes in program.methods_of(*ty).filter_map(|m| generator.probes(m)) {
            branches.add(generator.coverage.branches_of(probes));
            blocks.add(generator.coverage.points_of(probes));
        }
        all_branches.add(branches);
        all_blocks.add(blocks);
        rows.push((program.type_name(*ty).to_string(), branches, blocks));
    }
    rows.sort_by_key(|(_, branches, _)| std::cmp::Reverse(branches.total - branches.covered));
    let mut out = String::from("# Coverage of the generated tests\n\nAs the search saw it: sides of conditional branches, and basic blocks.\n\n");
    out.push_str("| class | branches | | blocks | |\n|---|--:|--:|--:|--:|\n");
    rows.insert(0, ("**all**".to_string(), all_branches, all_blocks));
    for (class, branches, blocks) in rows {
        let shown = |s: Share| format!("{}/{} | {:.1} %", s.covered, s.total, s.percent());
        out.push_str(&format!("| {class} | {} | {} |\n", shown(branches), shown(blocks)));
    }
    out
}
