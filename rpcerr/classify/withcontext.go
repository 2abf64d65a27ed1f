package classify

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// WithContext adds the reason of ctx to the error of a command that ctx killed. Package
// os/exec returns nothing but "signal: killed" for such a command. The result wraps
// err, ctx.Err and, if it differs, the cause of ctx, so that it classifies as a timeout
// or as cancelled. WithContext returns any other err unchanged: if ctx is not done, if the
// command exited by itself, and if err wraps the error of ctx already.
//
//	out, err := exec.CommandContext(ctx, "go", "test").CombinedOutput()
//	if err != nil {
//		return toolcode.Of(classify.WithContext(ctx, err), nil)
//	}
//
// [Op.Catch] and the function of [OnError] call it.
func WithContext(ctx context.Context, err error) error {
	if err == nil || ctx == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) || !signalled(err) {
		return err
	}
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return fmt.Errorf("%w: %w: %w", ctx.Err(), cause, err)
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}

// signalled reports whether err is that of a command which a signal ended.
func signalled(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ProcessState != nil && exit.ExitCode() == -1
}
