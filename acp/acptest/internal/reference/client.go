package reference

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/negotiate"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/client/terminals"
	client2 "github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/stream"
)

// Client is a client that opens a session in a folder, sends one prompt, and allows everything.
// It offers files, forms, and the terminals if they are set.
type Client struct {
	Cwd       string
	Terminals *terminals.Options

	// Silent leaves out the prompt.
	Silent bool
	// Careless makes the client serve files wherever they are.
	Careless bool
	// Lingers makes the client go on for a while when it should have ended.
	Lingers bool
}

// cancelGrace is how long an agent may take to end a turn that was cancelled.
const cancelGrace = 5 * time.Second

const lingering = time.Minute

// Run is one run of the client. When ctx is done it cancels its turn, and ends.
func (c Client) Run(ctx context.Context, s stream.Stream) error {
	if c.Lingers {
		defer time.Sleep(lingering)
	}
	h, err := host.New(&host.Options{
		Roots: []string{c.Cwd}, Terminals: c.Terminals,
		Ask: func(_ context.Context, q *permission.Question) (string, error) {
			return q.Pick(permission.AllowOnce), nil
		},
		Form: func(context.Context, *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
			return map[string]acp.ElicitationContentValue{"name": acp.ElicitationString("acptest")}, nil
		},
		SignIn: &signin.Options{Choose: func(_ context.Context, _ error, ways []signin.Way) (acp.AuthMethodID, error) { return ways[0].ID, nil }},
	})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	defer h.Close()
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	unstarted := context.AfterFunc(ctx, end)
	silent := slog.New(slog.DiscardHandler) // what the checks send is wrong on purpose
	conn, err := negotiate.ConnectOver(life, s, &negotiate.Options{
		Permission: h.Policy(), Logger: silent,
		V1: func(conn *client.Conn) acp.Client {
			if c.Careless {
				return &careless{acp.ClientWrapper{Client: h.Client(conn)}, c.Cwd}
			}
			return h.Client(conn)
		},
		ConnV1: &client.Options{CancelGrace: cancelGrace}, ConnV2: &client2.Options{CancelGrace: cancelGrace},
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	var session *negotiate.Session
	start := func(ctx context.Context) error {
		session, err = conn.StartSession(ctx, &negotiate.SessionParams{Cwd: c.Cwd})
		return err
	}
	if v1 := conn.V1(); v1 != nil {
		err = h.SignIn(life, v1, start)
	} else {
		err = start(life)
	}
	if err != nil || !unstarted() {
		return err
	}
	if c.Silent {
		select {
		case <-ctx.Done():
		case <-conn.Done():
		}
		return conn.Err()
	}
	_, err = session.Prompt(ctx, negotiate.Text("Hello.")).Wait()
	return err
}
