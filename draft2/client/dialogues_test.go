package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// caller makes the calls of a dialogue. Its client does not answer questions.
type caller struct {
	conn    *client.Conn
	session *client.Session // s1

	mu    sync.Mutex // guards the fields below
	asked int        // questions
	seen  []string   // updates outside of a turn
	ended []string   // sessions that OnSessionEnd has named
	turns []*client.Turn
	stops []context.CancelFunc // the ends of the ctx of each turn
}

func (c *caller) permission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if _, known := client.Asked(ctx, req.SessionID); known {
		c.mu.Lock()
		c.asked++
		c.mu.Unlock()
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (c *caller) note(name string) func(context.Context, acp.SessionUpdate) {
	return func(_ context.Context, u acp.SessionUpdate) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = append(c.seen, strings.TrimSpace(name+" "+updateText(u)))
	}
}

// taken returns the updates that were seen since the last call.
func (c *caller) taken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := strings.Join(c.seen, ", ")
	c.seen = nil
	return taken
}

// turn returns a turn by its number, and the end of its ctx.
func (c *caller) turn(number string) (*client.Turn, context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, _ := strconv.Atoi(number)
	return c.turns[n-1], c.stops[n-1]
}

// call makes a call by its name and returns its outcome: what it returned, and its error.
func (c *caller) call(line string) string {
	ctx := context.Background()
	name, arg, _ := strings.Cut(line, " ")
	var got any = ""
	var err error
	switch name {
	case "prompt":
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		c.mu.Lock()
		turn := c.session.Prompt(ctx, acp.Text("hi"))
		c.turns, c.stops = append(c.turns, turn), append(c.stops, stop)
		c.mu.Unlock()
		return outcomeOf(turn)
	case "text":
		got, err = c.session.Prompt(ctx, acp.Text("hi")).Text()
	case "accepted":
		turn, _ := c.turn(arg)
		_, err = turn.Accepted()
	case "cancel":
		turn, _ := c.turn(arg)
		err = turn.Cancel(ctx)
	case "end-ctx":
		_, stop := c.turn(arg)
		stop()
	case "cancel-session":
		err = c.session.Cancel(ctx)
	case "plain-prompt":
		_, err = c.conn.Prompt(ctx, &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("hi")}})
	case "plain-cancel":
		err = c.conn.Cancel(ctx, &acp.CancelSessionNotification{SessionID: "s1"})
	case "current":
		got, _ = client.Asked(client.Handling(ctx, c.conn), "s1")
	case "asked":
		c.mu.Lock()
		defer c.mu.Unlock()
		got = c.asked
	case "new":
		_, err = c.conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
	case "resume":
		var f func(context.Context, acp.SessionUpdate)
		if arg != "" {
			f = c.note(arg)
		}
		_, err = c.conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"}, &client.ResumeOptions{OnUpdate: f})
	case "replay":
		_, err = c.conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/", ReplayFrom: &acp.ReplayFromStart{}}, &client.ResumeOptions{OnUpdate: c.note("")})
		got = c.taken()
	case "listen":
		c.session.OnUpdate(c.note(arg))
	case "seen":
		got = c.taken()
	case "ended":
		got = strings.Join(c.ended, " ")
	case "close":
		err = c.session.Close(ctx)
	case "delete":
		err = c.session.Delete(ctx)
	case "has":
		_, got = client.Asked(client.Handling(ctx, c.conn), acp.SessionID(arg))
	case "state":
		got = fmt.Sprintf("%T, %d commands", c.session.State(), len(c.session.Commands()))
	case "set":
		err = c.session.SetConfigOption(ctx, "c", acp.SessionConfigValueID(arg))
	case "switch":
		err = c.session.SetConfigOptionBool(ctx, "c", true)
	case "options":
		b, _ := json.Marshal(c.session.ConfigOptions())
		got = string(b)
	case "list":
		var ids []string
		req := &acp.ListSessionsRequest{Cwd: acp.AbsolutePath(arg)}
		for s, failed := range c.conn.Sessions(ctx, req) {
			if err = failed; err == nil {
				ids = append(ids, string(s.SessionID))
			}
		}
		if got = strings.Join(ids, " "); req.Cursor != nil {
			got = "the request was changed"
		}
	case "sign-in-and-prompt":
		login := func(ctx context.Context, _ error) error {
			_, err := c.conn.Login(ctx, &acp.LoginAuthRequest{MethodID: "key"})
			return err
		}
		attempts := 0
		err = c.conn.SignInAndRetry(ctx, login, func(ctx context.Context) error {
			attempts++
			_, err := c.session.Prompt(ctx, acp.Text("hi")).Wait()
			return err
		})
		got = fmt.Sprint(attempts, " attempts")
	default:
		return "no such call"
	}
	if err != nil {
		got = fmt.Sprint(got, " ", err)
	}
	return strings.TrimSpace(fmt.Sprint(got))
}

func TestDialogues(t *testing.T) {
	rawpeer.Dialogues(t, "testdata/sessions.txtar", func(t *testing.T) (*rawpeer.Peer, func()) {
		leak.Check(t)
		c := &caller{}
		var peer *rawpeer.Peer
		c.conn, peer = open(t, &viewer{permission: c.permission}, `{"session":{"delete":{}}}`, nil)
		c.conn.OnSessionEnd(func(id acp.SessionID) { c.ended = append(c.ended, string(id)) })
		c.session = c.conn.Session("s1")
		peer.Do = c.call
		return peer, func() {
			require.NoError(t, c.conn.Close())
			require.NoError(t, c.conn.Wait())
		}
	})
}
