package envelope

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Envelope is a failure as one JSON object.
type Envelope struct {
	Error   Code   `json:"error"`
	Message string `json:"message"`
}

// Of returns the envelope of err. An explicit error keeps its message; its code is its
// reason where that is one of ours, and else follows from its kind. Errors of
// files, programs and contexts get the code that fits and a fixed message.
// Everything else is internal: the message tells nothing, and err is written to the
// logger, slog.Default() when it is nil. A nil err is a mistake and internal as well.
func Of(err error, logger *slog.Logger) Envelope {
	code, message := find(err)
	if code != Internal {
		return Envelope{code, strings.ToValidUTF8(message, "\uFFFD")}
	}
	if logger == nil {
		logger = slog.Default()
	}
	logger.Error("tool failed unexpectedly", "error", err)
	return Envelope{Internal, Internal.Message()}
}

func find(err error) (Code, string) {
	if e, ok := kind.From(err); ok {
		code := Code(e.Reason)
		if !code.Known() {
			code = ofKind(e.Kind)
		}
		return code, e.Error()
	}
	for _, r := range rules {
		if r.match(err) {
			return r.code, r.code.Message()
		}
	}
	return Internal, ""
}

// String returns the envelope as JSON.
func (e Envelope) String() string {
	b, err := json.Marshal(e)
	if err != nil { // two strings always can be encoded
		return ""
	}
	return string(b)
}

// ErrNotEnvelope is returned by [Parse] for text that is no envelope.
var ErrNotEnvelope = errors.New("envelope: not an error envelope")

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

// Err returns the envelope as an error like any other: with the kind that its code
// implies, and Unknown for a code of somebody else's.
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
