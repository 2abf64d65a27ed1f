package stream

import (
	"encoding/binary"
	"math/bits"
)

// wellFormedObject tells whether b is exactly one JSON object, white space inside
// aside. It agrees with json.Valid, but is several times faster, since a tolerant
// reader asks it about every message.
func wellFormedObject(b []byte) bool {
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	end := value(b)
	return end == len(b)
}

// nesting remembers for each level whether it is an object. 64 levels fit
// without allocation.
type nesting struct {
	top   uint64   // the innermost levels, the last one in bit 0
	depth int      // all levels
	below []uint64 // full words of outer levels
}

func (n *nesting) push(object bool) {
	if n.depth%64 == 0 && n.depth > 0 {
		n.below = append(n.below, n.top)
	}
	n.depth++
	n.top <<= 1
	if object {
		n.top |= 1
	}
}

func (n *nesting) pop() {
	n.depth--
	n.top >>= 1
	if n.depth%64 == 0 && n.depth > 0 {
		last := len(n.below) - 1
		n.top, n.below = n.below[last], n.below[:last]
	}
}

func (n *nesting) object() bool { return n.top&1 == 1 }

// value returns the index behind the value that b starts with, or -1.
func value(b []byte) int {
	var n nesting
	i := 0
	for {
		// A value is due.
		if i = blank(b, i); i == len(b) {
			return -1
		}
		switch c := b[i]; c {
		case '{':
			i = blank(b, i+1)
			if i < len(b) && b[i] == '}' {
				i++
				break
			}
			n.push(true)
			if i = key(b, i); i < 0 {
				return -1
			}
			continue
		case '[':
			i = blank(b, i+1)
			if i < len(b) && b[i] == ']' {
				i++
				break
			}
			n.push(false)
			continue
		case '"':
			i = str(b, i+1)
		case 't':
			i = literal(b, i, "true")
		case 'f':
			i = literal(b, i, "false")
		case 'n':
			i = literal(b, i, "null")
		default:
			i = number(b, i)
		}
		// A value is over; close what it ends.
		for {
			if i < 0 || n.depth == 0 {
				return i
			}
			if i = blank(b, i); i == len(b) {
				return -1
			}
			if b[i] == ',' {
				i++
				if n.object() {
					if i = key(b, blank(b, i)); i < 0 {
						return -1
					}
				}
				break
			}
			if n.object() && b[i] != '}' || !n.object() && b[i] != ']' {
				return -1
			}
			n.pop()
			i++
		}
	}
}

// key takes a key and its colon.
func key(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	if i = str(b, i+1); i < 0 {
		return -1
	}
	if i = blank(b, i); i == len(b) || b[i] != ':' {
		return -1
	}
	return i + 1
}

func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

func literal(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

// str takes the rest of a string, i being behind the opening quote.
func str(b []byte, i int) int {
	for {
		if i = plain(b, i); i >= len(b) {
			return -1
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i = escape(b, i+1); i < 0 {
				return -1
			}
		default:
			return -1
		}
	}
}

func escape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if len(b)-i < 5 {
			return -1
		}
		for _, c := range b[i+1 : i+5] {
			if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
				return -1
			}
		}
		return i + 5
	}
	return -1
}

// plain returns the index of the next quote, backslash or control character, or
// len(b). It looks at eight bytes at a time.
func plain(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; len(b)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote := w ^ '"'*ones
		slash := w ^ '\\'*ones
		// A byte that is zero (or, for the first term, below 0x20) borrows from
		// its high bit; the lowest hit is exact, and only that one is used.
		hit := ((w - 0x20*ones) &^ w) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
		if hit &= highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return i
}

func number(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = digits(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = digits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = digits(b, i)
	}
	return i
}

// digits takes one digit at least.
func digits(b []byte, i int) int {
	start := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
