package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// failures converts errors for the peer, and logs the parts that are not sent.
type failures struct {
	log     *slog.Logger
	onError func(ctx context.Context, where string, err error) error // Config.OnError
	expose  bool                                                     // Config.ExposeErrors
	ends    func() bool                                              // reports whether the connection ends
}

// Leave calls Config.OnError with an error that is about to be sent, and look with the error that
// is sent. Both call methods of an error of the user, see [panics.Contained]. If look does not
// return, Leave logs that and returns the error to send in place of err. Otherwise it returns nil.
func (f *failures) Leave(ctx context.Context, where string, err error, look func(err error)) *rpcerr.RequestError {
	out := err
	if f.onError != nil && err != nil {
		failed := panics.Contained(func() {
			if e := f.onError(ctx, shown(where), err); e != nil {
				out = e
			}
		})
		if failed != nil {
			f.log.Error("acp: panic in OnError", errorAttr(failed))
		}
	}
	return f.Look(where, out, func() { look(out) })
}

// Look runs look, which calls methods of err, see [panics.Contained]. If look does not return, Look
// logs that and returns the error to send in place of err. Otherwise it returns nil.
func (f *failures) Look(where string, err error, look func()) *rpcerr.RequestError {
	failed := panics.Contained(look)
	if failed == nil {
		return nil
	}
	id := errs.NewErrorID()
	f.log.Error("acp: a method of an error panicked or did not return", "where", shown(where),
		"type", fmt.Sprintf("%T", err), memberErrorID, id, errorAttr(failed))
	return InternalError(id)
}

// InternalError returns the error from which the peer learns nothing but the id.
func InternalError(id string) *rpcerr.RequestError {
	return rpcerr.InternalError(withMember(nil, memberErrorID, id))
}

// Ordinary reports whether something failed with err only because the connection ends.
func (f *failures) Ordinary(err error) bool {
	return (errors.Is(err, context.Canceled) || errors.Is(err, wire.ErrClosed)) && f.ends()
}

// The members that this package adds to the data of an error.
const (
	memberErrorID = "errorId" // also in the log
	memberDetails = "details"
)

// withMember adds a member to the data of an error. It returns data unchanged if that is not an
// object, has the member, or value is empty.
func withMember(data json.RawMessage, name, value string) json.RawMessage {
	var members map[string]json.RawMessage
	if value == "" || data != nil && (json.Unmarshal(data, &members) != nil || members == nil || members[name] != nil) {
		return data
	}
	b := []byte{'{'}
	if len(members) > 0 {
		b = append(bytes.TrimSuffix(bytes.Clone(bytes.TrimSpace(data)), []byte{'}'}), ',')
	}
	b = append(wire.AppendString(b, name), ':')
	return append(wire.AppendString(b, value), '}')
}

// Fault returns the form in which an error is sent that is not the response to a request. It logs
// what is not sent: an internal error with the id that it returns, and the cause inside another
// error as a warning. ctx is that of what failed. The result holds nothing of err. Call Fault only
// inside Leave.
func (f *failures) Fault(ctx context.Context, err error, msg string, args ...any) (e *rpcerr.RequestError, id string) {
	s := scopeOf(ctx)
	e, id = f.fault(err, ctx.Err() != nil || s != nil && s.Err() != nil, msg, args...)
	if e.Code != rpcerr.CodeInternalError && isMeant(err) && !isLogged(err) && kept(err) != nil {
		writeFailure(f.log, slog.LevelWarn, err, "", msg, args...)
	}
	return e, id
}

// fault does the same for a response, where only internal errors are logged, once: one that was
// written for the peer only if it has a cause inside. cancelled means that the peer has cancelled
// what failed.
func (f *failures) fault(err error, cancelled bool, msg string, args ...any) (e *rpcerr.RequestError, id string) {
	meant := isMeant(err)
	if !errors.As(rpcerr.From(err), &e) {
		return rpcerr.InternalError(nil), ""
	}
	if e.Code == rpcerr.CodeRequestCancelled && !meant && !cancelled {
		// Some other ctx ended: the peer did not ask for that.
		e = rpcerr.InternalError(nil).WithCause(err)
	}
	switch {
	case e.Code != rpcerr.CodeInternalError || meant && e.Unwrap() == nil:
	case isLogged(err):
		if l, ok := errors.AsType[interface {
			error
			ErrorID() string
		}](err); ok {
			id = l.ErrorID()
		}
	case !meant && f.Ordinary(err):
		f.log.Debug(msg+" with the connection", args...)
	default:
		id = errs.NewErrorID()
		writeFailure(f.log, slog.LevelError, err, id, msg, args...)
	}
	var data json.RawMessage
	if safely(func() (err error) { data, err = encodeRaw(e.Data); return err }) != nil {
		data = nil // data that cannot be encoded must not hide the code
	}
	if data = withMember(withMember(data, memberErrorID, id), memberDetails, f.Details(err)); data != nil {
		return rpcerr.New(e.Code, e.Message, data), id
	}
	return rpcerr.New(e.Code, e.Message, nil), id
}

// Annotate returns the error object of a failed tool call with the id and the details in its
// data, where its data has room for them; see [withMember]. Other output is returned as it is.
func Annotate(output json.RawMessage, id, details string) json.RawMessage {
	var e rpcerr.RequestError
	if id == "" && details == "" || e.UnmarshalJSON(output) != nil {
		return output
	}
	data, _ := e.Data.(json.RawMessage)
	if data = withMember(withMember(data, memberErrorID, id), memberDetails, details); data != nil {
		e.Data = data
	}
	raw, err := json.Marshal(e)
	if err != nil { // what was decoded can be encoded
		return output
	}
	return raw
}

// LogKept logs an error that defines what the peer receives, with the cause that is not
// sent. It does nothing if cause is nil.
func (f *failures) LogKept(err, cause error, msg string, args ...any) {
	if cause != nil && !isLogged(err) {
		writeFailure(f.log, slog.LevelWarn, err, "", msg, append(args, "cause", errs.LogText(cause))...)
	}
}

func writeFailure(log *slog.Logger, level slog.Level, err error, id, msg string, args ...any) {
	args = append(args, errorAttr(err))
	if id != "" {
		args = append(args, slog.String(memberErrorID, id))
	}
	var inside slog.LogValuer
	if isMeant(err) && errors.As(err, &inside) { // the text does not include it
		if _, shown := inside.(*panicError); !shown {
			args = append(args, slog.Any("inside", inside))
		}
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

// Details returns what err keeps inside if Config.ExposeErrors is set, and "" otherwise: all
// texts of err and of what it wraps, except for the message of the error that is sent.
func (f *failures) Details(err error) string {
	if !f.expose || err == nil {
		return ""
	}
	d := details{left: 256}
	d.add(err)
	return strings.Join(d.texts, "; ")
}

// details collects texts, outermost first. left is the number of errors that may still be visited,
// because a chain may be endless.
type details struct {
	texts []string
	sent  bool // the error that is sent has been found
	left  int
}

func (d *details) add(err error) {
	if d.left--; err == nil || d.left < 0 {
		return
	}
	own, ok := err.(interface{ RequestError() *rpcerr.RequestError })
	if _, panicked := err.(*panicError); ok && !panicked && !d.sent && own.RequestError() != nil {
		d.sent = true
	} else {
		d.text(fmt.Sprint(err))
	}
	if v, ok := err.(slog.LogValuer); ok { // the attributes that a record has for developers
		if g := v.LogValue(); g.Kind() == slog.KindGroup {
			for _, a := range g.Group() {
				if a.Key == "debug" {
					d.text(a.Value.String())
				}
			}
		}
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		d.add(w.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range w.Unwrap() {
			d.add(err)
		}
	}
}

// text adds a text unless another one contains it.
func (d *details) text(s string) {
	for _, t := range d.texts {
		if strings.Contains(t, s) {
			return
		}
	}
	d.texts = append(d.texts, s)
}
