package errlint

import (
	"go/ast"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// verb is one verb of a format, in the order of the operands.
type verb struct {
	char byte
	// at is the offset of char in the text of the format, -1 when that is not a plain
	// literal.
	at int
}

// verbsOf reads a constant format. It gives up, and returns nil, where verbs choose
// their operands themselves, as in %[2]d or %*d.
func verbsOf(pass *analysis.Pass, format ast.Expr) []verb {
	text, ok := stringOf(pass, format)
	if !ok || strings.ContainsAny(text, "*") && strings.Contains(text, "%*") || strings.Contains(text, "%[") {
		return nil
	}
	// In a literal without escapes the value starts one byte after the quote.
	offset := -1
	if lit, ok := ast.Unparen(format).(*ast.BasicLit); ok && len(lit.Value) == len(text)+2 {
		offset = 1
	}
	var verbs []verb
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			continue
		}
		i++
		for i < len(text) && strings.IndexByte("+-# 0123456789.", text[i]) >= 0 {
			i++
		}
		if i == len(text) {
			break
		}
		if text[i] == '%' {
			continue
		}
		at := -1
		if offset >= 0 {
			at = offset + i
		}
		verbs = append(verbs, verb{text[i], at})
	}
	return verbs
}
