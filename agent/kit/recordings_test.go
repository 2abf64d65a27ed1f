package kit_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/internal/passive"
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
		switch {
		case l.Event == "start":
			p = &process{version: 1, ids: map[int]string{}}
			all = append(all, p)
			clear(calls)
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
		var list []string
		for _, v := range offeredValue.FindAllSubmatch(raw, -1) { // also the values of groups
			list = append(list, string(v[1]))
		}
		if id := o.ID + o.ConfigID; id == "mode" {
			p.modes = nil
			for _, v := range list {
				p.modes = append(p.modes, acp.SessionMode{ID: acp.SessionModeID(v), Name: v})
			}
		} else if list != nil {
			p.options = append(p.options, kit.Setting{ID: id, Name: id, Values: values(list...)})
		}
	}
}

// replay is the state of replaying one recording with the agent under test.
type replay struct {
	t       *testing.T
	store   journal.Store
	ours    map[string]string // the ids of our sessions by the recorded ids
	deleted map[string]bool
	open    map[string]bool // sessions that are open on this connection

	version     int
	initialized bool
	worked      bool // a request was sent after initialize
	agent       *process
}

// TestRecordedClients sends the messages of recorded clients, with the ids of our sessions. Each
// request must get one response, which is valid by the schema and has the code that the protocol
// defines.
func TestRecordedClients(t *testing.T) {
	files, err := filepath.Glob("../../internal/recordings/transcripts*/*.jsonl")
	require.NoError(t, err)
	require.Len(t, files, 28)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &replay{t: t, store: new(journal.Memory), ours: map[string]string{}, deleted: map[string]bool{}}
				for _, p := range processes(t, file) {
					r.play(p)
				}
			})
		})
	}
}

func (r *replay) play(p *process) {
	t := r.t
	o := kit.Options{Info: acp.Implementation{Name: "kit", Version: "1"}, Turn: echo, Store: r.store, Logger: slog.New(slog.DiscardHandler), Modes: p.modes, Settings: p.options, Audio: true}
	if p.methods != nil {
		o.Auth = &kit.Auth{Methods: p.methods, Ready: func(context.Context) error { return nil }}
	}
	a := kit.New(&o)
	near, peer := rawpeer.Pipe(t)
	served := make(chan error, 1)
	go func() { // ends with the connection
		if p.version == 2 {
			served <- a.Serve(context.Background(), near)
		} else { // the agent of one version
			served <- agent.Serve(context.Background(), near, a.Connect, &agent.Options{Logger: o.Logger})
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
	r.open, r.initialized, r.worked, r.version, r.agent = map[string]bool{}, false, false, p.version, p
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
		if r.version == 1 || validID.Match(l.msg.ID) {
			assert.JSONEq(t, string(l.msg.ID), string(m.ID), raw)
		} else {
			assert.Equal(t, "null", string(m.ID), raw)
		}
		got := 0
		if m.Error != nil {
			got = m.Error.Code
		}
		assert.Equal(t, r.want(&l), got, "line %d: %s\n%s", l.line, raw, m.Raw)
		if l.msg.Method == "session/new" && m.Error != nil && p.ids[l.line] != "" { // the recorded agent takes servers that ours refuses
			m = exchange(`{"jsonrpc":"2.0","id":"own","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)[0]
		}
		r.note(&l, &m)
	}
}

// validID matches the ids that version 2 allows.
var validID = regexp.MustCompile(`^("|-?\d+$)`)

// want returns the code that the protocol defines for a request, or 0 for a result.
func (r *replay) want(l *recorded) int {
	var m struct{ JSONRPC string }
	_ = json.Unmarshal([]byte(l.Raw), &m)
	var p params
	bad := l.msg.Params != nil && json.Unmarshal(l.msg.Params, &p) != nil || r.malformed(l.msg.Method, &p)
	_, known := r.ours[p.SessionID]
	stored := known && !r.deleted[p.SessionID]
	v2 := r.version == 2
	switch method := l.msg.Method; {
	case m.JSONRPC != "2.0", v2 && !validID.Match(l.msg.ID):
		return -32600
	case method == "initialize":
		return r.wantInitialize(&p, bad)
	case !r.initialized:
		return -32600
	case !r.has(method):
		return -32601
	case bad:
		return -32602
	case method == "session/load", method == "session/resume":
		if !stored {
			return -32002
		}
	case method == "session/prompt", strings.HasPrefix(method, "session/set_"):
		if !r.open[p.SessionID] {
			return -32002
		}
		if option := cmp.Or(p.ConfigID, "mode"); method != "session/prompt" && !r.agent.offers(option, cmp.Or(p.ModeID, fmt.Sprint(p.Value))) {
			return -32602
		}
	case method == "terminal/cancel", method == "tool_call/cancel": // nothing that can be cancelled was announced
		return -32602
	}
	return 0
}

// params has the params of all requests.
type params struct {
	ProtocolVersion                             any
	Info                                        any
	SessionID, ModeID, ConfigID, Type, MethodID string
	Value, Cursor                               any
	Cwd                                         string
	MCPServers                                  []map[string]any
	ReplayFrom                                  any
	Prompt                                      []map[string]any
}

func (r *replay) wantInitialize(p *params, bad bool) int {
	version, ok := p.ProtocolVersion.(float64)
	switch {
	case !ok, version < 0, version > 65535, version != math.Trunc(version), r.version == 2 && version == 2 && p.Info == nil:
		return -32602
	case r.version == 1:
		return 0
	case version == 0:
		return -32022
	case r.initialized && (r.worked || version < 2):
		return -32600
	}
	return 0
}

// has reports whether our agent implements a method in this version.
func (r *replay) has(method string) bool {
	switch method {
	case "session/new", "session/prompt", "session/resume", "session/list", "session/close", "session/delete":
		return true
	case "session/load":
		return r.version == 1
	case "session/set_mode":
		return r.version == 1 && r.agent.modes != nil
	case "session/set_config_option":
		return r.version == 2 || r.agent.modes != nil || r.agent.options != nil
	case "authenticate":
		return r.version == 1 && r.agent.methods != nil
	case "auth/login", "terminal/cancel", "tool_call/cancel":
		return r.version == 2
	}
	return false
}

// malformed reports whether the params break a rule that does not depend on the state.
func (r *replay) malformed(method string, p *params) bool {
	v2 := r.version == 2
	switch method {
	case "session/new", "session/load", "session/resume":
		servers := v2 || p.MCPServers != nil || method == "session/resume"
		for _, s := range p.MCPServers {
			_, command := s["command"]
			kind, typed := s["type"]
			servers = servers && command && (typed && kind == "stdio" || !typed && !v2)
		}
		replay, _ := p.ReplayFrom.(map[string]any)
		return !strings.HasPrefix(p.Cwd, "/") || !servers || method != "session/new" && p.SessionID == "" || p.ReplayFrom != nil && replay["type"] != "start"
	case "session/prompt":
		for _, b := range p.Prompt {
			if _, text := b["text"]; b["type"] == "text" && !text {
				return true
			}
		}
		return p.SessionID == "" || len(p.Prompt) == 0
	case "session/set_config_option":
		_, text := p.Value.(string)
		return p.SessionID == "" || v2 && (p.Type != "id" || !text)
	case "session/set_mode", "session/close", "session/delete":
		return p.SessionID == ""
	case "session/list":
		return p.Cursor != nil && (v2 || p.Cursor != "") // our lists have one page
	case "authenticate", "auth/login":
		return !slices.ContainsFunc(r.agent.methods, func(m acp.AuthMethod) bool { return string(m.(*acp.AuthMethodAgent).ID) == p.MethodID })
	}
	return false
}

// offers reports whether the recorded agent offers a value of an option.
func (p *process) offers(option, value string) bool {
	if option == "mode" {
		return slices.ContainsFunc(p.modes, func(m acp.SessionMode) bool { return string(m.ID) == value })
	}
	return slices.ContainsFunc(p.options, func(o kit.Setting) bool {
		return o.ID == option && slices.ContainsFunc(o.Values, func(v acp.SessionConfigSelectOption) bool { return string(v.Value) == value })
	})
}

// note updates the state after a response.
func (r *replay) note(l *recorded, m *rawpeer.Message) {
	r.worked = r.worked || r.initialized && l.msg.Method != "initialize"
	var p, own struct {
		SessionID       string
		ProtocolVersion int
	}
	_, _ = json.Unmarshal(l.msg.Params, &p), json.Unmarshal(m.Result, &own)
	if m.Error != nil {
		return
	}
	switch l.msg.Method {
	case "initialize":
		r.initialized, r.version = true, own.ProtocolVersion
	case "session/new":
		if id := r.agent.ids[l.line]; id != "" {
			r.ours[id], r.open[id] = own.SessionID, true
		}
	case "session/load", "session/resume":
		r.open[p.SessionID] = true
	case "session/close":
		delete(r.open, p.SessionID)
	case "session/delete":
		delete(r.open, p.SessionID)
		r.deleted[p.SessionID] = true
	}
}
