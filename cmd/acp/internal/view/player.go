package view

import (
	"encoding/json"
	"maps"
	"sort"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	v2 "github.com/acpkit/go-sdk/draft2/acp"
	v2thread "github.com/acpkit/go-sdk/draft2/thread"
	"github.com/acpkit/go-sdk/rpcerr"
)

// player plays the messages of one session to a thread.
type player struct {
	thread *thread.Thread     // nil in a checkpoint
	state  *thread.Snapshot   // in a checkpoint
	calls  map[uint64]*played // requests in flight, by number
}

// played is a request in flight.
type played struct {
	params json.RawMessage
	key    uint64           // of a permission request, or a prompt of version 2, which the thread shows until the response
	before *thread.Snapshot // what a load has replaced; it is restored if the load fails
}

func newPlayer() *player { return &player{thread: thread.New(), calls: map[uint64]*played{}} }

// save returns a checkpoint.
func (p *player) save() *player {
	return &player{state: p.thread.Snapshot(), calls: maps.Clone(p.calls)}
}

// resume returns a player that goes on from a checkpoint.
func (p *player) resume() *player {
	q := &player{thread: thread.New(), calls: maps.Clone(p.calls)}
	q.thread.Continue(p.state)
	return q
}

// apply plays a message. A message that cannot be decoded changes nothing.
func (p *player) apply(version int, e *row, m *message) {
	call := &played{params: m.Params}
	switch {
	case e.Kind == recording.Response:
		if c := p.calls[e.Pair]; c != nil { // else the session begins with the response
			call = c
		}
		delete(p.calls, e.Pair)
		p.answered(version, e.Method, call, m)
		return
	case e.Kind == recording.Request:
		p.calls[e.Seq] = call
	}
	if version == 2 {
		p.apply2(e.Method, call)
	} else {
		p.apply1(e.Method, call)
	}
}

// with decodes params or a result and calls do, unless they cannot be decoded.
func with[T any](raw json.RawMessage, do func(*T)) {
	v := new(T)
	if raw != nil && json.Unmarshal(raw, v) == nil {
		do(v)
	}
}

func (p *player) apply1(method string, call *played) {
	switch method {
	case "session/update":
		with(call.params, func(n *acp.SessionNotification) { p.thread.Apply(n.Update) })
	case "session/prompt":
		with(call.params, func(req *acp.PromptRequest) { p.thread.Prompt(req.Prompt) })
	case "session/request_permission":
		with(call.params, func(req *acp.RequestPermissionRequest) {
			call.key = p.thread.Permission(req)
		})
	case "session/load":
		p.reload(call)
	}
}

func (p *player) apply2(method string, call *played) {
	switch method {
	case "session/update":
		with(call.params, func(n *v2.UpdateSessionNotification) { v2thread.Apply(p.thread, n.Update) })
	case "session/prompt":
		with(call.params, func(req *v2.PromptRequest) {
			v2thread.Prompt(p.thread, req.Prompt)
			queued := p.thread.Snapshot().Queued
			call.key = queued[len(queued)-1].Key
		})
	case "session/request_permission":
		with(call.params, func(req *v2.RequestPermissionRequest) {
			call.key = v2thread.Permission(p.thread, req)
		})
	case "session/resume":
		with(call.params, func(req *v2.ResumeSessionRequest) {
			if req.ReplayFrom != nil {
				p.reload(call)
			}
		})
	}
}

// reload empties the thread, which a replay fills again.
func (p *player) reload(call *played) {
	call.before = p.thread.Snapshot()
	p.thread.Reset()
}

// answered plays a response.
func (p *player) answered(version int, method string, call *played, m *message) {
	switch {
	case method == "session/request_permission":
		p.thread.Answered(call.key)
	case method == "session/prompt" && version == 2:
		var res v2.PromptResponse // without an id if the prompt failed
		with(m.Result, func(r *v2.PromptResponse) { res = *r })
		p.thread.Dequeue(call.key, string(res.MessageID))
	case method == "session/prompt":
		var res *acp.PromptResponse
		var err error
		if m.Error != nil {
			err = rpcerr.InternalError(nil)
		}
		with(m.Error, func(e *rpcerr.RequestError) { err = e })
		with(m.Result, func(r *acp.PromptResponse) { res = r })
		p.thread.EndTurn(res, err)
	case m.Error != nil && call.before != nil:
		p.thread.Restore(call.before)
	case m.Error != nil:
	case version == 2:
		p.opened2(method, m.Result)
	default:
		p.opened1(method, call, m.Result)
	}
}

func (p *player) opened1(method string, call *played, result json.RawMessage) {
	switch method {
	case "session/new", "session/fork", "session/load", "session/resume": // whose results have the same members
		with(result, func(r *acp.ResumeSessionResponse) { p.thread.Opened(r.Modes, r.ConfigOptions) })
	case "session/set_mode":
		with(call.params, func(r *acp.SetSessionModeRequest) { p.thread.Apply(&acp.CurrentModeUpdate{CurrentModeID: r.ModeID}) })
	case "session/set_config_option":
		with(result, func(r *acp.SetSessionConfigOptionResponse) {
			p.thread.Apply(&acp.ConfigOptionUpdate{ConfigOptions: r.ConfigOptions})
		})
	case "terminal/create":
		with(call.params, func(req *acp.CreateTerminalRequest) {
			with(result, func(r *acp.CreateTerminalResponse) {
				command := strings.Join(append([]string{req.Command}, req.Args...), " ")
				p.thread.Do(thread.TerminalChanged{ID: string(r.TerminalID), Command: &command, Cwd: new(string(req.Cwd))})
			})
		})
	case "terminal/output", "terminal/wait_for_exit":
		p.terminal(call.params, result)
	}
}

// terminal plays what a client responds about its terminal. The output is shown when the agent asks for
// it, because only then does it pass here.
func (p *player) terminal(params, result json.RawMessage) {
	type exit struct {
		ExitCode *int64
		Signal   string
	}
	with(params, func(req *struct{ TerminalID string }) {
		with(result, func(r *struct {
			Output     *string
			ExitStatus *exit
			exit
		}) {
			change := thread.TerminalChanged{ID: req.TerminalID}
			if r.Output != nil {
				change.Output = new([]byte(*r.Output))
			} else {
				r.ExitStatus = &r.exit
			}
			if r.ExitStatus != nil {
				change.Exit = new(&thread.Exit{Code: r.ExitStatus.ExitCode, Signal: r.ExitStatus.Signal})
			}
			p.thread.Do(change)
		})
	})
}

func (p *player) opened2(method string, result json.RawMessage) {
	switch method {
	case "session/new", "session/fork":
		with(result, func(r *v2.ResumeSessionResponse) { v2thread.Started(p.thread, r.ConfigOptions, r.AvailableCommands) })
	case "session/resume":
		with(result, func(r *v2.ResumeSessionResponse) { v2thread.Opened(p.thread, r.ConfigOptions, r.AvailableCommands) })
	case "session/set_config_option":
		with(result, func(r *v2.SetSessionConfigOptionResponse) {
			v2thread.Apply(p.thread, &v2.ConfigOptionUpdate{ConfigOptions: r.ConfigOptions})
		})
	}
}

// stateAt returns what a user interface shows of a session after the message at pos.
func (r *Recording) stateAt(of *session, pos int32) (*thread.Snapshot, error) {
	n := sort.Search(len(of.positions), func(i int) bool { return of.positions[i] > pos })
	checkpoint := of.checkpoints[n/checkpointEvery]
	if n%checkpointEvery == 0 {
		return checkpoint.state, nil
	}
	player := checkpoint.resume()
	for _, pos := range of.positions[n-n%checkpointEvery : n] {
		e := &r.entries[pos]
		var rec struct{ Raw message }
		if err := r.decode(e, &rec); err != nil {
			return nil, err
		}
		player.apply(of.conn.version, &e.row, &rec.Raw)
	}
	return player.thread.Snapshot(), nil
}
