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
	calls  map[int32]*played // requests in flight, by position
}

// played is a request in flight.
type played struct {
	params json.RawMessage
	// done ends what waits for the response, which is one of the others: a permission request, or a
	// queued prompt of version 2.
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
		case c.done == nil:
		case c.permission != nil:
			ask := *c.permission
			ask.Key = 0
			answered := q.thread.Ask(ask)
			c.done = func(json.RawMessage) { answered() }
		case c.queued != nil:
			c.done = inserted(q.thread.Enqueue(c.queued.Content.Slice()))
		default:
			c.done = func(json.RawMessage) {} // the thread does not list it
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
	call := &played{params: m.Params}
	switch rec.Kind {
	case recording.Response:
		if call = p.calls[pair]; call == nil {
			call = &played{} // the session begins with the response
		}
		delete(p.calls, pair)
		p.answered(version, method, call, m)
		return
	case recording.Request:
		p.calls[pos] = call
	}
	if version == 2 {
		p.apply2(method, call)
	} else {
		p.apply1(method, call)
	}
}

// read decodes params or a result.
func read[T any](raw json.RawMessage) *T {
	v := new(T)
	if raw == nil || json.Unmarshal(raw, v) != nil {
		return nil
	}
	return v
}

func (p *player) apply1(method string, call *played) {
	switch method {
	case "session/update":
		if n := read[acp.SessionNotification](call.params); n != nil {
			p.thread.Apply(n.Update)
		}
	case "session/prompt":
		if req := read[acp.PromptRequest](call.params); req != nil {
			p.thread.Prompt(req.Prompt)
		}
	case "session/request_permission":
		if req := read[acp.RequestPermissionRequest](call.params); req != nil {
			p.ask(call, p.thread.Permission(req))
		}
	case "session/load":
		p.reload(call)
	}
}

func (p *player) apply2(method string, call *played) {
	switch method {
	case "session/update":
		if n := read[v2.UpdateSessionNotification](call.params); n != nil {
			v2thread.Apply(p.thread, n.Update)
		}
	case "session/prompt":
		if req := read[v2.PromptRequest](call.params); req != nil {
			done := v2thread.Prompt(p.thread, req.Prompt)
			queued := p.thread.Snapshot().Queued
			call.queued = &queued[len(queued)-1]
			call.done = func(result json.RawMessage) { done(read[v2.PromptResponse](result)) }
		}
	case "session/request_permission":
		if req := read[v2.RequestPermissionRequest](call.params); req != nil {
			p.ask(call, v2thread.Permission(p.thread, req))
		}
	case "session/resume":
		if req := read[v2.ResumeSessionRequest](call.params); req != nil && req.ReplayFrom != nil {
			p.reload(call)
		}
	}
}

// reload empties the thread, which a replay fills again.
func (p *player) reload(call *played) {
	call.before = p.thread.Snapshot()
	p.thread.Reset()
}

// ask notes a permission request, which is the newest one if the thread lists it.
func (p *player) ask(call *played, answered func()) {
	call.done = func(json.RawMessage) { answered() }
	if listed := p.thread.Snapshot().Permissions; len(listed) > 0 {
		call.permission = &listed[len(listed)-1]
	}
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

// answered plays a response.
func (p *player) answered(version int, method string, call *played, m *message) {
	switch {
	case call.done != nil:
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
		if call.before != nil {
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
		if req := read[acp.SetSessionModeRequest](call.params); req != nil {
			p.thread.Apply(&acp.CurrentModeUpdate{CurrentModeID: req.ModeID})
		}
	case "session/set_config_option":
		if r := read[acp.SetSessionConfigOptionResponse](result); r != nil {
			p.thread.Apply(&acp.ConfigOptionUpdate{ConfigOptions: r.ConfigOptions})
		}
	default:
		p.terminal(method, call.params, result)
	}
}

// terminal plays the response to a request about a terminal of a client. The agent asks for the output
// that the client has shown all the time.
func (p *player) terminal(method string, params, result json.RawMessage) {
	req, res := read[struct {
		TerminalID, Command, Cwd string
		Args                     []string
	}](params), read[struct {
		TerminalID, Output, Signal string
		ExitCode                   *int64
		ExitStatus                 *struct {
			ExitCode *int64
			Signal   string
		}
	}](result)
	if req == nil || res == nil {
		return
	}
	change := thread.TerminalChanged{ID: req.TerminalID}
	switch method {
	case "terminal/create":
		change.ID, change.Cwd, change.Command = res.TerminalID, &req.Cwd, new(strings.Join(append([]string{req.Command}, req.Args...), " "))
	case "terminal/output":
		change.Output = new([]byte(res.Output))
		if res.ExitStatus != nil {
			change.Exit = new(&thread.Exit{Code: res.ExitStatus.ExitCode, Signal: res.ExitStatus.Signal})
		}
	case "terminal/wait_for_exit":
		change.Exit = new(&thread.Exit{Code: res.ExitCode, Signal: res.Signal})
	default:
		return
	}
	p.thread.Do(change)
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
