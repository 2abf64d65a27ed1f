package interop_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	agentlib "github.com/acpkit/go-sdk/agent/onjsonrpc2"
	clientlib "github.com/acpkit/go-sdk/client/onjsonrpc2"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// unanswered are the vectors that end right behind a request. The end of input ends a connection of the
// library, so the response may be lost.
var unanswered = []string{"eof.request_then_eof_same_chunk", "eof.unterminated_request_reaches_handler"}

// An agent on the library answers as ours does, all but what is asked right before the end.
func TestAgentVectorsOnTheLibrary(t *testing.T) {
	page, err := os.ReadFile("../../../docs/rough-edges.md")
	require.NoError(t, err)
	for _, v := range vectors(t, "agent") {
		t.Run(v.Name, func(t *testing.T) {
			if slices.Contains(unanswered, v.Name) {
				assert.Contains(t, string(page), "`"+v.Name+"`")
				return
			}
			synctest.Test(t, func(t *testing.T) {
				f := &standardAgent{logout: v.Name == "params.null_ok_when_all_optional"}
				checkOnLibrary(t, &v, agentlib.Handler(func(c acp.Client) acp.Agent { f.conn = c; return f },
					&agentlib.Options{Logger: slog.New(slog.DiscardHandler)}), v.Preamble != "" || strings.HasPrefix(v.Name, "fallback."))
			})
		})
	}
}

// A client on the library answers as ours does. Vectors that begin with calls of package client are left out.
func TestClientVectorsOnTheLibrary(t *testing.T) {
	ran := 0
	for _, v := range vectors(t, "client") {
		if calls[v.Name] != nil || drivers[v.Name] != nil || strings.HasPrefix(v.Name, "order.update_vs_response") {
			continue
		}
		ran++
		t.Run(v.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				checkOnLibrary(t, &v, clientlib.Handler(func(acp.Agent) acp.Client { return &standardClient{} },
					&clientlib.Options{Logger: slog.New(slog.DiscardHandler)}), false)
			})
		})
	}
	assert.Equal(t, 9, ran)
}

func checkOnLibrary(t *testing.T, v *vector, handler jsonrpc2.Handler, initialized bool) {
	w, r, out := newWire(t)
	opts := &stream.LinesOptions{}
	if strings.HasPrefix(v.Name, "frame.size_") {
		opts.MaxMessage = 200
	}
	conn := jsonrpc2.NewConn(context.Background(), objectstream.Of(stream.Lines(r, out, opts)), handler, jsonrpc2.SetLogger(log.New(t.Output(), "", 0)))
	defer func() {
		_ = conn.Close() // it may have ended
		_ = w.in.Close()
		w.settle()
	}()
	if initialized {
		w.write([]byte(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":1}}` + "\n"))
		require.Len(t, w.take(), 1)
	}
	if v.Name == "eof.input_stream_error" { // made by the driver
		w.in.CloseWithError(errors.New("EIO read"))
	}
	want := v.expected(t)
	if i := slices.IndexFunc(v.Sent, isResponse); i > 0 { // its id is that of the call before, a string here
		first := *v
		first.Sent = v.Sent[:i]
		w.send(&first)
		w.settle()
		for _, line := range w.lines {
			if m := parseMessage(t, line); m["method"] != nil {
				v.Sent[i] = strings.Replace(v.Sent[i], `"id":0,`, fmt.Sprintf(`"id":%q,`, m["id"]), 1)
			}
		}
		v.Sent = v.Sent[i:]
	}
	w.send(v)
	assert.Equal(t, normalized(t, want.received, func(m message) { want.rewrite(m); withoutIDs(m) }), normalized(t, w.take(), withoutIDs))
	assert.Equal(t, want.closed, isDone(conn.DisconnectNotify()), "the connection has ended")
}

// withoutIDs drops the ids of calls, and what agents of package agent learn of the id of a request.
func withoutIDs(m message) {
	if r, ok := m["result"].(map[string]any); ok {
		delete(r, "requestId")
	}
	if m["method"] != nil {
		delete(m, "id")
	}
}
