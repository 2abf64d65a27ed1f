package elicitation

import (
	"math"
	"regexp"
	"regexp/syntax"
)

const (
	// longestPattern is the maximum length of a pattern in bytes. A class of characters may take a
	// thousand times as long to parse as its length suggests.
	longestPattern = 1 << 10
	// patternSteps is how many steps the patterns of a form may take together.
	patternSteps = 4 << 20
	// parsing is about how many steps it takes to parse and compile an instruction.
	parsing = 8
)

// patterns are the patterns of a form, which an agent has chosen. Expressions of Go take a time that is
// proportional to their size times the length of the text, but a short pattern may have a large size.
type patterns struct{ left int }

// match returns false if the text does not match the pattern. It returns true for an empty pattern, and for one
// that Go does not support or that would take too many steps.
func (p *patterns) match(pattern, text string) bool {
	if pattern == "" || len(pattern) > longestPattern {
		return true
	}
	if p.left -= parsing * len(pattern); p.left <= 0 {
		return true
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return true
	}
	size := sizeOf(tree)
	p.left -= parsing * size
	if size > p.left/(len(text)+1) {
		return true
	}
	p.left -= size * (len(text) + 1)
	re, err := regexp.Compile(pattern)
	return err != nil || re.MatchString(text)
}

// sizeOf returns about how many instructions an expression is compiled to, without compiling it.
func sizeOf(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size += sizeOf(sub)
	}
	if re.Op == syntax.OpRepeat {
		times := max(re.Min+1, re.Max)
		if size > math.MaxInt32/times {
			return math.MaxInt32
		}
		size *= times
	}
	return min(size, math.MaxInt32)
}
