package rpcerr_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

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
	} {
		assert.Equal(t, want, rpcerr.LogText(errors.New(in)))
	}
	assert.Equal(t, "<nil>", rpcerr.LogText(nil))
}

// No log shows the query of a URL, however deep the error of net/http is.
func TestLogsHideQueries(t *testing.T) {
	inner := &url.Error{Op: "Get", URL: "https://api.example/v1/search?key=hunter2", Err: errors.New("connection reset")}
	for _, err := range []error{
		rpcerr.InternalError(nil).WithCause(inner),
		kind.Internal.New("m").WithCause(inner),
		kind.Internal.Errorf("m: %w", fmt.Errorf("searching: %w", inner)),
		toolerr.Internal("m").WithCause(inner),
	} {
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "error", err)
		assert.NotContains(t, log.String(), "hunter2")
		assert.Contains(t, log.String(), "api.example/v1/search")
		assert.Contains(t, log.String(), "connection reset")
	}
}

func FuzzLogText(f *testing.F) {
	f.Add("https://me:pw@a.b/c?key=1")
	f.Fuzz(func(t *testing.T, s string) {
		out := rpcerr.LogText(errors.New(s))
		assert.Equal(t, out, rpcerr.LogText(errors.New(out)), "nothing is left to hide")
		if !strings.Contains(s, "://") {
			assert.Equal(t, s, out)
		}
	})
}
