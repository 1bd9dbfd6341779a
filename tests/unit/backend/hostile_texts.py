"""Texts that mean something to somebody's parser: SQL, JSON paths, LIKE, FTS5, shells, URLs, formats, scripts."""

from __future__ import annotations

HOSTILE = (
    # SQL
    "'", "''", '"', "`", "]", "[", ";", "--", "/*", "*/", "\\", "\\'", "' OR '1'='1", "' OR 1=1 --", '" OR ""="',
    "1; DROP TABLE event; --", "'; DELETE FROM payload; --", "') UNION SELECT body FROM payload --",
    "x' AND (SELECT count(*) FROM event) > 0 --", "?", "?1", ":name", "@name", "$name", "NULL", "null", "x'00'", "0x41",
    "1e999", "9223372036854775808", "-1", "CURRENT_TIMESTAMP", "rowid", "sqlite_schema", "PRAGMA synchronous=OFF",
    "ATTACH DATABASE 'x' AS y", "load_extension('x')", "raw_id('00')", "char(0)", "a' || 'b", "a\\x27b", "ʼ OR 1", "＇",
    # LIKE and GLOB
    "%", "_", "%_%", "\\%", "100%", "a_b", "*", "?*", "[a-z]", "[^a]",
    # FTS5
    "AND", "OR", "NOT", "NEAR", "NEAR(a b)", "NEAR(a b, 5)", "a AND b", "-a", "+a", "a*", "^a", "a:b", "words:a", "slice:1",
    "{words stems}:a", "slice : \"1\"", "(a", "a)", "((((((((((a))))))))))", '"a', 'a"b', '"" ""', "a OR slice:2", "rank",
    "keyword_index", "optimize", "delete-all", "C++", "c#", ".net", "node.js", "user@example.com", "$100", "#tag", "/path",
    "foo,bar", "state-of-the-art", "it's", "a.b.c",
    # JSON and its paths
    "$", "$.a", "$[0]", '$."a"', "{}", "[]", '{"a":1}', '"a":1', '","value":"x', "\\u0027", "\\ud800", "true", "a.b", "a[0]",
    "#-1",
    # other systems
    "${HOME}", "$(id)", "`id`", "| id", "; id", "../../etc/passwd", "file:x?mode=memory", "%s%s%n", "{0}", "{x.__class__}",
    "{{7*7}}", "<script>", "<!--", "]]>", "&amp;", "\r\n", "a\nb", "\t", "\x01", "\x1b[2J", "\x1f", "\x7f",
    # scripts and shapes
    "", " ", "  a  ", "ß", "İi", "ﬁ", "é", "e\u0301", "\u202e", "\u200b", "\ufeff", "\u2028", "\U000e0041", "日本語", "ไทย",
    "العربية", "👩‍👩‍👧", "𝒜", "\U0010ffff", "a" * 4000, "'" * 999, '"' * 999, "(" * 500,
)  # fmt: skip
