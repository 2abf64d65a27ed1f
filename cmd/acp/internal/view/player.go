package view

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	v2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/thread"
	v2thread "github.com/acpkit/go-sdk/client/v2/thread"
	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/rpcerr"
)

// player plays the messages of one session to a thread.
type player struct {
	thread *thread.Thread    // nil in a checkpoint
	state  *thread.Snapshot  // in a checkpoint
	calls  map[int32]*played // requests in flight that matter, by position
}

// played is a request whose response changes the thread.
type played struct {
	params any
	// done ends what waits for the response: a permission request, or a queued prompt of version 2.
	done       func(result json.RawMessage)
	permission *thread.Permission
	queued     *thread.Queued
	before     *thread.Snapshot // of a load, whose failure restores it
}

func newPlayer() *player { return &player{thread: thread.New(), calls: map[int32]*played{}} }

// save returns a checkpoint.
func (p *player) save() *player {
	return &player{state: p.thread.Snapshot(), calls: maps.Clone(p.calls)}
}

// resume returns a player that goes on from a checkpoint.
func (p *player) resume() *player {
	q := newPlayer()
	q.thread.Continue(p.state)
	for _, pos := range slices.Sorted(maps.Keys(p.calls)) { // in the order of the requests
		c := *p.calls[pos]
		switch {
		case c.permission != nil:
			ask := *c.permission
			ask.Key = 0
			answered := q.thread.Ask(ask)
			c.done = func(json.RawMessage) { answered() }
		case c.queued != nil:
			c.done = inserted(q.thread.Enqueue(c.queued.Content.Slice()))
		}
		q.calls[pos] = &c
	}
	return q
}

// play plays a message and keeps a checkpoint now and then.
func (s *session) play(version int, method string, rec *recording.Record, m *message, pair, pos int32) {
	if s.played == nil {
		s.played = newPlayer()
		s.checkpoints = []checkpoint{{0, s.played.save()}}
	}
	s.played.apply(version, method, rec, m, pair, pos)
	if n := len(s.positions); n%checkpointEvery == 0 {
		s.checkpoints = append(s.checkpoints, checkpoint{n, s.played.save()})
	}
}

// apply plays a message. A message that cannot be decoded changes nothing.
func (p *player) apply(version int, method string, rec *recording.Record, m *message, pair, pos int32) {
	switch {
	case rec.Kind == recording.Response:
		if call := p.calls[pair]; call != nil || opens(method) {
			delete(p.calls, pair)
			p.answered(version, method, call, m)
		}
	case version == 2:
		p.apply2(method, m.Params, pos)
	default:
		p.apply1(method, m.Params, pos)
	}
}

func opens(method string) bool { return method == "session/new" || method == "session/fork" }

// read decodes params or a result.
func read[T any](raw json.RawMessage) *T {
	v := new(T)
	if raw == nil || json.Unmarshal(raw, v) != nil {
		return nil
	}
	return v
}

func (p *player) apply1(method string, params json.RawMessage, pos int32) {
	switch method {
	case "session/update":
		if n := read[acp.SessionNotification](params); n != nil {
			p.thread.Apply(n.Update)
		}
	case "session/prompt":
		if req := read[acp.PromptRequest](params); req != nil {
			p.thread.Prompt(req.Prompt)
			p.calls[pos] = &played{}
		}
	case "session/request_permission":
		if req := read[acp.RequestPermissionRequest](params); req != nil {
			p.ask(pos, p.thread.Permission(req))
		}
	case "session/load":
		p.calls[pos] = &played{before: p.thread.Snapshot()}
		p.thread.Reset()
	case "session/resume":
		p.calls[pos] = &played{}
	case "session/set_mode":
		p.calls[pos] = &played{params: read[acp.SetSessionModeRequest](params)}
	case "session/set_config_option":
		p.calls[pos] = &played{}
	case "terminal/create":
		p.calls[pos] = &played{params: read[acp.CreateTerminalRequest](params)}
	case "terminal/output":
		p.calls[pos] = &played{params: read[acp.TerminalOutputRequest](params)}
	case "terminal/wait_for_exit":
		p.calls[pos] = &played{params: read[acp.WaitForTerminalExitRequest](params)}
	}
}

func (p *player) apply2(method string, params json.RawMessage, pos int32) {
	switch method {
	case "session/update":
		if n := read[v2.UpdateSessionNotification](params); n != nil {
			v2thread.Apply(p.thread, n.Update)
		}
	case "session/prompt":
		if req := read[v2.PromptRequest](params); req != nil {
			done := v2thread.Prompt(p.thread, req.Prompt)
			queued := p.thread.Snapshot().Queued
			p.calls[pos] = &played{queued: &queued[len(queued)-1], done: func(result json.RawMessage) { done(read[v2.PromptResponse](result)) }}
		}
	case "session/request_permission":
		if req := read[v2.RequestPermissionRequest](params); req != nil {
			p.ask(pos, v2thread.Permission(p.thread, req))
		}
	case "session/resume":
		call := &played{}
		if req := read[v2.ResumeSessionRequest](params); req != nil && req.ReplayFrom != nil {
			call.before = p.thread.Snapshot()
			p.thread.Reset()
		}
		p.calls[pos] = call
	case "session/set_config_option":
		p.calls[pos] = &played{}
	}
}

// ask notes a permission request, which is the newest one that the thread lists.
func (p *player) ask(pos int32, answered func()) {
	call := &played{done: func(json.RawMessage) { answered() }}
	if listed := p.thread.Snapshot().Permissions; len(listed) > 0 {
		call.permission = &listed[len(listed)-1]
	}
	p.calls[pos] = call
}

// inserted adapts the function that ends a queued prompt.
func inserted(done func(id string)) func(json.RawMessage) {
	return func(result json.RawMessage) {
		id := ""
		if res := read[v2.PromptResponse](result); res != nil {
			id = string(res.MessageID)
		}
		done(id)
	}
}

// answered plays a response. call is nil for a request that precedes the session.
func (p *player) answered(version int, method string, call *played, m *message) {
	switch {
	case call != nil && call.done != nil:
		call.done(m.Result)
	case method == "session/prompt":
		var err error
		if m.Error != nil {
			e := &rpcerr.RequestError{}
			if json.Unmarshal(m.Error, e) != nil {
				e = rpcerr.InternalError(nil)
			}
			err = e
		}
		p.thread.EndTurn(read[acp.PromptResponse](m.Result), err)
	case m.Error != nil:
		if call != nil && call.before != nil {
			p.thread.Restore(call.before)
		}
	case version == 2:
		p.opened2(method, m.Result)
	default:
		p.opened1(method, call, m.Result)
	}
}

func (p *player) opened1(method string, call *played, result json.RawMessage) {
	switch method {
	case "session/new", "session/fork", "session/load", "session/resume": // whose results have the same members
		if r := read[acp.ResumeSessionResponse](result); r != nil {
			p.thread.Opened(r.Modes, r.ConfigOptions)
		}
	case "session/set_mode":
		if req, _ := call.params.(*acp.SetSessionModeRequest); req != nil {
			p.thread.Apply(&acp.CurrentModeUpdate{CurrentModeID: req.ModeID})
		}
	case "session/set_config_option":
		if r := read[acp.SetSessionConfigOptionResponse](result); r != nil {
			p.thread.Apply(&acp.ConfigOptionUpdate{ConfigOptions: r.ConfigOptions})
		}
	default:
		p.terminal(call, result)
	}
}

// terminal plays the response to a request about a terminal of a client. The agent asks for the output
// that the client has shown all the time.
func (p *player) terminal(call *played, result json.RawMessage) {
	var change thread.TerminalChanged
	exit := func(code *uint32, signal string) {
		e := &thread.Exit{Signal: signal}
		if code != nil {
			e.Code = new(int64(*code))
		}
		change.Exit = &e
	}
	switch req := call.params.(type) {
	case *acp.CreateTerminalRequest:
		if r := read[acp.CreateTerminalResponse](result); r != nil && req != nil {
			change.ID, change.Cwd = string(r.TerminalID), &req.Cwd
			change.Command = new(strings.Join(append([]string{req.Command}, req.Args...), " "))
		}
	case *acp.TerminalOutputRequest:
		if r := read[acp.TerminalOutputResponse](result); r != nil && req != nil {
			change.ID, change.Truncated = string(req.TerminalID), &r.Truncated
			change.Output = new([]byte(r.Output))
			if r.ExitStatus != nil {
				exit(r.ExitStatus.ExitCode, r.ExitStatus.Signal)
			}
		}
	case *acp.WaitForTerminalExitRequest:
		if r := read[acp.WaitForTerminalExitResponse](result); r != nil && req != nil {
			change.ID = string(req.TerminalID)
			exit(r.ExitCode, r.Signal)
		}
	}
	if change.ID != "" {
		p.thread.Do(change)
	}
}

func (p *player) opened2(method string, result json.RawMessage) {
	switch method {
	case "session/new", "session/fork":
		if r := read[v2.ResumeSessionResponse](result); r != nil {
			v2thread.Started(p.thread, r.ConfigOptions, r.AvailableCommands)
		}
	case "session/resume":
		if r := read[v2.ResumeSessionResponse](result); r != nil {
			v2thread.Opened(p.thread, r.ConfigOptions, r.AvailableCommands)
		}
	case "session/set_config_option":
		if r := read[v2.SetSessionConfigOptionResponse](result); r != nil {
			v2thread.Apply(p.thread, &v2.ConfigOptionUpdate{ConfigOptions: r.ConfigOptions})
		}
	}
}

// versionOf returns the version that a result of initialize has chosen, by its form: some agents
// answer 2 and go on in version 1.
func versionOf(result json.RawMessage) int {
	var r struct {
		ProtocolVersion int
		Info            json.RawMessage
	}
	if json.Unmarshal(result, &r) == nil && r.ProtocolVersion == 2 && r.Info != nil {
		return 2
	}
	return 1
}

// stateAt returns what a user interface shows of a session after the message at pos.
func (r *Recording) stateAt(of *session, pos int32) (*thread.Snapshot, error) {
	r.mu.RLock()
	version := r.conns[of.conn].version
	n := 0
	for n < len(of.positions) && of.positions[n] <= pos {
		n += checkpointEvery
	}
	n = min(n, len(of.positions))
	for n > 0 && of.positions[n-1] > pos {
		n--
	}
	if of.played == nil {
		r.mu.RUnlock()
		return &thread.Snapshot{}, nil
	}
	from := of.checkpoints[min(n/checkpointEvery, len(of.checkpoints)-1)]
	var todo []entry
	var at []int32
	for _, p := range of.positions[from.messages:n] {
		todo, at = append(todo, r.entries[p]), append(at, p)
	}
	names := r.names
	r.mu.RUnlock()

	if len(todo) == 0 {
		return from.state.state, nil
	}
	player := from.state.resume()
	for i := range todo {
		rec, err := r.record(&todo[i])
		if err != nil {
			return nil, err
		}
		var m message
		if rec.Raw != nil {
			_ = json.Unmarshal(rec.Raw, &m)
		}
		player.apply(version, names[todo[i].method], rec, &m, todo[i].pair, at[i])
	}
	return player.thread.Snapshot(), nil
}
