package client_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// caller makes the calls of a dialogue.
type caller struct {
	conn    *client.Conn
	session *client.Session // s1
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
	case "load":
		c.session, err = c.conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/"}, note)
	case "resume":
		c.session, err = c.conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"})
	case "again":
		c.session = c.conn.Session("s1")
	case "prompt":
		var all string
		all, err = c.session.Prompt(ctx, acp.Text(arg)).Text()
		got = append(got, all)
	case "close":
		err = c.session.Close(ctx)
	case "plain-close":
		_, err = c.conn.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: "s1"})
	case "delete":
		err = c.session.Delete(ctx)
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
		conn, peer := open(t, &peertest.Client{}, `{"loadSession":true,"sessionCapabilities":{"close":{},"delete":{},"resume":{}}}`, nil)
		c := &caller{conn, conn.Session("s1")}
		peer.Do = c.call
		return peer, func() {
			require.NoError(t, conn.Close())
			require.NoError(t, conn.Wait())
		}
	})
}
