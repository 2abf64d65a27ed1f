package envelope

import (
	"encoding/json"
	"unicode/utf8"
)

const (
	headLimit = 4 << 10 // length of the beginning that is kept
	maxKey    = 64      // the keys that matter fit even if every character is escaped
	maxMethod = 256     // longer methods are cut, after unescaping
)

// Skim reads a message of any length in pieces and keeps the parts of its top level that matter. It
// needs the same few KiB for every message. It does not check the message: it follows only quotes
// and brackets, so that it also finds the parts before an error.
type Skim struct {
	size   int64
	lastCR bool
	head   []byte // the beginning of the message

	depth    int
	inString bool
	escaped  bool // the last byte of the string was a backslash
	started  bool // a byte other than white space was seen
	object   bool // the message begins with an object
	ended    bool // the object was closed
	spoiled  bool // something came after the object, or a bracket was closed that was not open

	// These fields describe the top level of the object.
	value bool   // after a colon: a value begins or continues
	token []byte // the key, or the value of the id or the method, as written
	keep  int    // maximum length of the token that is kept; 0: the token is not needed
	over  bool   // the token was longer than keep
	field field  // the last key

	id        []byte
	ids       int
	method    string
	hasMethod bool
	hasResult bool
}

// field is a top-level key that matters.
type field uint8

const (
	otherField field = iota
	idField
	methodField
	resultField
)

// Write reads the next piece of the message.
func (s *Skim) Write(b []byte) {
	s.size += int64(len(b))
	if len(b) > 0 {
		s.lastCR = b[len(b)-1] == '\r'
	}
	if room := headLimit - len(s.head); room > 0 {
		s.head = append(s.head, b[:min(room, len(b))]...)
	}
	if !s.started {
		b = trimStart(b)
	}
	for len(b) > 0 {
		switch {
		case s.inString:
			b = s.str(b)
		case s.depth > 1:
			b = s.nested(b)
		default:
			s.step(b[0])
			b = b[1:]
		}
	}
}

// nested skips bytes below the top level, up to the next string or the end of the nesting. It
// returns the rest.
func (s *Skim) nested(b []byte) []byte {
	for i, c := range b {
		switch c {
		case '"':
			s.inString = true
			return b[i+1:]
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth == 1 {
				return b[i+1:]
			}
		}
	}
	return nil
}

// str reads bytes of a string up to its end and returns the rest.
func (s *Skim) str(b []byte) []byte {
	for i := 0; i < len(b); i++ {
		if s.escaped {
			s.escaped = false
			continue
		}
		i = Plain(b, i)
		if i == len(b) {
			break
		}
		switch b[i] {
		case '\\':
			s.escaped = true
		case '"':
			s.inString = false
			s.record(b[:i+1])
			s.endString()
			return b[i+1:]
		}
	}
	s.record(b)
	return nil
}

// record keeps bytes of a token that is needed.
func (s *Skim) record(b []byte) {
	if s.keep == 0 {
		return
	}
	room := s.keep - len(s.token)
	if len(b) > room {
		b, s.over = b[:room], true
	}
	s.token = append(s.token, b...)
}

func (s *Skim) recordByte(c byte) {
	if s.keep > 0 {
		s.record([]byte{c})
	}
}

// begin starts a token, of which at most n bytes are kept.
func (s *Skim) begin(n int) { s.token, s.keep, s.over = s.token[:0], n, false }

// step reads one byte outside of strings.
func (s *Skim) step(c byte) {
	if c == ' ' || c == '\t' || c == '\r' {
		return
	}
	if !s.started {
		s.started, s.object = true, c == '{'
	}
	if !s.object {
		return
	}
	if s.ended {
		s.spoiled = s.spoiled || c < utf8.RuneSelf // accept white space beyond ASCII
		return
	}
	switch c {
	case '"':
		s.inString = true
		if s.depth == 1 && !s.value {
			s.begin(maxKey)
		}
		s.recordByte(c)
	case '{', '[':
		s.depth++
		s.keep = 0
	case '}', ']':
		if s.depth == 1 {
			s.endValue()
			s.ended, s.spoiled = true, c != '}'
		}
		s.depth--
	case ':':
		if s.depth == 1 && !s.value {
			s.beginValue()
		}
	case ',':
		if s.depth == 1 {
			s.endValue()
		}
	default:
		s.recordByte(c)
	}
}

// endString is called after a closing quote. At the top level a key may be complete.
func (s *Skim) endString() {
	if s.depth != 1 || s.value {
		return
	}
	s.field = otherField
	var key string
	if !s.over && json.Unmarshal(s.token, &key) == nil {
		switch key {
		case "id":
			s.field = idField
		case "method":
			s.field = methodField
		case "result", "error":
			s.field = resultField
		}
	}
	s.keep = 0
}

func (s *Skim) beginValue() {
	s.value = true
	switch s.field {
	case idField:
		s.begin(MaxID)
	case methodField:
		s.begin(6*maxMethod + 2) // every byte may be written as an escape of six
	case resultField:
		s.hasResult = true
	}
}

func (s *Skim) endValue() {
	if !s.value {
		return
	}
	s.value = false
	switch {
	case s.field == idField:
		s.ids++
		s.id = nil
		if s.ids == 1 && s.keep > 0 && !s.over && scalarID(s.token) {
			s.id = append([]byte(nil), s.token...)
		}
	case s.field == methodField && s.keep > 0 && !s.hasMethod:
		s.hasMethod = true
		s.method = decodeMethod(s.token, s.over)
	}
	s.keep, s.field = 0, otherField
}

// scalarID reports whether JSON-RPC allows the value as an id.
func scalarID(b []byte) bool {
	if len(b) == 0 || !json.Valid(b) {
		return false
	}
	switch b[0] {
	case '"', 'n', '-':
		return true
	}
	return '0' <= b[0] && b[0] <= '9'
}

// decodeMethod unescapes a string that may have been cut.
func decodeMethod(token []byte, cut bool) string {
	var method string
	if !cut {
		if json.Unmarshal(token, &method) != nil {
			return ""
		}
	} else {
		// The end may be in the middle of an escape, which has at most six bytes.
		for n := len(token); n > len(token)-6; n-- {
			whole := append(token[:n:n], '"')
			if json.Unmarshal(whole, &method) == nil {
				break
			}
		}
	}
	for n := maxMethod; n < len(method); n-- {
		if utf8.RuneStart(method[n]) {
			return method[:n]
		}
	}
	return method
}

// Len returns the length of the message without a CR at its end.
func (s *Skim) Len() int64 {
	if s.lastCR {
		return s.size - 1
	}
	return s.size
}

// Blank reports whether the message has only white space so far.
func (s *Skim) Blank() bool { return !s.started }

// Complete reports whether the message looks like one object.
func (s *Skim) Complete() bool { return s.ended && !s.spoiled }

// Head returns up to 4 KiB of the beginning.
func (s *Skim) Head() []byte { return s.head }

// Method returns the method, cut at 256 bytes. It is empty if there is none.
func (s *Skim) Method() string { return s.method }

// ID returns the id as it was written: a string, a number or null. It is nil if there
// is none, if there are two, or if it is longer than MaxID.
func (s *Skim) ID() []byte { return s.id }

// HasResult reports whether there is a result or an error.
func (s *Skim) HasResult() bool { return s.hasResult }

// Trim removes white space and byte order marks from both ends. White space is what JavaScript
// counts as such, because most peers are written in it and trim lines that way.
func Trim(line []byte) []byte {
	line = trimStart(line)
	for len(line) > 0 {
		if c := line[len(line)-1]; c > ' ' && c < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeLastRune(line)
		if !isSpace(r) {
			break
		}
		line = line[:len(line)-n]
	}
	return line
}

func trimStart(line []byte) []byte {
	for len(line) > 0 {
		if c := line[0]; c > ' ' && c < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRune(line)
		if !isSpace(r) {
			break
		}
		line = line[n:]
	}
	return line
}

func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\v', '\f', '\r',
		0x00A0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return 0x2000 <= r && r <= 0x200A
}
