package rpcerr_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

func TestLogText(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "",
		"no URL: a?b#c":                  "no URL: a?b#c",
		"https://a.b/c":                  "https://a.b/c",
		"https://a.b/c?key=1&x=2 then":   "https://a.b/c?... then",
		"https://a.b#frag":               "https://a.b#...",
		"https://me:pw@a.b:80/c@d?key=1": "https://...@a.b:80/c@d?...",
		`Get "https://a.b/c?key=1": EOF`: `Get "https://a.b/c?...": EOF`,
		"ws://a?1 and http://b?2":        "ws://a?... and http://b?...",
		"://":                            "://",
		"https://":                       "https://",
		"postgres://admin:pw@db/x?sslmode=disable.": "postgres://...@db/x?...",

		// A URL in quotes ends at the closing quote, and not at a space or an escaped byte.
		`parse "https://a/b?key=x y": bad`:      `parse "https://a/b?...": bad`,
		`parse "https://a/b?key=\x7fy\"z": bad`: `parse "https://a/b?...": bad`,
		`"Get \"https://a/b?key=x y\": EOF"`:    `"Get \"https://a/b?...\": EOF"`,
		`Get "https://me:p w@a/b": bad`:         `Get "https://...@a/b": bad`,
		`open "https://a/b`:                     `open "https://a/b`,
		`open "https://a/b?key=1 2`:             `open "https://a/b?... 2`,
		"see `https://a/b?k=1` for more":        "see `https://a/b?...` for more",

		// So does a query without a scheme, as in the error for a scheme that is missing.
		`Get "a.b/c?key=1": unsupported protocol scheme ""`: `Get "a.b/c?...": unsupported protocol scheme ""`,
		`Get "/c?key=1 2": no Host`:                         `Get "/c?...": no Host`,
		"GET /v1/models?api_key=1 failed":                   "GET /v1/models?... failed",
		"GET /v1?a&key=1 failed":                            "GET /v1?... failed",
		"is it true? x=1":                                   "is it true? x=1",
	} {
		assert.Equal(t, want, errs.LogText(errors.New(in)))
	}
	assert.Equal(t, "<nil>", errs.LogText(nil))
	assert.Equal(t, "a nil *kind.Error in an error", errs.LogText((*kind.Error)(nil)))
}

// No log shows the query of a URL, however deep the error of net/http is.
func TestLogsHideQueries(t *testing.T) {
	inner := &url.Error{Op: "Get", URL: "https://api.example/v1/search?key=hunter2", Err: errors.New("connection reset")}
	for _, err := range []error{
		rpcerr.InternalError(nil).WithCause(inner),
		kind.Internal.New("m").WithCause(inner),
		kind.Internal.New("m").WithDebug(inner.Error()),
		kind.Internal.Newf(fmt.Errorf("searching: %w", inner), "m"),
		toolerr.Internal("m").WithCause(inner),
	} {
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "error", err)
		assert.NotContains(t, log.String(), "hunter2")
		assert.Contains(t, log.String(), "api.example/v1/search")
		assert.Contains(t, log.String(), "connection reset")
	}
}

// The URLs that net/http and net/url refuse hold keys too.
func TestLogsHideQueriesOfBadURLs(t *testing.T) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no network")
	}}}
	for _, address := range []string{
		"api.example/v1?key=hunter2",
		"127.0.0.1:8080/v1?key=hunter2",
		"https://api.example/v1?key=a hunter2\n",
		"https://api.example/v1?key=\x7fhunter2",
		`https://api.example/v1?key="hunter2`,
		"https://api.example/%zz?key=hunter2",
	} {
		_, err := client.Get(address)
		if assert.Error(t, err, address) {
			assert.NotContains(t, errs.LogText(err), "hunter2")
			assert.NotContains(t, errs.LogText(errors.New(strconv.Quote(err.Error()))), "hunter2")
		}
	}
}

func FuzzLogText(f *testing.F) {
	f.Add("https://me:pw@a.b/c?key=1")
	f.Add(strings.Repeat("x", 5<<10))
	f.Fuzz(func(t *testing.T, s string) {
		s = s[:min(len(s), 3<<10)] // TestRecordsOfErrorsAreCut has longer ones
		out := errs.LogText(errors.New(s))
		assert.Equal(t, out, errs.LogText(errors.New(out)), "nothing is left to hide")
		if !strings.Contains(s, "://") && !strings.Contains(s, "?") {
			assert.Equal(t, s, out)
		}
	})
}

// A text from a request of a peer is cut wherever a log record contains it.
func TestRecordsOfErrorsAreCut(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for _, err := range []error{
		rpcerr.InvalidParams(nil).WithDetail(long).WithCause(errors.New(long)),
		kind.NotFound.New(long).WithReason(long).WithHint(long).WithDebug(long),
	} {
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Error("failed", "error", err)
		assert.Less(t, log.Len(), 32<<10, "%T", err)
	}
}
