package files

import (
	"encoding/binary"
	"strings"
	"unsafe"
)

// checkText fails for what is not valid UTF-8 or has a NUL. Package unicode/utf8 gives the
// same results, but takes two to five times as long for texts that are not ASCII: it branches
// on their bytes, which no processor can guess. Most of the time of a read is spent here.
func checkText(s string) error {
	state := accept
	for len(s) > 0 {
		// A piece that fits into the processor's cache is looked at twice.
		piece := s[:min(len(s), 16<<10)]
		s = s[len(piece):]
		if strings.IndexByte(piece, 0) >= 0 {
			return ErrNotText
		}
		if state = follow(state, piece); state == reject {
			return ErrNotText
		}
	}
	if state != accept {
		return ErrNotText
	}
	return nil
}

// The states of an automaton that reads UTF-8 byte by byte: what may come next. A state is
// the number of bits by which its column in a row of next is shifted.
const (
	accept      uint64 = 6 * iota // a character
	one                           // the last byte of a character
	two                           // the last two
	three                         // the last three
	afterE0                       // two, which must not make a number that fits into two bytes
	afterED                       // two, which must not make a surrogate
	afterF0                       // three, which must not make a number that fits into three bytes
	afterF4                       // three, which must not make a number above U+10FFFF
	reject                        // nothing: it is not UTF-8
	stateBits   uint64 = 63
	highestBits uint64 = 0x8080808080808080
	wordsAtOnce        = 8
	bytesAtOnce        = 8 * wordsAtOnce
)

// next has a row for each byte, with the state that follows on each state.
var next = func() (rows [256]uint64) {
	for i := range rows {
		row := rejectAll
		set := func(from, to uint64) { row = row&^(stateBits<<from) | to<<from }
		switch b := byte(i); {
		case b < 0x80:
			set(accept, accept)
		case b < 0xc0:
			set(one, accept)
			set(two, one)
			set(three, two)
			if b >= 0xa0 {
				set(afterE0, one)
			} else {
				set(afterED, one)
			}
			if b >= 0x90 {
				set(afterF0, two)
			} else {
				set(afterF4, two)
			}
		case b >= 0xc2 && b < 0xe0:
			set(accept, one)
		case b == 0xe0:
			set(accept, afterE0)
		case b == 0xed:
			set(accept, afterED)
		case b >= 0xe0 && b < 0xf0:
			set(accept, two)
		case b == 0xf0:
			set(accept, afterF0)
		case b > 0xf0 && b < 0xf4:
			set(accept, three)
		case b == 0xf4:
			set(accept, afterF4)
		}
		rows[i] = row
	}
	return rows
}()

// rejectAll is a row of next in which reject follows on each state.
const rejectAll = reject<<accept | reject<<one | reject<<two | reject<<three |
	reject<<afterE0 | reject<<afterED | reject<<afterF0 | reject<<afterF4 | reject<<reject

// follow returns the state after a text.
func follow(state uint64, s string) uint64 {
	b := unsafe.Slice(unsafe.StringData(s), len(s)) // only read
	for len(b) >= bytesAtOnce {
		if state != accept || !isASCII((*[bytesAtOnce]byte)(b)) {
			for _, c := range b[:bytesAtOnce] {
				state = next[c] >> (state & stateBits)
			}
			state &= stateBits
		}
		b = b[bytesAtOnce:]
	}
	for _, c := range b {
		state = next[c] >> (state & stateBits)
	}
	return state & stateBits
}

func isASCII(b *[bytesAtOnce]byte) bool {
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(b[8*i:]) }
	return (word(0)|word(1)|word(2)|word(3)|word(4)|word(5)|word(6)|word(7))&highestBits == 0
}
