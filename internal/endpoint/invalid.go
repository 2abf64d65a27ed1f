package endpoint

import (
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Invalid builds the error for a value that breaks the schema. Where is like
// "session/new params".
func Invalid(where string, fields *wire.FieldErrors) error {
	e := &acp.InvalidError{Where: where}
	fields.Walk(func(path []string, msg string) {
		e.Fields = append(e.Fields, acp.FieldError{Path: joinPath(path), Message: msg})
	})
	return e
}

// joinPath writes prompt, 0, uri as "prompt[0].uri".
func joinPath(path []string) string {
	var b strings.Builder
	for _, name := range path {
		if _, err := strconv.ParseUint(name, 10, 64); err == nil {
			b.WriteString("[" + name + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String()
}
