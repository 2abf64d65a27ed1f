package classify

import (
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// answered is what an error tells of an HTTP answer.
type answered struct {
	status int // 400 to 599
	after  time.Duration
	wait   bool // the answer said when to try again: after
}

// answerOf finds the HTTP answer behind a failure. Clients of web services have one of two
// methods for its status, or one of three fields.
func answerOf(err error) (a answered, ok bool) {
	walk(err, func(err error) bool {
		switch e := err.(type) {
		case interface{ StatusCode() int }:
			a.status = e.StatusCode()
		case interface{ HTTPStatusCode() int }:
			a.status = e.HTTPStatusCode()
		default:
			a = answeredBy(reflect.Indirect(reflect.ValueOf(err)))
		}
		ok = a.status >= 400 && a.status <= 599
		return ok
	})
	return a, ok
}

func answeredBy(v reflect.Value) (a answered) {
	if v.Kind() != reflect.Struct {
		return a
	}
	for _, name := range []string{"StatusCode", "HTTPStatusCode", "Response"} {
		f, ok := v.Type().FieldByName(name)
		if !ok || !f.IsExported() || len(f.Index) > 1 { // not through embedded pointers, which may be nil
			continue
		}
		field := v.FieldByIndex(f.Index)
		if resp, ok := field.Interface().(*http.Response); ok && resp != nil {
			a.status = resp.StatusCode
			a.after, a.wait = RetryAfter(resp.Header)
		} else if field.CanInt() {
			a.status = int(field.Int())
		}
	}
	return a
}

// statusKind is the kind of another service's failure. A 500 there is that service's
// bug, not this program's: it is unavailable, and may be back soon.
func statusKind(status int) kind.Kind {
	if status >= 500 && status != 504 {
		return kind.ServiceUnavailable
	}
	return kind.FromStatus(status)
}

func statusText(digits string) kind.Kind {
	status, err := strconv.Atoi(digits)
	if err != nil {
		return ""
	}
	return statusKind(status)
}
