//! What a worker is started with and told in its greeting; `worker.py` reads the same fields in the same order.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rethrow_core::probe::ChainFrame;
use serde::Serialize;

use super::SessionConfig;
use crate::interpreter::Interpreter;
use crate::plan::{Code, Site, Watch};

/// The worker: runs on any interpreter it finds, so it travels in the greeting.
pub const WORKER_SOURCE: &str = concat!(
    include_str!("../worker/codec.py"),
    include_str!("../worker/frames.py"),
    include_str!("../worker/record.py"),
    include_str!("../worker/instrument.py"),
    include_str!("../worker/values.py"),
    include_str!("../worker/keep.py"),
    include_str!("../worker/run.py"),
    include_str!("../worker/serve.py"),
);

/// Reads the greeting and becomes the worker that is in it. Kept small: it stands on the command line.
const BOOTSTRAP: &str = "import os\n\
def r(n):\n b=b''\n while len(b)<n:\n  c=os.read(3,n-len(b))\n  if not c: os._exit(1)\n  b+=c\n return b\n\
f=r(int.from_bytes(r(4),'little'))\n\
i=f.index(b'\\0#worker\\0')+9\nj=f.index(b'\\0#end\\0',i)\n\
exec(compile(f[i:j],'<rethrow>','exec'),{'__name__':'rethrow_worker','FRAME':f,'SOURCE':f[i:j]})\n";
const BEGIN: &[u8] = b"\0#worker\0";
const END: &[u8] = b"\0#end\0";

/// See the module documentation. Paths are bytes, because they need not be UTF-8.
#[derive(Clone, Debug, Serialize)]
pub struct Setup {
    worker: Vec<u8>,
    progress: Vec<u8>,
    scratch: Vec<u8>,
    /// To be put in front of `sys.path`.
    sources: Vec<Vec<u8>>,
    stdlib: Vec<Vec<u8>>,
    site: Vec<Vec<u8>>,
    instrument: bool,
    points: u32,
    branches: u32,
    memory_mb: u32,
    import_limit_ms: u32,
    batch: u32,
    lazy: Vec<String>,
    watched: Vec<Watched>,
    codes: Vec<Codes>,
    /// The wanted frames, innermost first: points on their lines, class, method and line (0 if unknown).
    chain: Vec<(Vec<u32>, String, String, u32)>,
}

/// A file with probes: (line, column, number).
#[derive(Clone, Debug, Serialize)]
struct Watched {
    path: Vec<u8>,
    module: String,
    points: Vec<(u32, u32, u32)>,
    branches: Vec<(u32, u32, u32)>,
}

/// (first line, name, class) of the code objects of a file.
#[derive(Clone, Debug, Serialize)]
struct Codes {
    path: Vec<u8>,
    codes: Vec<(u32, String, String)>,
}

impl Setup {
    pub fn new(watch: &Watch, config: &SessionConfig) -> Setup {
        let watched = watch.files.iter().map(|f| Watched {
            path: bytes(&f.path),
            module: f.module.clone(),
            points: f.points.iter().map(site).collect(),
            branches: f.branches.iter().map(site).collect(),
        });
        let own = watch.files.iter().map(|f| (&f.path, &f.codes));
        let others = watch.codes.iter().map(|f| (&f.path, &f.codes));
        let python = &config.interpreter;
        Setup {
            worker: [BEGIN, WORKER_SOURCE.as_bytes(), END].concat(),
            progress: Vec::new(),
            scratch: Vec::new(),
            sources: config.sources.iter().map(|p| bytes(p)).collect(),
            stdlib: python.stdlib.iter().map(|p| bytes(p)).collect(),
            site: python.site_packages.iter().map(|p| bytes(p)).collect(),
            instrument: config.instrument,
            points: watch.plan.points.max(1 + greatest(watch.files.iter().flat_map(|f| &f.points))),
            branches: watch.plan.branches.max(1 + greatest(watch.files.iter().flat_map(|f| &f.branches))),
            memory_mb: config.memory_mb,
            import_limit_ms: config.import_limit_ms,
            batch: config.batch.max(1),
            lazy: config.lazy.clone(),
            watched: watched.collect(),
            chain: watch.plan.chain.iter().map(chain_frame).collect(),
            codes: own.chain(others).map(|(path, codes)| Codes { path: bytes(path), codes: codes.iter().map(code).collect() }).collect(),
        }
    }

    pub fn encoded(&self, scratch: &Path, progress: &Path) -> Vec<u8> {
        let setup = Setup { progress: bytes(progress), scratch: bytes(scratch), ..self.clone() };
        postcard::to_stdvec(&setup).expect("plain data can always be written")
    }
}

fn greatest<'s>(sites: impl Iterator<Item = &'s Site>) -> u32 {
    sites.map(|s| s.number).max().unwrap_or(0)
}

fn site(s: &Site) -> (u32, u32, u32) {
    (s.line, s.col, s.number)
}

fn chain_frame(f: &ChainFrame) -> (Vec<u32>, String, String, u32) {
    (f.points.clone(), f.frame.class.clone(), f.frame.method.clone(), f.frame.line.unwrap_or(0))
}

fn code(c: &Code) -> (u32, String, String) {
    (c.first_line, c.name.clone(), c.class.clone())
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The command line.
pub fn arguments(python: &Interpreter) -> Vec<&'static str> {
    let mut args = vec!["-B"];
    if python.version >= (3, 11, 0) {
        // The working directory is no place for modules.
        args.push("-P");
    }
    args.extend(["-c", BOOTSTRAP]);
    args
}

/// The environment: nothing is written beside the sources, nothing depends on chance, and no library starts threads of its own.
pub fn environment(python: &Interpreter) -> Vec<(OsString, OsString)> {
    let fixed = [
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("PYTHONHASHSEED", "0"),
        ("PYTHONUTF8", "1"),
        ("PYTHONWARNINGS", "ignore"),
        ("OMP_NUM_THREADS", "1"),
        ("OPENBLAS_NUM_THREADS", "1"),
        ("MKL_NUM_THREADS", "1"),
    ];
    let mut env: Vec<(OsString, OsString)> = fixed.iter().map(|(k, v)| (k.into(), v.into())).collect();
    env.extend(python.user_site());
    env
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::WORKER_SOURCE;

    /// The worker's files share one namespace: what the second of two calls by the same name, the first means too.
    #[test]
    fn no_two_files_of_the_worker_use_a_name_for_different_things() {
        let defined = |line: &str| -> Option<String> {
            let rest = line.strip_prefix("def ").or_else(|| line.strip_prefix("class ")).unwrap_or(line);
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            let is_definition = rest.len() < line.len() || rest[end..].starts_with(" = ");
            (end > 0 && is_definition).then(|| rest[..end].to_string())
        };
        let mut names = HashSet::new();
        let twice: Vec<String> = WORKER_SOURCE.lines().filter_map(defined).filter(|name| !names.insert(name.clone())).collect();
        assert!(names.len() > 50 && twice.is_empty(), "{twice:?}");
    }
}
