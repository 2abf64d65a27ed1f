package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
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
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/stream"
)

// Every recorded conversation is replayed through both of our ends: the recorded client
// sends to our agent's end, which forwards every message to our client's end, which sends
// to the recorded agent. Each forwarded line must be equivalent to the recorded one, and
// nothing may be logged.
func TestReplay(t *testing.T) {
	for version := int64(1); version <= 2; version++ {
		s := loadSchema(t, version)
		for _, p := range transcripts(t, version) {
			t.Run(fmt.Sprintf("v%d/%s", version, p.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { newReplay(t, s, p.probe, version).run(initializeFirst(p.lines)) })
			})
		}
	}
}

// initializeFirst moves requests that a client sent before it had the response to initialize
// behind that response: our agent's end holds them back until then.
func initializeFirst(lines []recorded) []recorded {
	lines = slices.Clone(lines)
	for i, l := range lines {
		if m, ok := open(l.Raw); !ok || l.Dir != "send" || m.Method != "initialize" {
			continue
		}
		for j := i + 1; j < len(lines) && lines[j].Dir == "send"; j++ {
			if j+1 < len(lines) && lines[j+1].Dir == "recv" && idOf(lines[j+1]) == idOf(l) {
				response := lines[j+1]
				copy(lines[i+2:], lines[i+1:j+1])
				lines[i+1] = response
				break
			}
		}
	}
	return lines
}

func idOf(l recorded) string {
	m, _ := open(l.Raw)
	return string(m.ID)
}

// replay is one recorded conversation that is held again.
type replay struct {
	t       *testing.T
	schema  *schema
	probe   bool  // bad lines may be answered by our agent's end
	editor  *wire // plays the recorded client
	model   *wire // plays the recorded agent
	caller  end
	callee  end
	version int64 // of the protocol

	asked    map[string]*pending // what the client asked, by its id
	answered map[string]*pending // what the agent asked, by its id
	unopened map[string]bool     // sessions whose session/new our end has refused, and no update has named
	passed   int                 // messages that came through
	log      logBook
}

// logBook keeps what was logged since it was last looked at.
type logBook struct {
	mu      sync.Mutex
	records []slog.Record
}

func (l *logBook) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (l *logBook) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *logBook) WithGroup(string) slog.Handler                    { return l }

func (l *logBook) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r.Clone())
	return nil
}

// take returns the records that are at least that bad.
func (l *logBook) take(level slog.Level) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var texts []string
	for _, r := range l.records {
		if r.Level >= level {
			texts = append(texts, r.Message)
		}
	}
	l.records = nil
	return texts
}

// pending is a request that waits for its answer.
type pending struct {
	id        json.RawMessage // of the forwarded request, at the other end
	method    string
	session   string
	cancelled bool // by session/cancel
}

// end is one of our ends, of any version.
type end interface {
	Start(context.Context) error
	Close() error
	Wait() error
}

func newReplay(t *testing.T, s *schema, probe bool, version int64) *replay {
	r := &replay{t: t, schema: s, probe: probe, version: version, asked: map[string]*pending{}, answered: map[string]*pending{}, unopened: map[string]bool{}}
	log := slog.New(&r.log)
	editor, in, out := newWire(t)
	toEditor := stream.Lines(in, out, nil)
	model, in, out := newWire(t)
	toModel := stream.Lines(in, out, nil)
	r.editor, r.model = editor, model
	if version == 1 {
		r.caller = agent.New(toEditor, func(caller *agent.Conn) acp.Agent {
			c := client.New(toModel, func(*client.Conn) acp.Client { return caller },
				&client.Options{Unstable: true, IgnoreCapabilities: true, CancelGrace: time.Hour, Logger: log})
			r.callee = c
			return c
		}, &agent.Options{Unstable: true, IgnoreCapabilities: true, Logger: log})
	} else {
		r.caller = agent2.New(toEditor, func(caller *agent2.Conn) acp2.Agent {
			c := client2.New(toModel, func(*client2.Conn) acp2.Client { return caller },
				&client2.Options{Unstable: true, IgnoreCapabilities: true, CancelGrace: time.Hour, Logger: log})
			r.callee = c
			return c
		}, &agent2.Options{Unstable: true, IgnoreCapabilities: true, LenientPaths: true, Logger: log})
	}
	require.NoError(t, r.callee.Start(t.Context()))
	require.NoError(t, r.caller.Start(t.Context()))
	return r
}

func (r *replay) run(lines []recorded) {
	for _, l := range lines {
		at := fmt.Sprintf("line %d", l.line)
		e, ok := open(l.Raw)
		passed := r.passed
		switch {
		case l.Dir == "send" && !ok:
			assert.True(r.t, r.probe, "%s: not JSON", at)
			r.editor.write([]byte(l.Raw + "\n"))
			r.editor.take() // whatever it is answered with
			assert.Empty(r.t, r.model.take(), "%s: what is no message is not passed on", at)
		case l.Dir == "send":
			r.sent(at, l.Raw, &e)
		case ok:
			r.received(at, l.Raw, &e)
		default:
			r.t.Errorf("%s: the recorded agent said no message: %s", at, l.Raw)
		}
		switch {
		case r.passed > passed:
			assert.Equal(r.t, r.expectLog(&e), r.log.take(slog.LevelWarn), "%s: logged", at)
		case l.Dir == "recv":
			assert.Empty(r.t, r.log.take(slog.LevelError), "%s: logged", at)
		default:
			r.log.take(slog.LevelWarn) // bad input is worth a line
		}
		if r.t.Failed() {
			return // what follows would only repeat it
		}
	}
	r.editor.in.Close()
	r.model.in.Close()
	r.editor.settle()
	assert.NoError(r.t, r.caller.Close())
	assert.NoError(r.t, r.callee.Close())
	assert.NoError(r.t, r.caller.Wait())
	assert.NoError(r.t, r.callee.Wait())
	if !r.probe {
		assert.Positive(r.t, r.passed)
	}
}

// expectLog returns what must be logged about a message: nothing, except for the first update of a session
// that only the recorded agent has opened.
func (r *replay) expectLog(e *envelope) []string {
	var n struct{ SessionID string }
	if e.Method != "session/update" || json.Unmarshal(e.Params, &n) != nil || !r.unopened[n.SessionID] {
		return nil
	}
	delete(r.unopened, n.SessionID)
	return []string{"acp: received an update of a session that is not open: until it is opened, only Client.SessionUpdate sees its updates"}
}

// What was sent to the TypeScript SDK's router is sent to ours, which must choose the same
// version and respond with the same codes, in the same order.
func TestReplayOfTheRouter(t *testing.T) {
	played := 0
	for _, p := range allTranscripts(t) {
		if !strings.HasPrefix(p.name, "tsdk2-router-probe/") {
			continue
		}
		played++
		t.Run(p.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { askRouter(t, &p) }) })
	}
	assert.Equal(t, 7, played)
}

func askRouter(t *testing.T, p *recordedProcess) {
	f := &fixture2{}
	agents := &serve.Agents{
		V1: func(*agent.Conn) acp.Agent { return &fixture1{f} },
		V2: func(*agent2.Conn) acp2.Agent { return f },
	}
	switch {
	case strings.HasSuffix(p.name, "only_v1"):
		agents.V2 = nil
	case strings.HasSuffix(p.name, "only_v2"):
		agents.V1 = nil
	}
	w, in, out := newWire(t)
	ended := make(chan error, 1)
	go func() { // ends with the input
		ended <- serve.Route(context.Background(), stream.Lines(in, out, nil), agents, &serve.Options{Logger: slog.New(slog.DiscardHandler)})
	}()
	var want, got []string
	for _, l := range p.lines {
		if l.Dir == "recv" {
			want = append(want, outcomes(t, l.Raw)...)
			continue
		}
		w.write([]byte(l.Raw + "\n"))
		for _, line := range w.take() {
			got = append(got, outcomes(t, line)...)
		}
	}
	require.NotEmpty(t, want)
	assert.Equal(t, want, got)
	w.in.Close()
	assert.NoError(t, <-ended)
}

// outcomes says what a response is about: its id, and the code with what data an agent must
// send, or the version. Other messages say nothing here.
func outcomes(t *testing.T, line string) []string {
	e, ok := open(line)
	require.True(t, ok, "%s", line)
	if !e.isResponse() {
		return nil
	}
	var fault struct {
		Code int
		Data json.RawMessage
	}
	var result struct{ ProtocolVersion int }
	require.NoError(t, json.Unmarshal(orNull(e.Error), &fault))
	require.NoError(t, json.Unmarshal(orNull(e.Result), &result))
	text := fmt.Sprintf("id %s code %d version %d", e.ID, fault.Code, result.ProtocolVersion)
	if fault.Code == -32022 {
		text += " " + string(fault.Data)
	}
	return []string{text}
}
