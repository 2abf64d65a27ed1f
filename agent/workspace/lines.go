package workspace

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// finder finds the lines of texts that match a regular expression. It looks for texts of which each match
// contains one, which is much faster, and matches only the lines that have one.
type finder struct {
	re    *regexp.Regexp
	must  []string // in lower case if fold is set; none means that there are no such texts
	fold  bool
	lower []byte // buffer
}

func newFinder(re *regexp.Regexp) *finder {
	f := &finder{re: re}
	if parsed, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		f.must, f.fold = required(parsed.Simplify())
	}
	if f.fold {
		for i, m := range f.must {
			f.must[i] = string(lowered(nil, m))
		}
	}
	return f
}

// maxMust is the number of texts beyond which it is faster to match each line.
const maxMust = 16

// required returns texts of which each match of an expression contains one, as long ones as possible, and
// whether their case does not matter. It returns none if it finds none.
func required(re *syntax.Regexp) (must []string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if fold = re.Flags&syntax.FoldCase != 0; !fold {
			return []string{string(re.Rune)}, false
		}
		// Some letters of other alphabets fold to k and s, and beyond ASCII lower case is not enough.
		longest := ""
		for _, part := range strings.FieldsFunc(string(re.Rune), func(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) }) {
			if len(part) > len(longest) {
				longest = part
			}
		}
		if longest != "" {
			must = []string{longest}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if m, f := required(sub); shortest(m) > shortest(must) {
				must, fold = m, f
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			m, f := required(sub)
			if m == nil || len(must)+len(m) > maxMust {
				return nil, false
			}
			must, fold = append(must, m...), fold || f
		}
	}
	return must, fold
}

// shortest returns the length of the shortest text, or 0 if there is none.
func shortest(all []string) (n int) {
	for i, text := range all {
		if i == 0 || len(text) < n {
			n = len(text)
		}
	}
	return n
}

// find calls found with each line of a text that matches, without its end, and with its number, until
// found returns false or ctx is done.
func (f *finder) find(ctx context.Context, text string, found func(line string, n uint32) bool) {
	if !f.may(text) {
		return
	}
	n := uint32(0)
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if f.may(line) && f.matches(ctx, line) && !found(line, n) || ctx.Err() != nil {
			return
		}
	}
}

// may reports whether a text can have a match.
func (f *finder) may(text string) bool {
	has := func(m string) bool { return strings.Contains(text, m) }
	if f.fold {
		f.lower = lowered(f.lower[:0], text)
		has = func(m string) bool { return bytes.Contains(f.lower, []byte(m)) }
	}
	return len(f.must) == 0 || slices.ContainsFunc(f.must, has)
}

// lowered appends a text in the lower case of ASCII.
func lowered(b []byte, text string) []byte {
	b = append(b, text...)
	for i, c := range b {
		if c-'A' < 26 {
			b[i] = c | 0x20
		}
	}
	return b
}

// longLine is the number of bytes of a line from which on a match ends with ctx.
const longLine = 64 << 10

func (f *finder) matches(ctx context.Context, line string) bool {
	if len(line) < longLine {
		return f.re.MatchString(line)
	}
	return f.re.MatchReader(&runes{ctx: ctx, in: strings.NewReader(line)}) && ctx.Err() == nil
}

// runes reads a text, which ends when ctx is done.
type runes struct {
	ctx context.Context
	in  *strings.Reader
	n   int
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.n++; r.n%256 == 0 && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	return r.in.ReadRune()
}
