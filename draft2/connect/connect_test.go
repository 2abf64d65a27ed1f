package connect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// TestMain discards the log of the tests. The test binary is also an agent.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if os.Getenv(playAgent) != "" {
		os.Exit(playedAgent())
	}
	os.Exit(m.Run())
}

// script plays one agent at the other end of the stream.
type script func(p *rawpeer.Peer)

// agents dials one script after the other.
type agents struct {
	t       *testing.T
	scripts []script
	wait    sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	dials int
}

func newAgents(t *testing.T, scripts ...script) *agents {
	a := &agents{t: t, scripts: scripts}
	t.Cleanup(a.wait.Wait)
	return a
}

func (a *agents) dial(context.Context) (stream.Stream, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dials >= len(a.scripts) {
		a.dials++
		return nil, errors.New("there is no agent")
	}
	s, p := rawpeer.Pipe(a.t)
	play := a.scripts[a.dials]
	a.dials++
	a.wait.Go(func() { play(p) })
	return s, nil
}

func (a *agents) dialed() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dials
}

const (
	resultV1    = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"one","version":"1"},"models":[1]}`
	resultGoose = `{"protocolVersion":2,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"goose","version":"1"}}`
	resultV2    = `{"protocolVersion":2,"info":{"name":"two","version":"2"},"capabilities":{"session":{}}}`
)

func asked(t *testing.T, m rawpeer.Message) map[string]any {
	var params map[string]any
	require.NoError(t, json.Unmarshal(m.Params, &params))
	return params
}

// answers plays an agent that answers each initialize with the next of the results or errors, and
// then session/new.
func answers(t *testing.T, results ...string) script {
	return func(p *rawpeer.Peer) {
		for _, r := range results {
			m, ok := p.Recv()
			if !ok {
				return
			}
			if m.Method != "initialize" {
				t.Errorf("%s in place of initialize", m.Method)
			}
			if r == "" {
				p.Close()
				return
			}
			p.Write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + r + `}`))
		}
		for {
			m, ok := p.Recv()
			if !ok {
				return
			}
			if m.Method == "session/new" {
				p.Answer(m, `{"sessionId":"s"}`)
			}
		}
	}
}

func result(r string) string { return `"result":` + r }

func failure(code int, data string) string {
	if data != "" {
		data = `,"data":` + data
	}
	return fmt.Sprintf(`"error":{"code":%d,"message":"m"%s}`, code, data)
}

func end(t *testing.T, c *connect.Conn) {
	require.NoError(t, c.Close())
	require.NoError(t, c.Wait())
}

func TestWhichVersion(t *testing.T) {
	for name, c := range map[string]struct {
		scripts [][]string
		version int
		over    bool // the agent cannot be dialed again
	}{
		"version 2":                            {[][]string{{result(resultV2)}}, 2, false},
		"version 1":                            {[][]string{{result(resultV1)}}, 1, false},
		"goose":                                {[][]string{{result(resultGoose)}}, 1, false},
		"-32022 with data, again":              {[][]string{{failure(-32022, `{"requested":2,"supported":[1]}`)}, {result(resultV1)}}, 1, false},
		"neither shape, again":                 {[][]string{{result(`{"protocolVersion":2}`)}, {result(resultV1)}}, 1, false},
		"exits on the unknown version, again":  {[][]string{{""}, {result(resultV1)}}, 1, false},
		"-32022, asked again over the same":    {[][]string{{failure(-32022, `{"supported":[1]}`), result(resultV1)}}, 1, true},
		"neither shape, again over the same":   {[][]string{{result(`[]`), result(resultV1)}}, 1, true},
		"version 2 over the one stream":        {[][]string{{result(resultV2)}}, 2, true},
		"version 2 without its capabilities":   {[][]string{{result(`{"protocolVersion":2,"info":{"name":"a","version":"1"}}`)}}, 2, true},
		"version 1 over the one stream":        {[][]string{{result(`{"protocolVersion":1}`)}}, 1, true},
		"version as text, in the shape of one": {[][]string{{result(`{"protocolVersion":"2","agentCapabilities":{}}`)}}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			var scripts []script
			for _, results := range c.scripts {
				scripts = append(scripts, answers(t, results...))
			}
			a := newAgents(t, scripts...)
			var conn *connect.Conn
			var err error
			if c.over {
				s, _ := a.dial(t.Context())
				conn, err = connect.ConnectOver(t.Context(), s, nil)
			} else {
				conn, err = connect.Connect(t.Context(), a.dial, nil)
			}
			require.NoError(t, err)
			assert.Equal(t, c.version, conn.ProtocolVersion())
			assert.Equal(t, c.version == 1, conn.V1() != nil)
			assert.Equal(t, c.version == 2, conn.V2() != nil)
			assert.Equal(t, len(c.scripts), a.dialed())
			s, err := conn.StartSession(t.Context(), &connect.SessionParams{Cwd: "/w"})
			if c.version == 2 && !conn.Features().List {
				assert.ErrorAs(t, err, new(*acp.CapabilityError))
			} else {
				require.NoError(t, err)
				assert.Equal(t, "s", s.ID())
			}
			end(t, conn)
		})
	}
}

// An agent that cannot parse the request does not know its id, so an error without an id is the
// response to initialize. An id may be written as 1.0 instead of 1. The response to another request
// is ignored.
func TestIDOfTheResponse(t *testing.T) {
	for name, c := range map[string]struct {
		first string // ID is replaced by the id of the request
		dials int
	}{
		"an error without an id":        {`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}`, 2},
		"an id with a fraction of zero": {`{"jsonrpc":"2.0","id":ID.0,` + result(resultV1) + `}`, 1},
		"that of another request first": {`{"jsonrpc":"2.0","id":77,"error":{"code":-32600,"message":"m"}}` + "\n" + `{"jsonrpc":"2.0","id":ID,` + result(resultV1) + `}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			a := newAgents(t, func(p *rawpeer.Peer) {
				m := p.Expect("initialize")
				for line := range strings.SplitSeq(c.first, "\n") {
					p.Write([]byte(strings.ReplaceAll(line, "ID", string(m.ID))))
				}
				p.ExpectEnd()
			}, func(p *rawpeer.Peer) { acceptV1(t, p) })
			conn, err := connect.Connect(t.Context(), a.dial, &connect.Options{Handshake: 5 * time.Second})
			require.NoError(t, err)
			assert.Equal(t, 1, conn.ProtocolVersion())
			assert.Equal(t, c.dials, a.dialed())
			end(t, conn)
		})
	}
}

// acceptV1 plays an agent that requires and accepts an initialize of version 1 only.
func acceptV1(t *testing.T, p *rawpeer.Peer) {
	t.Helper()
	m := p.Expect("initialize")
	params := asked(t, m)
	assert.EqualValues(t, 1, params["protocolVersion"])
	assert.Contains(t, params, "clientCapabilities")
	assert.NotContains(t, params, "info")
	assert.NotContains(t, params, "capabilities")
	p.Answer(m, resultV1)
	p.ExpectEnd()
}

// The first initialize offers both versions, the second one only version 1.
func TestWhatIsAsked(t *testing.T) {
	leak.Check(t)
	a := newAgents(t, func(p *rawpeer.Peer) {
		m := p.Expect("initialize")
		params := asked(t, m)
		assert.EqualValues(t, 2, params["protocolVersion"])
		for _, name := range []string{"info", "capabilities", "clientCapabilities"} {
			assert.Contains(t, params, name)
		}
		p.Fail(m, -32022, "no")
		p.ExpectEnd()
	}, func(p *rawpeer.Peer) { acceptV1(t, p) })
	conn, err := connect.Connect(t.Context(), a.dial, nil)
	require.NoError(t, err)
	end(t, conn)
}

// With Options.Only, only that version is offered.
func TestOnlyOneVersion(t *testing.T) {
	leak.Check(t)
	a := newAgents(t, func(p *rawpeer.Peer) { acceptV1(t, p) }, func(p *rawpeer.Peer) {
		m := p.Expect("initialize")
		assert.NotContains(t, asked(t, m), "clientCapabilities")
		p.Answer(m, resultV2)
		p.ExpectEnd()
	}, answers(t, result(resultV1)), answers(t, result(resultGoose)))
	for i, only := range []int{1, 2} {
		conn, err := connect.Connect(t.Context(), a.dial, &connect.Options{Only: only})
		require.NoError(t, err)
		assert.Equal(t, only, conn.ProtocolVersion())
		assert.Equal(t, i+1, a.dialed())
		end(t, conn)
	}
	for _, only := range []int{2, 1} {
		_, err := connect.Connect(t.Context(), a.dial, &connect.Options{Only: only})
		assert.ErrorAs(t, err, new(*acp.VersionError), only)
	}
	_, err := connect.Connect(t.Context(), a.dial, &connect.Options{Only: 3})
	assert.ErrorContains(t, err, "Only")
	for want, o := range map[string]*connect.Options{
		"InitializeV1": {V1: func(*client.Conn) acp.Client { return listener1{} }, InitializeV1: &acp.InitializeRequest{}},
		"InitializeV2": {V2: func(*client2.Conn) acp2.Client { return listener2{} }},
	} {
		_, err := connect.Connect(t.Context(), a.dial, o)
		assert.ErrorContains(t, err, want)
	}
	assert.Equal(t, 4, a.dialed(), "no agent is started for nothing")
}

// If there is no common version, the error contains the versions of both ends, whatever the form of
// the response.
func TestNoCommonVersion(t *testing.T) {
	for name, c := range map[string]struct {
		scripts   [][]string
		supported []int
		answered  int
	}{
		"it lists others":                  {[][]string{{failure(-32022, `{"requested":2,"supported":[3,4]}`)}}, []int{3, 4}, 0},
		"it lists others as texts":         {[][]string{{failure(-32022, `{"supported":["3"]}`)}}, []int{3}, 0},
		"it says so twice":                 {[][]string{{failure(-32022, "")}, {failure(-32022, `{"supported":[3]}`)}}, []int{3}, 0},
		"it says so without data":          {[][]string{{failure(-32022, `"no"`)}, {failure(-32022, "")}}, nil, 0},
		"it answers with a newer version":  {[][]string{{result(`{"protocolVersion":3}`)}, {result(`{"protocolVersion":3}`)}}, nil, 3},
		"it takes the first for malformed": {[][]string{{failure(-32602, "")}, {failure(-32022, `{"supported":[3]}`)}}, []int{3}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			var scripts []script
			for _, results := range c.scripts {
				scripts = append(scripts, answers(t, results...))
			}
			a := newAgents(t, scripts...)
			_, err := connect.Connect(t.Context(), a.dial, nil)
			wrong, ok := errors.AsType[*acp.VersionError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, []int{1, 2}, wrong.Own)
			assert.Equal(t, c.supported, wrong.Supported)
			assert.Equal(t, c.answered, wrong.Answered)
			assert.Equal(t, len(c.scripts), a.dialed())
			if c.answered == 0 {
				assert.ErrorIs(t, err, rpcerr.ErrUnsupportedProtocolVersion)
			}
		})
	}
}

func TestOtherErrors(t *testing.T) {
	none := errors.New("no such program")
	for name, c := range map[string]struct {
		scripts []script
		dial    connect.Dial
		want    func(t *testing.T, err error)
	}{
		"it wants something else first": {[]script{answers(t, failure(-32000, ""))}, nil, func(t *testing.T, err error) {
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
		}},
		"it exits each time": {[]script{answers(t, ""), answers(t, "")}, nil, func(t *testing.T, err error) {
			assert.ErrorContains(t, err, "version 2 before")
		}},
		"it is gone the second time": {[]script{answers(t, "")}, nil, func(t *testing.T, err error) {
			assert.ErrorContains(t, err, "there is no agent")
			assert.ErrorContains(t, err, "dialed again because")
		}},
		"it cannot be dialed": {nil, func(context.Context) (stream.Stream, error) { return nil, none }, func(t *testing.T, err error) {
			assert.ErrorIs(t, err, none)
		}},
		"dial returns nothing": {nil, func(context.Context) (stream.Stream, error) { return nil, nil }, func(t *testing.T, err error) {
			assert.ErrorContains(t, err, "no stream")
		}},
		"too much before the response": {[]script{func(p *rawpeer.Peer) {
			for range 100 {
				if p.Write([]byte(`{"jsonrpc":"2.0","method":"_x","params":["`+strings.Repeat("x", 20_000)+`"]}`)) != nil {
					return
				}
			}
		}, answers(t, failure(-32603, ""))}, nil, func(t *testing.T, err error) {
			assert.ErrorContains(t, err, "before its response")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			dial := c.dial
			if dial == nil {
				dial = newAgents(t, c.scripts...).dial
			}
			_, err := connect.Connect(t.Context(), dial, nil)
			require.Error(t, err)
			c.want(t, err)
		})
	}
	_, err := connect.Connect(t.Context(), nil, nil)
	assert.ErrorContains(t, err, "no Dial")
	_, err = connect.ConnectOver(t.Context(), nil, nil)
	assert.ErrorContains(t, err, "nil stream")
}

// Messages around the response to initialize reach the client once and in order.
func TestNothingIsLost(t *testing.T) {
	for version, r := range map[int]string{1: resultV1, 2: resultV2} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			leak.Check(t)
			a := newAgents(t, func(p *rawpeer.Peer) {
				m := p.Expect("initialize")
				p.Notify("_early", `{"n":1}`)
				p.Notify("_early", `{"n":2}`)
				p.Answer(m, r)
				p.Notify("_early", `{"n":3}`)
				p.ExpectEnd()
			})
			seen := make(chan string, 10)
			note := peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
				if method == "_early" {
					seen <- fmt.Sprintf("%s", params)
				}
				return next(ctx, method, params)
			})
			conn, err := connect.Connect(t.Context(), a.dial, &connect.Options{
				V1: func(*client.Conn) acp.Client { return listener1{} }, ConnV1: &client.Options{Receiving: []acp.Middleware{note}},
				V2: func(*client2.Conn) acp2.Client { return listener2{} }, ConnV2: &client2.Options{Receiving: []acp.Middleware{note}},
				InitializeV1: nothing1, InitializeV2: nothing2,
			})
			require.NoError(t, err)
			for i := range 3 {
				assert.Equal(t, fmt.Sprintf(`{"n":%d}`, i+1), <-seen)
			}
			end(t, conn)
		})
	}
}

// nothing1 and nothing2 offer nothing.
var (
	nothing1 = &acp.InitializeRequest{ClientCapabilities: &acp.ClientCapabilities{}}
	nothing2 = &acp2.InitializeRequest{Capabilities: &acp2.ClientCapabilities{}}
)

// listener1 and listener2 handle extensions.
type listener1 struct{ acp.Client }
type listener2 struct{ acp2.Client }

func (listener1) HandleExtensionNotification(context.Context, string, json.RawMessage) error {
	return nil
}
func (listener2) HandleExtensionNotification(context.Context, string, json.RawMessage) error {
	return nil
}

func TestTheStartMayTakeSoLong(t *testing.T) {
	silent := func(p *rawpeer.Peer) {
		p.Expect("initialize")
		p.ExpectEnd()
	}
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		begun := time.Now()
		_, err := connect.Connect(t.Context(), newAgents(t, silent).dial, nil)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "Options.Handshake")
		assert.Equal(t, time.Minute, time.Since(begun))

		begun = time.Now()
		_, err = connect.Connect(t.Context(), newAgents(t, silent).dial, &connect.Options{Handshake: time.Second})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(begun))
	})
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the user has left")
		time.AfterFunc(time.Second, func() { cancel(gone) })
		a := newAgents(t, silent)
		_, err := connect.Connect(ctx, a.dial, &connect.Options{Handshake: -1})
		assert.ErrorIs(t, err, gone)
		assert.Equal(t, 1, a.dialed(), "not again")
	})
	synctest.Test(t, func(t *testing.T) { // ctx is for the handshake
		leak.Check(t)
		ctx, cancel := context.WithCancel(t.Context())
		conn, err := connect.Connect(ctx, newAgents(t, answers(t, result(resultV2))).dial, nil)
		require.NoError(t, err)
		time.Sleep(2 * time.Minute)
		cancel()
		time.Sleep(time.Minute)
		require.NoError(t, conn.Err(), "the time to start is over, and the connection lives")
		conn.Close()
		assert.NoError(t, conn.Wait())
	})
}
