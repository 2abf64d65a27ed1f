package cause

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

func load(name string) error {
	_, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return kind.NotFound.Newf(nil, "no %s", name) // want `this drops err: pass err in place of nil`
	}
	if os.IsPermission(err) {
		return rpcerr.InvalidParams(nil) // want `this drops err`
	}
	if err == io.EOF {
		return toolerr.Validation("empty").WithHint("Write something.") // the condition says all of it
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
		return call.Fail(ctx, kind.NotFound.Newf(nil, "no %s", name)) // want `this drops err`
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
		return kind.NotFound.Newf(err, "no %s", name)
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

var ErrGone = kind.NotFound.New("gone")

func held(name string) (retErr error) {
	_, err := os.ReadFile(name)
	if err != nil && name == "a" {
		e := kind.NotFound.New("in a variable")
		return e // want `this drops err`
	}
	if err != nil && name == "b" {
		retErr = kind.NotFound.New("in a result with a name") // want `this drops err`
		return
	}
	if err != nil && name == "c" {
		return ErrGone // want `this drops err`
	}
	if err != nil && name == "d" {
		return fmt.Errorf("loading: %w", kind.NotFound.New("wrapped")) // want `this drops err`
	}
	if err != nil && name == "e" {
		return kind.NotFound // want `this drops err: build an error from the kind with New`
	}
	if err != nil && name == "f" {
		err = kind.NotFound.New("in its place") // want `this drops err`
		return err
	}
	if err == nil {
		name += "x"
	} else {
		return kind.NotFound.New("in the other branch") // want `this drops err`
	}
	if !(err == nil) {
		return kind.NotFound.New("negated") // want `this drops err`
	}
	return nil
}

// A second attempt that succeeds leaves no cause.
func again(name string) error {
	_, err := os.ReadFile(name)
	if err != nil {
		_, err = os.ReadFile(name + ".bak")
		if err != nil {
			return kind.NotFound.Newf(err, "no %s", name)
		}
		return kind.Conflict.New("only the copy is there")
	}
	switch {
	case err != nil:
		if err = os.Remove(name); err == nil {
			return kind.Conflict.New("it was in the way")
		}
	}
	return nil
}

func refined(name string) error {
	_, err := os.ReadFile(name)
	if err != nil {
		e := kind.NotFound.New("later")
		if name != "" {
			return fmt.Errorf("%s: %w: %w", name, e, err)
		}
		return e.WithCause(err)
	}
	if err != nil {
		e := kind.NotFound.Newf(err, "later")
		return e
	}
	if err != nil {
		return fmt.Errorf("loading: %w", kind.NotFound.Newf(err, "later"))
	}
	return nil
}

// What is not an error of ours any more is not extended.
func converted(name string) *acp.ToolCallUpdate {
	if _, err := os.ReadFile(name); err != nil {
		return kind.NotFound.New("no file").FailedToolCall()
	}
	return nil
}

func wrapped(name string) error {
	_, err := os.ReadFile(name)
	if err != nil && name != "" {
		cause := fmt.Errorf("reading: %w", err)
		return kind.NotFound.New("no file").WithCause(cause)
	}
	if err != nil {
		cause := fmt.Errorf("reading: %w", err)
		return kind.NotFound.Newf(cause, "no file")
	}
	return nil
}

func switched(name string) error {
	_, err := os.ReadFile(name)
	switch err {
	case nil:
		return kind.Conflict.New("it exists")
	case io.EOF, io.ErrUnexpectedEOF:
		return kind.Validation.New("empty")
	}
	if err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF && name != "" {
			return kind.Validation.New("empty")
		}
		if err == io.EOF || name == "" {
			return kind.Validation.New("empty") // want `this drops err`
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return rpcerr.ErrResourceNotFound // want `this drops err: build the error with a factory of package rpcerr`
	}
	return rpcerr.ErrInternal
}

var _ = []any{wrapped, switched, load, kept, tool, held, again, refined, converted}
