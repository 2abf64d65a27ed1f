package rpc

import (
	"errors"
	"log/slog"

	"github.com/acpkit/go-sdk/rpcerr"
)

// LogFailure writes an error to the log of which the peer is told no more than that it
// happened (-32603). It is for failures that do not leave as the answer to a request.
func LogFailure(log *slog.Logger, err error, msg string, args ...any) {
	if e := rpcerr.From(err); e != nil {
		logFailure(log, err, e, msg, args...)
	}
}

// logFailure does it for err, which leaves as e. An error that somebody chose for the
// peer is logged only for what it keeps inside, and none is logged twice.
func logFailure(log *slog.Logger, err error, e *rpcerr.RequestError, msg string, args ...any) {
	meant := isMeant(err)
	if e.Code != rpcerr.CodeInternalError || meant && e.Unwrap() == nil || isLogged(err) {
		return
	}
	args = append(args, errorAttr(err))
	var inside slog.LogValuer
	if meant && errors.As(err, &inside) { // the text does not tell all
		args = append(args, slog.Any("inside", inside))
	}
	log.Error(msg, args...)
}

// isMeant tells whether somebody chose the error for the peer.
func isMeant(err error) bool {
	_, ok := rpcerr.CodeOf(err)
	return ok
}

// isLogged tells whether somebody has written the error to the log already.
func isLogged(err error) bool {
	var l interface{ Logged() bool }
	return errors.As(err, &l) && l.Logged()
}
