package envelope

import (
	"encoding/json"
	"unicode/utf8"
)

const (
	headLimit = 4 << 10 // this much of the beginning is kept
	maxKey    = 64      // a key of ours fits even when all of it is escaped
	maxMethod = 256     // longer methods are cut, after decoding
)

// Skim looks at a message of any length while it passes by in pieces, and keeps
// what its top level says about it. It needs the same few KiB for every message.
// It is not a check: it finds its way by quotes and brackets alone, so that what
// a message tells before it goes wrong is found as well.
type Skim struct {
	size   int64
	lastCR bool
	head   []byte // the beginning

	depth    int
	inString bool
	escaped  bool // the last byte of the string was a backslash
	started  bool // something that is not white space was seen
	object   bool // and it opened an object
	ended    bool // which was closed
	spoiled  bool // and then more came, or it was closed once too often

	// Within the top level's object:
	value bool   // behind a colon, so a value is awaited or under way
	token []byte // the key, or the id's or method's value, as written
	keep  int    // how much of the token is kept; 0: it is of no interest
	over  bool   // the token was longer
	field field  // the last key

	id        []byte
	ids       int
	method    string
	hasMethod bool
	hasResult bool
}

// field is a top-level key that says something about a message.
type field uint8

const (
	otherField field = iota
	idField
	methodField
	resultField
)

// Write takes the next piece of the message.
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

// nested takes bytes below the top level, up to the next string or the end of the
// nesting, and returns what follows. Nothing there is of interest.
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

// str takes bytes of a string up to its end and returns what follows.
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

// record keeps bytes of a token that is of interest.
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

// begin starts a token of which up to n bytes are kept.
func (s *Skim) begin(n int) { s.token, s.keep, s.over = s.token[:0], n, false }

// step takes one byte outside of strings.
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
		s.spoiled = s.spoiled || c < utf8.RuneSelf // white space beyond ASCII is let pass
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

// endString follows the closing quote: at top level a key is complete.
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
		s.begin(6*maxMethod + 2) // every byte may be an escape of six
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

// scalarID reports whether a value is one that JSON-RPC allows for an id.
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

// decodeMethod reads a string that may have been cut.
func decodeMethod(token []byte, cut bool) string {
	var method string
	if !cut {
		if json.Unmarshal(token, &method) != nil {
			return ""
		}
	} else {
		// The cut may have gone through an escape, of six bytes at most.
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

// Blank reports whether nothing but white space was seen.
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
