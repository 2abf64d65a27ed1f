package sessions_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acptest/passive"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// recorded is a line of a recording with its decoded message.
type recorded struct {
	Dir, Event, Raw string
	msg             rawpeer.Message
	line            int
}

// process holds the lines of one recorded process, which is a conversation of a client with an
// agent.
type process struct {
	lines   []recorded
	version int            // the version that the agent chose
	ids     map[int]string // ids of the sessions that the agent created, by the line of the request
	modes   kit.Modes
	options kit.Settings
	methods []acp.AuthMethod
}

// processes reads a recording.
func processes(t *testing.T, file string) (all []*process) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	var p *process
	calls := map[string]int{}
	for n := 1; lines.Scan(); n++ {
		l := recorded{line: n}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &l))
		_ = json.Unmarshal([]byte(l.Raw), &l.msg) // some lines are malformed on purpose
		if l.Event == "start" || p == nil {       // those of November tell of one process
			p = &process{version: 1, ids: map[int]string{}}
			all = append(all, p)
			clear(calls)
		}
		switch {
		case l.Dir == "send":
			p.lines = append(p.lines, l)
			if l.msg.Method != "" && l.msg.ID != nil {
				calls[string(l.msg.ID)] = n
			}
		case l.Dir == "recv" && l.msg.Method == "" && l.msg.Result != nil:
			p.learn(calls[string(l.msg.ID)], l.msg.Result)
		}
	}
	require.NoError(t, lines.Err())
	return all
}

var offeredValue = regexp.MustCompile(`"value":\s*"([^"]+)"`)

// learn records the modes and options that the recorded agent offers.
func (p *process) learn(line int, result json.RawMessage) {
	var r struct {
		ProtocolVersion int
		SessionID       string
		AuthMethods     []struct{ ID, MethodID, Type string }
		Modes           struct{ AvailableModes []acp.SessionMode }
		ConfigOptions   []json.RawMessage
	}
	_ = json.Unmarshal(result, &r)
	offered := p.methods != nil
	p.version = max(p.version, r.ProtocolVersion)
	p.ids[line] = r.SessionID
	for _, m := range r.AuthMethods {
		if m.Type != "terminal" && !offered {
			p.methods = append(p.methods, &acp.AuthMethodAgent{ID: acp.AuthMethodID(m.ID + m.MethodID), Name: "x"})
		}
	}
	if p.modes == nil {
		p.modes = r.Modes.AvailableModes
	}
	if p.options != nil || r.SessionID == "" {
		return
	}
	for _, raw := range r.ConfigOptions {
		var o struct{ ID, ConfigID string }
		_ = json.Unmarshal(raw, &o)
		var list []acp.SessionConfigSelectOption
		for _, v := range offeredValue.FindAllSubmatch(raw, -1) { // also the values of groups
			list = append(list, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(v[1]), Name: string(v[1])})
		}
		if id := o.ID + o.ConfigID; id == "mode" {
			p.modes = nil
			for _, v := range list {
				p.modes = append(p.modes, acp.SessionMode{ID: acp.SessionModeID(v.Value), Name: v.Name})
			}
		} else if list != nil {
			p.options = append(p.options, kit.Setting{ID: id, Name: id, Values: list})
		}
	}
}

// replay is the state of replaying one recording with the agent under test.
type replay struct {
	t        *testing.T
	store    journal.Store
	ours     map[string]string // the ids of our sessions by the recorded ids
	refusals []string          // the requests that have failed
}

var ownID = regexp.MustCompile("sess_[a-z2-7]{26}")

var writeRefusals = flag.Bool("update", false, "write testdata/refusals.txt")

// TestRecordedClients sends the messages of recorded clients, with the ids of our sessions. Each
// request must get one response, which is valid by the schema. Those that fail, and their codes, are
// in testdata/refusals.txt; read by the protocol whether a new one has to fail.
func TestRecordedClients(t *testing.T) {
	const golden = "testdata/refusals.txt"
	files, err := filepath.Glob("../../recordings/transcripts*/*.jsonl")
	require.NoError(t, err)
	require.Len(t, files, 40)
	var refusals []string
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &replay{t: t, store: new(journal.Memory), ours: map[string]string{}}
				for _, p := range processes(t, file) {
					r.play(p)
				}
				for _, line := range r.refusals {
					refusals = append(refusals, filepath.Base(filepath.Dir(file))+"/"+name+" "+line)
				}
			})
		})
	}
	got := strings.Join(refusals, "\n") + "\n"
	if *writeRefusals {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got)
}

func repeat(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	return "", errors.Join(s.Thought(ctx, "hm"), s.Text(ctx, "You said: "+acp.PlainText(p.Blocks...)))
}

func (r *replay) play(p *process) {
	t := r.t
	o := kit.Options{Info: acp.Implementation{Name: "kit", Version: "1"}, Turn: repeat, Store: r.store, Logger: slog.New(slog.DiscardHandler), Modes: p.modes, Settings: p.options, Audio: true}
	if p.methods != nil {
		o.Auth = &kit.Auth{Methods: p.methods, Ready: func(context.Context) error { return nil }}
	}
	a := kit.New(&o)
	near, peer := rawpeer.Pipe(t)
	served := make(chan error, 1)
	go func() { // ends with the connection
		if p.version == 2 {
			served <- serve.Serve(context.Background(), near, a.Agent, &serve.Options{Logger: o.Logger})
		} else { // the agent of one version
			served <- agent.Serve(context.Background(), near, a.Agent, &agent.Options{Logger: o.Logger})
		}
	}()
	var mu sync.Mutex
	var received []rawpeer.Message
	go func() { // ends with the connection
		for {
			m, ok := peer.Recv()
			if !ok {
				return
			}
			mu.Lock()
			received = append(received, m)
			mu.Unlock()
		}
	}()
	defer func() {
		peer.Close()
		<-served
	}()
	checker, seq := passive.New(), int64(0)
	judge := func(from passive.End, raw string) {
		seq++
		for _, fault := range checker.Feed(seq, from, []byte(raw)) {
			if fault.By == passive.Agent {
				t.Errorf("%s: %s", raw, fault.Text)
			}
		}
	}
	exchange := func(raw string) (responses []rawpeer.Message) {
		judge(passive.Client, raw)
		_ = peer.Write([]byte(raw)) // after the end there are no responses
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		for _, m := range received {
			judge(passive.Agent, m.Raw)
			if m.Method == "" {
				responses = append(responses, m)
			}
		}
		received = nil
		return responses
	}
	for _, l := range p.lines {
		if strings.TrimSpace(l.Raw) == "" || l.msg.Method == "" && l.msg.ID != nil { // a response to a request that we do not send
			continue
		}
		raw := l.Raw
		for recorded, own := range r.ours {
			raw = strings.ReplaceAll(raw, `"`+recorded+`"`, `"`+own+`"`)
		}
		responses := exchange(raw)
		if l.msg.Method == "" || l.msg.ID == nil || !assert.Len(t, responses, 1, "line %d: %s", l.line, raw) {
			continue
		}
		m := responses[0]
		line := fmt.Sprintf("%d: %s", l.line, l.msg.Method)
		if string(m.ID) == "null" && string(l.msg.ID) != "null" {
			line += ", answered without its id"
		} else {
			assert.JSONEq(t, string(l.msg.ID), string(m.ID), raw)
		}
		if m.Error != nil {
			r.refusals = append(r.refusals, fmt.Sprintf("%s: %d %s", line, m.Error.Code, ownID.ReplaceAllString(m.Error.Message, "SESSION")))
		}
		if l.msg.Method == "session/new" && m.Error != nil && p.ids[l.line] != "" { // the recorded agent takes servers that ours refuses
			m = exchange(`{"jsonrpc":"2.0","id":"own","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)[0]
		}
		if id := p.ids[l.line]; l.msg.Method == "session/new" && id != "" {
			var own struct{ SessionID string }
			require.NoError(t, json.Unmarshal(m.Result, &own), m.Raw)
			r.ours[id] = own.SessionID
		}
	}
}
