package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/internal/schema/schematest"
	"github.com/acpkit/go-sdk/stream"
)

// raw is a client of the hub that sends any lines.
type raw struct {
	stream.Stream
	served chan error // gets the result of Serve
}

func connect(t *testing.T, h *hub.Hub, principal string) *raw {
	t.Helper()
	near, far := stream.Pipe()
	r := &raw{schematest.Client(t, 1, near), make(chan error, 1)}
	ctx := context.WithValue(context.Background(), principalKey{}, principal)
	go func() { r.served <- h.Serve(ctx, far) }() // ends with the connection
	t.Cleanup(func() { _ = near.Close() })
	return r
}

func (r *raw) send(t *testing.T, id int, method, params string) {
	t.Helper()
	require.NoError(t, r.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)))
}

func (r *raw) read(t *testing.T) string {
	t.Helper()
	msg, err := r.Read()
	require.NoError(t, err)
	return string(msg)
}

// call sends a request and returns its response. It skips everything before it.
func (r *raw) call(t *testing.T, id int, method, params string) string {
	t.Helper()
	r.send(t, id, method, params)
	return r.response(t, id)
}

func (r *raw) response(t *testing.T, id int) string {
	t.Helper()
	for {
		msg := r.read(t)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		require.NoError(t, json.Unmarshal([]byte(msg), &m))
		if m.Method == "" && string(m.ID) == strconv.Itoa(id) {
			return msg
		}
	}
}
