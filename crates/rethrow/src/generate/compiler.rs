//! The compiler that stays, from the shell's side: started in the jail, given jobs, asked for answers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rethrow_core::target::suite::{Compiled, CompilerPlan, JOBS_FOLDER, read_done};
use rethrow_worker::process::{Jailed, JailedCommand, spawn};

use super::fresh::{read_result, write};
use crate::commands::jail::own_executable;
use crate::commands::sandbox_mode;
use crate::config::Config;
use crate::error::UserError;

/// See the module documentation. Ends with its handle.
pub struct Compiler {
    process: Jailed,
    jobs: PathBuf,
    submitted: u32,
}

impl Compiler {
    pub fn start(config: &Config, plan: &CompilerPlan, scratch: &Path) -> Result<Compiler, UserError> {
        for folder in &plan.folders {
            let path = scratch.join(folder);
            std::fs::create_dir_all(&path).map_err(|e| UserError::RunDirUnusable { path, why: e.to_string() })?;
        }
        plan.files.iter().try_for_each(|(path, text)| write(&scratch.join(path), text))?;
        let mut command = JailedCommand::new(&own_executable()?, scratch, &plan.command.program).args(&plan.command.args).mode(sandbox_mode(config.sandbox));
        command.read.extend(plan.readable.iter().chain(&config.allow_read).cloned());
        let process = spawn(&command).map_err(|e| UserError::WorkerWillNotStart { why: e.to_string() })?;
        Ok(Compiler { process, jobs: scratch.join(JOBS_FOLDER), submitted: 0 })
    }

    /// Hands in sources; the answer is asked for by the number.
    pub fn submit(&mut self, sources: &[PathBuf]) -> Result<u32, UserError> {
        self.submitted += 1;
        let list: String = sources.iter().map(|p| format!("{}\n", p.display())).collect();
        let path = self.jobs.join(format!("job-{}", self.submitted));
        let unready = path.with_extension("tmp");
        write(&unready, &list)?;
        std::fs::rename(&unready, &path).map_err(|e| UserError::RunDirUnusable { path, why: e.to_string() })?;
        Ok(self.submitted)
    }

    /// The answer, if it is there.
    pub fn answer(&self, job: u32) -> Option<Compiled> {
        read_result(&self.jobs.join(format!("done-{job}"))).and_then(|text| read_done(&text))
    }

    /// Whether no answer will come any more.
    pub fn is_gone(&mut self) -> bool {
        !matches!(self.process.wait_timeout(Duration::ZERO), Ok(None))
    }
}
