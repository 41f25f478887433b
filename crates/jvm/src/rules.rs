//! What a test of a Java program may use: knowledge about the platform that the search, which knows no language, is given.

use rethrow_core::goal::CrashGoal;
use rethrow_core::program::purity::PurityRules;
use rethrow_core::program::{Access, Program, TypeId};
use rethrow_core::search::grt::oracle::OracleRules;
use rethrow_core::search::targets::BuildRules;
use rethrow_core::testcase::build::surroundings::Readers;

use crate::classpath::ClassPath;
use crate::junit::FALLBACK_PACKAGE;
use crate::message;

/// Packages of the JDK whose classes hold data: the rest opens windows, sockets and compilers.
const PLAIN_PACKAGES: &[&str] = &[
    "java.lang",
    "java.util",
    "java.io",
    "java.math",
    "java.text",
    "java.time",
    "java.net",
    "java.nio",
    "java.nio.charset",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.function",
    "java.util.regex",
    "java.nio.file",
    "java.sql",
    "javax.xml.parsers",
    "org.w3c.dom",
    "org.xml.sax",
    "org.xml.sax.helpers",
];

/// The classes that programs are handed, of each kind the commonest first.
const STAPLES: &[&str] = &[
    "java.util.ArrayList",
    "java.util.HashMap",
    "java.lang.Integer",
    "java.lang.String",
    "java.util.HashSet",
    "java.io.StringReader",
    "java.io.ByteArrayInputStream",
    "java.io.StringWriter",
    "java.io.ByteArrayOutputStream",
    "java.util.LinkedList",
    "java.util.TreeMap",
    "java.lang.Long",
    "java.util.Date",
    "java.lang.Double",
    "java.lang.Boolean",
    "java.util.Properties",
    "java.util.LinkedHashMap",
    "java.util.TreeSet",
    "java.util.Hashtable",
    "java.util.Vector",
    "java.util.LinkedHashSet",
    "java.io.File",
    "java.lang.Character",
    "java.lang.StringBuilder",
    "java.lang.StringBuffer",
    "java.math.BigDecimal",
    "java.math.BigInteger",
    "java.lang.RuntimeException",
    "java.lang.Exception",
    "java.io.IOException",
    "java.lang.Error",
    "java.lang.Object",
    "java.util.ArrayDeque",
    "java.util.PriorityQueue",
    "java.util.Stack",
    "java.util.StringTokenizer",
    "java.util.AbstractMap$SimpleEntry",
    "java.util.concurrent.ConcurrentHashMap",
    "java.util.concurrent.ConcurrentSkipListMap",
    "java.util.concurrent.CopyOnWriteArrayList",
    "java.util.concurrent.LinkedBlockingQueue",
    "java.util.GregorianCalendar",
    "java.util.SimpleTimeZone",
    "java.text.SimpleDateFormat",
    "java.text.DecimalFormat",
    "java.text.MessageFormat",
    "java.io.PrintStream",
    "java.io.PrintWriter",
    "java.io.BufferedReader",
    "java.io.InputStreamReader",
    "java.io.OutputStreamWriter",
    "java.lang.Byte",
    "java.lang.Short",
    "java.lang.Float",
    "java.net.URI",
    "java.util.UUID",
    "java.time.LocalDate",
    "java.time.LocalDateTime",
    "java.time.Instant",
    "java.sql.Timestamp",
    "java.net.URLClassLoader",
    "org.xml.sax.helpers.AttributesImpl",
    "org.xml.sax.helpers.DefaultHandler",
];

/// How a text becomes bytes, one for each character.
const BYTES: [(&str, &str); 2] = [("java.lang.String", "getBytes"), ("java.nio.charset.StandardCharsets", "ISO_8859_1")];

/// Methods that give objects whose classes the JDK hides, and containers with contents.
const FACTORIES: &[(&str, &str)] = &[
    ("java.lang.String", "getBytes"),
    ("java.lang.String", "toCharArray"),
    ("java.util.Arrays", "asList"),
    ("java.util.Collections", "emptyList"),
    ("java.util.Collections", "singletonList"),
    ("java.util.Collections", "unmodifiableList"),
    ("java.util.Collections", "synchronizedList"),
    ("java.util.Collections", "emptySet"),
    ("java.util.Collections", "singleton"),
    ("java.util.Collections", "emptyMap"),
    ("java.util.Collections", "singletonMap"),
    ("java.util.Collections", "unmodifiableMap"),
    ("java.util.Collections", "unmodifiableCollection"),
    ("java.util.Collections", "reverseOrder"),
    ("java.util.Collections", "enumeration"),
    ("java.util.List", "iterator"),
    ("java.util.List", "listIterator"),
    ("java.util.List", "subList"),
    ("java.util.Map", "keySet"),
    ("java.util.Map", "values"),
    ("java.util.TreeMap", "headMap"),
    ("java.util.TreeMap", "firstEntry"),
    ("java.util.ArrayList", "spliterator"),
    ("java.util.ArrayList", "stream"),
    ("java.util.regex.Pattern", "matcher"),
    ("java.util.concurrent.Executors", "newSingleThreadExecutor"),
    ("java.nio.file.Paths", "get"),
    ("java.nio.ByteBuffer", "allocate"),
    ("java.nio.ByteBuffer", "wrap"),
    ("java.nio.CharBuffer", "wrap"),
    ("java.lang.Class", "getMethods"),
    ("java.lang.Class", "getMethod"),
    ("java.lang.Class", "getDeclaredField"),
    ("java.lang.Class", "getClassLoader"),
    ("java.lang.Object", "getClass"),
    ("javax.xml.parsers.DocumentBuilderFactory", "newInstance"),
    ("javax.xml.parsers.DocumentBuilderFactory", "newDocumentBuilder"),
    ("javax.xml.parsers.DocumentBuilder", "newDocument"),
    ("javax.xml.parsers.SAXParserFactory", "newInstance"),
    ("javax.xml.parsers.SAXParserFactory", "newSAXParser"),
    ("javax.xml.parsers.SAXParser", "getXMLReader"),
    ("org.w3c.dom.Document", "createElement"),
    ("org.w3c.dom.Document", "createElementNS"),
    ("org.w3c.dom.Document", "createTextNode"),
    ("org.w3c.dom.Document", "createComment"),
    ("org.w3c.dom.Document", "createAttribute"),
    ("org.w3c.dom.Document", "createCDATASection"),
    ("org.w3c.dom.Document", "createDocumentFragment"),
    ("org.w3c.dom.Document", "createProcessingInstruction"),
    ("org.w3c.dom.Node", "getChildNodes"),
    ("org.w3c.dom.Node", "getAttributes"),
    ("org.w3c.dom.Node", "cloneNode"),
];

/// How containers get what they hold.
const FILLERS: &[(&str, &str)] = &[("java.util.Collection", "add"), ("java.util.Map", "put"), ("java.util.Properties", "setProperty")];

/// Calls that end, stop, replace or wait for something outside the test (V10).
const BANNED: &[(&str, &str)] = &[
    ("java.lang.Runtime", "*"),
    ("java.lang.ProcessBuilder", "*"),
    // asks for its caller's loader, and the worker's calls have no caller; a class literal does the same
    ("java.lang.Class", "forName"),
    ("java.lang.System", "exit"),
    ("java.lang.System", "load"),
    ("java.lang.System", "loadLibrary"),
    ("java.lang.System", "setErr"),
    ("java.lang.System", "setIn"),
    ("java.lang.System", "setOut"),
    ("java.lang.System", "setSecurityManager"),
    ("java.lang.System", "gc"),
    ("java.lang.System", "runFinalization"),
    ("java.lang.Object", "notify"),
    ("java.lang.Object", "notifyAll"),
    ("java.lang.Object", "wait"),
    ("java.lang.Thread", "countStackFrames"),
    ("java.lang.Thread", "destroy"),
    ("java.lang.Thread", "join"),
    ("java.lang.Thread", "resume"),
    ("java.lang.Thread", "sleep"),
    ("java.lang.Thread", "stop"),
    ("java.lang.Thread", "suspend"),
    ("java.lang.ThreadGroup", "*"),
    // wait for another thread
    ("java.io.PipedReader", "*"),
    ("java.io.PipedInputStream", "*"),
    ("java.util.concurrent.FutureTask", "get"),
    ("java.util.concurrent.LinkedBlockingQueue", "take"),
    // nothing but null, unless system properties are set
    ("java.lang.Integer", "getInteger"),
    ("java.lang.Long", "getLong"),
    // its constants are the process's own streams, which a test must not close
    ("java.io.FileDescriptor", "*"),
];

/// What looks at the surroundings of a program.
const READERS: Readers = Readers {
    settings: &[("java.lang.System", "getProperty"), ("java.lang.Integer", "getInteger"), ("java.lang.Long", "getLong"), ("java.lang.Boolean", "getBoolean")],
    settings_by_name: &[],
    paths: &[
        ("java.io.File", "<init>"),
        ("java.io.FileInputStream", "<init>"),
        ("java.io.FileOutputStream", "<init>"),
        ("java.io.FileReader", "<init>"),
        ("java.io.FileWriter", "<init>"),
        ("java.io.RandomAccessFile", "<init>"),
        ("java.util.zip.ZipFile", "<init>"),
        ("java.util.jar.JarFile", "<init>"),
        ("java.util.Scanner", "<init>"),
        ("java.nio.file.Paths", "get"),
        ("java.nio.file.Path", "of"),
    ],
    makers: &[
        ("java.io.File", "createTempFile"),
        ("java.io.File", "createNewFile"),
        ("java.nio.file.Files", "createTempFile"),
        ("java.nio.file.Files", "createTempDirectory"),
    ],
    locale: &[
        ("java.util.Locale", "getDefault"),
        ("java.lang.String", "toLowerCase"),
        ("java.lang.String", "toUpperCase"),
        ("java.text.NumberFormat", "getInstance"),
        ("java.text.DecimalFormatSymbols", "getInstance"),
        ("java.util.ResourceBundle", "getBundle"),
    ],
    time_zone: &[("java.util.TimeZone", "getDefault"), ("java.util.Calendar", "getInstance"), ("java.time.ZoneId", "systemDefault")],
    input: &[("java.lang.System", "in")],
    // the Turkish i, a comma for the decimal point, digits that are not ASCII, another calendar, no region
    locales: &["tr", "de-DE", "ar-EG-u-nu-arab", "th-TH-u-ca-buddhist", "ja-JP", "fr", "en-US"],
    // behind, ahead by a fraction of an hour, a day that was left out, no hours at all
    time_zones: &["America/Sao_Paulo", "Asia/Kathmandu", "Pacific/Apia", "UTC", "Europe/London", "GMT+14"],
};

/// What is known of the JDK's methods without looking at them.
const PURITY: PurityRules = PurityRules {
    unchanging: &[
        "java.lang.Object",
        "java.lang.String",
        "java.lang.Boolean",
        "java.lang.Byte",
        "java.lang.Character",
        "java.lang.Short",
        "java.lang.Integer",
        "java.lang.Long",
        "java.lang.Float",
        "java.lang.Double",
        "java.lang.Number",
        "java.lang.Class",
        "java.lang.Math",
        "java.lang.System",
        "java.util.Objects",
        "java.util.Locale",
        "java.util.UUID",
        "java.math.BigInteger",
        "java.math.BigDecimal",
        "java.util.regex.Pattern",
    ],
    looking: &[
        "get",
        "is",
        "has",
        "contains",
        "size",
        "length",
        "equals",
        "hashCode",
        "toString",
        "compare",
        "indexOf",
        "lastIndexOf",
        "charAt",
        "substring",
        "isEmpty",
        "iterator",
        "keySet",
        "entrySet",
        "values",
        "intValue",
        "longValue",
        "doubleValue",
        "toArray",
        "stream",
        "clone",
        "valueOf",
        "format",
        "parse",
        "copyOf",
        "asList",
        "unmodifiable",
        "empty",
        "requireNonNull",
        "binarySearch",
        "matches",
        "startsWith",
        "endsWith",
        "max",
        "min",
        "abs",
    ],
};

/// What Java's exceptions mean.
pub const ORACLE: OracleRules = OracleRules {
    exception: |program, printed| program.find_type(printed),
    hidden: |program, method| program.method(method).access == Access::Private,
    unsteady: &["java.lang.StackOverflowError", "java.lang.OutOfMemoryError", "java.lang.ThreadDeath", "java.lang.ExceptionInInitializerError"],
    unchecked: &["java.lang.RuntimeException", "java.lang.Error"],
    rejections: &[
        "java.lang.IllegalArgumentException",
        "java.lang.IllegalStateException",
        "java.lang.UnsupportedOperationException",
        "java.util.NoSuchElementException",
        "java.util.ConcurrentModificationException",
        "java.util.concurrent.RejectedExecutionException",
        "java.lang.IllegalMonitorStateException",
        // tests are written without type arguments, so these are mostly the test's fault
        "java.lang.ClassCastException",
        "java.lang.ArrayStoreException",
        "java.time.DateTimeException",
        "java.io.UncheckedIOException",
    ],
    machine: &[
        "java.lang.VirtualMachineError",
        "java.lang.LinkageError",
        "java.lang.ThreadDeath",
        "java.lang.SecurityException",
        "java.lang.reflect.InaccessibleObjectException",
    ],
    poison: &["java.lang.ExceptionInInitializerError", "java.lang.NoClassDefFoundError"],
    checks: &[("java.util.Objects", "requireNonNull"), ("java.util.Objects", "checkIndex")],
    nulls: &[("java.lang.NullPointerException", "")],
    order: ("java.lang.Comparable", "compareTo"),
    ranges: &["java.lang.IndexOutOfBoundsException", "java.lang.NegativeArraySizeException", "java.lang.ArithmeticException"],
};

/// The rules for tests of whole classes.
pub fn suite_rules(program: &Program, types: &[TypeId], classpath: &ClassPath) -> BuildRules {
    let mut closed_packages: Vec<String> = Vec::new();
    for package in types.iter().map(|t| program.package(*t)) {
        if !closed_packages.iter().any(|p| p == package) && classpath.is_closed(package) {
            closed_packages.push(package.to_string());
        }
    }
    BuildRules {
        purity: PURITY,
        plain_packages: PLAIN_PACKAGES,
        staples: STAPLES,
        factories: FACTORIES,
        fillers: FILLERS,
        bytes: Some(BYTES),
        banned: BANNED,
        closed_packages,
        elsewhere: FALLBACK_PACKAGE,
        ..BuildRules::default()
    }
}

/// The rules for one goal: packages of its frames that are sealed, signed or the JDK's own take no further class.
pub fn build_rules(program: &Program, goal: &CrashGoal, classpath: &ClassPath) -> BuildRules {
    let packages = goal.frames.iter().map(|f| program.package(f.class)).filter(|p| classpath.is_closed(p));
    let closed_packages = packages.map(String::from).collect();
    BuildRules {
        purity: PURITY,
        plain_packages: PLAIN_PACKAGES,
        staples: STAPLES,
        factories: FACTORIES,
        fillers: FILLERS,
        bytes: Some(BYTES),
        banned: BANNED,
        closed_packages,
        elsewhere: FALLBACK_PACKAGE,
        readers: READERS,
        clues: goal.messages.iter().flat_map(|(exception, text)| message::clues(exception, text)).collect(),
        joining: message::JOINING,
        ignore_messages: false,
        ..BuildRules::default()
    }
}
