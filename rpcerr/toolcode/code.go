package toolcode

import (
	"strconv"

	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Code is the stable code of an envelope.
type Code string

// The codes.
const (
	InvalidInput   Code = "invalid_input"   // the arguments break the schema or make no sense
	NotFound       Code = "not_found"       // no such path, or no such tool
	NotAFile       Code = "not_a_file"      // a directory where a file was expected, or the reverse
	IsBinary       Code = "is_binary"       // a file that is not text
	NoMatch        Code = "no_match"        // the text to replace is not there
	AmbiguousMatch Code = "ambiguous_match" // it is there more than once
	PatchFailed    Code = "patch_failed"    // a hunk does not apply
	Timeout        Code = "timeout"         // the command took too long
	OutputLimit    Code = "output_limit"    // the command wrote too much and was ended
	TooLarge       Code = "too_large"       // the input is larger than allowed
	PathEscape     Code = "path_escape"     // the path leads out of the workspace
	IOError        Code = "io_error"        // the system failed in another way
	Internal       Code = "internal"        // a bug; the message says nothing
)

// codes lists each code with its kind and its fixed message.
var codes = []struct {
	code    Code
	kind    kind.Kind
	message string
}{
	{InvalidInput, kind.Validation, "The input is not valid."},
	{NotFound, kind.NotFound, "It does not exist."},
	{NotAFile, kind.Validation, "The path is not of the expected type."},
	{IsBinary, kind.Validation, "The file is not text."},
	{NoMatch, kind.Validation, "The text was not found."},
	{AmbiguousMatch, kind.Validation, "The text was found more than once."},
	{PatchFailed, kind.Conflict, "The patch does not apply."},
	{Timeout, kind.Timeout, "It took too long."},
	{OutputLimit, kind.Validation, "There was too much output."},
	{TooLarge, kind.Validation, "The input is too large."},
	{PathEscape, kind.Forbidden, "The path leads out of the workspace."},
	{IOError, kind.ServiceUnavailable, "The system could not do it."},
	{Internal, kind.Internal, "internal error"},
}

// All returns every code.
func All() []Code {
	all := make([]Code, len(codes))
	for i, c := range codes {
		all[i] = c.code
	}
	return all
}

func (c Code) find() (k kind.Kind, message string, ok bool) {
	for _, row := range codes {
		if row.code == c {
			return row.kind, row.message, true
		}
	}
	return "", "", false
}

// Known reports whether c is one of the constants.
func (c Code) Known() bool { _, _, ok := c.find(); return ok }

// Kind returns the kind of failures with the code.
func (c Code) Kind() kind.Kind { k, _, _ := c.find(); return k }

// Message returns the code's fixed text.
func (c Code) Message() string { _, message, _ := c.find(); return message }

// New returns an error with the code. The peer reads the message, except for [Internal],
// whose message is only logged. The error is retryable if the code is timeout; use
// WithRetryable to change that. An empty message or an unknown code is bad use.
func (c Code) New(message string) *kind.Error {
	if !c.Known() {
		return new(kind.Error).WithCause(&inside.Misuse{Func: "toolcode.New", Problem: "unknown code " + strconv.Quote(string(c))})
	}
	return c.refine(c.Kind().New(message))
}

// Errorf formats the message as [kind.Kind.Errorf] does: an operand of %w becomes the
// cause, whose text the peer does not see.
func (c Code) Errorf(format string, args ...any) *kind.Error {
	if !c.Known() {
		return c.New("")
	}
	return c.refine(c.Kind().Errorf(format, args...))
}

func (c Code) refine(e *kind.Error) *kind.Error {
	if c == Internal {
		e = kind.Internal.New(kind.Internal.Message()).WithDebug(e.Message).WithCause(e.Unwrap())
	}
	return e.WithReason(string(c)).WithRetryable(c == Timeout)
}

// ofKind returns the code of an explicit error that does not name one.
func ofKind(k kind.Kind) Code {
	switch k {
	case kind.NotFound, kind.MethodNotFound:
		return NotFound
	case kind.Timeout, kind.Cancelled:
		return Timeout
	case kind.Validation, kind.InvalidParams, kind.InvalidRequest, kind.ParseError, kind.ContextRequired, kind.Conflict:
		return InvalidInput
	case kind.ContextTooLarge:
		return TooLarge
	case kind.Internal, kind.Unknown:
		return Internal
	}
	return IOError
}
