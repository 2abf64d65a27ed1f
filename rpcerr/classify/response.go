package classify

import (
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// ResponseOptions refine [FromResponse]. The zero value reads up to 4 KiB of the
// body for the log and tells the peer nothing of it.
type ResponseOptions struct {
	// Service names the other side for people, such as "NCBI". Default: "The service".
	Service string
	// BodyLimit bounds how much of the body is read, in bytes. 0 means 4096, less than
	// 0 leaves the body alone.
	BodyLimit int
	// ShareBody puts the body into Data as the member "body", where the peer sees it.
	// Bodies of failed logins repeat tokens and user names: share those of services you know.
	ShareBody bool
}

// FromResponse returns the error that an HTTP response stands for: the kind of
// its status, the status, and how long to wait when Retry-After tells it, in seconds or
// as a date. Call it when the status is not the one you wanted; it never returns nil.
//
// It reads from the body and does not close it.
func FromResponse(resp *http.Response, opts *ResponseOptions) *kind.Error {
	if resp == nil {
		return kind.BadUse("classify.FromResponse", "no response")
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
	e := kind.FromStatus(resp.StatusCode).New(message)
	if resp.StatusCode >= 100 && resp.StatusCode <= 599 {
		e = e.WithStatus(resp.StatusCode)
	}
	if wait, ok := RetryAfter(resp.Header); ok && resp.StatusCode >= 400 {
		e = e.WithRetryAfter(wait)
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

// RetryAfter reads the header of that name: seconds, or a date, which a clock that
// went on since makes zero at least.
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
