package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

var NoMatch contract.Reason

var (
	errTooMany = errors.New("too many at once")
	errWrapped = os.Remove("x")
)

func fail(n int) error {
	_, err := os.ReadFile("x")
	encoded, _ := json.Marshal(os.Environ())
	raw := []byte("fine")
	switch n {
	case 0:
		return kind.NotFound.Newf(nil, "no file: %v", err) // want `the peer reads the text of this error; make it the cause, the argument before the format`
	case 1:
		return kind.NotFound.Newf(nil, "%d: %s", n, err) // want `the argument before the format`
	case 2:
		return kind.NotFound.Newf(nil, "no file: %+v", err) // want `the argument before the format`
	case 3:
		return NoMatch.Failf(nil, "no %q: %v", "x", err) // want `the argument before the format`
	case 4:
		return kind.NotFound.New("no file: " + err.Error()) // want `the peer reads the text of this error; make it the cause`
	case 5:
		return rpcerr.InternalError(map[string]any{"details": err.Error()}) // want `make it the cause`
	case 6:
		return rpcerr.InvalidParams(nil).WithDetail(fmt.Sprintf("bad: %v", err)) // want `make it the cause`
	case 7:
		return toolerr.Internal(fmt.Sprint("bad: ", err)) // want `make it the cause`
	case 8:
		return kind.Fatal.New("bad").WithData([]string{string(debug.Stack())}) // want `the peer reads this stack trace`
	case 9:
		return kind.Internal.New("bad: " + string(encoded)) // want `the peer reads this encoded value`
	case 10:
		return kind.Internal.Newf(nil, "bad: %s %s", err.Error(), "x") // want `make it the cause`
	case 11:
		return kind.Internal.New("bad").With("error", err.Error()) // want `make it the cause`

	case 12:
		return rpcerr.InternalError(err) // want `the peer reads this error, encoded as data`
	case 13:
		return kind.Internal.New("bad").With("cause", err) // want `encoded as data`
	case 14:
		return kind.Internal.New("bad").WithData(map[string]any{"cause": err, "all": []error{err}}) // want `encoded as data` `encoded as data`

	case 15:
		msg := err.Error()
		return kind.Internal.New(msg) // want `the text of an error, which msg holds`
	case 16:
		msg := "bad: " + fmt.Sprint(err)
		return rpcerr.InternalError(map[string]any{"details": msg}) // want `which msg holds`
	case 17:
		var msg = fmt.Sprintf("%v", err)
		return kind.Internal.Newf(nil, "bad: %s", strings.TrimSpace(msg)) // want `which msg holds`
	case 18:
		return toolerr.Internal("bad").WithCode(err.Error()) // want `make it the cause`
	case 19:
		return toolerr.Newf("X", toolerr.CategoryInternal, nil, "bad: %v", err) // want `the peer reads the text of this error; make it the cause, the argument before the format`

	// A text that the peer does not read, and a value that is not an error.
	case 37:
		return kind.NotFound.Newf(err, "no file of %d", []any{n}...)
	case 20:
		return kind.NotFound.Newf(err, "no file")
	case 21:
		return kind.NotFound.New("no file").WithCause(err).WithDebug(err.Error())
	case 22:
		return kind.NotFound.Newf(nil, "no file %s, %d%%", string(raw), n)
	case 23:
		return kind.NotFound.Newf(nil, "%*d %[1]v", n, n)
	case 24:
		return fmt.Errorf("reading: %v", err)
	case 25:
		return rpcerr.InvalidParams(map[string]any{"kind": kind.NotFound, "n": n, "known": err == nil, "of": describe(err)})
	case 27:
		return rpcerr.InvalidParams(json.RawMessage(encoded))
	case 28:
		return kind.Internal.New("bad").With("own", string(encoded)).WithData(json.RawMessage(encoded))
	case 29:
		msg := err.Error()
		msg = "something we say ourselves"
		return kind.Internal.New(msg)
	case 30:
		msg := err.Error()
		return kind.Internal.New("bad").With("length", len(msg))
	case 31:
		return kind.NotFound.Newf(nil, "%[2]v %[1]d", n, err) // want `the peer reads the text of this error`
	case 32:
		return &rpcerr.RequestError{Code: 7, Message: err.Error()} // want `the peer reads the text of this error`
	case 33:
		e := kind.Internal.New("bad")
		e.Message = err.Error() // want `the peer reads the text of this error`
		e.Debug = err.Error()
		return e
	case 34:
		return &rpcerr.RequestError{Code: 7, Data: err} // want `the peer reads this error, encoded as data`
	case 35:
		return kind.Conflict.New(errTooMany.Error())
	case 36:
		return kind.Conflict.New(errWrapped.Error()) // want `the peer reads the text of this error`
	case 26:
		return errors.New(err.Error())
	}
	return nil
}

func describe(error) string { return "something we say ourselves" }

func listed(err error) error {
	hints := []string{"Look up.", err.Error()}
	return kind.NotFound.New("m").WithHint(hints[1]) // want `the peer reads the text of an error, which hints holds`
}

var _ = []any{fail, listed}
