package client_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// rooted is a client that serves files only for sessions whose folders are known.
type rooted struct {
	peertest.Client
	conn *client.Conn
}

func (r *rooted) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	dirs, ok := r.conn.SessionRoots(req.SessionID)
	if !ok {
		return nil, rpcerr.InvalidParams(nil).WithDetail("unknown session")
	}
	return &acp.ReadTextFileResponse{Content: fmt.Sprint(dirs)}, nil
}

const readFile = `{"jsonrpc":"2.0","id":%d,"method":"fs/read_text_file","params":{"sessionId":%q,"path":"/work/a"}}`

// A request for a file arrives directly after the response with the id of its session.
func TestRequestAfterTheResponseFindsTheRoots(t *testing.T) {
	r := &rooted{}
	var peer *rawpeer.Peer
	r.conn, peer = open(t, r, `{"sessionCapabilities":{"additionalDirectories":{}}}`, nil)
	done := make(chan struct{})
	const times = 1000
	go func() { // ends with the last response
		defer close(done)
		for created, served := 0, 0; served < times; {
			m, ok := peer.Recv()
			switch {
			case !ok:
				t.Error("the connection has ended")
				return
			case m.Method == "session/new":
				id := fmt.Sprint("s", created)
				peer.Answer(m, fmt.Sprintf(`{"sessionId":%q}`, id))
				peer.Send(readFile, created, id)
				created++
			default:
				served++
				if m.Error != nil {
					t.Errorf("request %s: %+v", m.ID, m.Error)
				}
			}
		}
	}()
	for range times {
		_, err := r.conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work", AdditionalDirectories: []string{"/more"}})
		require.NoError(t, err)
	}
	<-done
}

// A notification handler makes a call. The call does not wait for its place in the order, and
// requests do not wait for the handler.
func TestRootsOfASessionOpenedInsideANotificationHandler(t *testing.T) {
	results := make(chan error, 1)
	r := &rooted{}
	r.OnUpdate = func(ctx context.Context, _ *acp.SessionNotification) error {
		_, err := r.conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
		results <- err
		return nil
	}
	var peer *rawpeer.Peer
	r.conn, peer = open(t, r, `{}`, nil)
	for i := range 300 {
		peer.Update("x", "x")
		m := peer.Expect("session/new")
		id := fmt.Sprint("s", i)
		peer.Answer(m, fmt.Sprintf(`{"sessionId":%q}`, id))
		peer.Send(readFile, i, id)
		m, ok := peer.Recv()
		require.True(t, ok)
		require.Nil(t, m.Error, "request %d", i)
		require.NoError(t, <-results)
	}
}
