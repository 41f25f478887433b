//! Process trees as `/proc` shows them: descendants, their memory, their end.
//!
//! A snapshot is never exact while processes come and go; callers that need certainty repeat.

use std::collections::BTreeMap;
use std::fs;

/// All descendants of `root`, without itself; parents before children.
pub fn descendants(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (pid, parent) in all() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        // Removed, so that a snapshot torn by reused numbers cannot make us loop.
        found.extend(children.remove(&found[next]).unwrap_or_default());
        next += 1;
    }
    found.split_off(1)
}

/// The children of this (single-threaded) process; much faster than a walk over all processes where the kernel
/// offers it.
pub(crate) fn children_of_this_process() -> Vec<u32> {
    let own = std::process::id();
    match fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(list) => list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect(),
        Err(_) => all().filter(|(_, parent)| *parent == own).map(|(pid, _)| pid).collect(),
    }
}

/// Resident memory of `root` and its descendants. Shared pages count for each.
pub fn rss_bytes(root: u32) -> u64 {
    // SAFETY: `sysconf` takes any number.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let tree = std::iter::once(root).chain(descendants(root));
    tree.filter_map(resident_pages).sum::<u64>() * page
}

/// Kills `root` and its descendants by force; for when its supervisor does not answer.
pub fn kill(root: u32) {
    for pid in descendants(root).into_iter().chain([root]) {
        // SAFETY: `kill` takes any numbers.
        unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
    }
}

/// Processes whose command line contains `token`, zombies excepted: how a test proves that nothing survived.
pub fn survivors(token: &str) -> Vec<u32> {
    let mentions = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(token.len()).any(|window| window == token.as_bytes())
    };
    all().map(|(pid, _)| pid).filter(mentions).collect()
}

/// Every process with its parent.
fn all() -> impl Iterator<Item = (u32, u32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, parent_in(&stat)?))
    })
}

/// The parent in a `stat` line. The command name in it may contain anything, also parentheses and spaces.
fn parent_in(stat: &[u8]) -> Option<u32> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = std::str::from_utf8(&stat[after_name..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn resident_pages(pid: u32) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    statm.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in(b"7 (a) b (c)) S 42 7 7 0"), Some(42));
        assert_eq!(parent_in(b"7 (\xff\xfe) R 1 0"), Some(1));
        assert_eq!(parent_in(b"7 (x) S"), None);
        assert_eq!(parent_in(b""), None);
    }

    #[test]
    fn this_process_has_memory_and_a_parent() {
        let own = std::process::id();
        assert!(rss_bytes(own) > 100_000);
        let parent = std::os::unix::process::parent_id();
        assert!(descendants(parent).contains(&own));
    }
}
