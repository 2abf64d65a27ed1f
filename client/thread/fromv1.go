package thread

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Apply applies an update of version 1 of the protocol. Call it for each update of the
// session, in order.
func (t *Thread) Apply(u acp.SessionUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active = time.Now()
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
	t.active = time.Now()
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
		end.StopReason = cmp.Or(end.StopReason, "error")
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

// Permission adds a pending permission request and returns its key. Call [Thread.Answered] when the request
// has been answered.
func (t *Thread) Permission(req *acp.RequestPermissionRequest) (key uint64) {
	p := Permission{
		ToolCallID: string(req.ToolCall.ToolCallID), Title: req.ToolCall.Title, Options: permissionOptions(req.Options), Meta: Meta(req.Meta),
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

// event returns the event of an update of version 1, or nil for a nil update.
func event(u acp.SessionUpdate) Event {
	switch u := u.(type) {
	case *acp.ToolCall, *acp.ToolCallUpdate:
		c, _ := ToolCallOf(u)
		return c
	case *acp.Plan:
		return PlanChanged{Plan{Entries: entries(u.Entries), Meta: Meta(u.Meta)}}
	case *acp.AvailableCommandsUpdate:
		return CommandsChanged{commands(u.AvailableCommands)}
	case *acp.CurrentModeUpdate:
		return modeChanged{string(u.CurrentModeID), Meta(u.Meta)}
	case *acp.UsageUpdate:
		return usage(u)
	case *acp.CompactionUpdate:
		c := CompactionChanged{ID: string(u.CompactionID), Status: fold.Text(string(u.Status)), Error: fold.TextPatch(u.Error), Meta: Meta(u.Meta)}
		c.Summary = fold.Patch(u.Summary, contentBlocks)
		return c
	case *acp.SubagentUpdate:
		return subagent(u)
	case *acp.CursorUpdate:
		return cursor(u)
	case *acp.SessionMessageChunk:
		return MessageChunk{Role: RoleSession, ID: string(u.MessageID), Content: block(u.Content), Meta: Meta(u.Meta)}
	}
	return alike(u)
}

// ToolCallOf returns what an update changes in a tool call, and reports whether the update is
// about one.
func ToolCallOf(u acp.SessionUpdate) (c ToolCallChanged, ok bool) {
	switch u := u.(type) {
	case *acp.ToolCall:
		c = toolCallChanged(fold.Announced(u))
		c.Begins = true
		return c, true
	case *acp.ToolCallUpdate:
		return toolCallChanged(u), true
	}
	return ToolCallChanged{}, false
}

func toolCallChanged(u *acp.ToolCallUpdate) ToolCallChanged {
	c := fold.Changed(u)
	return ToolCallChanged{
		ID: string(u.ToolCallID), Title: c.Title, Name: c.Name, Kind: c.Kind, Status: c.Status,
		Content: given(u.Content, toolContents), Locations: given(u.Locations, locations),
		RawInput: c.RawInput, RawOutput: c.RawOutput, Meta: Meta(u.Meta),
	}
}

func usage(u *acp.UsageUpdate) Event {
	c := UsageChanged{Used: u.Used, Size: u.Size, Meta: Meta(u.Meta)}
	if u.Cost != nil {
		cost := &Cost{Amount: u.Cost.Amount, Currency: u.Cost.Currency, Meta: Meta(u.Cost.Meta)}
		c.Cost = &cost
	}
	return c
}

func commands(list []acp.AvailableCommand) []Command {
	var all []Command
	for _, c := range list {
		command := Command{Name: c.Name, Description: c.Description, Meta: Meta(c.Meta)}
		switch in := c.Input.(type) {
		case *acp.UnstructuredCommandInput:
			command.TakesInput, command.Hint = true, in.Hint
			command.Meta = fold.Meta(command.Meta, Meta(in.Meta))
		case *acp.UnknownAvailableCommandInput:
			command.TakesInput, command.Raw = true, in.Raw
		}
		all = append(all, command)
	}
	return all
}

func subagent(u *acp.SubagentUpdate) Event {
	c := subagentChanged(u)
	if u.State.IsZero() {
		return c
	}
	state, reason := "", ""
	var (
		failed *Failure
		tally  *Tokens
	)
	switch s := u.State.Or(nil).(type) {
	case *acp.RunningStateUpdate:
		state = StateRunning
	case *acp.RequiresActionStateUpdate:
		state = StateRequiresAction
	case *acp.IdleStateUpdate:
		state, reason, tally = StateIdle, string(s.StopReason), tokens(s.Usage)
		if s.Error != nil {
			failed = &Failure{Message: s.Error.Message, Code: int(s.Error.Code), Data: rawData(s.Error.Data)}
		}
	case *acp.OtherStateUpdate:
		state = s.Type
	}
	c.State, c.StopReason, c.Error, c.Usage = &state, &reason, &failed, &tally
	return c
}

// given returns nil for a nil list, which keeps the earlier list.
func given[T, U any](list []T, f func([]T) []U) *[]U {
	if list == nil {
		return nil
	}
	return new(f(list))
}

func modesOf(m *acp.SessionModeState) *Modes {
	modes := &Modes{Current: string(m.CurrentModeID), Meta: Meta(m.Meta)}
	for _, mode := range m.AvailableModes {
		modes.Available = append(modes.Available, Mode{ID: string(mode.ID), Name: mode.Name, Description: mode.Description, Meta: Meta(mode.Meta)})
	}
	return modes
}

// rawData returns the data of an error as JSON.
func rawData(data any) json.RawMessage {
	if data == nil {
		return nil
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil
	}
	return raw
}

func link(b *acp.ResourceLink) Block {
	return Block{
		Type: BlockResourceLink, URI: b.URI, Name: b.Name, Title: b.Title, Description: b.Description, MIMEType: b.MIMEType,
		Size: b.Size, Annotations: annotations(b.Annotations), Meta: Meta(b.Meta),
	}
}

func diff(c *acp.Diff) ToolContent {
	change := FileChange{Operation: FileModify, Path: c.Path}
	if c.OldText == nil {
		change.Operation = FileAdd
	}
	return ToolContent{
		Type: ToolContentDiff, Meta: Meta(c.Meta),
		Diff: &Diff{Changes: []FileChange{change}, OldText: c.OldText, NewText: &c.NewText},
	}
}
