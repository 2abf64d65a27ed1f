package hardening_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// grown tells how many MiB more are in use after f than before, when all that can be
// collected was.
func grown(f func()) float64 {
	before := settledHeap()
	f()
	return (float64(settledHeap()) - float64(before)) / (1 << 20)
}

// flood writes n lines in large pieces.
func flood(t testing.TB, p *echoPeer, n int, line func(b []byte, i int) []byte) {
	t.Helper()
	var b []byte
	for i := range n {
		b = append(line(b, i), '\n')
		if len(b) > 60<<10 || i == n-1 {
			_, err := p.Bytes.Write(b)
			require.NoError(t, err)
			b = b[:0]
		}
	}
}

func appendUpdate(b []byte, session, text string) []byte {
	return fmt.Appendf(b, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`, session, text)
}

// An agent may make up sessions without end: a client remembers a bounded part of
// what it says about them.
func TestSessionsWithoutEnd(t *testing.T) {
	n := 300_000
	if testing.Short() || pairtest.Race {
		n = 30_000
	}
	for name, say := range map[string]func(i int) (session, text string){
		"short": func(i int) (string, string) { return fmt.Sprintf("s%d", i), "x" },
		"one update each, too long to be kept": func(i int) (string, string) {
			if i%1000 > 0 {
				return "", ""
			}
			return fmt.Sprintf("s%d", i), tooLong
		},
		"long ids": func(i int) (string, string) {
			if i%1000 > 0 {
				return "", ""
			}
			return fmt.Sprintf("s%d%s", i, tooLong), "x"
		},
		"many updates of some": func(i int) (string, string) { return fmt.Sprintf("s%d", i%100), "xxxxxxxxxx" },
	} {
		t.Run(name, func(t *testing.T) {
			eachUser(t, func(t *testing.T, newUser func(*testing.T, userSetup) *user) {
				u := newUser(t, userSetup{onUpdate: func(string) {}})
				used := grown(func() {
					flood(t, u.echoPeer, n, func(b []byte, i int) []byte {
						session, text := say(i)
						if session == "" {
							return b
						}
						return u.appendUpdate(b, session, text)
					})
					u.echo()
				})
				t.Logf("%.1f MiB", used)
				assert.Less(t, used, 100.0)
				assert.Equal(t, "s1", u.open(), "a session that exists is not affected")
			})
		})
	}
}

// Sessions that were closed leave nothing behind.
func TestClosedSessions(t *testing.T) {
	type start = func(context.Context) (string, func(context.Context) error, error)
	for name, of := range map[string]func(u *user) start{
		"helper":        func(u *user) start { return u.startSession },
		"plain methods": func(u *user) start { return u.newSession },
	} {
		t.Run(name, func(t *testing.T) {
			eachUser(t, func(t *testing.T, newUser func(*testing.T, userSetup) *user) {
				u := newUser(t, userSetup{})
				used := grown(func() {
					callOK(t, func() error {
						for range 1000 {
							_, done, err := of(u)(t.Context())
							if err != nil {
								return err
							}
							if err := done(t.Context()); err != nil {
								return err
							}
						}
						return nil
					}, func() {
						for i := range 1000 {
							u.Answer(u.Expect("session/new"), fmt.Sprintf(`{"sessionId":"%d%s"}`, i, tooLong[:64<<10]))
							u.Answer(u.Expect("session/close"), `{}`)
						}
					})
				})
				assert.Less(t, used, 16.0)
			})
		})
	}
}

// The updates of a Turn that no one reads count as what they take once decoded.
func TestUnreadTurnWithMetas(t *testing.T) {
	eachUser(t, func(t *testing.T, newUser func(*testing.T, userSetup) *user) {
		const backlog = 16 << 20
		handled := make(chan struct{}, 1)
		u := newUser(t, userSetup{limits: acp.Limits{Backlog: backlog}, onUpdate: func(string) { handled <- struct{}{} }})
		u.open()
		wait := u.prompt(t.Context())
		prompt := u.Expect("session/prompt")
		u.SendLines(u.begins) // a message of its own in version 2

		// Forty objects in half a kilobyte are decoded: that much any message may hold.
		meta := `{"a":[{}` + strings.Repeat(`,{"":0}`, 40) + `]}`
		line := `{"jsonrpc":"2.0","method":"session/update","params":` + u.update("s1", "x", meta) + "}\n"
		sent := 0
		var wrote chan struct{}
		used := grown(func() {
			for reading := true; reading; sent++ {
				wrote = make(chan struct{})
				go func() { // ends when the client reads again, or has gone
					defer close(wrote)
					u.Bytes.Write([]byte(line))
				}()
				select {
				case <-handled:
				case <-time.After(2 * time.Second):
					reading = false // as a Turn that is not read demands
				}
			}
		})
		t.Logf("%.1f MiB after %d updates", used, sent)
		assert.Less(t, used, 2.0*backlog/(1<<20)) // spans that are not full included
		assert.Greater(t, used, 0.5*backlog/(1<<20))
		callOK(t, wait, func() {
			<-handled
			<-wrote
			u.turnEnds(prompt)
		})
	})
}

// The error response to a message with very many violations is short.
func TestManyViolations(t *testing.T) {
	eachAgent(t, func(t *testing.T, version int, p *echoPeer) {
		list := func(n int, item string) string {
			return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
		}
		for name, params := range map[string]string{
			"relative paths":  `{"cwd":"/","mcpServers":[],"additionalDirectories":` + list(1<<20, `"x"`) + `}`,
			"numbers":         `{"cwd":"/","mcpServers":` + list(1<<20, `0`) + `}`,
			"lists of lists":  `{"cwd":"/","mcpServers":` + list(1000, `{"name":"n","command":"/c","args":`+list(100, `0`)+`,"env":`+list(1000, `{}`)+`}`) + `}`,
			"names":           `{"cwd":"/","mcpServers":` + list(100, `{"name":0,"name":0,"name":0,"command":0,"args":0,"env":0}`) + `}`,
			"relative in all": `{"cwd":"x","mcpServers":` + list(100_000, `{"name":"","command":"c","args":[],"env":[{"name":"","value":""}]}`) + `}`,
		} {
			if version == 2 { // a server has a type there
				params = strings.ReplaceAll(params, `{"name":`, `{"type":"stdio","name":`)
			}
			t.Run(name, func(t *testing.T) {
				p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":` + params + `}`)
				m := p.Next()
				t.Logf("%d bytes answered to %d", len(m.Raw), len(params))
				assert.Equal(t, "-32602 1", m.String())
				assert.Less(t, len(m.Raw), 64<<10)
			})
		}
	})
}
