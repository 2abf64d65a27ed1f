package client_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// TestMain discards the log of the tests.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// viewer is a client whose behavior is set by functions.
type viewer struct {
	conn       *client.Conn // set by dial
	permission func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error)
	update     func(context.Context, *acp.UpdateSessionNotification) error
}

func (v *viewer) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if v.permission != nil {
		return v.permission(ctx, req)
	}
	return acp.Selected(req.Options[0].OptionID), nil
}

func (v *viewer) SessionUpdate(ctx context.Context, n *acp.UpdateSessionNotification) error {
	if v.update != nil {
		return v.update(ctx, n)
	}
	return nil
}

// dial returns a started connection to an agent that the test plays.
func dial(t *testing.T, c acp.Client, opts *client.Options) (*client.Conn, *rawpeer.Peer) {
	t.Helper()
	s, peer := rawpeer.Pipe(t)
	newClient := func(conn *client.Conn) acp.Client {
		if v, ok := c.(*viewer); ok {
			v.conn = conn
		}
		return c
	}
	return rawpeer.Start(t, client.New(s, newClient, opts)), peer
}

// initialized is the response to initialize, with capabilities.
func initialized(caps string) string {
	return `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":` + caps + `}`
}

// open is like dial, and initializes the connection. caps is the object that the agent advertises.
func open(t *testing.T, c acp.Client, caps string, opts *client.Options) (*client.Conn, *rawpeer.Peer) {
	t.Helper()
	conn, peer := dial(t, c, opts)
	var agent sync.WaitGroup
	agent.Go(func() { peer.Answer(peer.Expect("initialize"), initialized(caps)) }) // ends with the response
	_, err := conn.Initialize(t.Context(), nil)
	require.NoError(t, err)
	agent.Wait()
	return conn, peer
}

// session is like open, and creates a session s1.
func session(t *testing.T, c acp.Client, opts *client.Options) (*client.Session, *rawpeer.Peer) {
	t.Helper()
	conn, peer := open(t, c, `{"session":{"delete":{}}}`, opts)
	var agent sync.WaitGroup
	agent.Go(func() { peer.Answer(peer.Expect("session/new"), `{"sessionId":"s1"}`) }) // ends with the response
	s, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	agent.Wait()
	return s, peer
}

// updateText returns a short form of an update.
func updateText(u acp.SessionUpdate) string {
	switch u := u.(type) {
	case *acp.UserMessage:
		return "echo " + string(u.MessageID)
	case *acp.UserMessageChunk:
		return "chunk " + string(u.MessageID)
	case *acp.AgentMessageChunk:
		return acp.PlainText(u.Content)
	case *acp.SessionStateUpdate:
		switch s := u.StateUpdate.(type) {
		case *acp.RunningStateUpdate:
			return "running"
		case *acp.RequiresActionStateUpdate:
			return "requires_action"
		case *acp.IdleStateUpdate:
			return strings.TrimSpace("idle " + string(s.StopReason))
		}
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", u), "*acp.")
}

// sendUpdate sends an update in its short form; see updateText. A state with a list of the
// background work ends with " +".
func sendUpdate(peer *rawpeer.Peer, line string) {
	line, listed := strings.CutSuffix(line, " +")
	word, rest, _ := strings.Cut(line, " ")
	background := ""
	if listed {
		background = `,"background":[]`
	}
	var update string
	switch word {
	case "echo":
		update = fmt.Sprintf(`"user_message","messageId":%q,"content":[{"type":"text","text":"hi"}]`, rest)
	case "chunk":
		update = fmt.Sprintf(`"user_message_chunk","messageId":%q,"content":{"type":"text","text":"hi"}`, rest)
	case "running", "requires_action", "idle":
		update = fmt.Sprintf(`"state_update","state":%q%s`, word, background)
		if rest != "" {
			update += fmt.Sprintf(`,"stopReason":%q`, rest)
		}
	default:
		update = fmt.Sprintf(`"agent_message_chunk","messageId":"m","content":{"type":"text","text":%q}`, line)
	}
	peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":`+update+`}}`)
}

// around returns a middleware that is written as one function.
func around(f func(ctx context.Context, method string, params any, next acp.Handler) (any, error)) acp.Middleware {
	return func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) { return f(ctx, method, params, next) }
	}
}
