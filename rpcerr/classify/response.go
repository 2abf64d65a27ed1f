package classify

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/retryafter"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// ResponseOptions are options for [FromResponse]. The zero value reads up to 4 KiB of the
// body for the log and shows the peer nothing of it.
type ResponseOptions struct {
	// Service is the name of the other service for people, such as "NCBI". Default: "The service".
	Service string
	// BodyLimit is how much of the body is read, in bytes. 0 means 4096; a negative number
	// leaves the body alone.
	BodyLimit int
	// ShareBody puts the body into Data as the member "body", where the peer sees it.
	// Bodies of failed logins repeat tokens and user names: share only what you know.
	ShareBody bool
}

// FromResponse returns the error for a response of another service. It has the kind of the
// response's status (see [kind.FromUpstreamStatus]), the status, and the time to wait if the
// response has a Retry-After. FromResponse never returns nil. It reads from the body and does not
// close it.
func FromResponse(resp *http.Response, opts *ResponseOptions) *kind.Error {
	if resp == nil {
		return new(kind.Error).WithCause(&errs.Misuse{Func: "classify.FromResponse", Problem: "no response"})
	}
	var o ResponseOptions
	if opts != nil {
		o = *opts
	}
	message := cmp.Or(o.Service, "The service") + " answered " + strconv.Itoa(resp.StatusCode)
	if text := http.StatusText(resp.StatusCode); text != "" {
		message += " " + text
	}
	e := withoutLogin(kind.FromUpstreamStatus(resp.StatusCode).New(message))
	if resp.StatusCode >= 100 && resp.StatusCode <= 599 {
		e = e.WithStatus(resp.StatusCode)
	}
	if wait, ok := retryafter.In(resp.Header); ok && resp.StatusCode >= 400 {
		e = withRetryAfter(e, wait)
	}
	if r := resp.Request; r != nil && r.URL != nil { // without the query, which often holds keys
		e = e.WithAttrs(slog.String("method", r.Method), slog.String("host", r.URL.Host), slog.String("path", r.URL.Path))
	}
	if body := bodyOf(resp, o.BodyLimit); body != "" {
		if o.ShareBody {
			e = e.With("body", body)
		} else {
			e = e.WithDebug("body: " + body)
		}
	}
	return e
}

func bodyOf(resp *http.Response, limit int) string {
	if limit < 0 || resp.Body == nil {
		return ""
	}
	// The beginning of a body is useful even if reading the rest fails.
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, int64(cmp.Or(limit, 4096))))
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// responded is the HTTP response in an error.
type responded struct {
	status int // 400 to 599
	after  time.Duration
	wait   bool // the response has a time to wait, in after
}

// responseOf finds the HTTP response that err is about. Clients of web services have one of two
// methods for its status, or one of three fields.
func responseOf(err error) (a responded, ok bool) {
	errs.Walk(err, func(err error) bool {
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

// failureOf finds the first error in the chain with a method Failure. The error of a transport
// knows whether a request was received, and the network error that it wraps does not.
func failureOf(err error) (f finding, ok bool) {
	errs.Walk(err, func(err error) bool {
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
	if !ok || errs.Is(err, context.Canceled) {
		return f, false
	}
	if r, found := responseOf(err); found {
		f.kind, f.response = kind.FromUpstreamStatus(r.status), r
		f.response.wait = r.wait && f.retryable
	}
	return f, true
}

// embeds reports whether an error embeds a RequestError. Such an error does not define what is
// sent, so neither may a word in its text.
func embeds(err error) (found bool) {
	errs.Walk(err, func(err error) bool {
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
			a.after, a.wait = retryafter.In(resp.Header)
		} else if field.CanInt() {
			a.status = int(field.Int())
		}
	}
	return a
}
