package permission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Scope is the state of a [Policy] for one connection: the decisions of a person, by session. It is
// safe for concurrent use.
type Scope struct {
	policy *Policy
	// asking holds a token while a person is asked, and calling while Options.Ask runs, which may
	// continue after its question was decided.
	asking, calling chan struct{}

	mu       sync.Mutex // guards all below
	sessions map[string]*session
	observed int // bytes of the tool calls of all sessions
	closed   bool
}

type session struct {
	turn   uint64
	grants map[string]int // how often an operation was allowed in the turn, by identity
	memory private
	calls  calls
}

// Scope returns a new Scope for one connection, which must be closed at its end.
func (p *Policy) Scope() *Scope {
	s := &Scope{policy: p, asking: make(chan struct{}, 1), calling: make(chan struct{}, 1), sessions: map[string]*session{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scopes[s] = struct{}{}
	return s
}

// EndSession removes the decisions of a session.
func (s *Scope) EndSession(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(id)
}

func (s *Scope) forgetLocked(id string) {
	if x := s.sessions[id]; x != nil {
		s.observed -= x.calls.bytes
		delete(s.sessions, id)
	}
}

// ErrClosed is the error of [Scope.Authorize] after [Scope.Close].
var ErrClosed = errors.New("permission: the scope is closed because its connection has ended")

// Close removes the state of all sessions. Call it when the connection has ended. After
// Close, the outcome of every question is "cancelled", and Authorize returns [ErrClosed].
func (s *Scope) Close() {
	s.policy.mu.Lock()
	delete(s.policy.scopes, s)
	s.policy.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.observed = true, 0
	clear(s.sessions)
}

func (s *Scope) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// sessionOf returns the state of a session, or nil after Close.
func (s *Scope) sessionOf(id string) *session {
	if s.closed {
		return nil
	}
	if s.sessions[id] == nil {
		s.sessions[id] = &session{grants: map[string]int{}, memory: private{}}
	}
	return s.sessions[id]
}

// grant records that a person has allowed operations in this turn. It grants nothing without a turn,
// because nothing would end the permission.
func (s *Scope) grant(id string, turn uint64, operations []Operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if turn == 0 {
		return
	}
	x := s.sessionOf(id)
	if x == nil || turn < x.turn {
		return
	}
	x.enter(turn)
	named := map[string]bool{"": true}
	for i := range operations {
		if identity := operations[i].identity(); !named[identity] {
			named[identity] = true // an agent may name an operation more than once
			x.grants[identity]++
		}
	}
}

// enter drops what was allowed in other turns.
func (x *session) enter(turn uint64) {
	if x.turn != turn {
		x.turn = turn
		clear(x.grants)
	}
}

// consume reports whether a person has allowed the operation in this turn, and removes that
// permission.
func (s *Scope) consume(id string, turn uint64, o *Operation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, identity := s.sessions[id], o.identity()
	if x == nil || turn == 0 || x.turn != turn || identity == "" || x.grants[identity] == 0 {
		return false
	}
	x.grants[identity]--
	return true
}

// Act is a read, a write or a command that the agent did not ask about.
type Act struct {
	// Session, Workspace, Turn and Agent are as in [Question].
	Session   string
	Workspace string
	Turn      uint64
	Agent     string
	Operation Operation
	// Variables are the variables that the agent sets for a command. Authorize sets Operation.Env
	// from them.
	Variables []Variable
	// Text is the new content of the file of a write, for display; nil if it is not known.
	Text *string
}

// Authorize returns nil if the operation may be done now, once. It returns a *[DeniedError]
// if the operation is denied, and the error of ctx if ctx is done first.
func (s *Scope) Authorize(ctx context.Context, a Act) error {
	if len(a.Variables) > 0 {
		a.Operation.setEnv(a.Variables)
	}
	v := s.policy.judgeOperation(&a.Operation, a.Workspace)
	a.Operation = a.Operation.asLine()
	q := &Question{
		Session: a.Session, Workspace: a.Workspace, Turn: a.Turn, Agent: a.Agent,
		Operations: []Operation{a.Operation}, Text: a.Text, Options: ownOptions,
	}
	d := &decision{scope: s, q: q, keys: operationKeys(q), whole: true, certain: q.Operations, variables: a.Variables}
	if a.Operation.Action == ActionRead && !v.decided {
		v.decision = Allow
	}
	outcome := d.decide(ctx, v, func() bool { return s.consume(a.Session, a.Turn, &a.Operation) })
	switch outcome.Decision {
	case Allow:
		return nil
	case Deny:
		return &DeniedError{Operation: a.Operation, By: outcome.By}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("permission: %w (%w)", ctx.Err(), context.Cause(ctx))
	}
	return ErrClosed
}

// Decide decides a question of the agent. Details of the tool call that the question lacks are
// taken from earlier updates; see [Scope.Observe]. Decide sets Operations, Claimed and, if a person
// is asked, the labels of the options and the options of this program. No rule allows a question that is about neither a tool call
// nor a command: a person is asked unless a rule denies it.
func (s *Scope) Decide(ctx context.Context, asked *Question) Outcome {
	q := *asked
	q.Claimed = true
	found := findings{}
	tool := &Tool{}
	if q.Tool != nil {
		q.Tool = s.known(q.Session, q.Tool)
		tool = q.Tool
		q.Title = cmp.Or(q.Title, tool.Title)
		found = s.policy.find(q.Agent, q.Workspace, tool)
	}
	found.line(q.Command, q.Cwd)
	v := s.policy.judgeQuestion(tool, q.Workspace, found.claims, found.all)
	found.asLines()
	q.Operations, q.complete = found.shown(), found.all
	q.vague = !found.areCertain("")
	d := &decision{scope: s, q: &q, certain: found.certain}
	d.keys, d.whole = toolKeys(&q, &found)
	if len(q.Options) == 0 || q.ambiguous() {
		return d.deny(ByOptions, "")
	}
	return d.decide(ctx, v, nil)
}

// ErrUnknownSession is the error of a question about a session that is not open. The agent
// receives the code -32602.
var ErrUnknownSession error = rpcerr.InvalidParams(map[string]any{
	"reason": "unknown_session", "recovery": map[string]string{"hint": "Open the session on this connection first"},
}).WithDetail("the session is not open")

// codeForbidden is the code of kind.Forbidden. Codes of HTTP have no meaning in the protocol.
const codeForbidden rpcerr.Code = -31005

// RequestError returns the error that the agent receives: that of the kind forbidden.
func (e *DeniedError) RequestError() *rpcerr.RequestError {
	what := map[Action]string{ActionRead: "reading this file", ActionWrite: "writing this file", ActionCommand: "running this command"}[e.Operation.Action]
	why := ""
	if e.By == ByLength {
		why = ", because it is too long for a person to read"
	}
	data := map[string]any{"kind": "forbidden", "retryable": false, "reason": "denied", // as of kind.Forbidden
		"recovery": map[string]string{"hint": "Ask the person what to do instead"}}
	return rpcerr.New(codeForbidden, "Permission denied: "+what+" was not allowed"+why, data)
}

// Requests answers session/request_permission of version 1 of the protocol. It is made for
// embedding in a client. All fields but Scope are optional.
type Requests struct {
	Scope *Scope
	// Session returns the folder and the turn of a session; see [Question]. If known is
	// false, the request fails with -32602 and no person is asked.
	Session func(ctx context.Context, id acp.SessionID) (workspace string, turn uint64, known bool)
	// Agent returns the name of the agent.
	Agent func() string
}

// RequestPermission responds as the policy of the Scope decides. The client must pass each
// update to [Scope.Apply], because a question may contain only the id of its tool call.
//
// Protocol: session/request_permission.
func (r *Requests) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	call, _ := thread.ToolCallOf(&req.ToolCall)
	q := &Question{Session: string(req.SessionID), Title: req.ToolCall.Title, Tool: ToolOf(call)}
	if r.Session != nil {
		known := false
		if q.Workspace, q.Turn, known = r.Session(ctx, req.SessionID); !known {
			return nil, ErrUnknownSession
		}
	}
	if r.Agent != nil {
		q.Agent = r.Agent()
	}
	for _, o := range req.Options {
		q.Options = append(q.Options, Option{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind)})
	}
	if o := r.Scope.Decide(ctx, q); o.OptionID != "" {
		return acp.Selected(acp.PermissionOptionID(o.OptionID)), nil
	}
	return acp.Cancelled(), nil
}
