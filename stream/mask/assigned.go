package mask

import (
	"bytes"
	"strings"
)

// assignment is a name with the value behind it, such as KEY=value, "key": "value", --key value or
// Key: value.
type assignment struct {
	name    []byte
	before  byte // what stands before the name
	by      byte // what stands between: '=', ':', '>' or ' '
	tight   bool // and nothing else does
	member  bool // the name has quotation marks
	from    int  // where the value begins
	quote   byte // the quotation mark before it, or 0
	slashes int  // before the mark
	stop    stop // what ends it, without a mark
}

// assigned returns the name text[i:end] with its value, if there is one.
func assigned(text []byte, i, end int) (a assignment, ok bool) {
	a.name = text[i:end]
	if i > 0 {
		a.before = text[i-1]
	}
	at := end
	if q := afterSlashes(text, at); isQuote(a.before) && q < len(text) && text[q] == a.before {
		a.member, at = true, q+1
	}
	gap := afterSpaces(text, at)
	if gap == len(text) {
		return a, false
	}
	a.by, a.from = text[gap], gap+1
	next := byte(0)
	if a.from < len(text) {
		next = text[a.from]
	}
	switch {
	case a.by == '=' && next != '=', a.by == ':' && next != ':':
		if a.by == '=' && next == '>' || a.by == ':' && next == '=' {
			a.by, a.from = '=', a.from+1
		}
	case a.by == '>' && a.before == '<': // of XML
	case a.member && bytes.HasPrefix(text[gap:], []byte("value=")): // of XML, too
		a.by, a.from = '=', gap+len("value=")
	case gap > at && !a.member:
		a.by, a.from = ' ', gap
	default:
		return a, false
	}
	from := afterSpaces(text, a.from)
	a.tight = gap == at && from == a.from
	a.from, a.stop = from, bare
	quote := afterSlashes(text, from)
	switch {
	case quote < len(text) && isQuote(text[quote]):
		if a.isParameter() || a.tight && !a.member && text[quote] == a.before {
			return a, false // the mark ends the text in which the name stands
		}
		a.from, a.quote, a.slashes = quote+1, text[quote], quote-from
	case a.isParameter():
		a.stop = parameter
	case a.isHeader():
		a.stop = header
		if space := wordEnd(text, from); isScheme(text[from:space]) || is(text[from:space], "token") {
			a.from = afterSpaces(text, space) // Bearer can be read
		}
	}
	return a, true
}

// end returns where the value ends. It looks at no more of it than the limit.
func (a *assignment) end(text []byte, limit int) int {
	text = text[:min(len(text), max(a.from+limit, a.from))]
	if a.quote != 0 {
		return quoteEnd(text, a.from, a.quote, a.slashes)
	}
	return valueEnd(text, a.from, a.stop)
}

// isParameter reports whether it stands in an address or a form.
func (a *assignment) isParameter() bool {
	return a.by == '=' && (a.before == '?' || a.before == '&' || a.before == '#')
}

func (a *assignment) isHeader() bool {
	return a.by == ':' && !a.member && (bytes.IndexByte(a.name, '-') >= 0 || is(a.name, "authorization") || is(a.name, "cookie"))
}

// isVariable reports whether its name is that of a variable of the environment.
func (a *assignment) isVariable() bool {
	return a.by == '=' && a.tight && len(a.name) > 2 && bytes.Equal(a.name, bytes.ToUpper(a.name))
}

var (
	likelyVariable  = pattern(`(?:KEY|PASS|AUTH|PAT|PIN)$`)
	secretParameter = pattern(`(?i)^(?:key|sig|otp|pin|.*signature)$`)
	likelyParameter = pattern(`(?i)^(?:code|ticket|auth|k|t)$`)
)

// isCredential reports whether the value is a credential. Where only values stand, the name decides:
// behind flags, in variables, addresses, headers and the members of JSON. In sentences and in programs
// the value must look like one too.
func (m *Masker) isCredential(text []byte, a *assignment) bool {
	name := a.name
	if dot := bytes.LastIndexByte(name, '.'); dot >= 0 {
		name = name[dot+1:]
	}
	if len(name) == 0 || a.by == ' ' && !mayPrecede(name) {
		return false
	}
	isFlag := name[0] == '-' && (a.by == ' ' || a.by == '=')
	certain := isFlag || a.isParameter() || a.isVariable() || a.isHeader() || a.member && a.quote != 0
	switch r := m.rule(name); {
	case r == secret:
	case a.isParameter() && secretParameter().Match(name):
	case r == likely, r == all && a.quote != 0, a.isParameter() && likelyParameter().Match(name), a.isVariable() && likelyVariable().Match(name):
		certain = false
	default:
		return false
	}
	value := text[a.from:a.end(text, longestLook)]
	switch {
	case a.isVariable() && (string(name) == "PWD" || string(name) == "OLDPWD"): // they name folders
		return false
	case a.isVariable() && a.quote == '`', isPlaceholder(value): // the shell runs it
		return false
	case a.isHeader():
		return !bytes.ContainsAny(value, "({[&") && (!is(name, "cookie") || bytes.IndexByte(value, '=') > 0)
	case certain:
		return true
	case a.quote == 0 && len(value) > len(name) && bytes.Contains(bytes.ToLower(value), bytes.ToLower(name)): // a name, too
		return false
	}
	return looksSecret(value)
}

// mayPrecede reports whether a name may have its value behind a space: --token x, SOME_KEY x, password x.
func mayPrecede(name []byte) bool {
	if name[0] == '-' || bytes.IndexByte(name, '_') >= 0 {
		return true
	}
	return len(name) >= 5 && bytes.IndexByte([]byte("pPtTsS"), name[0]) >= 0
}

// sentence matches the words between a name and its value.
var sentence = pattern(`^(?: [A-Za-z@]{1,20}){0,2}(?:: ?| is )`)

// phrase returns where the value begins that a sentence speaks of: an API key, a password for somebody,
// a one-time code. It returns 0 if there is none.
func phrase(text []byte, i, end int) int {
	word, after := text[i:end], ""
	switch {
	case is(word, "password"), is(word, "passphrase"), is(word, "token"), is(word, "secret"):
	case is(word, "key"):
		after = "api "
	case is(word, "code"):
		after = "-time "
	default:
		return 0
	}
	if before := text[max(0, i-len(after)):i]; !is(before, after) {
		return 0
	}
	return end + len(sentence().Find(text[end:min(len(text), end+64)]))
}

// stop says where values end.
type stop string

const (
	bare      stop = " \t\r\n\"'`\\,;&|<>"
	parameter stop = " \t\r\n\"'`\\,;&|<>#)"
	header    stop = "\r\n\"'`\\"
)

func valueEnd(text []byte, from int, s stop) int {
	if n := bytes.IndexAny(text[from:], string(s)); n >= 0 {
		return from + n
	}
	return len(text)
}

// quoteEnd returns where the value ends that begins at i behind a quotation mark with so many
// backslashes: at the next such mark, or with the line.
func quoteEnd(text []byte, i int, quote byte, slashes int) int {
	for before := 0; i < len(text) && text[i] != '\n'; i++ {
		switch {
		case text[i] == '\\':
			before++
			continue
		case text[i] == quote && before <= slashes:
			return i - before
		}
		before = 0
	}
	return i
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

func afterSpaces(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

func afterSlashes(text []byte, i int) int {
	for i < len(text) && text[i] == '\\' {
		i++
	}
	return i
}

func wordEnd(text []byte, i int) int {
	for i < len(text) && class[text[i]].word {
		i++
	}
	return i
}

func isScheme(word []byte) bool { return is(word, "bearer") || is(word, "basic") }

// is reports whether a word is another one, whatever the case of its letters.
func is(word []byte, other string) bool {
	return len(word) == len(other) && strings.EqualFold(string(word), other)
}

// isBotToken reports whether text[i:end] is the first part of the token of a bot of Telegram: its
// number, before a colon and the rest.
func isBotToken(text []byte, i, end int) bool {
	number := bytes.TrimPrefix(text[i:end], []byte("bot"))
	if len(number) < 8 || len(number) > 10 || !bytes.HasPrefix(text[end:], []byte(":AA")) || wordEnd(text, end+1)-end < 34 {
		return false
	}
	return len(bytes.Trim(number, "0123456789")) == 0
}
