package kit

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// A Session is one conversation, which is open on one connection. Its methods are safe for
// concurrent use. The methods that send an update also store it if session/load shows it. If it
// cannot be stored, they return an error and the turn ends.
type Session struct {
	agent    *Agent
	conn     *agent.Conn
	client   *agent.Session
	id       acp.SessionID
	owner    string
	system   *acp.SystemPrompt // of the client; nil if it sent none
	roots    []string          // the cwd and the additional folders
	recorded *acp.SystemPrompt // the last one in the journal; used by turns alone
	own      []tools.Tool      // the tools of the author
	servers  MCPServers        // nil if there are none
	rules    *tools.Rules
	settings []Setting
	out      *output
	gone     chan struct{} // closed when the session has left memory

	workspace *workspace.Workspace

	setting sync.Mutex // held while a setting changes

	remembering sync.Mutex // held while what the model reads is stored, so that the order is that of the log

	logMu    sync.Mutex
	log      journal.Log       // nil while an idle session is closed in memory
	used     time.Time         // when the log was last used
	seq      int64             // number of the last record that this session has read or written
	replaced int64             // the records that the model reads have greater numbers
	items    []json.RawMessage // what the model reads, while the log is open
	opened   int               // how often the log was opened
	failed   bool              // the log could not be written

	skipped []*Prompt // cancelled while they waited, since the last turn; used by turns alone

	mu       sync.Mutex
	busy     context.CancelCauseFunc // ends the running turn; nil if no turn runs
	over     error                   // why no further turn can begin; nil while one can
	idle     *time.Timer
	tools    *tools.Registry
	commands Commands
	values   map[string]string // of the settings
	spent    *acp.Usage        // of the running turn; nil if nothing is known
	cost     *acp.Cost         // of the session; nil if it is not known
	held     []string          // notices that could not be sent to the client yet
	onClose  []func()
	left     bool      // the functions of onClose are called
	missed   *restored // what another process has added, which the client does not know yet
}

// ID returns the id of the session.
func (s *Session) ID() acp.SessionID { return s.id }

// Cwd returns the folder of the session and the additional folders that it may use. They are
// folders of the client, which may run on another machine.
func (s *Session) Cwd() (cwd string, additional []string) {
	return s.roots[0], slices.Clone(s.roots[1:])
}

// Conn returns the connection on which the session is open. Use it for messages that Session has no
// method for, for example Conn().Session(s.ID()).AskForm. Such messages are not stored.
func (s *Session) Conn() *agent.Conn { return s.conn }

// Workspace returns the files and commands of the session.
func (s *Session) Workspace() *workspace.Workspace { return s.workspace }

// Tools returns the tools of the session, for the model.
func (s *Session) Tools() []tools.Tool { return s.registry().Tools() }

// Text adds a delta to the agent's message. The first delta is sent at once; the following ones are
// joined for up to 25 ms or 2 KiB. An update that session/load shows ends the message.
func (s *Session) Text(ctx context.Context, delta string) error {
	return s.out.write(ctx, false, delta)
}

// Thought adds a delta to the agent's thought, in the same way as Text.
func (s *Session) Thought(ctx context.Context, delta string) error {
	return s.out.write(ctx, true, delta)
}

// EndMessage ends the message or thought that Text or Thought has begun, so that the next delta
// begins a new one. Call it at the end of each answer of the model.
func (s *Session) EndMessage() error { return s.out.flush() }

// Update sends an update after the text so far. Messages, tool calls, plans and usage are stored
// too. A tool call begins with an acp.ToolCall and ends with its turn at the latest. An update of a
// tool call that has not begun or has ended is ignored.
func (s *Session) Update(ctx context.Context, u acp.SessionUpdate) error { return s.out.post(ctx, u) }

// SendPlan sends the complete plan, which replaces the previous one. An agent with several plans gives
// Update an [acp.PlanUpdate] or an [acp.PlanRemoved]: a client that supports only one plan gets the entries
// of an [acp.PlanItems] as that plan, and nothing of other plans.
func (s *Session) SendPlan(ctx context.Context, entries ...acp.PlanEntry) error {
	return s.Update(ctx, &acp.Plan{Entries: entries})
}

// Suggest replaces the prompts that the agent suggests to the person, the most likely first; none withdraws
// them. They are not stored. A client that did not advertise that it shows suggestions gets none. For
// prompts that are more than text, give Update an [acp.PromptSuggestionsUpdate].
func (s *Session) Suggest(ctx context.Context, prompts ...string) error {
	u := &acp.PromptSuggestionsUpdate{Suggestions: []acp.PromptSuggestion{}}
	for _, text := range prompts {
		u.Suggestions = append(u.Suggestions, acp.PromptSuggestion{Prompt: []acp.ContentBlock{acp.Text(text)}})
	}
	return s.Update(ctx, u)
}

// SendUsage reports the number of tokens that the last request to the model has used, and the size of
// the context window. A size of 0 means that it is not known, and reports nothing.
func (s *Session) SendUsage(ctx context.Context, used, size uint64) error {
	if size == 0 {
		return nil
	}
	s.mu.Lock()
	cost := s.cost
	s.mu.Unlock()
	return s.Update(ctx, &acp.UsageUpdate{Used: used, Size: size, Cost: cost})
}

// Count adds the tokens of one request to the model to the usage of the turn, which the response to
// the prompt has, and its cost to that of the session, which SendUsage reports. Both may be nil.
func (s *Session) Count(tokens *acp.Usage, cost *acp.Cost) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tokens != nil {
		sum := *cmp.Or(s.spent, new(acp.Usage))
		sum.TotalTokens, sum.InputTokens, sum.OutputTokens = sum.TotalTokens+tokens.TotalTokens, sum.InputTokens+tokens.InputTokens, sum.OutputTokens+tokens.OutputTokens
		sum.ThoughtTokens = added(sum.ThoughtTokens, tokens.ThoughtTokens)
		sum.CachedReadTokens = added(sum.CachedReadTokens, tokens.CachedReadTokens)
		sum.CachedWriteTokens = added(sum.CachedWriteTokens, tokens.CachedWriteTokens)
		s.spent = &sum
	}
	if cost != nil && (s.cost == nil || s.cost.Currency == cost.Currency) {
		total := *cost
		if s.cost != nil {
			total.Amount += s.cost.Amount
		}
		s.cost = &total
	}
}

func added(a, b *uint64) *uint64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return new(*a + *b)
}

// SetTitle sets the title of the session to the first line of the argument. The empty string clears the
// title. A session without a title gets one from its next prompt.
func (s *Session) SetTitle(ctx context.Context, title string) error {
	title = oneLine(title)
	s.setting.Lock() // so that changes reach the client in order
	defer s.setting.Unlock()
	err := s.use(context.Background(), func(log journal.Log) error {
		return log.SetMeta(func(m *journal.Meta) { m.Title = title })
	})
	if err != nil {
		return err
	}
	return s.client.SetTitle(ctx, title)
}

const maxTitle = 80 // bytes

// oneLine returns the first line of a text that is not blank, cut to maxTitle bytes between runes.
func oneLine(text string) string {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			return safetext.Label(safetext.OneLine(strings.Join(words, " "), maxTitle-len("...")))
		}
	}
	return ""
}

// SendNotice shows the person a text that is not part of the conversation. A client without notices
// gets it as a message before the next answer. It is not stored.
func (s *Session) SendNotice(ctx context.Context, text string) error {
	if s.conn.ClientCapabilities().Has("session.notices") {
		return s.client.SendNotice(ctx, acp.NoticeSeverityWarning, text, "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, text)
	return nil
}

// tellHeld sends the held notices as one message, with an id so that it does not continue another one.
func (s *Session) tellHeld(ctx context.Context) error {
	s.mu.Lock()
	held := s.held
	s.held = nil
	s.mu.Unlock()
	if len(held) == 0 {
		return nil
	}
	return s.client.Update(ctx, &acp.AgentMessageChunk{
		MessageID: acp.MessageID("notice_" + rand.Text()), Content: acp.Text(strings.Join(held, "\n") + "\n\n"),
	})
}

// Run runs tool calls and asks for permission where necessary; see tools.Registry.Run. If it
// returns an error, the turn must end.
func (s *Session) Run(ctx context.Context, calls ...tools.Request) ([]tools.Done, error) {
	return s.registry().Run(ctx, s.env(), calls)
}

// Announce shows a tool call of which only the name is known so far. It returns the id for
// tools.Request.ToolCallID.
func (s *Session) Announce(ctx context.Context, name string) (acp.ToolCallID, error) {
	return s.registry().Announce(ctx, s.env(), name)
}

func (s *Session) env() tools.Env {
	env := tools.Env{Session: toolSession{s}, Rules: s.rules, Logger: s.agent.log}
	if gate := s.agent.opts.Gate; gate != nil {
		env.Gate = func(_ context.Context, c *tools.Call) tools.Decision { return gate(s, c) }
	}
	return env
}

type todoInput struct {
	Entries []todo `json:"entries" description:"the whole plan; it takes the place of the one before" validate:"required,max=100,dive"`
}

type todo struct {
	Text   string `json:"text" description:"one step, in a few words" validate:"required,min=1,max=500"`
	Status string `json:"status" validate:"required,oneof=pending in_progress completed"`
}

// TodoTool returns a tool with which the model shows its plan.
func (s *Session) TodoTool() tools.Tool {
	t := tools.Typed("update_plan", "Shows the person the steps of the work and how far it has come. Use it for work of several steps.",
		func(ctx context.Context, _ *tools.Call, in todoInput) (tools.Result, error) {
			entries := make([]acp.PlanEntry, len(in.Entries))
			for i, e := range in.Entries {
				entries[i] = acp.PlanEntry{Content: e.Text, Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatus(e.Status)}
			}
			return tools.Text("The person sees the plan."), s.SendPlan(ctx, entries...)
		})
	t.Title, t.Kind, t.Effect = "Update the plan", acp.ToolKindThink, tools.Reads
	return t
}

// toolSession is a Session as a tools.Session.
type toolSession struct{ *Session }

// End stores the text for the model in place of a terminal, because the terminal no longer exists
// when session/load shows the call.
func (s toolSession) End(ctx context.Context, u *acp.ToolCallUpdate, model []tools.Part) error {
	var texts []acp.ToolCallContent
	for _, p := range model {
		if p.Data == nil {
			texts = append(texts, acp.ToolText(p.Text))
		}
	}
	return s.out.post(ctx, u, texts...)
}

// FailedCall converts the error as that of any tool call of the connection.
func (s toolSession) FailedCall(ctx context.Context, id acp.ToolCallID, err error) *acp.ToolCallUpdate {
	return s.client.FailedCall(ctx, id, err)
}

// AskPermission asks after the text so far. Before it returns, everything that was stored survives
// a loss of power.
func (s toolSession) AskPermission(ctx context.Context, call *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	if err := s.out.flush(); err != nil {
		return acp.PermissionOption{}, err
	}
	choice, err := s.client.AskPermission(ctx, call, options...)
	if err == nil && agent.Allows(choice) {
		err = s.sync(ctx)
	}
	return choice, err
}
