package hardening_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// addSeeds adds what ends have been sent so far: in recorded conversations, in the
// vectors of the official SDK, and by the tests of this package.
func addSeeds(f *testing.F) {
	const longest = 2 << 10 // longer ones only make the mutation slow
	for _, line := range seed.Short(f, longest) {
		f.Add(line)
	}
	for _, l := range hostileLines {
		if len(l.line) <= longest {
			f.Add([]byte(l.line))
		}
	}
}

// fuzzPeer writes first, input and last to the end under test, asks for an echo, and
// looks at all that s brings until that is answered.
func fuzzPeer(t *testing.T, to io.Writer, s stream.Stream, first string, input []byte, last string) {
	t.Helper()
	const id = `"the last question of this test"`
	go func() { // ends when all is written, or the pipe is closed
		for _, b := range [][]byte{[]byte(first), input, []byte("\n" + last + `{"jsonrpc":"2.0","id":` + id + `,"method":"_echo","params":[17]}` + "\n")} {
			if _, err := to.Write(b); err != nil {
				return
			}
		}
	}()
	for {
		line, err := s.Read()
		require.NoError(t, err, "the connection ended")
		e := envelope.Parse(line)
		switch e.Kind {
		case envelope.KindRequest, envelope.KindNotification, envelope.KindResponse:
		case envelope.KindErrorResponse:
			require.NoError(t, new(rpcerr.RequestError).UnmarshalJSON(e.Error), "%s", line)
			require.NotContains(t, string(e.Error), "panic")
		default:
			require.Failf(t, "no message", "%s", line)
		}
		if string(e.ID) == id {
			require.Equal(t, "[17]", string(e.Result))
			go func() { // ends with the pipe
				for err == nil {
					_, err = s.Read()
				}
			}()
			return
		}
	}
}

// pipes returns what an end reads and writes, and its other side.
func pipes(t *testing.T) (s stream.Stream, to io.Writer, from stream.Stream) {
	in, to2 := io.Pipe()
	from2, out := io.Pipe()
	// An end that does not answer fails the test instead of holding it up.
	late := time.AfterFunc(callTimeout, func() { to2.Close(); out.Close() })
	t.Cleanup(func() { late.Stop(); to2.Close(); from2.Close() })
	return stream.Lines(in, out, &stream.LinesOptions{MaxMessage: 64 << 10}), to2, stream.Lines(from2, nil, nil)
}

// FuzzAgent writes any bytes to an agent: it answers in messages, and the next request
// is answered.
func FuzzAgent(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		s, to, from := pipes(t)
		c := agent.New(s, sendsBack, &agent.Options{Unstable: true})
		require.NoError(t, c.Start(context.Background()))
		fuzzPeer(t, to, from, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`+"\n", input, "")
		require.NoError(t, c.Close())
	})
}

// FuzzClient writes any bytes to a client that waits for an answer: its call returns,
// and the next request is answered.
func FuzzClient(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		s, to, from := pipes(t)
		c := client.New(s, func(*client.Conn) acp.Client { return &testClient{} }, &client.Options{IgnoreCapabilities: true})
		require.NoError(t, c.Start(context.Background()))
		called := make(chan error, 1)
		go func() { // ends with the answer
			_, err := c.StartSession(context.Background(), &acp.NewSessionRequest{Cwd: "/"})
			called <- err
		}()
		_, err := from.Read()
		require.NoError(t, err)
		fuzzPeer(t, to, from, "", input, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`+"\n")
		checkCall(t, <-called)
		require.NoError(t, c.Close())
	})
}

// checkCall checks that err is of one of the documented types, so that a caller can
// distinguish it from other errors.
func checkCall(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	_, said := errors.AsType[*rpcerr.RequestError](err)
	_, invalid := errors.AsType[*acp.InvalidError](err)
	_, large := errors.AsType[*stream.TooLargeError](err)
	assert.True(t, said || invalid || large, "%T: %v", err, err)
}

// FuzzAnswer answers a call with anything: it returns a value or one of the errors
// that are documented.
func FuzzAnswer(f *testing.F) {
	seedAnswers(f, 1)
	ours, theirs := stream.Pipe()
	c := client.New(ours, func(*client.Conn) acp.Client { return &testClient{} }, &client.Options{IgnoreCapabilities: true})
	require.NoError(f, c.Start(context.Background()))
	f.Cleanup(func() { c.Close() })
	fuzzAnswer(f, theirs, func() error {
		return pairtest.Err(c.NewSession(context.Background(), &acp.NewSessionRequest{Cwd: "/"}))
	})
}

// seedAnswers adds results and errors, recorded and made up.
func seedAnswers(f *testing.F, version int) {
	for _, v := range recordedValues(f, version) {
		f.Add([]byte(v.raw), false)
	}
	for _, s := range []string{
		`{"code":-32603,"message":"Internal error","data":{"details":"x"}}`, `{"code":500,"message":"x","data":[1]}`, `{"code":1e3,"message":"\ud800","data":"x"}`,
		`{"code":-32002,"message":"x","data":{"sessionId":"s"}}`, `"text"`, `null`, `[]`, `{}`, `{"code":1.5,"message":""}`, `{"code":1e400,"message":""}`, `{"message":{}}`,
		`{"sessionId":"s","modes":{"currentModeId":"m","availableModes":[{"id":"m","name":"n"}]},"configOptions":[{"id":"c","name":"n","type":"select","currentValue":"v","options":[{"value":"v","name":"n"}]}]}`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
}

// fuzzAnswer makes calls, and responds to them at theirs, the other end.
func fuzzAnswer(f *testing.F, theirs stream.Stream, call func() error) {
	f.Fuzz(func(t *testing.T, answer []byte, fails bool) {
		if wire.Check(answer) != nil {
			return
		}
		called := make(chan error, 1)
		go func() { called <- call() }() // ends with the answer
		asked, err := theirs.Read()
		require.NoError(t, err)
		e := envelope.Parse(asked)
		b := append([]byte(`{"jsonrpc":"2.0","id":`), e.ID...)
		b = append(b, map[bool]string{false: `,"result":`, true: `,"error":`}[fails]...)
		b = append(append(b, bytes.ReplaceAll(answer, []byte("\n"), []byte(" "))...), '}')
		require.NoError(t, theirs.Write(b))
		err = <-called
		checkCall(t, err)
		if fails {
			require.Error(t, err)
		}
	})
}

// FuzzAgentOfVersion2 is FuzzAgent in version 2. Its prompts are held and worked on one by
// one, and the work is short.
func FuzzAgentOfVersion2(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		s, to, from := pipes(t)
		c := agent2.New(s, func(c *agent2.Conn) acp2.Agent {
			return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
				req, ok := params.(*acp2.PromptRequest)
				if !ok {
					return nil, nil
				}
				s := c.Session(req.SessionID)
				return s.Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
					return acp2.StopReasonEndTurn, s.Message(ctx, "m", acp2.PlainText(req.Prompt...))
				})
			}}
		}, &agent2.Options{Unstable: true})
		require.NoError(t, c.Start(context.Background()))
		fuzzPeer(t, to, from, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`+"\n", input, "")
		require.NoError(t, c.Close())
	})
}

// FuzzClientOfVersion2 is FuzzClient in version 2. The client has a turn in progress as well.
func FuzzClientOfVersion2(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		s, to, from := pipes(t)
		c := client2.New(s, func(*client2.Conn) acp2.Client { return &testClient2{} }, &client2.Options{IgnoreCapabilities: true})
		require.NoError(t, c.Start(context.Background()))
		called := make(chan error, 1)
		go func() { // ends with the response
			_, err := c.StartSession(context.Background(), &acp2.NewSessionRequest{Cwd: "/"})
			called <- err
		}()
		_, err := from.Read()
		require.NoError(t, err)
		turn := make(chan *client2.Turn, 1)
		go func() { turn <- c.Session("s").Prompt(context.Background(), acp2.Text("go")) }() // ends when it is sent
		_, err = from.Read()
		require.NoError(t, err)
		fuzzPeer(t, to, from, "", input, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`+"\n"+
			`{"jsonrpc":"2.0","id":2,"result":{"messageId":"m"}}`+"\n"+
			`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}}`+"\n")
		checkCall(t, <-called)
		if _, err := (<-turn).Accepted(); err != nil {
			checkCall(t, err)
		}
		require.NoError(t, c.Close())
	})
}

// FuzzAnswerOfVersion2 is FuzzAnswer in version 2.
func FuzzAnswerOfVersion2(f *testing.F) {
	seedAnswers(f, 2)
	ours, theirs := stream.Pipe()
	c := client2.New(ours, func(*client2.Conn) acp2.Client { return &testClient2{} }, &client2.Options{IgnoreCapabilities: true})
	require.NoError(f, c.Start(context.Background()))
	f.Cleanup(func() { c.Close() })
	fuzzAnswer(f, theirs, func() error {
		return pairtest.Err(c.NewSession(context.Background(), &acp2.NewSessionRequest{Cwd: "/"}))
	})
}
