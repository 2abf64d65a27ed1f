package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// A connection can end in each of these ways.
func TestEndOfAConnection(t *testing.T) {
	cause := errors.New("enough")
	for _, tt := range []struct {
		name string
		end  func(*client.Conn, *rawpeer.Peer, context.CancelCauseFunc)
		want error
	}{
		{"Close", func(c *client.Conn, _ *rawpeer.Peer, _ context.CancelCauseFunc) { c.Close() }, nil},
		{"end of input", func(_ *client.Conn, p *rawpeer.Peer, _ context.CancelCauseFunc) { p.Close() }, nil},
		{"ctx of Run", func(_ *client.Conn, _ *rawpeer.Peer, cancel context.CancelCauseFunc) { cancel(cause) }, cause},
		{"Shutdown", func(c *client.Conn, _ *rawpeer.Peer, _ context.CancelCauseFunc) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			assert.ErrorIs(t, c.Shutdown(ctx), context.DeadlineExceeded, "the turn goes on")
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				s, peer := rawpeer.Pipe(t)
				c := client.New(s, good, nil)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				ran := make(chan error, 1)
				go func() { ran <- c.Run(ctx) }() // ends with the connection
				synctest.Wait()
				go peer.Initialize(`{}`)
				_, err := c.Initialize(ctx, nil)
				require.NoError(t, err)
				require.NoError(t, c.Err())

				turn := c.Session("s1").Prompt(context.Background(), acp.Text("hi"))
				peer.Expect("session/prompt")
				tt.end(c, peer, cancel)
				_, err = turn.Wait()
				require.ErrorIs(t, err, acp.ErrClosed)
				assert.ErrorIs(t, <-ran, tt.want)
				<-c.Done()
				require.Error(t, c.Err())
				_, err = c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
				require.ErrorIs(t, err, acp.ErrClosed)
			})
		})
	}
}

// Shutdown of an agent waits until the turn in flight has ended.
func TestShutdownOfAnAgentWaitsForTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		as, cs := stream.Pipe()
		a := agent.New(as, func(*agent.Conn) acp.Agent {
			return &peertest.Agent{OnPrompt: func(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) {
				<-time.After(time.Second)
				return &acp.PromptResponse{StopReason: acp.StopReasonMaxTokens}, nil
			}}
		}, nil)
		c := client.New(cs, good, nil)
		require.NoError(t, a.Start(t.Context()))
		require.NoError(t, c.Start(t.Context()))
		_, err := c.Initialize(t.Context(), nil)
		require.NoError(t, err)
		turn := c.Session("s1").Prompt(t.Context(), acp.Text("hi"))
		synctest.Wait()
		require.NoError(t, a.Shutdown(t.Context()))
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonMaxTokens, res.StopReason)
		require.NoError(t, a.Wait())
		require.NoError(t, c.Wait())
	})
}

// playAgent makes the test binary an agent on its standard input and output.
const playAgent = "ACPKIT_TEST_PLAY_AGENT"

func serveStdio() {
	if os.Getenv(playAgent) == "yes" { // not an agent at all
		for {
			if _, err := fmt.Println("yes"); err != nil {
				os.Exit(1)
			}
		}
	}
	newAgent := func(conn *agent.Conn) acp.Agent {
		return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			s := conn.Session(req.SessionID)
			if acp.PlainText(req.Prompt...) == "die" {
				fmt.Fprintln(os.Stderr, "the agent is dying")
				os.Exit(3)
			}
			fmt.Println("a stray line") // must not appear between the messages
			text, err := s.ReadFile(ctx, "/x")
			if err != nil {
				return nil, err
			}
			if _, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "c1"}); err != nil {
				return nil, err
			}
			for i := range 3 {
				if err := s.Message(ctx, fmt.Sprint(text, i, " ")); err != nil {
					return nil, err
				}
			}
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		}}
	}
	if err := agent.Serve(context.Background(), stream.Stdio(), newAgent, nil); err != nil {
		log.Fatal(err)
	}
}

func spawn(t *testing.T, c acp.Client) (*client.Conn, *client.Session) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playAgent+"=1")
	process, err := stream.Command(cmd, nil)
	require.NoError(t, err)
	conn := rawpeer.Start(t, client.New(process, func(*client.Conn) acp.Client { return c }, nil))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err = conn.Initialize(ctx, nil)
	require.NoError(t, err)
	s, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	return conn, s
}

// Two processes talk over standard input and output.
func TestConversationBetweenProcesses(t *testing.T) {
	leak.Check(t)
	conn, s := spawn(t, &recording{})
	turn := s.Prompt(t.Context(), acp.Text("go"))
	got, err := turn.Text()
	require.NoError(t, err)
	assert.Equal(t, "hello0 hello1 hello2 ", got)
	res, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
	require.NoError(t, conn.Close())
	require.NoError(t, conn.Wait())
}

// If the agent's process dies, the error of the turn tells how it ended.
func TestAgentProcessThatDies(t *testing.T) {
	leak.Check(t)
	_, s := spawn(t, &recording{})
	_, err := s.Prompt(t.Context(), acp.Text("die")).Wait()
	require.ErrorIs(t, err, acp.ErrClosed)
	var exit *stream.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Contains(t, err.Error(), "the agent is dying")
}

// If the program is not an agent, the error of Connect contains its output.
func TestConnectQuotesNoise(t *testing.T) {
	leak.Check(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playAgent+"=yes")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	process, err := stream.Command(cmd, &stream.CommandOptions{Grace: time.Millisecond, OnNoise: func(string) { cancel() }})
	require.NoError(t, err)
	_, err = client.Connect(ctx, process, good, nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, `its standard output begins with "yes", which is not a message`)
}

// A line that quotes a message is logged, because a message may be lost with it. An object that is no
// message gets no error as its response: an agent that prints its log may end by that.
func TestLinesBesideMessages(t *testing.T) {
	const input = `DEBUG sent {"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"level":30,"method":"GET","id":7}` + "\nstarting\n"
	var output, logged bytes.Buffer
	var noise []string
	s := stream.Lines(strings.NewReader(input), &output, &stream.LinesOptions{Tolerant: true, OnNoise: func(text string) { noise = append(noise, text) }})
	conn := client.New(s, good, &client.Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	require.NoError(t, conn.Start(t.Context()))
	_ = conn.Wait() // the end of input
	assert.Empty(t, output.String())
	assert.Equal(t, strings.Split(strings.TrimSpace(input), "\n"), noise)
	assert.Contains(t, logged.String(), `msg="acp: skipped a line that looks like a message" end=client line="DEBUG sent {`)
	assert.NotContains(t, logged.String(), "starting")
}

// A response with the id "1" does not answer the request 1, and the log says which call still waits.
func TestStringForANumberAsID(t *testing.T) {
	var logged bytes.Buffer
	conn, peer := dial(t, &peertest.Client{}, &client.Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	var agent sync.WaitGroup
	agent.Go(func() { // ends with the second response
		m := peer.Expect("initialize")
		peer.Send(`{'jsonrpc':'2.0','id':'%s','result':{'protocolVersion':2}}`, m.ID)
		peer.Answer(m, `{"protocolVersion":1}`)
	})
	res, err := conn.Initialize(t.Context(), nil)
	require.NoError(t, err)
	assert.EqualValues(t, 1, res.ProtocolVersion)
	agent.Wait()
	require.NoError(t, conn.Close())
	_ = conn.Wait()
	assert.Contains(t, logged.String(), "whose id is a string, to a request whose id is a number")
	assert.Contains(t, logged.String(), "method=initialize")
}
