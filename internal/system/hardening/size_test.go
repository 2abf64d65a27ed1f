package hardening_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// maxMessage keeps the tests of messages that are too long short.
const maxMessage = 1 << 20

var shortLines = &stream.LinesOptions{MaxMessage: maxMessage}

// tooLong is the content of a string that no message has room for.
var tooLong = strings.Repeat("x", maxMessage)

// A request that is too long is answered with its own id, wherever that stands.
func TestRequestsThatAreTooLong(t *testing.T) {
	for name, tt := range map[string]struct {
		line string
		want []string
	}{
		"in front":          {`{"jsonrpc":"2.0","id":"a","method":"_echo","params":"` + tooLong + `"}`, []string{`-32600 "a"`}},
		"behind":            {`{"jsonrpc":"2.0","params":{"id":1,"x":["` + tooLong + `"]},"method":"_echo","id":-3}`, []string{"-32600 -3"}},
		"deep as well":      {`{"jsonrpc":"2.0","params":` + nested(maxMessage) + `,"method":"_echo","id":4}`, []string{"-32600 4"}},
		"two ids":           {`{"jsonrpc":"2.0","id":1,"params":"` + tooLong + `","method":"_echo","id":4}`, []string{"-32600 null"}},
		"notification":      {`{"jsonrpc":"2.0","method":"session/update","params":"` + tooLong + `"}`, []string{"-32600 null"}},
		"no JSON":           {tooLong + tooLong, []string{"-32600 null"}},
		"answer to nothing": {`{"jsonrpc":"2.0","id":99,"result":"` + tooLong + `"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ends(t, shortLines, func(t *testing.T, p *echoPeer) {
				p.SendLines(tt.line)
				assert.Equal(t, tt.want, brief(p.echoAnd(len(tt.want))))
			})
		})
	}
}

// badAnswers are what a hostile peer may answer, and what the caller gets.
var badAnswers = []struct {
	name, answer string // ID stands for the id of the call
	check        func(t *testing.T, err error)
}{
	{"too long", `{"jsonrpc":"2.0","id":ID,"result":{"sessionId":"` + tooLong + `"}}`, isTooLarge},
	{"too long, id behind", `{"result":{"sessionId":"` + tooLong + `"},"id":ID,"jsonrpc":"2.0"}`, isTooLarge},
	{"error that is too long", `{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"` + tooLong + `"}}`, isTooLarge},
	{"too deep", `{"jsonrpc":"2.0","id":ID,"result":` + nested(deep) + `}`, isInvalid},
	{"too deep, id behind", `{"result":{"x":` + nested(deep) + `},"id":ID,"jsonrpc":"2.0"}`, isInvalid},
	{"error that is too deep", `{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"","data":` + nested(deep) + `}}`, isInvalid},
	{"other type", `{"jsonrpc":"2.0","id":ID,"result":[1,2]}`, isInvalid},
	{"text", `{"jsonrpc":"2.0","id":ID,"result":"s1"}`, isInvalid},
	{"null", `{"jsonrpc":"2.0","id":ID,"result":null}`, isInvalid},
	{"member missing", `{"jsonrpc":"2.0","id":ID,"result":{}}`, isInvalid},
	{"member twice", `{"jsonrpc":"2.0","id":ID,"result":{"sessionId":"a","sessionId":"b"}}`, isInvalid},
	{"result twice", `{"jsonrpc":"2.0","id":ID,"result":{"sessionId":"a"},"result":{"sessionId":"b"}}`, isInvalid},
	{"both", `{"jsonrpc":"2.0","id":ID,"result":{"sessionId":"a"},"error":{"code":1,"message":""}}`, isInvalid},
	{"neither", `{"jsonrpc":"2.0","id":ID}`, isInvalid},
	{"no version", `{"id":ID,"result":{"sessionId":"a"}}`, isInvalid},
	{"error is a text", `{"jsonrpc":"2.0","id":ID,"error":"no"}`, isInvalid},
	{"error is null", `{"jsonrpc":"2.0","id":ID,"error":null}`, isInvalid},
	{"error without code", `{"jsonrpc":"2.0","id":ID,"error":{"message":"no"}}`, isInvalid},
	{"code beyond 32 bits", `{"jsonrpc":"2.0","id":ID,"error":{"code":1e400,"message":"no"}}`, isInvalid},
	{"code twice", `{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"no","code":-32000}}`, isInvalid},
	{"message is no text", `{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":{}}}`, isInvalid},
}

func isTooLarge(t *testing.T, err error) {
	var large *stream.TooLargeError
	require.ErrorAs(t, err, &large)
	assert.Equal(t, int64(maxMessage), large.Limit)
	assert.ErrorContains(t, err, "session/new")
}

func isInvalid(t *testing.T, err error) {
	var invalid *acp.InvalidError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "session/new result", invalid.Where)
	assert.Less(t, len(err.Error()), 1000)
}

// An answer that cannot be used fails its call, and nothing else.
func TestBadAnswers(t *testing.T) {
	for mode, lines := range map[string]*stream.LinesOptions{
		"strict": shortLines, "tolerant": {MaxMessage: maxMessage, Tolerant: true}, // as over stream.Command
	} {
		t.Run(mode, func(t *testing.T) { testBadAnswers(t, lines) })
	}
}

func testBadAnswers(t *testing.T, lines *stream.LinesOptions) {
	c, p := startClient(t, &testClient{}, nil, lines)
	checkBadAnswers(t, p, func() error {
		return pairtest.Err(c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"}))
	})
	t.Run("version 2", func(t *testing.T) {
		c, p := startClient2(t, &testClient2{}, nil, lines)
		checkBadAnswers(t, p, func() error {
			return pairtest.Err(c.NewSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"}))
		})
	})
}

// checkBadAnswers gives all bad answers to a call of session/new.
func checkBadAnswers(t *testing.T, p *echoPeer, call func() error) {
	for _, tt := range badAnswers {
		t.Run(tt.name, func(t *testing.T) {
			err := callWhile(t, call, func() {
				m := p.Expect("session/new")
				p.SendLines(strings.Replace(tt.answer, "ID", string(m.ID), 1))
			})
			require.Error(t, err)
			tt.check(t, err)
			assert.Empty(t, p.echo(), "an answer is never answered")
		})
	}
}

// The agent's end waits for answers too.
func TestBadAnswersToAnAgent(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         any // a pointer to an error of that type
	}{
		{"too long", `{"jsonrpc":"2.0","id":ID,"result":{"outcome":"` + tooLong + `"}}`, new(*stream.TooLargeError)},
		{"too deep", `{"jsonrpc":"2.0","id":ID,"result":` + nested(deep) + `}`, new(*acp.InvalidError)},
	} {
		asks := map[string]func(t *testing.T) (*echoPeer, func() error){
			"version 1": func(t *testing.T) (*echoPeer, func() error) {
				c, p := startAgent(t, &testAgent{}, nil, shortLines)
				return p, func() error {
					_, err := c.RequestPermission(t.Context(), &acp.RequestPermissionRequest{
						SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "t"},
						Options: []acp.PermissionOption{{OptionID: "o", Name: "n", Kind: acp.PermissionOptionKindAllowOnce}},
					})
					return err
				}
			},
			"version 2": func(t *testing.T) (*echoPeer, func() error) {
				c, p := startAgent2(t, &testAgent2{}, nil, shortLines)
				return p, func() error { return pairtest.Err(c.Session("s").AskPermission(t.Context(), "May I?", nil)) }
			},
		}
		for version, start := range asks {
			t.Run(tt.name+", "+version, func(t *testing.T) {
				p, ask := start(t)
				err := callWhile(t, ask, func() {
					m := p.Expect("session/request_permission")
					p.SendLines(strings.Replace(tt.answer, "ID", string(m.ID), 1))
				})
				assert.ErrorAs(t, err, tt.want)
				assert.Empty(t, p.echo())
			})
		}
	}
}

// settledHeap is the memory in use when nothing is left to collect.
func settledHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// Half a message and then the end: what came before is answered, the half is an error,
// and the end is a clean one.
func TestHalfAMessageAndTheEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		half string
		want []string
	}{
		"within a name":     {`{"jsonrpc":"2.0","id":2,"meth`, []string{"-32700 null"}},
		"within a value":    {`{"jsonrpc":"2.0","id":2,"method":"_echo","params":{"a":[1,2`, []string{"-32700 null"}},
		"within a rune":     {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"_\xc3", []string{"-32700 null"}},
		"without line feed": {`{"jsonrpc":"2.0","id":2,"method":"_echo","params":2}`, []string{"ok 2"}},
		"deep":              {`{"jsonrpc":"2.0","id":2,"method":"_echo","params":` + strings.Repeat("[", deep), []string{"-32600 null"}},
		"long":              {`{"jsonrpc":"2.0","id":2,"method":"_echo","params":"` + tooLong + tooLong, []string{"-32600 2"}},
	} {
		halve := func(t *testing.T, c runner, p *echoPeer) {
			p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"_echo","params":1}`)
			_, err := io.WriteString(p.Bytes, tt.half)
			require.NoError(t, err)
			require.NoError(t, p.Bytes.Close())
			var got []string
			for {
				m, ok := p.Recv()
				if !ok {
					break
				}
				got = append(got, m.String())
			}
			assert.ElementsMatch(t, append(tt.want, "ok 1"), got)
			assert.NoError(t, c.Wait())
		}
		t.Run(name, func(t *testing.T) {
			c, p := startAgent(t, &testAgent{}, nil, shortLines)
			halve(t, c, p)
		})
		t.Run(name+", version 2", func(t *testing.T) {
			c, p := startAgent2(t, &testAgent2{}, nil, shortLines)
			halve(t, c, p)
		})
	}
	half := func(t *testing.T, c runner, p *echoPeer, call func() error) {
		err := callWhile(t, call, func() {
			m := p.Expect("session/new")
			_, err := io.WriteString(p.Bytes, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"sessionId":"s`)
			require.NoError(t, err)
			require.NoError(t, p.Bytes.Close())
		})
		assert.ErrorIs(t, err, acp.ErrClosed)
		assert.NoError(t, c.Wait())
	}
	t.Run("of an answer", func(t *testing.T) {
		c, p := startClient(t, &testClient{}, nil, shortLines)
		half(t, c, p, func() error { return pairtest.Err(c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})) })
	})
	t.Run("of an answer, version 2", func(t *testing.T) {
		c, p := startClient2(t, &testClient2{}, nil, shortLines)
		half(t, c, p, func() error {
			return pairtest.Err(c.NewSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"}))
		})
	})
}
