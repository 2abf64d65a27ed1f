package client_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// rooted is a client that serves files only for sessions whose folders are known.
type rooted struct {
	quiet
	conn *client.Conn
	// onUpdate may use conn.
	onUpdate func(context.Context, *client.Conn)
}

type quiet struct{}

func (quiet) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (quiet) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

func (r *rooted) SessionUpdate(ctx context.Context, _ *acp.SessionNotification) error {
	if r.onUpdate != nil {
		r.onUpdate(ctx, r.conn)
	}
	return nil
}

func (r *rooted) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	dirs, ok := r.conn.SessionRoots(req.SessionID)
	if !ok {
		return nil, rpcerr.InvalidParams(nil).WithDetail("unknown session")
	}
	return &acp.ReadTextFileResponse{Content: fmt.Sprint(dirs)}, nil
}

// openRooted returns a connection with a rooted client.
func openRooted(t *testing.T, caps string) (*rooted, *rawpeer.Peer) {
	t.Helper()
	r := &rooted{}
	s, peer := rawpeer.Pipe(t)
	r.conn = rawpeer.Start(t, client.New(s, func(*client.Conn) acp.Client { return r }, &client.Options{Unstable: true}))
	done := make(chan struct{})
	go func() { // ends with the response
		defer close(done)
		peer.Initialize(caps)
	}()
	_, err := r.conn.Initialize(t.Context(), nil)
	require.NoError(t, err)
	<-done
	return r, peer
}

const openCaps = `{"loadSession":true,"sessionCapabilities":{"close":{},"delete":{},"resume":{},"fork":{},"additionalDirectories":{}}}`

const readFile = `{"jsonrpc":"2.0","id":%d,"method":"fs/read_text_file","params":{"sessionId":%q,"path":"/work/a"}}`

// A request for a file arrives directly after the response with the id of its session.
func TestRequestAfterTheResponseFindsTheRoots(t *testing.T) {
	r, peer := openRooted(t, openCaps)
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
	r, peer := openRooted(t, openCaps)
	results := make(chan error, 1)
	r.onUpdate = func(ctx context.Context, conn *client.Conn) {
		_, err := conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
		results <- err
	}
	for i := range 300 {
		peer.Send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}`)
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

func TestSessionRoots(t *testing.T) {
	r, peer := openRooted(t, openCaps)
	conn := r.conn
	call := func(method, answer string, f func(context.Context) error) error {
		t.Helper()
		var during sync.WaitGroup
		during.Go(func() { // ends with the response
			m := peer.Expect(method)
			if method == "session/load" || method == "session/resume" {
				peer.Send(readFile, 77, "s1")
				res, ok := peer.Recv()
				assert.True(t, ok && res.Error == nil, "the folders are known before %s was sent", method)
			}
			if answer == "" {
				peer.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, m.ID)
				return
			}
			peer.Answer(m, answer)
		})
		defer during.Wait()
		return f(t.Context())
	}
	roots := func(id acp.SessionID) []string { dirs, _ := conn.SessionRoots(id); return dirs }
	load := func(cwd string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := conn.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: "s1", Cwd: cwd})
			return err
		}
	}

	require.Error(t, call("session/load", "", load("/lost")))
	assert.Nil(t, roots("s1"), "undone")
	require.NoError(t, call("session/load", `{}`, load("/one")))
	assert.Equal(t, []string{"/one"}, roots("s1"))
	require.Error(t, call("session/load", "", load("/two")))
	assert.Equal(t, []string{"/one"}, roots("s1"), "undone")
	require.NoError(t, call("session/resume", `{}`, func(ctx context.Context) error {
		_, err := conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/three", AdditionalDirectories: []string{"/four"}})
		return err
	}))
	assert.Equal(t, []string{"/three", "/four"}, roots("s1"))
	require.NoError(t, call("session/fork", `{"sessionId":"s2"}`, func(ctx context.Context) error {
		_, err := conn.StartForkedSession(ctx, &acp.ForkSessionRequest{SessionID: "s1", Cwd: "/fork"})
		return err
	}))
	assert.Equal(t, []string{"/fork"}, roots("s2"))

	var ended []acp.SessionID
	conn.OnSessionEnd(func(id acp.SessionID) { ended = append(ended, id) })
	require.Error(t, call("session/close", "", func(ctx context.Context) error { return conn.Session("s1").Close(ctx) }))
	assert.Empty(t, ended)
	require.NoError(t, call("session/close", `{}`, func(ctx context.Context) error { return conn.Session("s1").Close(ctx) }))
	assert.Nil(t, roots("s1"))
	require.NoError(t, call("session/delete", `{}`, func(ctx context.Context) error {
		_, err := conn.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: "s2"})
		return err
	}))
	assert.Nil(t, roots("s2"))
	assert.Equal(t, []acp.SessionID{"s1", "s2"}, ended)

	dirs := roots("s1")
	assert.Nil(t, dirs)
	_, ok := conn.SessionRoots("never")
	assert.False(t, ok)
}
