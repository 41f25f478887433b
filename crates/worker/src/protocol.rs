//! What the parent and a worker process say to each other: length-prefixed postcard frames on a socket of their own.
//!
//! The messages know no language: a member or type is named once ([`Define`]) and then meant by the number it has in the program; exceptions and
//! run-time types are interned by the worker ([`Known`]) and then meant by number. Decoding is total: a frame has a largest size, nothing is
//! recursive, and no length in a frame is trusted for an allocation. Starting, blaming and replacing workers is `pool`'s business.

use std::io::{self, Read, Write};

use rethrow_core::execution::Returned;
use rethrow_core::program::{FieldId, MethodId, TypeId};
use rethrow_core::testcase::TestCase;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Both sides are the same binary; the number guards against one that was replaced while running.
pub const VERSION: u16 = 9;
/// No honest frame comes near it.
pub const MAX_FRAME: usize = 64 << 20;
/// What is reserved before any byte of a frame has arrived.
const TRUSTED_CAPACITY: usize = 64 << 10;

/// Parent to worker.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    Hello { version: u16, setup: Vec<u8> },
    Define(Define),
    Run(Run),
    Bye,
}

/// Names for numbers; sent before the first test that uses them.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Define {
    pub types: Vec<(TypeId, String)>,
    pub methods: Vec<(MethodId, Method)>,
    pub fields: Vec<(FieldId, Field)>,
    /// The methods that a stub of the type has to define.
    pub stubs: Vec<(TypeId, Vec<MethodId>)>,
    /// Types to make ready (load, initialise) outside any test, in this order, within the time limit that a test has.
    pub prepare: Vec<String>,
    /// Types that cannot be made ready, whatever is tried: a test that meets one says nothing against the process.
    pub broken: Vec<String>,
    pub time_limit_ms: u32,
}

impl Define {
    pub fn is_empty(&self) -> bool {
        self.types.is_empty() && self.methods.is_empty() && self.fields.is_empty() && self.stubs.is_empty() && self.prepare.is_empty() && self.broken.is_empty()
    }
}

/// A method by name and signature text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Method {
    pub owner: String,
    pub name: String,
    pub desc: String,
    pub is_static: bool,
}

/// A field; `desc` is the signature text of its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub owner: String,
    pub name: String,
    pub desc: String,
    pub is_static: bool,
}

/// Tests to run, in order.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub step_limit: u32,
    pub time_limit_ms: u32,
    /// The first use of a type is part of the test. Otherwise such a test is run again, and what it shows then counts: the same in every worker.
    pub pristine: bool,
    /// The values of the statements are wanted too.
    pub inspect: bool,
    pub tests: Vec<TestCase>,
}

/// Worker to parent.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    Ready {
        version: u16,
        runtime: String,
    },
    /// It cannot start; the text is for the user.
    Failed(String),
    Known(Known),
    Result(Observed),
    Done(Done),
}

/// The run is over.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Tests with a result; those after need another worker.
    pub ran: u32,
    /// The process must not be used again, and why.
    pub retire: Option<String>,
    /// Types first used in the test after the last that ran, which wrote to them. It has no result: what it does cannot be told from what their first
    /// use does, so it should run in a worker that has made them ready. Or types that could not be initialised in a test, which may be its fault.
    pub prepare: Vec<String>,
    /// Types that cannot be made ready.
    pub unprepared: Vec<String>,
    /// Processor time of the process so far.
    pub cpu_us: u64,
}

/// Newly interned values. Their numbers follow those already given; `forget` empties the tables of stacks and chains first.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    pub forget: bool,
    pub types: Vec<String>,
    pub stacks: Vec<Vec<StackFrame>>,
    pub chains: Vec<Vec<Thrown>>,
}

impl Known {
    pub fn is_empty(&self) -> bool {
        !self.forget && self.types.is_empty() && self.stacks.is_empty() && self.chains.is_empty()
    }
}

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StackFrame {
    pub class: String,
    pub method: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub native: bool,
    pub platform: bool,
}

/// One exception of a chain; `stack` is an interned number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Thrown {
    pub exception: String,
    pub message: Option<String>,
    pub stack: u32,
}

/// How a test ended; see [`rethrow_core::execution::Outcome`].
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    Normal,
    Thrown {
        at: u32,
        chain: u32,
    },
    Invalid {
        at: u32,
        why: String,
    },
    StepLimit {
        at: u32,
    },
    TimeLimit {
        at: u32,
    },
    Exit {
        at: u32,
        code: i32,
    },
    /// A process of the worker died under it; the worker itself goes on.
    Died {
        why: String,
    },
}

/// What one test showed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Its place in the [`Run`].
    pub test: u32,
    pub ended: Ended,
    /// Ascending, each as the difference to the one before.
    pub hits: Vec<u32>,
    pub branches: Vec<Branch>,
    pub switches: Vec<(u32, i32)>,
    /// By statement: 0 for none, else an interned type plus 1.
    pub types: Vec<u32>,
    pub seen: Vec<SeenValue>,
    pub refused: Vec<String>,
    /// See [`rethrow_core::execution::Execution`].
    pub reach: Vec<u32>,
    pub steps: u32,
    /// By statement; empty unless [`Run::inspect`] asked for it.
    pub values: Vec<Option<Returned>>,
}

/// See [`rethrow_core::execution::BranchSeen`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    pub branch: u32,
    pub above: Distance,
    pub below: Distance,
    pub equal: bool,
    pub hint: Distance,
}

/// A distance; most are absent or small whole numbers, so they are kept short.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Distance {
    None,
    Whole(u32),
    Real(f64),
}

impl From<f64> for Distance {
    fn from(v: f64) -> Self {
        if v == f64::INFINITY || v.is_nan() {
            Distance::None
        } else if v >= 0.0 && v <= f64::from(u32::MAX) && v.fract() == 0.0 {
            Distance::Whole(v as u32)
        } else {
            Distance::Real(v)
        }
    }
}

impl From<Distance> for f64 {
    fn from(d: Distance) -> f64 {
        match d {
            Distance::None => f64::INFINITY,
            Distance::Whole(v) => f64::from(v),
            // A hostile worker may send it; scores must never see it.
            Distance::Real(v) if v.is_nan() => f64::INFINITY,
            Distance::Real(v) => v,
        }
    }
}

/// See [`rethrow_core::execution::Seen`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SeenValue {
    Int(i64),
    Str(String),
    Pair(String, String),
    Unfit { text: String, pattern: String },
}

/// Why no message could be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("a frame of {0} bytes is larger than any message")]
    TooLarge(usize),
    #[error("not a message: {0}")]
    Malformed(#[from] postcard::Error),
}

impl FrameError {
    /// The read ran into the socket's time limit with nothing to read.
    pub fn is_timeout(&self) -> bool {
        matches!(self, FrameError::Io(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
    }
}

/// Nearly all that is written is a single byte at a time, which the library's own vector takes through an iterator.
struct Appended(Vec<u8>);

impl postcard::ser_flavors::Flavor for Appended {
    type Output = Vec<u8>;
    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }
    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        match bytes {
            [byte] => self.0.push(*byte),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }
    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// Appends `message` as one frame to `out`, which the caller writes when it is full enough.
pub fn encode(message: &impl Serialize, out: &mut Vec<u8>) -> Result<(), FrameError> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut full = postcard::serialize_with_flavor(message, Appended(std::mem::take(out)))?;
    let len = full.len() - start - 4;
    if len > MAX_FRAME {
        full.truncate(start);
        *out = full;
        return Err(FrameError::TooLarge(len));
    }
    full[start..start + 4].copy_from_slice(&(len as u32).to_le_bytes());
    *out = full;
    Ok(())
}

/// Writes `message` as one frame.
pub fn send(to: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    let mut bytes = Vec::new();
    encode(message, &mut bytes)?;
    to.write_all(&bytes)?;
    Ok(to.flush()?)
}

/// Reads frames. Partial frames survive a read that timed out, so the reader may be called again.
pub struct FrameReader<R> {
    from: R,
    buffer: Vec<u8>,
    start: usize,
}

impl<R: Read> FrameReader<R> {
    pub fn new(from: R) -> Self {
        FrameReader { from, buffer: Vec::with_capacity(TRUSTED_CAPACITY), start: 0 }
    }
    pub fn get_ref(&self) -> &R {
        &self.from
    }
    /// The next message.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<T, FrameError> {
        let len = self.wait_for_frame()?;
        let frame = &self.buffer[self.start + 4..self.start + 4 + len];
        let message = postcard::from_bytes(frame);
        self.start += 4 + len;
        Ok(message?)
    }
    fn wait_for_frame(&mut self) -> Result<usize, FrameError> {
        loop {
            if let Some(head) = self.buffer[self.start..].first_chunk::<4>() {
                let len = u32::from_le_bytes(*head) as usize;
                if len > MAX_FRAME {
                    return Err(FrameError::TooLarge(len));
                }
                if self.buffer.len() - self.start >= 4 + len {
                    return Ok(len);
                }
            }
            self.fill()?;
        }
    }
    fn fill(&mut self) -> Result<(), FrameError> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let filled = self.buffer.len();
        self.buffer.resize(filled + TRUSTED_CAPACITY, 0);
        let read = loop {
            match self.from.read(&mut self.buffer[filled..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(filled + *read.as_ref().unwrap_or(&0));
        match read? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            _ => Ok(()),
        }
    }
}

/// The page that worker and parent share: which test is running, so that blame survives any death.
///
/// It is a small file of the scratch folder. The worker maps it and stores plain numbers; the parent reads the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Progress {
    /// Counts tests over the worker's life; 0 before the first.
    pub sequence: u32,
    /// The test's place in the [`Run`], plus 1; 0 when none is running, [`PREPARING`] while types are made ready.
    pub test: u32,
    /// The statement being executed, or the place of the type being made ready.
    pub at: u32,
    /// The worker ended itself because the test did not react to its time limit.
    pub timed_out: u32,
}

/// In place of a test's number while the types of [`Define::prepare`] are made ready.
pub const PREPARING: u32 = u32::MAX;

/// Size of [`Progress`] in the file.
pub const PROGRESS_BYTES: usize = 16;

impl Progress {
    pub fn from_bytes(bytes: [u8; PROGRESS_BYTES]) -> Progress {
        let word = |i: usize| u32::from_ne_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        Progress { sequence: word(0), test: word(4), at: word(8), timed_out: word(12) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rethrow_core::testcase::{Stmt, Value, Var};

    fn run() -> Request {
        let mut test = TestCase::default();
        test.push(Stmt::Lit(Value::Int(-7)));
        test.push(Stmt::Str("a\u{1F600}".into()));
        test.push(Stmt::Call { method: MethodId(70_000), recv: Some(Var(1)), args: vec![Var(0)] });
        Request::Run(Run { step_limit: 9, time_limit_ms: 8, pristine: false, inspect: false, tests: vec![test] })
    }

    #[test]
    fn messages_survive_the_wire_in_any_slicing() {
        struct Drip(Vec<u8>, usize);
        impl Read for Drip {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let n = (self.0.len() - self.1).min(3).min(buf.len());
                buf[..n].copy_from_slice(&self.0[self.1..self.1 + n]);
                self.1 += n;
                Ok(n)
            }
        }
        let mut bytes = Vec::new();
        encode(&run(), &mut bytes).unwrap();
        encode(&Request::Bye, &mut bytes).unwrap();
        let mut reader = FrameReader::new(Drip(bytes, 0));
        assert_eq!(reader.receive::<Request>().unwrap(), run());
        assert_eq!(reader.receive::<Request>().unwrap(), Request::Bye);
        assert!(matches!(reader.receive::<Request>(), Err(FrameError::Io(e)) if e.kind() == io::ErrorKind::UnexpectedEof));
    }

    #[test]
    fn hostile_bytes_are_refused_without_panic_or_large_allocation() {
        let mut bytes = Vec::new();
        encode(&run(), &mut bytes).unwrap();
        for i in 4..bytes.len() {
            for v in [0u8, 1, 0x7f, 0x80, 0xff] {
                let mut bad = bytes.clone();
                bad[i] = v;
                let _ = FrameReader::new(&bad[..]).receive::<Request>();
                let _ = FrameReader::new(&bad[..]).receive::<Reply>();
            }
        }
        let huge = (MAX_FRAME as u32 + 1).to_le_bytes();
        assert!(matches!(FrameReader::new(&huge[..]).receive::<Reply>(), Err(FrameError::TooLarge(_))));
        // A vector that claims 2^32 elements in a frame of six bytes.
        let claim = [6, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(FrameReader::new(&claim[..]).receive::<Request>().is_err());
    }

    #[test]
    fn a_message_that_fails_to_decode_does_not_stop_the_next() {
        let mut bytes = vec![1, 0, 0, 0, 99];
        encode(&Request::Bye, &mut bytes).unwrap();
        let mut reader = FrameReader::new(&bytes[..]);
        assert!(matches!(reader.receive::<Request>(), Err(FrameError::Malformed(_))));
        assert_eq!(reader.receive::<Request>().unwrap(), Request::Bye);
    }

    #[test]
    fn distances_keep_their_value() {
        for v in [0.0, 1.0, 255.0, 1e9, 0.5, -3.0, 1e300, f64::INFINITY] {
            assert_eq!(f64::from(Distance::from(v)).to_bits(), v.to_bits());
        }
        assert_eq!(f64::from(Distance::Real(f64::NAN)), f64::INFINITY);
    }
}
