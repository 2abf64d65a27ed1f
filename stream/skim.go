package stream

import (
	"encoding/json"
	"unicode/utf8"
)

const (
	maxKey    = 64      // a key of ours fits even when all of it is escaped
	maxID     = 1 << 10 // longer ids count as none
	maxMethod = 256     // longer methods are cut, after decoding
)

// skim looks at a message of any length while it passes by in pieces, and keeps
// what its top level says about it. It needs the same few KiB for every message.
// It is not a check: it finds its way by quotes and brackets alone, so that what
// a message tells before it goes wrong is found as well.
type skim struct {
	size   int64
	lastCR bool
	head   []byte // the beginning, for OnNoise

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

// write takes the next piece of the line.
func (s *skim) write(b []byte) {
	s.size += int64(len(b))
	if len(b) > 0 {
		s.lastCR = b[len(b)-1] == '\r'
	}
	if room := noiseLimit - len(s.head); room > 0 {
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
func (s *skim) nested(b []byte) []byte {
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
func (s *skim) str(b []byte) []byte {
	for i := 0; i < len(b); i++ {
		if s.escaped {
			s.escaped = false
			continue
		}
		i = plain(b, i)
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
func (s *skim) record(b []byte) {
	if s.keep == 0 {
		return
	}
	room := s.keep - len(s.token)
	if len(b) > room {
		b, s.over = b[:room], true
	}
	s.token = append(s.token, b...)
}

func (s *skim) recordByte(c byte) {
	if s.keep > 0 {
		s.record([]byte{c})
	}
}

// begin starts a token of which up to n bytes are kept.
func (s *skim) begin(n int) { s.token, s.keep, s.over = s.token[:0], n, false }

// step takes one byte outside of strings.
func (s *skim) step(c byte) {
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
func (s *skim) endString() {
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

func (s *skim) beginValue() {
	s.value = true
	switch s.field {
	case idField:
		s.begin(maxID)
	case methodField:
		s.begin(6*maxMethod + 2) // every byte may be an escape of six
	case resultField:
		s.hasResult = true
	}
}

func (s *skim) endValue() {
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

// scalarID tells whether a value is one that JSON-RPC allows for an id.
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

// len is the length of the line without the CR of a CRLF.
func (s *skim) len() int64 {
	if s.lastCR {
		return s.size - 1
	}
	return s.size
}

// complete tells whether the line looks like one object.
func (s *skim) complete() bool { return s.ended && !s.spoiled }

// error says what was found once the line is over.
func (s *skim) error(limit int) error {
	return &TooLargeError{
		Method: s.method, ID: s.id, HasResult: s.hasResult,
		Size: s.len(), Limit: int64(limit),
	}
}
