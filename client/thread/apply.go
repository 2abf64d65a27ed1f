package thread

import (
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Apply applies an update of version 1 of the protocol. Call it for each update of the
// session, in order.
func (t *Thread) Apply(u acp.SessionUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch u := u.(type) { // without an Event in between, which would be an allocation
	case *acp.AgentMessageChunk:
		MessageChunk{RoleAgent, string(u.MessageID), block(u.Content), Meta(u.Meta)}.apply(t)
	case *acp.AgentThoughtChunk:
		MessageChunk{RoleThought, string(u.MessageID), block(u.Content), Meta(u.Meta)}.apply(t)
	case *acp.UserMessageChunk:
		MessageChunk{RoleUser, string(u.MessageID), block(u.Content), Meta(u.Meta)}.apply(t)
	default:
		if e := event(u); e != nil {
			e.apply(t)
		}
	}
}

// Prompt adds a prompt of the user and starts a turn. Call it before the prompt is sent.
func (t *Thread) Prompt(prompt []acp.ContentBlock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prompted("", contentBlocks(prompt))
	StateChanged{State: StateRunning}.apply(t)
}

// EndTurn ends the turn of the latest prompt, with the agent's response or with an error.
// Later updates do not belong to the turn.
func (t *Thread) EndTurn(res *acp.PromptResponse, err error) {
	turn := TurnOf(res)
	end := StateChanged{State: turn.State, StopReason: turn.StopReason, Usage: turn.Usage, Meta: turn.Meta}
	if err != nil {
		end.Error = failure(err)
		if end.StopReason == "" {
			end.StopReason = "error"
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.echoes = nil
	end.apply(t)
}

// TurnOf returns the value of Snapshot.Turn after a turn has ended with the response, which is nil
// if there was none.
func TurnOf(res *acp.PromptResponse) Turn {
	if res == nil {
		return Turn{State: StateIdle}
	}
	return Turn{State: StateIdle, StopReason: string(res.StopReason), Usage: tokens(res.Usage), Meta: Meta(res.Meta)}
}

// Permission adds a pending permission request. Call the returned function when the request
// has been answered; it may be called more than once.
func (t *Thread) Permission(req *acp.RequestPermissionRequest) (answered func()) {
	p := Permission{ToolCallID: string(req.ToolCall.ToolCallID), Title: req.ToolCall.Title, Meta: Meta(req.Meta)}
	for _, o := range req.Options {
		p.Options = append(p.Options, PermissionOption{
			ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind), Meta: Meta(o.Meta),
		})
	}
	return t.Ask(p, event(&req.ToolCall))
}

// Opened reports that the session was started, loaded or resumed. Modes and options are
// those of the response; nil if it has none. A replay ends with it: tool calls that are
// still open are marked as ended.
func (t *Thread) Opened(modes *acp.SessionModeState, options []acp.SessionConfigOption) {
	t.Do(opened(modes, options))
}

func opened(modes *acp.SessionModeState, options []acp.SessionConfigOption) SessionOpened {
	o := SessionOpened{}
	if modes != nil {
		o.Modes = modesOf(modes)
	}
	if options != nil {
		o.Options = new(optionsOf(options))
	}
	return o
}

func failure(err error) *Failure {
	f := &Failure{Message: err.Error()}
	if e, ok := errors.AsType[*rpcerr.RequestError](err); ok {
		f.Message, f.Code = e.Message, int(e.Code)
		f.Data = rawData(e.Data)
	}
	return f
}

func tokens(u *acp.Usage) *Tokens {
	if u == nil {
		return nil
	}
	return &Tokens{
		Total: u.TotalTokens, Input: u.InputTokens, Output: u.OutputTokens, Thought: u.ThoughtTokens,
		CachedRead: u.CachedReadTokens, CachedWrite: u.CachedWriteTokens, Meta: Meta(u.Meta),
	}
}
