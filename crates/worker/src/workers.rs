//! Workers that run tests of one program: the [`Session`] that a search talks to, whatever the language.

use std::marker::PhantomData;
use std::sync::Arc;

use rethrow_core::execution::Execution;
use rethrow_core::program::{Program, TypeId};
use rethrow_core::target::{Session, SessionLost};
use rethrow_core::testcase::TestCase;

use crate::names::{Named, Naming};
use crate::pool::{Pool, PoolConfig, PoolStats};
use crate::sandbox::Layers;
use crate::session::{Clock, Launch, StartError};

/// See the module documentation.
pub struct Workers<'p, N> {
    program: &'p Program,
    named: Named,
    pool: Pool,
    naming: PhantomData<N>,
}

impl<'p, N: Naming> Workers<'p, N> {
    /// Starts the first worker; the others follow when there is work for them. What is `lazy` is never made ready ahead of a test.
    pub fn start(program: &'p Program, launch: Arc<dyn Launch>, config: PoolConfig, lazy: &[String]) -> Result<Workers<'p, N>, StartError> {
        let mut pool = Pool::start(launch, config)?;
        pool.never_prepare(lazy.iter().cloned());
        Ok(Workers { program, named: Named::default(), pool, naming: PhantomData })
    }

    /// Makes types ready outside any test: what that costs, or breaks, is then no test's doing.
    pub fn prepare(&mut self, types: impl Iterator<Item = TypeId>) {
        let new = self.named.prepare_all::<N>(self.program, types);
        self.pool.define(new);
    }

    pub fn stats(&self) -> PoolStats {
        self.pool.stats()
    }

    /// When tests have to be over, whatever they do.
    pub fn clock(&self) -> Arc<Clock> {
        self.pool.clock()
    }

    /// The layers of isolation that a worker runs in.
    pub fn layers(&self) -> Option<Layers> {
        self.pool.any_worker().map(|w| w.process().layers().clone())
    }

    /// The version of the runtime, as it tells it.
    pub fn runtime(&self) -> Option<String> {
        self.pool.any_worker().map(|w| w.runtime().to_owned())
    }

    /// Resident memory of one worker, with its supervisor in the jail.
    pub fn worker_rss_bytes(&self) -> u64 {
        self.pool.any_worker().map_or(0, |w| w.process().rss_bytes())
    }

    fn name(&mut self, tests: &[TestCase]) {
        let new = self.named.new_names::<N>(self.program, tests);
        self.pool.define(new);
    }
}

impl<N: Naming> Session for Workers<'_, N> {
    fn execute(&mut self, batch: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.name(batch);
        self.pool.execute(self.program, batch)
    }

    fn inspect(&mut self, batch: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.name(batch);
        self.pool.inspect(self.program, batch)
    }

    fn execute_pristine(&mut self, test: &TestCase) -> Result<Execution, SessionLost> {
        self.name(std::slice::from_ref(test));
        self.pool.execute_pristine(self.program, test)
    }

    fn replay(&mut self, tests: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.name(tests);
        self.pool.replay(self.program, tests)
    }

    fn renew(&mut self) {
        self.pool.renew();
    }
}
