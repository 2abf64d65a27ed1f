package host

import "github.com/acpkit/go-sdk/acp"

// parts are the optional roles of a client; nil ones are off. A completer needs an
// elicitor.
type parts struct {
	reader    acp.TextFileReader
	writer    acp.TextFileWriter
	terminals acp.TerminalHost
	elicitor  acp.Elicitor
	completer acp.ElicitationCompleter
}

// compose returns a value whose methods are those of base and of the parts that are on, and
// no others, because what a client implements is what it advertises. There is a type for
// each combination: package reflect cannot make types with methods.
func compose(base acp.Client, p parts) acp.Client {
	r, w, t, e, c := p.reader, p.writer, p.terminals, p.elicitor, p.completer
	type on struct{ r, w, t, e, c bool }
	switch (on{r != nil, w != nil, t != nil, e != nil, c != nil && e != nil}) {
	case on{e: true}:
		return struct {
			acp.Client
			acp.Elicitor
		}{base, e}
	case on{e: true, c: true}:
		return struct {
			acp.Client
			acp.Elicitor
			acp.ElicitationCompleter
		}{base, e, c}
	case on{t: true}:
		return struct {
			acp.Client
			acp.TerminalHost
		}{base, t}
	case on{t: true, e: true}:
		return struct {
			acp.Client
			acp.TerminalHost
			acp.Elicitor
		}{base, t, e}
	case on{t: true, e: true, c: true}:
		return struct {
			acp.Client
			acp.TerminalHost
			acp.Elicitor
			acp.ElicitationCompleter
		}{base, t, e, c}
	case on{w: true}:
		return struct {
			acp.Client
			acp.TextFileWriter
		}{base, w}
	case on{w: true, e: true}:
		return struct {
			acp.Client
			acp.TextFileWriter
			acp.Elicitor
		}{base, w, e}
	case on{w: true, e: true, c: true}:
		return struct {
			acp.Client
			acp.TextFileWriter
			acp.Elicitor
			acp.ElicitationCompleter
		}{base, w, e, c}
	case on{w: true, t: true}:
		return struct {
			acp.Client
			acp.TextFileWriter
			acp.TerminalHost
		}{base, w, t}
	case on{w: true, t: true, e: true}:
		return struct {
			acp.Client
			acp.TextFileWriter
			acp.TerminalHost
			acp.Elicitor
		}{base, w, t, e}
	case on{w: true, t: true, e: true, c: true}:
		return struct {
			acp.Client
			acp.TextFileWriter
			acp.TerminalHost
			acp.Elicitor
			acp.ElicitationCompleter
		}{base, w, t, e, c}
	case on{r: true}:
		return struct {
			acp.Client
			acp.TextFileReader
		}{base, r}
	case on{r: true, e: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.Elicitor
		}{base, r, e}
	case on{r: true, e: true, c: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.Elicitor
			acp.ElicitationCompleter
		}{base, r, e, c}
	case on{r: true, t: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.TerminalHost
		}{base, r, t}
	case on{r: true, t: true, e: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.TerminalHost
			acp.Elicitor
		}{base, r, t, e}
	case on{r: true, t: true, e: true, c: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.TerminalHost
			acp.Elicitor
			acp.ElicitationCompleter
		}{base, r, t, e, c}
	case on{r: true, w: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.TextFileWriter
		}{base, r, w}
	case on{r: true, w: true, e: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.TextFileWriter
			acp.Elicitor
		}{base, r, w, e}
	case on{r: true, w: true, e: true, c: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.TextFileWriter
			acp.Elicitor
			acp.ElicitationCompleter
		}{base, r, w, e, c}
	case on{r: true, w: true, t: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.TextFileWriter
			acp.TerminalHost
		}{base, r, w, t}
	case on{r: true, w: true, t: true, e: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.TextFileWriter
			acp.TerminalHost
			acp.Elicitor
		}{base, r, w, t, e}
	case on{r: true, w: true, t: true, e: true, c: true}:
		return struct {
			acp.Client
			acp.TextFileReader
			acp.TextFileWriter
			acp.TerminalHost
			acp.Elicitor
			acp.ElicitationCompleter
		}{base, r, w, t, e, c}
	}
	return struct{ acp.Client }{base}
}
