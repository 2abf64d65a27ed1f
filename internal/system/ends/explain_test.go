package ends_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// What a person reads of an error does not depend on the version. Package client has the texts of all
// situations.
func TestExplainInBothVersions(t *testing.T) {
	sent := func(raw string) error {
		e := new(rpcerr.RequestError)
		require.NoError(t, e.UnmarshalJSON([]byte(raw)))
		return fmt.Errorf("client: %w", e)
	}
	for _, err := range []error{
		&exec.Error{Name: "agent", Err: exec.ErrNotFound},
		&stream.ExitError{Status: 3, Stderr: "no key"}, &stream.StatusError{Code: 401}, &stream.TooLargeError{Limit: 1, Size: 2},
		&acp.VersionError{Requested: 1, Own: []int{1}, Answered: 9}, &acp.CapabilityError{Method: "session/list"}, &acp.IdleError{Limit: time.Minute},
		acp.ErrClosed, acp.ErrStalled, acp.ErrOverloaded, acp.ErrTurnRunning, context.Canceled, context.DeadlineExceeded,
		fmt.Errorf("streamhttp: POST: %w", syscall.ECONNREFUSED), errors.New("remote: the URL cannot be parsed"),
		sent(`{"code":-32000,"message":"Authentication required"}`), sent(`{"code":-32603,"message":"Internal error"}`),
		sent(`{"code":-32603,"message":"Internal error","data":{"errorId":"k3v7pq2x"}}`), sent(`{"code":-32602,"message":"Invalid params"}`),
		sent(`{"code":-32601,"message":"Method not found"}`), sent(`{"code":-32002,"message":"Resource not found: s9"}`),
		sent(`{"code":-32800,"message":"Request cancelled"}`), sent(`{"code":7,"message":"no"}`),
	} {
		text := client.Explain(nil, err)
		assert.Contains(t, text, "\n", "a next step")
		assert.Equal(t, text, client2.Explain(nil, err))
	}
	for _, reason := range []acp.StopReason{acp.StopReasonRefusal, acp.StopReasonMaxTokens, acp.StopReasonMaxTurnRequests, acp.StopReasonCancelled, "_tired"} {
		text := client.Explain(nil, &client.StopError{Reason: reason})
		assert.Contains(t, text, "\n", "a next step")
		assert.Equal(t, text, client2.Explain(nil, &client2.StopError{Reason: acp2.StopReason(reason)}))
	}
}
