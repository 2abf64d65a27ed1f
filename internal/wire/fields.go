package wire

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FieldErrors describes what is wrong with one value: its own violations, and those of its members
// and elements. The tree is sent as the data of an invalid params error. The nil tree has no
// violations. It must not be changed by several goroutines at once.
type FieldErrors struct {
	Errors []string                // violations of the value itself
	Fields map[string]*FieldErrors // by member name or element index
}

// Violation returns a tree with one violation of the value itself.
func Violation(msg string) *FieldErrors { return &FieldErrors{Errors: []string{msg}} }

// Add records a violation of the value at path. The empty path means the value itself.
func (f *FieldErrors) Add(path []string, msg string) {
	for _, name := range path {
		f = f.Field(name)
	}
	f.Errors = append(f.Errors, msg)
}

// Field returns the subtree for a member or an element. It creates the subtree if there is none.
func (f *FieldErrors) Field(name string) *FieldErrors {
	if f.Fields == nil {
		f.Fields = map[string]*FieldErrors{}
	}
	sub := f.Fields[name]
	if sub == nil {
		sub = &FieldErrors{}
		f.Fields[name] = sub
	}
	return sub
}

// merge adds the violations of another tree.
func (f *FieldErrors) merge(other *FieldErrors) {
	f.Errors = append(f.Errors, other.Errors...)
	for name, sub := range other.Fields {
		f.Field(name).merge(sub)
	}
}

// count returns how many violations there are in the tree, at least one.
func (f *FieldErrors) count() int {
	n := len(f.Errors)
	for _, sub := range f.Fields {
		n += sub.count()
	}
	return max(n, 1)
}

// Empty reports whether there is no violation in the tree.
func (f *FieldErrors) Empty() bool {
	if f == nil {
		return true
	}
	for _, sub := range f.Fields {
		if !sub.Empty() {
			return false
		}
	}
	return len(f.Errors) == 0
}

// Walk calls visit for every violation: first those of the value itself, then those of the members
// in the order of their names.
func (f *FieldErrors) Walk(visit func(path []string, msg string)) { f.walk(nil, visit) }

func (f *FieldErrors) walk(path []string, visit func([]string, string)) {
	if f == nil {
		return
	}
	for _, msg := range f.Errors {
		visit(path, msg)
	}
	for _, name := range f.names() {
		f.Fields[name].walk(append(slices.Clip(path), name), visit)
	}
}

// String returns all violations on one line: "cwd: missing; mcpServers.0: ...".
func (f *FieldErrors) String() string {
	var s strings.Builder
	f.Walk(func(path []string, msg string) {
		if s.Len() > 0 {
			s.WriteString("; ")
		}
		if len(path) > 0 {
			s.WriteString(strings.Join(path, "."))
			s.WriteString(": ")
		}
		s.WriteString(msg)
	})
	return s.String()
}

// MarshalJSON returns {"_errors":[...],"member":{...}} with members in the order of their names.
// Every level has "_errors".
func (f *FieldErrors) MarshalJSON() ([]byte, error) { return f.appendJSON(nil), nil }

func (f *FieldErrors) appendJSON(b []byte) []byte {
	b = append(b, `{"_errors":[`...)
	if f == nil {
		return append(b, "]}"...)
	}
	for i, msg := range f.Errors {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, msg)
	}
	b = append(b, ']')
	for _, name := range f.names() {
		b = append(b, ',')
		b = AppendString(b, name)
		b = append(b, ':')
		b = f.Fields[name].appendJSON(b)
	}
	return append(b, '}')
}

// names sorts members by name and elements by index.
func (f *FieldErrors) names() []string {
	return slices.SortedFunc(maps.Keys(f.Fields), func(a, b string) int {
		i, errA := strconv.Atoi(a)
		j, errB := strconv.Atoi(b)
		if errA == nil && errB == nil && i != j {
			return i - j
		}
		return strings.Compare(a, b)
	})
}

// DecodeError is the error of Codec.Decode for JSON that is well formed but does not fit the type.
type DecodeError struct{ Fields *FieldErrors }

func (e *DecodeError) Error() string { return "json: " + e.Fields.String() }

// These sentinels are shared by the engine and the vocabulary. They are here because neither
// package may import the other. Package acp exports them.
var (
	ErrClosed        = errors.New("acp: connection closed")
	ErrOverloaded    = errors.New("acp: too much unhandled input")
	ErrStalled       = errors.New("acp: peer does not read")
	ErrTurnCancelled = errors.New("acp: turn cancelled")
	ErrTurnRunning   = errors.New("acp: a turn is already running in this session")
	ErrHandlerStuck  = errors.New("acp: handler did not return")
)

// These are rules in the protocol's prose that a program can check. Generated checks and package
// validate both call these functions, so that they cannot disagree.

// IsAbsPath reports whether s is an absolute path on any system. The peer may run on another
// system, so POSIX paths (/x), drives (C:\x and C:/x) and UNC (\\host\share) are all absolute.
func IsAbsPath(s string) bool {
	switch {
	case s == "":
		return false
	case s[0] == '/':
		return true
	case len(s) >= 3 && isLetter(s[0]) && s[1] == ':':
		return s[2] == '\\' || s[2] == '/'
	default:
		return len(s) >= 3 && s[0] == '\\' && s[1] == '\\' && s[2] != '\\'
	}
}

// TrimPath returns a path without separators at its end, so that the sessions of a folder are found however the
// client writes it. The root keeps its own.
func TrimPath(path string) string {
	separators := `/\`
	if strings.HasPrefix(path, "/") { // where a name may end in \
		separators = "/"
	}
	short := strings.TrimRight(path, separators)
	if short == "" || strings.HasSuffix(short, ":") {
		return path
	}
	return short
}

// IsURI reports whether s is a URI with a scheme. A scheme of one letter is a drive, so C:\x is not
// a URI. Characters beyond ASCII are allowed, because people write IRIs. White space and control
// characters are not.
func IsURI(s string) bool {
	colon := -1
	for i := range len(s) {
		c := s[i]
		switch {
		case c <= ' ' || c == 0x7f:
			return false
		case colon >= 0:
		case c == ':':
			colon = i
		case isLetter(c):
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return colon >= 2 && colon+1 < len(s)
}

// WrongURI says what is wrong with a text that is not a URI.
func WrongURI(s string) string {
	if strings.IndexByte(s, ' ') >= 0 {
		return "must be a URI: a space in it is written as %20"
	}
	return "must be a URI with a scheme"
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
