package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/localfs"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// The reasons for which an operation is refused. The error for a missing file is fs.ErrNotExist,
// also if the client reports it.
var (
	ErrNotOffered = errors.New("not offered in this session") // neither the client nor this machine offers the operation
	ErrOutside    = localfs.ErrOutside                        // a path is in no root, whether or not it exists
	ErrName       = errors.New("not a valid path")
	ErrNotText    = localfs.ErrNotText  // not valid UTF-8, or contains a NUL
	ErrNotFile    = localfs.ErrNotFile  // for example a folder or a device
	ErrTooLarge   = localfs.ErrTooLarge // a text of more than 4 MiB
	ErrChanged    = localfs.ErrChanged  // a path leads to another place than when it was resolved
	ErrStale      = errors.New("the file has changed since it was read, and nothing was written; read it again")
	ErrUnsaved    = errors.New("the file has unsaved changes in the editor") // and the client does not offer writing
	ErrPattern    = errors.New("not a valid pattern")                        // neither a regular expression of package regexp nor a pattern of names
)

// Error is the error of an operation. The client and the model read its reason, as a record of package
// kind: a missing file is kind.NotFound, and what the client says keeps its kind.
type Error struct {
	Path string // or the command
	Err  error
}

func (e *Error) Error() string { return "workspace: " + e.Path + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the kind of the error, or its sentinel of package rpcerr.
func (e *Error) Is(target error) bool { return e.RequestError().Is(target) }

// RequestError returns the error that the client receives.
func (e *Error) RequestError() *rpcerr.RequestError {
	return e.record().RequestError().WithCause(e.Err)
}

// FailedToolCall implements acp.ToolFailure.
func (e *Error) FailedToolCall() *acp.ToolCallUpdate { return e.record().FailedToolCall() }

// records has the kinds of the reasons, with their words of package toolcode.
var records = []struct {
	err  error
	kind kind.Kind
	word string
}{
	{fs.ErrNotExist, kind.NotFound, "not_found"}, {fs.ErrPermission, kind.Forbidden, "io_error"}, {ErrOutside, kind.Forbidden, "path_escape"},
	{ErrNotOffered, kind.InvalidRequest, "io_error"}, {ErrName, kind.Validation, "invalid_input"}, {ErrPattern, kind.Validation, "invalid_input"},
	{ErrNotText, kind.Validation, "is_binary"}, {ErrNotFile, kind.Validation, "not_a_file"}, {ErrTooLarge, kind.Validation, "too_large"},
	{ErrStale, kind.Conflict, "patch_failed"}, {ErrUnsaved, kind.Conflict, "patch_failed"}, {ErrChanged, kind.Conflict, "io_error"},
}

func (e *Error) record() *kind.Error {
	text := safetext.Label(e.Path) + ": " + e.reason()
	for _, r := range records {
		if errors.Is(e.Err, r.err) {
			return r.kind.New(text).WithReason(r.word)
		}
	}
	if of, ok := errors.AsType[*rpcerr.RequestError](e.Err); ok {
		r := kind.FromRequestError(of)
		r.Message = text
		return r
	}
	return kind.ServiceUnavailable.New(text).WithReason("io_error")
}

func (e *Error) reason() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return "does not exist"
	}
	if errors.Is(e.Err, ErrNotText) {
		return "not a text in UTF-8, nor in UTF-16 with a byte order mark: convert it with a command first, such as iconv, or change its bytes with one"
	}
	if of, ok := errors.AsType[*rpcerr.RequestError](e.Err); ok {
		return "the client says: " + of.Error()
	}
	text := e.Err.Error()
	if invalid, ok := errors.AsType[*acp.InvalidError](e.Err); ok {
		text = strings.TrimSuffix(text, ": "+invalid.Error())
	}
	return text
}

// failed returns the error of an operation. It returns errors of a ctx and of a connection
// unchanged.
func failed(what string, err error) error {
	_, wrapped := errors.AsType[*Error](err)
	if err == nil || wrapped || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, acp.ErrClosed) {
		return err
	}
	return &Error{what, err}
}

// missing reports whether a client reports that a file does not exist. Many clients send the error
// of their operating system as an internal error.
func missing(err error) bool {
	of, ok := errors.AsType[*rpcerr.RequestError](err)
	if !ok {
		return false
	}
	text := strings.ToLower(fmt.Sprintf("%v %s", of, of.Data))
	return errors.Is(of, rpcerr.ErrResourceNotFound) || of.Code == rpcerr.CodeInternalError &&
		(strings.Contains(text, "enoent") || strings.Contains(text, "no such file") || strings.Contains(text, "not found"))
}

// unclear reports whether the answer of a client does not say what has happened: it has failed without
// a reason, or its result is not one of the method.
func unclear(err error) bool {
	_, invalid := errors.AsType[*acp.InvalidError](err)
	of, ok := errors.AsType[*rpcerr.RequestError](err)
	return invalid || ok && of.Code == rpcerr.CodeInternalError && of.Data == nil
}

// said returns the error of an answer whose result is invalid. A text in it is the reason of the client;
// what is wrong with the form of the result helps nobody.
func said(err error, raw json.RawMessage) error {
	if _, invalid := errors.AsType[*acp.InvalidError](err); !invalid || raw == nil {
		return err
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || text == "" {
		return fmt.Errorf("the client answered %s, which does not say whether it was done: %w", safetext.Label(string(raw)), err)
	}
	return rpcerr.New(rpcerr.CodeInternalError, safetext.Label(text), map[string]any{"result": raw}) //errlint:ignore the message is what the client said
}

// absent reports whether this machine can see that a file does not exist.
func (w *Workspace) absent(path string) bool {
	at, err := w.locate(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer at.Close()
	return at.Info == nil && !at.Folder
}
