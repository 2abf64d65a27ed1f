package cause

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

func load(name string) error {
	_, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return kind.NotFound.Errorf("no %s", name) // want `this drops err: add .WithCause\(err\)`
	}
	if os.IsPermission(err) {
		return rpcerr.InvalidParams(nil) // want `this drops err`
	}
	if err == io.EOF {
		return toolerr.Validation("empty").WithHint("Write something.") // want `this drops err`
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return kind.Internal.New(e.Op) // want `this drops err`
	}
	switch {
	case errors.Is(err, fs.ErrClosed):
		return kind.Internal.New("closed") // want `this drops err`
	}
	if _, other := os.Stat(name); other != nil && name != "" {
		return kind.Internal.New("stat") // want `this drops other`
	}
	if err != nil {
		return kind.Internal.New("other").WithCause(io.EOF) // want `this drops err`
	}
	return nil
}

func tool(ctx context.Context, call *agent.ToolCall, name string) error {
	_, err := os.ReadFile(name)
	if err != nil {
		return call.Fail(ctx, kind.NotFound.Errorf("no %s", name)) // want `this drops err`
	}
	if _, other := os.Stat(name); other != nil {
		other := ""
		return kind.Internal.New("stat" + other) // want `this drops other`
	}
	return call.Fail(ctx, kind.NotFound.New("no error before"))
}

func kept(name string) error {
	_, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return kind.NotFound.Errorf("no %s: %w", name, err)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return kind.Internal.New(e.Op).WithCause(e)
	}
	if err != nil {
		return rpcerr.InternalError(nil).WithCause(errors.Join(err, io.EOF))
	}
	if err == nil {
		return kind.Conflict.New("it exists")
	}
	if name == "" {
		return kind.Validation.New("no name")
	}
	if err != nil {
		func() error { return kind.Conflict.New("elsewhere") }()
	} else {
		return kind.Conflict.New("no error here")
	}
	if err != nil && name == "" {
		if name != "x" {
			return err
		}
	}
	return nil
}

var _ = []any{load, kept, tool}
