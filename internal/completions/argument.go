package completions

import "encoding/json"

// argument is the input of a call, which arrives in fragments. Its cost follows its length, however many
// fragments there are.
type argument struct {
	text    []byte
	read    int // the bytes that complete has looked at
	level   int // of lists and objects that are open
	quoted  bool
	escaped bool // the last byte was a backslash in a string
	plain   bool // a number or a word
	whole   bool // the text begins with a whole value
	broken  bool // nothing that follows makes the text JSON
}

func (a *argument) add(fragment string) { a.text = append(a.text, fragment...) }

// maxPlain is the length in bytes beyond which a number or a word counts as incomplete.
const maxPlain = 64

// complete reports whether the text is one JSON value.
func (a *argument) complete() bool {
	for ; a.read < len(a.text) && !a.plain && !a.broken; a.read++ {
		c := a.text[a.read]
		space := c == ' ' || c == '\t' || c == '\r' || c == '\n'
		end := false
		switch {
		case a.whole:
			a.broken = !space
		case a.escaped:
			a.escaped = false
		case a.quoted:
			a.escaped, a.quoted = c == '\\', c != '"'
			end = c == '"' && a.level == 0
		case c == '"':
			a.quoted = true
		case c == '{', c == '[':
			a.level++
		case c == '}', c == ']':
			a.level--
			end = a.level <= 0
		default:
			a.plain = a.level == 0 && !space
		}
		if end {
			a.whole = json.Valid(a.text[:a.read+1])
			a.broken = !a.whole
		}
	}
	if a.plain {
		return len(a.text) <= maxPlain && json.Valid(a.text)
	}
	return a.whole && !a.broken
}
