package toolcode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/goerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Envelope is a failure as one JSON object.
type Envelope struct {
	Error   Code   `json:"error"`
	Message string `json:"message"`
}

// Of returns the envelope of err. If err carries a kind, the envelope has its message;
// the code follows from the kind, unless the reason of err is a more precise code: one of
// that kind, or of the kind that the envelope implies anyway. Errors of files, commands, JSON,
// validators and contexts get the code that fits and a fixed message. Every other error, and a nil err, gets the code internal and
// its fixed message. The result is the same whether or not err was classified by package
// classify before, and a classified error has the same code at the other end of a connection,
// unless only a pattern recognized it.
//
// What the envelope leaves out, the text of an error and its cause, is logged once to
// logger; nil means slog.Default().
func Of(err error, logger *slog.Logger) Envelope {
	code, message, hides := find(err)
	if hides && !inside.IsLogged(err) {
		if logger == nil {
			logger = slog.Default()
		}
		level := slog.LevelWarn
		if code == Internal {
			level = slog.LevelError
		}
		logger.LogAttrs(context.Background(), level, "a tool failed", append([]slog.Attr{slog.String("code", string(code))}, logAttrs(err)...)...)
	}
	if code == Internal {
		message = Internal.Message()
	}
	return Envelope{code, strings.ToValidUTF8(message, "\uFFFD")}
}

// find returns the code and the message of err, and whether they hide anything of it.
func find(err error) (code Code, message string, hides bool) {
	e, ok := kind.From(err)
	if ok && e.Is(inside.ErrDerived) && errors.Unwrap(e) != nil && !Code(e.Reason).Known() {
		err, ok = errors.Unwrap(e), false // the cause says more than the kind
	}
	if ok {
		code, message = codeOf(e), e.Error()
		if string(code) == e.Reason && message == e.Kind.Message() {
			message = code.Message() // no one wrote a message, and the code says more than the kind
		}
		return code, message, code == Internal || e.Debug != "" || errors.Unwrap(e) != nil && errors.Unwrap(e) != err
	}
	if code = Code(goerr.Word(err)); code == "" {
		code = Internal
	}
	return code, code.Message(), true
}

// codeOf returns the code of an error that carries a kind. Reasons of other programs may
// have the name of a code: one that implies another kind, which may be retryable, yields to
// the code that follows from the kind, except where package classify gives an error without a
// message of its own one of the general codes.
func codeOf(e *kind.Error) Code {
	code, plain := Code(e.Reason), ofKind(e.Kind)
	if code.Known() && (code.Kind() == e.Kind || code.Kind() == plain.Kind() || e.Message == e.Kind.Message() && (code == IOError || code == InvalidInput)) {
		return code
	}
	return plain
}

// logAttrs returns err for the log: its text, and the record inside, which holds what the
// text does not.
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
	b, err := json.Marshal(e)
	if err != nil { // two strings always can be encoded
		return ""
	}
	return string(b)
}

// ErrNotEnvelope is the error of [Parse] for text that is not an envelope.
var ErrNotEnvelope = errors.New("toolcode: not an error envelope")

// Parse reads an envelope. It tolerates further members and codes it does not know.
func Parse(text string) (Envelope, error) {
	var e struct {
		Error   *Code   `json:"error"`
		Message *string `json:"message"`
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return Envelope{}, fmt.Errorf("%w: %w", ErrNotEnvelope, err)
	}
	if e.Error == nil || e.Message == nil || *e.Error == "" {
		return Envelope{}, fmt.Errorf("%w: error or message is missing", ErrNotEnvelope)
	}
	return Envelope{*e.Error, *e.Message}, nil
}

// Err returns the envelope as an error like any other, with the kind that its code
// implies, and with kind Unknown for a code of another program.
func (e Envelope) Err() *kind.Error {
	message := e.Message
	if strings.TrimSpace(message) == "" {
		message = e.Error.Message()
	}
	if e.Error.Known() {
		return e.Error.New(message)
	}
	if strings.TrimSpace(message) == "" {
		message = kind.Unknown.Message()
	}
	return kind.Unknown.New(message).WithReason(string(e.Error))
}
