package localfs

import (
	"encoding/binary"
	"strings"
	"unsafe"
)

// CheckText returns an error if s is not valid UTF-8 or contains a NUL. Package unicode/utf8 takes
// two to five times as long for texts that are not ASCII, because it branches on their bytes, which
// a processor cannot predict. Most of the time of a read is spent here.
func CheckText(s string) error {
	for len(s) > 0 {
		// Each piece is read twice, so it must fit into the processor's cache.
		n := boundary(s, min(len(s), 16<<10))
		if strings.IndexByte(s[:n], 0) >= 0 || !valid(s[:n]) {
			return ErrNotText
		}
		s = s[n:]
	}
	return nil
}

// boundary returns the first index from i on at which no character of a valid text continues. For
// an invalid text it may return any of the next three indexes.
func boundary(s string, i int) int {
	for end := min(i+3, len(s)); i < end && s[i]&0xc0 == 0x80; i++ {
	}
	return i
}

// These are the states of an automaton that reads UTF-8 byte by byte. A state is the shift of its
// column in a row of next.
const (
	accept      uint64 = 6 * iota // at the end of a character
	one                           // needs the last byte of a character
	two                           // needs the last two bytes
	three                         // needs the last three bytes
	afterE0                       // needs two bytes that do not encode a number which fits into two bytes
	afterED                       // needs two bytes that do not encode a surrogate
	afterF0                       // needs three bytes that do not encode a number which fits into three bytes
	afterF4                       // needs three bytes that do not encode a number above U+10FFFF
	reject                        // the text is not UTF-8
	stateBits   uint64 = 63
	highestBits uint64 = 0x8080808080808080
	bytesAtOnce        = 64
)

// next has a row for each byte, which contains the next state for each state.
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

// rejectAll is a row that leads to reject from each state.
const rejectAll = reject<<accept | reject<<one | reject<<two | reject<<three |
	reject<<afterE0 | reject<<afterED | reject<<afterF0 | reject<<afterF4 | reject<<reject

// valid reports whether a text is valid UTF-8. It reads four parts at once, because each step of
// the automaton waits for the one before.
func valid(s string) bool {
	for len(s) >= bytesAtOnce && isASCII(block(s, 0)) {
		s = s[bytesAtOnce:]
	}
	quarter := len(s) / 4
	j, k, l := boundary(s, quarter), boundary(s, 2*quarter), boundary(s, 3*quarter)
	p0, p1, p2, p3 := s[:j], s[j:k], s[k:l], s[l:]
	s0, s1, s2, s3 := accept, accept, accept, accept
	shortest := min(len(p0), len(p1), len(p2), len(p3))
	i := 0
	for ; i+bytesAtOnce <= shortest; i += bytesAtOnce {
		b0, b1, b2, b3 := block(p0, i), block(p1, i), block(p2, i), block(p3, i)
		if s0|s1|s2|s3 == accept && isASCII(b0) && isASCII(b1) && isASCII(b2) && isASCII(b3) {
			continue
		}
		for at := range bytesAtOnce {
			s0 = next[b0[at]] >> (s0 & stateBits)
			s1 = next[b1[at]] >> (s1 & stateBits)
			s2 = next[b2[at]] >> (s2 & stateBits)
			s3 = next[b3[at]] >> (s3 & stateBits)
		}
		s0, s1, s2, s3 = s0&stateBits, s1&stateBits, s2&stateBits, s3&stateBits
	}
	return follow(s0, p0[i:])|follow(s1, p1[i:])|follow(s2, p2[i:])|follow(s3, p3[i:]) == accept
}

func follow(state uint64, s string) uint64 {
	for i := range len(s) {
		state = next[s[i]] >> (state & stateBits)
	}
	return state & stateBits
}

// block returns a block of a text, beginning at i. It must not be changed.
func block(s string, i int) *[bytesAtOnce]byte {
	return (*[bytesAtOnce]byte)(unsafe.Slice(unsafe.StringData(s), len(s))[i:])
}

func isASCII(b *[bytesAtOnce]byte) bool {
	w := binary.NativeEndian
	return (w.Uint64(b[0:])|w.Uint64(b[8:])|w.Uint64(b[16:])|w.Uint64(b[24:])|
		w.Uint64(b[32:])|w.Uint64(b[40:])|w.Uint64(b[48:])|w.Uint64(b[56:]))&highestBits == 0
}
