//! What a measurement was made on, as far as the system tells.

use serde::Serialize;

/// See the module documentation. Empty or zero where the system does not tell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub memory_mb: u64,
    pub kernel: String,
    /// Processes that wanted to run when it began, over the last minute.
    pub load: f64,
}

impl Machine {
    pub fn describe(cores: usize) -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let load = read("/proc/loadavg");
        Machine {
            cpu: field(&read("/proc/cpuinfo"), "model name"),
            cores,
            memory_mb: kilobytes(&read("/proc/meminfo"), "MemTotal") / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: load.split(' ').next().and_then(|l| l.parse().ok()).unwrap_or_default(),
        }
    }
}

/// The most memory that this process ever held.
pub fn peak_rss_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    kilobytes(&status, "VmHWM") / 1024
}

/// The text after `name:`.
fn field(text: &str, name: &str) -> String {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}

fn kilobytes(text: &str, name: &str) -> u64 {
    field(text, name).trim_end_matches(" kB").parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_name() {
        let text = "processor\t: 0\nmodel name\t: A 1: B\nMemTotal:  2048 kB\n";
        assert_eq!((field(text, "model name"), field(text, "MemTotal")), ("A 1: B".into(), "2048 kB".into()));
        assert_eq!((kilobytes(text, "MemTotal"), kilobytes(text, "VmHWM")), (2048, 0));
    }

    #[test]
    fn this_process_holds_some_memory() {
        assert!(peak_rss_mb() > 0);
    }
}
