package plain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	sdk "github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

type agent struct{}

func (agent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	switch len(req.Prompt) {
	case 0:
		return nil, errors.New("empty prompt") // want `the peer reads only "Internal error" of this`
	case 1:
		return nil, fmt.Errorf("only %d block", 1) // want `return an error with a kind`
	case 2:
		return nil, fmt.Errorf("prompting: %w", kind.Validation.New("two blocks"))
	case 3:
		return nil, kind.Validation.New("three blocks")
	}
	check := func() error { return errors.New("not the handler's own result") }
	return nil, check()
}

// A notification is not answered, so nobody reads its error.
func (agent) Cancel(context.Context, *acp.CancelNotification) error { return errors.New("too late") }

func (agent) HandleExtension(_ context.Context, method string, _ json.RawMessage) (any, error) {
	return nil, errors.New(method) // want `the peer reads only "Internal error" of this`
}

var deny acp.Middleware = func(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if method == "" {
			return nil, errors.New("no method") // want `the peer reads only "Internal error" of this`
		}
		return next(ctx, method, params)
	}
}

var tool = contract.New("tool")

var NoMatch = tool.Declare(contract.Mode{Reason: "no_match", Kind: kind.NotFound, When: "Nothing matches.", Recovery: "Search for something else than this."})

func run(n int) (int, error) {
	if n == 0 {
		return 0, NoMatch.Fail("")
	}
	return 0, errors.New("odd") // want `the peer reads only "Internal error" of this`
}

// A tool call that fails without a kind tells as little.
func failing(ctx context.Context, call *sdk.ToolCall) {
	_ = call.Fail(ctx, errors.New("odd"))               // want `the peer reads only "Internal error" of this`
	_ = acp.FailToolCall("t", fmt.Errorf("odd: %d", 1)) // want `the peer reads only "Internal error" of this`
	_ = call.Fail(ctx, kind.Internal.New("odd"))
}

// helper is neither a handler nor a tool.
func helper() error { return errors.New("fine") }

var _ = []any{agent{}, deny, run, helper, failing}
