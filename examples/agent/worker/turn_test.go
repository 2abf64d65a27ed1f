package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The texts of a failed tool for the user and the client.
func TestReadable(t *testing.T) {
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	assert.NoError(t, readable(nil))
	code := uint32(2)
	for want, err := range map[string]error{
		"exit status 2":          &commandError{exit: &acp.WaitForTerminalExitResponse{ExitCode: &code}},
		"Resource not found: /a": fmt.Errorf("reading: %w", rpcerr.ResourceNotFound("/a")),
		"Invalid request: this client does not offer terminal": &acp.CapabilityError{Method: "terminal/create", Capability: "terminal"},
		"Service unavailable": &fs.PathError{Op: "write", Path: "/secret", Err: syscall.ENOSPC},
		"Not allowed":         &fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrPermission},
		"Internal error":      errors.New("secret"),
	} {
		assert.Equal(t, want, message(readable(err)))
		assert.NotContains(t, string(acp.FailToolCall("t", readable(err)).RawOutput), "secret")
	}
}
