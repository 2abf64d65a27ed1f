package plain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/acpkit/go-sdk/acp"
	sdk "github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	sdk2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/rpcerr/classify"
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

// accept starts a turn of version 2: the error of the work ends it.
func accept(ctx context.Context, s *sdk2.Session, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
	return s.Accept(ctx, req, func(context.Context) (acp2.StopReason, error) {
		return "", errors.New("no model") // want `the peer reads only "Internal error" of this`
	})
}

// Resume is a handler of version 2.
func (agent) Resume(context.Context, *acp2.ResumeSessionRequest) (*acp2.ResumeSessionResponse, error) {
	return nil, errors.New("no such session") // want `the peer reads only "Internal error" of this`
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

var errBusy = errors.New("busy")

var errKnown = errors.New("known to an adapter")

var classifier = classify.New(classify.Is(errKnown, kind.Conflict))

// Held is a handler, and says as little by way of variables.
func (agent) Held(_ context.Context, req *acp.PromptRequest) (res *acp.PromptResponse, err error) {
	if len(req.Prompt) == 0 {
		return nil, errBusy // want `the peer reads only "Internal error" of this`
	}
	if len(req.Prompt) == 1 {
		e := errors.New("in a variable")
		return nil, e // want `the peer reads only "Internal error" of this`
	}
	if len(req.Prompt) == 2 {
		err = errors.New("in a result") // want `the peer reads only "Internal error" of this`
		return
	}
	if len(req.Prompt) == 3 {
		return nil, kind.NotFound // want `the peer reads only the fixed text of kind not_found`
	}
	if len(req.Prompt) == 4 {
		return nil, fmt.Errorf("asking: %w", errBusy) // want `the peer reads only "Internal error" of this`
	}
	if len(req.Prompt) == 5 {
		return nil, errors.Join(errBusy, errors.New("too late")) // want `the peer reads only "Internal error" of this`
	}
	if len(req.Prompt) == 6 {
		return nil, errors.Join(errBusy, kind.Conflict.New("too late"))
	}
	return nil, errKnown
}

// Raw errors end a tool call without a word.
func raw(ctx context.Context, call *sdk.ToolCall, name string) error {
	_, err := os.ReadFile(name)
	if err != nil {
		return call.Fail(ctx, err) // want `the peer reads only "Internal error" of an error of package os`
	}
	if err := os.Remove(name); err != nil {
		return call.Fail(ctx, fmt.Errorf("removing: %w", err)) // want `an error of package os`
	}
	_ = call.Fail(ctx, json.Unmarshal(nil, &name)) // want `an error of package encoding/json`
	_ = call.Fail(ctx, kind.NotFound)              // want `the peer reads only the fixed text`
	if _, err := load(name); err != nil {
		return call.Fail(ctx, err)
	}
	return call.Fail(ctx, classify.Error(err))
}

func load(name string) (string, error) { return name, nil }

// helper is neither a handler nor a tool.
func helper() error { return errors.New("fine") }

var _ = []any{raw, classifier, agent{}, accept, deny, run, helper, failing}
