package classify

import (
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
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

// FromResponse returns the error for a response of another service: the kind of its status
// (see [kind.FromUpstreamStatus]), the status, and how long to wait if the response has a
// Retry-After, in seconds or as a date. Call it when the status is not the expected one; it
// never returns nil. The error of a 401 does not ask the user to log in to this program.
//
// FromResponse reads from the body and does not close it.
func FromResponse(resp *http.Response, opts *ResponseOptions) *kind.Error {
	if resp == nil {
		return new(kind.Error).WithCause(&inside.Misuse{Func: "classify.FromResponse", Problem: "no response"})
	}
	var o ResponseOptions
	if opts != nil {
		o = *opts
	}
	if o.Service == "" {
		o.Service = "The service"
	}
	message := o.Service + " answered " + strconv.Itoa(resp.StatusCode)
	if text := http.StatusText(resp.StatusCode); text != "" {
		message += " " + text
	}
	e := withoutLogin(kind.FromUpstreamStatus(resp.StatusCode).New(message))
	if resp.StatusCode >= 100 && resp.StatusCode <= 599 {
		e = e.WithStatus(resp.StatusCode)
	}
	if wait, ok := RetryAfter(resp.Header); ok && resp.StatusCode >= 400 {
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
	if limit == 0 {
		limit = 4096
	}
	// A body that breaks off is still worth its beginning.
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, int64(limit)))
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// RetryAfter reads the header Retry-After: seconds, or a date. It returns zero for a date
// that has passed, and reports false if the header is missing or malformed.
func RetryAfter(h http.Header) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if !(seconds >= 0) || math.IsInf(seconds, 1) { // NaN is not either
			return 0, false
		}
		return time.Duration(min(seconds, math.MaxInt64/float64(2*time.Second)) * float64(time.Second)), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(time.Until(at), 0), true
}
