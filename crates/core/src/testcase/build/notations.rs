//! Samples of notations that programs read: where the names on a trace speak of JSON or dates, small texts of that kind are tried, and parts of them.
//!
//! A dictionary, as fuzzers have one: no grammar is known, mutation does the rest. Each sample shows one feature; letters stand where any word may
//! stand, so that words of the program can take their place. The tables are laid out by hand: one sample in a line would be a screen for each kind.

use crate::rng::Rng;

/// A kind of text.
#[derive(Debug, PartialEq, Eq)]
pub struct Notation {
    /// Words that speak of it, found anywhere in a lower-case name.
    evidence: &'static [&'static str],
    samples: &'static [&'static str],
}

/// What any text may be: empty, blank, quoted, cut off, beyond ASCII.
#[rustfmt::skip]
const ANY: Notation = Notation {
    evidence: &[],
    samples: &[
        "", " ", "\t", "\n", "\r\n", "a b", "a,b", "a=b", "a:b", "a.b", "a/b", "a\nb", "()", "[]", "{}", "<>", "\"a\"", "'", "\\", "-", "--", "..", "*", "%", "$",
        "#", "0", "-1", "1.5", "1e9", "{a}", "{0}", "%s", "%(a)s", "inf", "nan", "null", "true", "é", "ß", "\u{130}", "e\u{301}", "\u{1F600}", "\u{0}", "\u{FEFF}a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ],
};

/// The table of all.
#[rustfmt::skip]
const ALL: &[Notation] = &[
    Notation {
        evidence: &["json", "gson", "jackson", "jettison"],
        samples: &[
            "{}", "[]", "{\"a\":1}", "{\"a\":[1,2.5e3,null,true]}", "\"a\"", "[{\"a\":\"b\"},{\"c\":{}}]", "{\"a\":\"\\u00e9\\n\"}", "-0", "1e400", "[1,]",
            "{'a':'b'}", "{a:1}", "/*a*/{}", "{\"a\":", "[[[]]]", "NaN",
        ],
    },
    Notation {
        evidence: &["jsonpath", "json_path", "jmespath"],
        samples: &["$", "$.a", "$..a", "$.a[0]", "$.a[*].b", "$[?(@.a>1)]", "$['a','b']", "$.a[1:2]", "$.length()", "$[-1:]", "a[?b=='c']", "a | b"],
    },
    Notation { evidence: &["pointer", "jsonpatch"], samples: &["", "/", "/a", "/a/0", "/a/-", "/a/b", "/a~1b", "a"] },
    Notation {
        evidence: &["yaml"],
        samples: &[
            "a: 1", "- a\n- b", "a: &b 1\nc: *b", "{a: [1, 2]}", "a: |\n  b\n", "? a\n: b", "!!str 1", "!a b", "a: 2001-12-14", "2001-12-14t21:59:43.10-05:00",
            "a: 0o14", "--- a\n...\n", "%YAML 1.1\n---\na", "<<: {a: 1}", "a: 'b'", "# a", "a:\n  b: 1\n", "a: >-\n  b", "- - a", "a: 1:30", "&a [*a]", "a: .inf",
            "!!bool a", "!!int a", "!!float a", "!!timestamp a", "!!binary a", "!!set {a, b}", "!!omap [a: 1]", "!!pairs [a: 1]", "!!map a", "!!seq a", "!!null a",
            "a: !!int b", "!<tag:yaml.org,2002:str> a",
        ],
    },
    Notation {
        evidence: &["toml"],
        samples: &[
            "a = 1", "[a]\nb = 2", "[[a]]\nb = 'c'", "a = [1, 2]", "a = {b = 1}", "a = \"\"\"b\"\"\"", "a = 1979-05-27T07:32:00Z", "a.b = true", "a = 0x1F",
            "[a.b]\n[a]", "\"a\" = 1.5", "a = '''b'''", "# a", "a = [\n1,\n]",
        ],
    },
    Notation { evidence: &["ini", "config", "propert", "conf"], samples: &["[a]\nb=c", "a=b", "a: b\\\n  c", "# a\nb = %(c)s", "a", "=b", "[a", "a=${b}"] },
    Notation {
        evidence: &["csv", "delimit", "tabul", "table", "column"],
        samples: &["a,b\n1,2\n", "\"a\",\"b \"\"c\"\"\"", "a;b", "a\tb", ",,\n", "\"a", "a|b", "a,\"b\nc\"", "a\r\nb"],
    },
    Notation {
        evidence: &["xml", "dom4j", "sax", "xstream", "soap", "rss", "feed", "svg", "xsl", "etree"],
        samples: &[
            "<a/>", "<a b=\"c\">d</a>", "<?xml version=\"1.0\"?><a><b/></a>", "<!DOCTYPE a [<!ENTITY e \"b\">]><a>&e;</a>", "<a><![CDATA[b]]></a>",
            "<a xmlns:b=\"c\"><b:d/></a>", "<!-- a --><b/>", "<a>&lt;&#65;</a>", "<a", "<a><b></a>", "<?a b?>", "</a>", "<a b='c' b='d'/>", "<a>&#1114112;</a>",
            "<rss version=\"2.0\"><channel><title>a</title></channel></rss>",
        ],
    },
    Notation {
        evidence: &["html", "soup", "sanitiz", "bleach", "markup", "tag"],
        samples: &[
            "<p>a</p>", "<a href=\"b\">c</a>", "<table><tr><td>a</table>", "<br>", "<img src=a onerror=b>", "<!DOCTYPE html><html><body>a</body></html>",
            "<script>a</script>", "<ul><li>a<li>b</ul>", "&nbsp;&#x41;", "<![CDATA[a]]>", "<!--a-->", "<p", "</p>", "<svg><a>", "<b><i>a</b></i>", "<![", "<!a>",
            "<?a>", "&#99999999;", "<form><input name=a value=b></form>", "<select><option>a</select>", "<a b", "<p/>",
        ],
    },
    Notation {
        evidence: &["css", "selector", "style"],
        samples: &[
            "a", ".a", "#a", "a > b", "a[b=c]", "a:nth-child(2n+1)", "a, b", "*", "a::before", "a { b: c; }", "@media a { b { c: d } }", "#fff", "rgb(1,2,3)",
            "url(a)", "a:not(b)", "a:contains(b)", "[a]", "a ~ b + c", ":root", "/* a */", "@import 'a';", "1px", "-a-b: 1.5em", "a|b", ":",
        ],
    },
    Notation {
        evidence: &["sql", "query", "jdbc", "dialect"],
        samples: &[
            "select 1", "select a, b from c where d = 'e'", "select * from a join b on a.c = b.c", "insert into a values (1, 'b')", "update a set b = 1",
            "create table a (b int primary key)", "select (select 1)", "case when a then b else c end", "select a from b; -- c", "begin; end;", "/* a */", "()",
            "select a as b group by c order by d limit 1", "drop table a", "with a as (select 1) select * from a", "a = 1 and b in (1, 2)", ";", "where a like 'b%'",
            "select count(*) from a", "select a.* from (b)", "delete from a", "a between 1 and 2", "declare @a int", "a (b)", "union all",
        ],
    },
    Notation {
        evidence: &["markdown", "commonmark", "mistletoe", "mistune", "flexmark", "pegdown", "mdown", "mdx", "marko"],
        samples: &[
            "# a", "a\n===", "- a\n- b", "1. a\n2. b", "> a", "`a`", "```a\nb\n```", "[a](b)", "![a](b \"c\")", "[a]: b\n\n[a]", "**a** _b_", "***a** b*",
            "a  \nb", "---", "| a | b |\n|---|---|\n| c | d |", "<a>b</a>", "    a", "a[^1]\n\n[^1]: b", "* a\n\n  b", "\\*", "&amp;", "~~a~~", "<http://a>",
            "- [ ] a", "[a](", "[a]:", "[a]", "__a__", "a\nb", "*a", "> - a", "a\n\nb", "a: b\n\nc", "!!! a\n    b", "[TOC]", "a) b", "#. a", "(a) b", "***", "[](<",
        ],
    },
    Notation {
        evidence: &["rst", "docutils", "sphinx"],
        samples: &["a\n=", ".. a::\n\n   b", "``a``", ":a:`b`", "* a", "a::\n\n  b", ".. [1] a", "`a`_", "|a|", "+--+\n|a |\n+--+", ".. _a: b", ":a: b", "a_", "== ==\na  b\n== =="],
    },
    Notation {
        evidence: &["cron", "quartz", "schedul"],
        samples: &[
            "* * * * *", "*/5 * * * *", "0 0 1 1 *", "0-30/10 1,2 * * mon", "@daily", "0 0 * * 5L", "0 0 12 ? * MON-FRI", "0 0 L * *", "* * * * * *",
            "0 0 1W * ?", "0 0 * * 1#2", "59 23 31 12 7", "0 0 30 2 *", "1-5 * * jan *",
        ],
    },
    Notation {
        evidence: &["date", "time", "calendar", "8601", "duration", "period", "interval", "chrono", "zone", "arrow", "pendulum", "rrule", "ical"],
        samples: &[
            "2001-01-02", "2001-01-02T03:04:05Z", "2001-01-02T03:04:05.678+09:00", "20010102", "2001-W01-1", "2001-002", "12:30", "12:30:45.123", "1 Jan 2001",
            "Jan 1, 2001 3:04 PM", "01/02/03", "P1D", "PT1H2M3S", "P1Y2M3W4DT5H", "2001-01-01/P1D", "R5/2001-01-01/P1D", "yesterday", "in 2 days", "yyyy-MM-dd",
            "HH:mm:ss.SSSZ", "%Y-%m-%d", "UTC", "GMT+1", "America/New_York", "0000-00-00", "9999-12-31", "-0001-01-01", "24:00", "1d 2h", "Mon", "2001-13-01",
            "FREQ=DAILY;COUNT=2", "DTSTART:20010101\nRRULE:FREQ=WEEKLY;BYDAY=MO", "EST5EDT,M3.2.0,M11.1.0", "2001-02-29", "10pm", "2001",
        ],
    },
    Notation {
        evidence: &["number", "numer", "decimal", "math", "fraction", "float", "money", "currency", "human", "num2", "roman", "integer", "long"],
        samples: &[
            "0", "-1", "1.5", ".5", "1.", "1e10", "1E-400", "0x1F", "0b1", "1,000", "1/2", "NaN", "Infinity", "-0.0", "1_000", "+1", "12%", "$1.00", "IV", "0x", "1L",
            "1f", "99999999999999999999", "\u{663}", "--1", "1e", "-", "01", "1 000", "0xFFFFFFFFFFFFFFFFF", "1 1/2",
        ],
    },
    Notation {
        evidence: &["url", "uri", "http", "link", "href", "domain", "host"],
        samples: &[
            "http://a.b/c?d=e#f", "//a", "http://[::1]:80/", "mailto:a@b", "http://a:b@c", "?", "file:///a", "http://", "http://a:99999", "%zz", "a.b", "http://é.com",
            "jar:file:a!/b", "data:,a", "http:a", "a?b&c=d", "#a", "http://[", "http://a/../b", ":", "%41", "a b", "xn--a",
        ],
    },
    Notation {
        evidence: &["mail", "mime", "header", "smtp", "cookie"],
        samples: &[
            "a@b.c", "A <a@b>", "text/html; charset=utf-8", "a: b\r\n\r\nc", "=?utf-8?B?YQ==?=", "a;q=0.5,*;q=0", "multipart/mixed; boundary=a", "a=b; Path=/; c",
            "\"a\" <b@c>", "a@", "@b", "a; b=\"c", "bytes=0-1", "Basic YTpi",
        ],
    },
    Notation {
        evidence: &["regex", "regexp", "pattern", "glob", "wildcard", "match"],
        samples: &[
            "a*", "(a|b)+", "[a-z]", "(?:a)", "(?P<a>b)", "a{2,3}", "\\d", "[^]", "(", "**/*.a", "^$", "\\", "a{", "(?=a)", "[[:alpha:]]", "a?b", "[!a]", "{a,b}", "(?i)a",
            "\\1", "[", "*", "a|", "(?<=a)b", "\\p{L}", "\\Qa\\E",
        ],
    },
    Notation {
        evidence: &["expr", "eval", "mvel", "ognl", "spel", "jexl", "formula", "calc", "script", "interp", "parse", "xpath", "groovy", "lexer", "compil", "logic"],
        samples: &[
            "1+1", "a.b", "a.b()", "a[0]", "a ? b : c", "a == b && !c", "(a)", "-1", "new A()", "a = 1; a", "'a' + \"b\"", "[1,2]", "{a:1}", "a.b.c(d, e)", "#a", "@A@b",
            "a in b", "1 / 0", "a->b", "if (a) { b } else { c }", "a != null", "a instanceof B", "//a[b='c']/@d", "/a/b[1]", "count(//a)", "a/../b", "$a", "a|b", "a = b",
            "!a", "a(", "((1)", "a and not b", "1 < 2", "def a(b) { b }", "for (a : b) { c }", "while (a) b;", "a.?b", "['a':1]", "a % 2", "\"", "a ~= 'b'", "a is b",
            "a[1][2]", "(a, b)", "function(a) { return a; }",
        ],
    },
    Notation {
        evidence: &["template", "velocity", "freemarker", "jinja", "mustache", "handlebars", "thymeleaf", "mako", "liquid", "substitut", "interpolat", "render"],
        samples: &[
            "{{ a }}", "{% if a %}b{% endif %}", "{% for a in b %}{{ a }}{% endfor %}", "${a}", "#if($a)b#end", "#foreach($a in $b)$a#end", "#set($a = 1)",
            "{{#a}}b{{/a}}", "<#if a>b</#if>", "${a?b}", "{% block a %}{% endblock %}", "{# a #}", "{{ a|b }}", "${a:-b}", "$!{a.b()}", "{{", "${", "{{> a}}", "{{{a}}}",
            "#macro(a $b)$b#end", "<% a %>", "{% set a = 1 %}", "{% macro a() %}{% endmacro %}", "{{ a[0] }}", "{% include 'a' %}", "$${a}", "${${a}}", "{{^a}}b{{/a}}",
        ],
    },
    Notation {
        evidence: &["format", "printf", "message", "strf", "placeholder"],
        samples: &["%s", "%d %5.2f", "%", "{0}", "{0,number,#.##}", "{", "#,##0.00", "%1$s", "{a:d}", "{}", "'{0}'", "{a!r:>{b}}", "%(a)s", "{0,choice,0#a|1<b}", "}", "%-5d", "''"],
    },
    Notation {
        evidence: &["path", "file", "dir", "zip", "jar", "resource"],
        samples: &["a/b", "/", "..", ".", "../a", "C:\\a", "a.b.c", "~", "//a", "*.a", "a//b", "\\\\a\\b", "/a/", "a.", ".a", "/a/../b", "C:", "file:a"],
    },
    Notation {
        evidence: &["version", "semver", "requirement", "specifier", "packag", "depend"],
        samples: &["1.2.3", "1.0-SNAPSHOT", ">=1.0,<2", "1.0a1", "v1", "^1.2", "~1", "1.x", "[1.0,2.0)", "a>=1; b<'3'", "==1.*", "1.0.0+a", "a[b]==1", "1!2", "-1", "1..2", "a @ b"],
    },
    Notation {
        evidence: &[".cli", "argparse", "option", "command", "argument", "flag", "shell", "click"],
        samples: &["-a", "--a", "--a=b", "-ab", "--", "-", "-a b", "a \"b c\"", "--no-a", "-Da=b", "'a", "a\\ b", "@a", "--a b", "-a=b", "<a> [b]", "Usage: a [-b]"],
    },
    Notation {
        evidence: &[
            "pyflakes", "pycodestyle", "pylint", "astroid", "jedi", "parso", "2to3", "black", "isort", "autopep8", "yapf", "flake", "checker", "bandit", "mypy", "rope",
            "lint", "docstring", ".ast", "refactor", "unparse", "vulture", "radon",
        ],
        samples: &[
            "a = 1", "a += 1", "def a(b, *c, d=1, **e): return b", "class A(B): pass", "import a.b as c", "from a import *", "from . import a", "for a in b: pass",
            "while a: break", "try: a\nexcept B as c: pass", "with a as b: pass", "lambda a: a", "[a for a in b if c]", "{**a}", "print >>a", "@a\ndef b(): pass",
            "async def a(): await b", "f'{a!r}'", "if a: pass\nelif b: pass\nelse: pass", "a: int = 1", "del a", "global a", "assert a, b", "raise A from b",
            "def a(): yield b", "a if b else c", "match a:\n case 1: pass", "a[1:2]", "__all__ = ['a']", "# type: ignore", "def a():\n    global b\n    b += 1",
            "'%s' % a", "(a := 1)", "class A:\n    def b(self): return self.c\n", "def a():\n    \"\"\"b\"\"\"\n", "a.b = c", "a, *b = c", "try: a\nfinally: b",
            "if a:\n\tb\n", "a = (\n1)", "a(b, *c, d=e)", "nonlocal a", "'a' 'b'", "a;b", "\\\n", "a #b", "not a", "a[not b]", "-a", "a[-1]", "a[::2]", "a[b, c]",
            "import a, b  # c", "from a import (\n    b,\n)", "yield from a", "a = [\n    1,\n]  # b", "def a():\n    pass\n\n# b\n", "lambda *a, **b: 0",
            "# aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa", "a = 1 \\\n + 2", "for a, b in c: continue", "a ** -b",
        ],
    },
    Notation {
        evidence: &["javaparser", "javac", "checkstyle", "pmd", "qdox", "janino", "spoon", "javassist", "codehaus.commons.compiler"],
        samples: &[
            "class A { int b; void c() { d(); } }", "interface A<B> extends C {}", "enum A { B, C }", "package a; import b.*;", "@A class B {}", "int a = 1;", "List<String>",
            "a -> b", "for (int a = 0; a < 1; a++) {}", "switch (a) { case 1: break; }", "new A() {}", "/** @param a b */", "a.b(c)", "(A) b", "int[] a = {1};", "A::b",
            "try { a(); } catch (B c) {}", "return;", "class A<B extends C> {}", "a ? b : c", "static {}", "// a", "'a'", "1L", "record A(int b) {}",
        ],
    },
    Notation {
        evidence: &["cparser", "clang", ".cpp", "preprocess", "cdef"],
        samples: &["int a;", "int main(void) { return 0; }", "struct a { int b; };", "typedef int a;", "int a[1];", "#define A 1", "#if A\n#endif", "enum a { B };", "void (*a)(int);", "\"a\"", "/* a */", "a ## b"],
    },
    Notation {
        evidence: &["javascript", "rhino", "ecma", "jsmin", "esprima", "slimit", "js2py"],
        samples: &[
            "var a = 1;", "function a(b) { return b; }", "a => b", "/a/g", "({a: 1})", "a ? b : c", "for (var a in b) {}", "try { a } catch (b) {}", "new A()", "a[0]", "`${a}`",
            "class A extends B {}", "typeof a", "a++", "switch (a) { default: }", "// a", "let [a, ...b] = c", "async () => await a",
        ],
    },
    Notation { evidence: &["graphviz", "pydot", ".dot"], samples: &["digraph { a -> b }", "graph a { b -- c [d=e] }", "subgraph a { b }", "a [b=\"c\"];", "strict digraph a {}"] },
    Notation {
        evidence: &["vcard", "vobject", "icalendar", "ical4j", "biweekly", "ics"],
        samples: &[
            "BEGIN:VCALENDAR\nVERSION:2.0\nEND:VCALENDAR", "BEGIN:VEVENT\nUID:a\nDTSTART:20010101T000000Z\nEND:VEVENT", "BEGIN:VTIMEZONE\nTZID:a\nEND:VTIMEZONE",
            "BEGIN:VTIMEZONE\nTZID:a\nBEGIN:STANDARD\nDTSTART:20010101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE",
            "BEGIN:VALARM\nTRIGGER:-PT1H\nEND:VALARM", "BEGIN:VTODO\nDUE;VALUE=DATE:20010101\nEND:VTODO", "ATTENDEE;CN=\"a\":mailto:b@c", "BEGIN:VCARD\nFN:a\nEND:VCARD", "DTSTART;TZID=a:20010101T000000", "a;b=c:d",
            "RRULE:FREQ=DAILY", "BEGIN:a", "EXDATE:20010101,20010102", "a:b\n c",
        ],
    },
    Notation { evidence: &["tex", "bibtex"], samples: &["\\frac{a}{b}", "$a_1^2$", "\\begin{a}b\\end{a}", "@a{b, c={d}}", "\\a[b]{c}", "% a", "{a", "\\", "$$"] },
    Notation { evidence: &["color", "colour"], samples: &["#fff", "#aabbcc", "rgb(1, 2, 3)", "red", "hsl(0,0%,0%)", "#", "rgba(1,2,3,.5)"] },
    Notation { evidence: &["inet", "ipaddr", "netaddr", "cidr", "subnet", "ipv"], samples: &["127.0.0.1", "::1", "10.0.0.0/8", "fe80::1%a", "256.1.1.1", "1.2.3", "a:b", "::ffff:1.2.3.4", "/24"] },
    Notation {
        evidence: &["codec", "base64", "hex", "encod", "decod", "phonetic", "soundex", "metaphone", "escap"],
        samples: &["YQ==", "YWI", "00ff", "%41", "=41", "a+b", "ß", "Smith", "TEST", "SCH", "\u{0}", "\\u0041", "\\x4", "&#65;", "&amp", "0", "=", "\\", "\u{FFFF}", "\\777"],
    },
    Notation { evidence: &["locale", "lang"], samples: &["en", "en_US", "de", "ja", "hu", "zh-Hant-TW", "_", "en_", "__POSIX", "en_GB_xx", "x-a", "-", "fr__P"] },
    Notation {
        evidence: &["inflect", "stem", "plural", "nltk", "word", "sentence", "token", "spell", "slug", "text"],
        samples: &["a", "apples", "1st", "don't", "A B", "child", "mother-in-law", "U.S.A.", "a. B", "e.g. a", "a-b", "A", "the a of b", "ies", "-", "a  b"],
    },
];

/// Those that names speak of; none if nothing does.
pub fn spoken_of<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'static Notation> {
    let names: Vec<String> = names.map(str::to_lowercase).collect();
    ALL.iter().filter(|n| n.evidence.iter().any(|word| names.iter().any(|name| name.contains(word)))).collect()
}

/// A sample of one of `known`, or of any if there are none.
pub fn sample(known: &[&'static Notation], rng: &mut Rng) -> &'static str {
    let any = known.is_empty() || rng.chance(ANYWAY);
    let notation = match rng.pick(known) {
        Some(notation) if !any => notation,
        _ if rng.chance(0.5) => &ANY,
        _ => rng.pick(ALL).unwrap_or(&ANY),
    };
    rng.pick(notation.samples).copied().unwrap_or_default()
}

/// How often a text of another notation is tried: what breaks a reader is often not meant for it.
const ANYWAY: f64 = 0.15;

/// The sample with one of its words replaced.
pub fn reworded(sample: &str, word: &str, rng: &mut Rng) -> String {
    let places: Vec<(usize, usize)> = words(sample).collect();
    match rng.pick(&places) {
        Some((start, end)) => format!("{}{word}{}", &sample[..*start], &sample[*end..]),
        None => sample.to_string(),
    }
}

/// Where the runs of letters and digits are, in bytes.
fn words(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(char::is_alphanumeric)?;
        let end = text[start..].find(|c: char| !c.is_alphanumeric()).map_or(text.len(), |n| start + n);
        rest = end;
        Some((start, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_a_trace_tell_the_notation() {
        let of = |name: &'static str| spoken_of(std::iter::once(name));
        assert!(of("org.json.JSONTokener")[0].samples.contains(&"{\"a\":1}"));
        assert!(of("sqlparse.engine").iter().any(|n| n.samples.contains(&"select 1")));
        assert!(of("a.B").is_empty());
    }

    #[test]
    fn without_evidence_a_sample_may_be_of_any_kind() {
        let mut rng = Rng::new(1);
        let all: std::collections::BTreeSet<&str> = (0..3000).map(|_| sample(&[], &mut rng)).collect();
        assert!(all.contains("select 1") && all.contains("{}"), "{}", all.len());
    }

    #[test]
    fn one_word_of_a_sample_gives_way() {
        let mut rng = Rng::new(1);
        let seen: std::collections::BTreeSet<String> = (0..50).map(|_| reworded("é += 1", "print", &mut rng)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["print += 1", "é += print"]);
        assert_eq!(reworded("()", "x", &mut rng), "()");
    }
}
