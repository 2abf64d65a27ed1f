package toolcode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/goerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Envelope is a failure as one JSON object. Of one that encoding/json has read, Error may be a
// code of another program.
type Envelope struct {
	Error   Code   `json:"error"`
	Message string `json:"message"`
}

// Of returns the envelope of err. If err carries a kind, the envelope has its message. The
// code is the reason of err if that is a code which fits the kind, and else follows from the
// kind. Errors of files, commands, JSON, validators and contexts get the code that fits and a
// fixed message. Every other error, and a nil err, gets the code internal and its fixed
// message. The result is the same if err was classified by package classify before, and at
// the other end of a connection, unless only a pattern recognized err.
//
// The text of err and its cause, which the envelope leaves out, are logged once to logger;
// nil means slog.Default().
func Of(err error, logger *slog.Logger) Envelope {
	code, message, hides := find(err)
	if hides && !inside.IsLogged(err) {
		level := slog.LevelWarn
		if code == Internal {
			level = slog.LevelError
		}
		cmp.Or(logger, slog.Default()).LogAttrs(context.Background(), level, "a tool failed", append([]slog.Attr{slog.String("code", string(code))}, logAttrs(err)...)...)
	}
	if code == Internal {
		message = codes[Internal].message
	}
	return Envelope{code, strings.ToValidUTF8(message, "\uFFFD")}
}

// find returns the code and the message of err, and whether they hide anything of it.
func find(err error) (code Code, message string, hides bool) {
	e, ok := kind.From(err)
	if ok && e.Is(inside.ErrDerived) && errors.Unwrap(e) != nil && codes[Code(e.Reason)].kind == "" {
		err, ok = errors.Unwrap(e), false // the cause says more than the kind
	}
	if ok {
		code, message = codeOf(e), e.Error()
		if string(code) == e.Reason && message == e.Kind.Message() {
			message = codes[code].message // no one wrote a message, and the code says more than the kind
		}
		return code, message, code == Internal || e.Debug != "" || errors.Unwrap(e) != nil && errors.Unwrap(e) != err
	}
	if code = Code(goerr.Word(err)); code == "" {
		code = Internal
	}
	return code, codes[code].message, true
}

// codeOf returns the code of an error that carries a kind. Reasons of other programs may
// have the name of a code: one that implies another kind yields to the code that follows from
// the kind, except where package classify gives an error one of the general codes.
func codeOf(e *kind.Error) Code {
	code, plain := Code(e.Reason), ofKind(e.Kind)
	row, known := codes[code]
	if known && (row.kind == e.Kind || row.kind == codes[plain].kind || e.Message == e.Kind.Message() && (code == IOError || code == InvalidInput)) {
		return code
	}
	return plain
}

// logAttrs returns err for the log: its text, and the record inside.
func logAttrs(err error) []slog.Attr {
	e, ok := kind.From(err)
	switch {
	case !ok:
		return []slog.Attr{slog.String("error", rpcerr.LogText(err))}
	case error(e) == err:
		return []slog.Attr{slog.Any("error", e)}
	}
	return []slog.Attr{slog.String("error", rpcerr.LogText(err)), slog.Any("inside", e)}
}

// String returns the envelope as JSON.
func (e Envelope) String() string {
	b, _ := json.Marshal(e) // two strings
	return string(b)
}

// Err returns the envelope as an error like any other, with the kind that its code
// implies, and with kind Unknown for a code of another program.
func (e Envelope) Err() *kind.Error {
	message := e.Message
	if strings.TrimSpace(message) == "" {
		message = cmp.Or(codes[e.Error].message, kind.Unknown.Message())
	}
	if _, known := codes[e.Error]; known {
		return e.Error.New(message)
	}
	return kind.Unknown.New(message).WithReason(string(e.Error))
}
