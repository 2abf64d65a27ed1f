// Package onerror classifies what leaves, so an error of the standard library is good
// enough for a tool call.
package onerror

import (
	"context"
	"os"

	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr/classify"
)

var options = &agent.Options{OnError: classify.OnError(nil)}

func run(ctx context.Context, call *agent.ToolCall, name string) error {
	if _, err := os.ReadFile(name); err != nil {
		return call.Fail(ctx, err)
	}
	return call.Finish(ctx)
}

var _ = []any{options, run}
