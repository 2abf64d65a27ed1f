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

// Skim reads a message that is too long to be kept, in pieces, and keeps what tells to whom an error
// about it goes: the id, the method, and whether it is a response. It needs the same few KiB for every
// message. It does not check the message: it follows only quotes and brackets, so that it also finds
// these parts before an error.
type Skim struct {
	size   int64
	lastCR bool
	head   []byte // the beginning of the message

	// Where the next byte stands.
	started  bool // a byte other than white space was seen
	object   bool // the message begins with an object
	depth    int  // the number of open brackets
	inString bool
	escaped  bool // the last byte of the string was a backslash
	inValue  bool // at the top level: after a colon
	ended    bool // the object was closed
	spoiled  bool // something came after the object, or its last bracket is another one

	// The token is the key at the top level, or the value of the id or of the method, as written.
	token []byte
	limit int   // how many bytes of it are kept; 0 if it is not needed
	cut   bool  // it was longer
	field field // the last key

	// What was found.
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
			b = s.skimString(b)
		case s.depth > 1:
			b = s.skimNested(b)
		default:
			s.topLevel(b[0])
			b = b[1:]
		}
	}
}

// skimNested skips bytes below the top level, up to the next string or the end of the nesting. It
// returns the rest.
func (s *Skim) skimNested(b []byte) []byte {
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

// skimString reads the bytes of a string up to its end and returns the rest.
func (s *Skim) skimString(b []byte) []byte {
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
			s.keep(b[:i+1])
			s.endString()
			return b[i+1:]
		}
	}
	s.keep(b)
	return nil
}

// keep adds bytes to the token, if it is needed.
func (s *Skim) keep(b []byte) {
	if s.limit == 0 {
		return
	}
	if room := s.limit - len(s.token); len(b) > room {
		b, s.cut = b[:room], true
	}
	s.token = append(s.token, b...)
}

func (s *Skim) keepByte(c byte) {
	if s.limit > 0 {
		s.keep([]byte{c})
	}
}

// beginToken starts a token, of which at most n bytes are kept.
func (s *Skim) beginToken(n int) { s.token, s.limit, s.cut = s.token[:0], n, false }

// topLevel reads one byte of the top level, outside of strings.
func (s *Skim) topLevel(c byte) {
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
		if s.depth == 1 && !s.inValue { // a key
			s.beginToken(maxKey)
		}
		s.keepByte(c)
	case '{', '[':
		s.depth++
		s.limit = 0 // a value of this kind is neither an id nor a method
	case '}', ']':
		if s.depth == 1 {
			s.endValue()
			s.ended, s.spoiled = true, c != '}'
		}
		s.depth--
	case ':':
		if s.depth == 1 && !s.inValue {
			s.beginValue()
		}
	case ',':
		if s.depth == 1 {
			s.endValue()
		}
	default:
		s.keepByte(c)
	}
}

// endString is called after a closing quote. It reads the key, if the string is one.
func (s *Skim) endString() {
	if s.depth != 1 || s.inValue {
		return
	}
	s.field = otherField
	var key string
	if !s.cut && json.Unmarshal(s.token, &key) == nil {
		switch key {
		case "id":
			s.field = idField
		case "method":
			s.field = methodField
		case "result", "error":
			s.field = resultField
		}
	}
	s.limit = 0
}

// beginValue is called after the colon of a member. Only the values of two are kept.
func (s *Skim) beginValue() {
	s.inValue = true
	switch s.field {
	case idField:
		s.beginToken(MaxID)
	case methodField:
		s.beginToken(6*maxMethod + 2) // every byte may be written as an escape of six
	case resultField:
		s.hasResult = true
	}
}

// endValue is called at the end of a member. Of two ids neither counts; of two methods the first does.
func (s *Skim) endValue() {
	if !s.inValue {
		return
	}
	s.inValue = false
	switch {
	case s.field == idField:
		s.ids++
		s.id = nil
		if s.ids == 1 && s.limit > 0 && !s.cut && scalarID(s.token) {
			s.id = append([]byte(nil), s.token...)
		}
	case s.field == methodField && s.limit > 0 && !s.hasMethod:
		s.hasMethod = true
		s.method = decodeMethod(s.token, s.cut)
	}
	s.limit, s.field = 0, otherField
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
