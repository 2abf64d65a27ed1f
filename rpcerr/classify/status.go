package classify

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// responded is the HTTP response in an error.
type responded struct {
	status int // 400 to 599
	after  time.Duration
	wait   bool // the response says when to try again: after
}

// retryable reports whether the same request may succeed later.
func (r responded) retryable() bool {
	return r.status == 429 || r.status >= 500 || kind.FromUpstreamStatus(r.status).Retryable()
}

// responseOf finds the HTTP response that err is about. Clients of web services have one of two
// methods for its status, or one of three fields.
func responseOf(err error) (a responded, ok bool) {
	inside.Walk(err, func(err error) bool {
		switch e := err.(type) {
		case interface{ StatusCode() int }:
			a.status = e.StatusCode()
		case interface{ HTTPStatusCode() int }:
			a.status = e.HTTPStatusCode()
		default:
			a = fieldsOf(reflect.Indirect(reflect.ValueOf(err)))
		}
		ok = a.status >= 400 && a.status <= 599
		return ok
	})
	return a, ok
}

// failureOf finds the first error in the chain of err that says what it is: the error of a
// transport knows whether a request was received, and the error of the network inside does not.
// A ctx that was cancelled precedes it.
func failureOf(err error) (f finding, ok bool) {
	inside.Walk(err, func(err error) bool {
		own, has := err.(interface {
			Failure() (kind string, retryable bool)
		})
		if has {
			k, retryable := own.Failure()
			f = finding{kind: kind.Kind(k), by: "Failure() method", retryable: retryable}
			ok = f.kind.Known()
		}
		return ok
	})
	if !ok || errors.Is(err, context.Canceled) {
		return f, false
	}
	if r, found := responseOf(err); found {
		f.kind, f.response = kind.FromUpstreamStatus(r.status), r
		f.response.wait = r.wait && f.retryable
	}
	return f, true
}

// embeds reports whether an error embeds a RequestError, which does not define what is sent:
// neither may a word in its text.
func embeds(err error) (found bool) {
	inside.Walk(err, func(err error) bool {
		if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct {
			f, ok := v.Type().FieldByName("RequestError")
			found = ok && f.Anonymous && (f.Type == reflect.TypeFor[*rpcerr.RequestError]() || f.Type == reflect.TypeFor[rpcerr.RequestError]())
		}
		return found
	})
	return found
}

func fieldsOf(v reflect.Value) (a responded) {
	if v.Kind() != reflect.Struct {
		return a
	}
	for _, name := range []string{"StatusCode", "HTTPStatusCode", "Response"} {
		f, ok := v.Type().FieldByName(name)
		if !ok || !f.IsExported() || len(f.Index) > 1 { // not through embedded pointers, which may be nil
			continue
		}
		field := v.FieldByIndex(f.Index)
		if resp, ok := reflect.TypeAssert[*http.Response](field); ok && resp != nil {
			a.status = resp.StatusCode
			a.after, a.wait = RetryAfter(resp.Header)
		} else if field.CanInt() {
			a.status = int(field.Int())
		}
	}
	return a
}

func statusText(digits string) kind.Kind {
	status, err := strconv.Atoi(digits)
	if err != nil {
		return ""
	}
	return kind.FromUpstreamStatus(status)
}
