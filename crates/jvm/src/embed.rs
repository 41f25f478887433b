//! The worker side: a JVM inside this process that runs tests for the parent.
//!
//! [`worker_main`] is all that the binary needs. One thread, which we create with a fixed stack, makes the JVM and runs every test; the main thread
//! only watches the clock. How workers are started, fed and replaced is `launch`'s business.

#![allow(unsafe_code)]

mod backtrace;
mod call;
mod callers;
mod charsets;
mod classes;
mod descriptor;
mod distance;
mod executor;
mod hints;
mod hook;
mod members;
mod platform;
mod probes;
mod progress;
pub mod setup;
mod stacks;
mod statement;
mod stub_class;
mod stubs;
mod surroundings;
mod threads;
mod vm;
mod watch;

use std::ffi::OsStr;
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, mpsc};

use rethrow_worker::protocol::{self, FrameReader, Reply, Request, VERSION};

pub(crate) use descriptor::letter;

use classes::Classes;
use executor::Executor;
use probes::Probes;
use progress::ProgressPage;
use setup::Setup;
use threads::Others;
use vm::{Env, Global, jni};
use watch::{Watch, Watched};

/// First argument that turns a process of ours into a worker.
pub const WORKER_ARGUMENT: &str = "__worker";

/// Serves the parent on descriptor `fd` until it says goodbye, then ends the process.
pub fn worker_main(fd: RawFd) -> ! {
    // SAFETY: the parent gave us this descriptor for this purpose, and nothing else in this process uses it.
    let stream = unsafe { UnixStream::from_raw_fd(fd) };
    let code = match serve(stream) {
        Ok(()) => 0,
        Err(why) => {
            eprintln!("worker: {why}");
            1
        }
    };
    // SAFETY: ends the process at once; the JVM's own shutdown would run hooks of the program.
    unsafe { libc::_exit(code) }
}

/// Everything between the first and the last message.
fn serve(stream: UnixStream) -> Result<(), String> {
    let clone = || stream.try_clone().map_err(|e| e.to_string());
    let (mut reader, out) = (FrameReader::new(clone()?), clone()?);
    let setup = match hello(&mut reader) {
        Ok(setup) => setup,
        Err(why) => return refuse(stream, why),
    };
    let page = Path::new(OsStr::from_bytes(&setup.progress));
    let page = match ProgressPage::open(page) {
        Ok(page) => page,
        Err(e) => return refuse(stream, format!("cannot map {}: {e}", page.display())),
    };
    let watch = Arc::new(Watch::new(page, out));
    let (tell, told) = mpsc::channel();
    let (attached, attaching) = mpsc::channel();
    let for_tests = watch.clone();
    let stack = setup.stack_bytes as usize;
    let tests = move || {
        no_alternate_stack();
        let started = start(&setup, for_tests.clone());
        match started {
            Ok((mut executor, machine, watched)) => {
                let (tools, throwable) = (watched.tools, watched.throwable);
                // The receiver waits for exactly this, and has its own thread known to the machine before any test starts threads.
                let _ = tell.send((machine, watched));
                let _ = attaching.recv();
                executor.look_after_threads(tools, throwable);
                finish(work(executor, &mut reader, &for_tests));
            }
            Err(why) => finish(refuse(stream, why)),
        }
    };
    std::thread::Builder::new().name("main".to_owned()).stack_size(stack).spawn(tests).map_err(|e| e.to_string())?;
    if let Ok((machine, watched)) = told.recv() {
        let others = Others::new(machine.attach()?, watched.tools);
        let _ = attached.send(());
        watch.keep(&watched, &others);
    }
    // The other thread ends the process.
    loop {
        std::thread::park();
    }
}

fn finish(result: Result<(), String>) -> ! {
    if let Err(why) = &result {
        eprintln!("worker: {why}");
    }
    // SAFETY: as in `worker_main`.
    unsafe { libc::_exit(i32::from(result.is_err())) }
}

fn hello(reader: &mut FrameReader<UnixStream>) -> Result<Setup, String> {
    match reader.receive::<Request>().map_err(|e| e.to_string())? {
        Request::Hello { version: VERSION, setup } => postcard::from_bytes(&setup).map_err(|e| e.to_string()),
        Request::Hello { version, .. } => Err(format!("the worker speaks version {VERSION} of the protocol, not {version}")),
        _ => Err("the first message was not a greeting".to_owned()),
    }
}

fn refuse(mut stream: UnixStream, why: String) -> Result<(), String> {
    protocol::send(&mut stream, &Reply::Failed(why.clone())).map_err(|e| e.to_string())?;
    Err(why)
}

/// The JVM uses the thread's own stack for its signals; the small one that Rust gives threads would overflow.
fn no_alternate_stack() {
    let off = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
    // SAFETY: this thread is not running on the alternate stack.
    unsafe { libc::sigaltstack(&raw const off, std::ptr::null_mut()) };
}

fn start(setup: &Setup, watch: Arc<Watch>) -> Result<(Executor, vm::Machine, Watched), String> {
    let (machine, env) = vm::create(&setup.libjvm, &setup.options)?;
    let tools = machine.tools()?;
    let classes = Classes::new(env)?;
    let probes = if setup.instrument { Some(Probes::define(env, setup)?) } else { None };
    hook::install(env, tools, setup, platform_loader(env, classes.loader()))?;
    if let Some(probes) = &probes {
        hints::install(env, probes)?;
        callers::install(env, tools, probes, setup)?;
    }
    let thread_class = env.class("java/lang/Thread")?;
    let current = env.static_method(thread_class, "currentThread", "()Ljava/lang/Thread;")?;
    let thread = env.call_static_object(thread_class, current, &[]).map_err(|_| "no current thread")?;
    // the platform prints nothing about a thread that ends by it
    let error = env.class("java/lang/ThreadDeath").or_else(|_| env.class("java/lang/Error"))?;
    let make = env.method(error, "<init>", "()V")?;
    let throwable = jni!(env, NewObjectA, error.0, make, std::ptr::null());
    let watched = Watched { tools, thread: env.global(thread), throwable: env.global(throwable), cpu_clock: watch::cpu_clock_of_this_thread() };
    charsets::settle(env);
    let executor = Executor::new(env, classes, probes, watch.clone())?;
    let ready = Reply::Ready { version: VERSION, runtime: runtime_name(env).unwrap_or_default() };
    let mut out = watch.out();
    protocol::encode(&ready, &mut out.buffer).map_err(|e| e.to_string())?;
    out.flush().map_err(|e| e.to_string())?;
    drop(out);
    Ok((executor, machine, watched))
}

/// The parent of the class path's loader, which loads the JDK's own classes outside the core.
fn platform_loader(env: Env, system: Global) -> Option<Global> {
    let class = env.class("java/lang/ClassLoader").ok()?;
    let parent = env.method(class, "getParent", "()Ljava/lang/ClassLoader;").ok()?;
    env.call_object(system.0, parent).map(|p| env.global(p))
}

fn runtime_name(env: Env) -> Result<String, String> {
    let system = env.class("java/lang/System")?;
    let get = env.static_method(system, "getProperty", "(Ljava/lang/String;)Ljava/lang/String;")?;
    let args = [jvmti_bindings::sys::jni::jvalue { l: env.new_string("java.runtime.version") }];
    env.call_static_object(system, get, &args).map(|s| env.text(s, 256)).map_err(|_| "no version".to_owned())
}

fn work(mut executor: Executor, reader: &mut FrameReader<UnixStream>, watch: &Watch) -> Result<(), String> {
    loop {
        match reader.receive::<Request>().map_err(|e| e.to_string())? {
            Request::Define(define) => executor.define(define),
            Request::Run(run) => {
                let done = protocol::Done { cpu_us: watch::process_cpu_us(), ..executor.run(&run)? };
                let mut out = watch.out();
                protocol::encode(&Reply::Done(done), &mut out.buffer).map_err(|e| e.to_string())?;
                out.flush().map_err(|e| e.to_string())?;
            }
            Request::Bye => return Ok(()),
            Request::Hello { .. } => return Err("greeted twice".to_owned()),
        }
    }
}
