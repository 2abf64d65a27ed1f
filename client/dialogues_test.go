package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// caller makes the calls of a dialogue. Its client asks a person, who answers after the call answer, and
// ignores the end of the ctx of a permission request. It serves files that contain the folders of the session.
type caller struct {
	rooted
	session *client.Session // s1
	person  chan struct{}   // closed when the person answers

	mu    sync.Mutex // guards the fields below
	asked int
	seen  []string // updates outside of a turn
	ended []string // sessions that OnSessionEnd has named
	turn  *client.Turn
}

func (c *caller) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	c.count()
	<-c.person
	return acp.Selected("ok"), nil
}

func (c *caller) CreateElicitation(ctx context.Context, _ *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	c.count()
	<-ctx.Done()
	return nil, ctx.Err()
}

func (c *caller) count() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
}

func (c *caller) note(name string) func(context.Context, acp.SessionUpdate) {
	return func(_ context.Context, u acp.SessionUpdate) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = append(c.seen, strings.TrimSpace(name+" "+text(u)))
	}
}

// call makes a call by its name and returns its outcome: what it returned, and its error.
func (c *caller) call(line string) string {
	ctx := context.Background()
	name, arg, _ := strings.Cut(line, " ")
	var err error
	var got []string
	note := func(_ context.Context, u acp.SessionUpdate) { got = append(got, "<"+text(u)+">") }
	switch name {
	case "new":
		c.session, err = c.conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
	case "plain-new":
		_, err = c.conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
	case "load":
		if arg != "" {
			note = c.note(arg)
		}
		c.session, err = c.conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/"}, note)
	case "plain-load":
		_, err = c.conn.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: "s1", Cwd: arg})
	case "resume":
		c.session, err = c.conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"})
	case "plain-resume":
		dirs := strings.Fields(arg)
		_, err = c.conn.ResumeSession(ctx, &acp.ResumeSessionRequest{SessionID: "s1", Cwd: dirs[0], AdditionalDirectories: dirs[1:]})
	case "fork":
		_, err = c.conn.StartForkedSession(ctx, &acp.ForkSessionRequest{SessionID: "s1", Cwd: arg})
	case "ended":
		got = c.ended
	case "roots":
		dirs, _, _ := client.Asked(client.Handling(ctx, c.conn), acp.SessionID(arg))
		got = append(got, fmt.Sprint(dirs, dirs != nil))
	case "again":
		c.session = c.conn.Session("s1")
	case "session":
		c.session = c.conn.Session(acp.SessionID(arg))
	case "prompt":
		c.mu.Lock()
		turn := c.session.Prompt(ctx, acp.Text(arg))
		c.turn = turn
		c.mu.Unlock()
		var all string
		all, err = turn.Text()
		got = append(got, all)
	case "cancel":
		c.mu.Lock()
		turn := c.turn
		c.mu.Unlock()
		err = turn.Cancel(ctx)
	case "current":
		_, number, _ := client.Asked(client.Handling(ctx, c.conn), acp.SessionID(arg))
		got = append(got, fmt.Sprint(number))
	case "listen":
		c.session.OnUpdate(c.note(arg))
	case "stop-listening":
		c.session.OnUpdate(nil)
	case "seen":
		c.mu.Lock()
		defer c.mu.Unlock()
		got, c.seen = c.seen, nil
	case "asked":
		c.mu.Lock()
		defer c.mu.Unlock()
		got = append(got, fmt.Sprint(c.asked))
	case "answer":
		close(c.person)
	case "list":
		req := &acp.ListSessionsRequest{Cwd: "/x", Cursor: arg}
		for s, failed := range c.conn.Sessions(ctx, req) {
			if err = failed; err == nil {
				got = append(got, string(s.SessionID))
			}
		}
		if req.Cursor != arg {
			got = append(got, "the request was changed")
		}
	case "list-one":
		for s := range c.conn.Sessions(ctx, nil) {
			return string(s.SessionID)
		}
	case "close":
		err = c.session.Close(ctx)
	case "plain-close":
		_, err = c.conn.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: "s1"})
	case "delete":
		err = c.session.Delete(ctx)
	case "plain-delete":
		_, err = c.conn.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: acp.SessionID(arg)})
	case "delete-by-name":
		err = c.conn.Call(ctx, "session/delete", &acp.DeleteSessionRequest{SessionID: "s1"}, nil)
	case "mode":
		err = c.session.SetMode(ctx, acp.SessionModeID(arg))
	case "plain-mode":
		_, err = c.conn.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: acp.SessionID(arg), ModeID: "of-" + acp.SessionModeID(arg)})
	case "option":
		err = c.session.SetConfigOption(ctx, "model", acp.SessionConfigValueID(arg))
	case "plain-option":
		_, err = c.conn.SetSessionConfigOption(ctx, &acp.SetSessionConfigOptionRequest{SessionID: "s1", ConfigID: "model", Value: &acp.SessionConfigValue{Value: acp.SessionConfigValueID(arg)}})
	case "switch":
		err = c.session.SetConfigOptionBool(ctx, "web", true)
	case "settings":
		var b []byte
		b, err = json.Marshal([]any{c.session.Modes(), c.session.ConfigOptions()})
		got = append(got, string(b))
	default:
		return "no such call"
	}
	if err != nil {
		got = append(got, err.Error())
	}
	return strings.TrimSpace(strings.Join(got, " "))
}

func TestDialogues(t *testing.T) {
	rawpeer.Dialogues(t, "testdata/sessions.txtar", func(t *testing.T) (*rawpeer.Peer, func()) {
		leak.Check(t)
		c := &caller{person: make(chan struct{})}
		var peer *rawpeer.Peer
		c.conn, peer = open(t, c, `{"loadSession":true,"sessionCapabilities":{"close":{},"delete":{},"resume":{},"list":{},"fork":{},"additionalDirectories":{}}}`, &client.Options{Unstable: true})
		c.conn.OnSessionEnd(func(id acp.SessionID) { c.ended = append(c.ended, string(id)) })
		c.session = c.conn.Session("s1")
		peer.Do = c.call
		return peer, func() {
			require.NoError(t, c.conn.Close())
			require.NoError(t, c.conn.Wait())
		}
	})
}
