package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Failed gives an error that is about to leave to Config.OnError and returns the error
// that leaves.
func (c *Conn) Failed(ctx context.Context, where string, err error) error {
	if c.cfg.OnError == nil || err == nil {
		return err
	}
	protect(c.log, "OnError", func() {
		if e := c.cfg.OnError(ctx, where, err); e != nil {
			err = e
		}
	})
	return err
}

// Ordinary reports whether err is what fails because the connection ends.
func (c *Conn) Ordinary(err error) bool { return c.handlers.ordinary(err) }

// WithDetails returns e with details as a member of its data, if the data has room for it.
func WithDetails(e *rpcerr.RequestError, details string) *rpcerr.RequestError {
	if details == "" {
		return e
	}
	const member = "details"
	data := map[string]json.RawMessage{}
	if err := e.DecodeData(&data); err != nil && !errors.Is(err, rpcerr.ErrNoData) || data[member] != nil {
		return e
	}
	raw, err := json.Marshal(details)
	if err != nil { // a string always can be encoded
		return e
	}
	data[member] = raw
	return e.WithData(data)
}

// LogFailure logs what is not sent of an error. It is for failures that are not the
// response to a request. An error of another kind than internal is logged, as a warning,
// for the cause it keeps.
func LogFailure(log *slog.Logger, err error, msg string, args ...any) {
	e := rpcerr.From(err)
	switch {
	case e == nil || isLogged(err):
	case e.Code == rpcerr.CodeInternalError:
		logFailure(log, err, e, msg, args...)
	case isMeant(err) && kept(err) != nil:
		writeFailure(log, slog.LevelWarn, err, msg, args...)
	}
}

// LogKept logs an error that defines what the peer receives, with the cause that is not
// sent. It does nothing if cause is nil.
func LogKept(log *slog.Logger, err, cause error, msg string, args ...any) {
	if cause != nil && !isLogged(err) {
		writeFailure(log, slog.LevelWarn, err, msg, append(args, "cause", rpcerr.LogText(cause))...)
	}
}

// logFailure does the same for err, which is sent as e in the response to a request. An
// error that was written for the peer is logged only for what it keeps inside, and none
// is logged twice. Errors that the peer brought about are not logged.
func logFailure(log *slog.Logger, err error, e *rpcerr.RequestError, msg string, args ...any) {
	if e.Code != rpcerr.CodeInternalError || isMeant(err) && e.Unwrap() == nil || isLogged(err) {
		return
	}
	writeFailure(log, slog.LevelError, err, msg, args...)
}

func writeFailure(log *slog.Logger, level slog.Level, err error, msg string, args ...any) {
	args = append(args, errorAttr(err))
	var inside slog.LogValuer
	if isMeant(err) && errors.As(err, &inside) { // the text does not say all
		args = append(args, slog.Any("inside", inside))
	}
	log.Log(context.Background(), level, msg, args...)
}

// kept returns the cause inside an error that was written for the peer, or nil.
func kept(err error) error {
	var own interface {
		error
		RequestError() *rpcerr.RequestError
	}
	if !errors.As(err, &own) {
		return nil
	}
	switch w := own.(type) {
	case interface{ Unwrap() error }:
		return w.Unwrap()
	case interface{ Unwrap() []error }:
		return errors.Join(w.Unwrap()...)
	}
	return nil
}

// isMeant reports whether the error was written for the peer.
func isMeant(err error) bool {
	_, ok := rpcerr.CodeOf(err)
	return ok
}

// isLogged reports whether the error is in the log already.
func isLogged(err error) bool {
	var l interface{ Logged() bool }
	return errors.As(err, &l) && l.Logged()
}
