package kit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
)

// A Session is one conversation, open on one connection. Its methods are safe for concurrent
// use. Those that send also store what session/load will show; they fail, and the turn ends, if it
// cannot be stored.
type Session struct {
	agent    *Agent
	conn     *agent.Conn
	client   *agent.Session
	id       acp.SessionID
	owner    string
	roots    []string     // the cwd, and further folders
	own      []tools.Tool // those of the author
	servers  MCPServers   // nil if there are none
	settings []Setting
	out      *output
	ending   <-chan struct{} // closed when the connection to the client begins to end
	gone     chan struct{}   // closed when the session has left memory

	workspace *workspace.Workspace

	setting sync.Mutex        // held while a setting changes
	stored  map[string]string // settings; guarded by setting

	logMu   sync.Mutex
	log     journal.Log // nil while an idle session is closed in memory
	used    time.Time   // when the log was last used
	dropped bool        // no log is opened any more

	mu       sync.Mutex
	busy     context.CancelCauseFunc // ends the turn that runs; nil if there is none
	over     error                   // why no turn can begin any more
	idle     *time.Timer
	tools    *tools.Registry
	commands Commands
	values   map[string]string // of the settings
	rules    map[ruleRecord]bool
	held     []string // notices that the client could not be shown yet
}

// ID returns the id of the session.
func (s *Session) ID() acp.SessionID { return s.id }

// Cwd returns the folder of the session, and further folders that it may use. They are folders of the
// client, which may run on another machine.
func (s *Session) Cwd() (cwd string, additional []string) {
	return s.roots[0], slices.Clone(s.roots[1:])
}

// Conn returns the connection that the session is open on, for what a Session has no method for, such
// as Conn().Session(s.ID()).AskForm. What is sent by it is not stored.
func (s *Session) Conn() *agent.Conn { return s.conn }

// meta returns what is stored of the session beside its records.
func (s *Session) meta() journal.Meta {
	log, err := s.journal()
	if err != nil {
		return journal.Meta{}
	}
	return log.Meta()
}

// stop ends the turn that runs, if there is one.
func (s *Session) stop(cause error) {
	s.mu.Lock()
	cancel := s.busy
	s.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// Workspace returns the files and commands of the session.
func (s *Session) Workspace() *workspace.Workspace { return s.workspace }

// Tools returns the tools of the session, for the model.
func (s *Session) Tools() []tools.Tool { return s.registry().Tools() }

// Text adds to the message of the agent. Deltas of a model are joined: the first one is sent
// at once, the following ones within 25 ms or 2 KiB. An update that session/load shows ends the
// message.
func (s *Session) Text(ctx context.Context, delta string) error {
	return s.out.write(ctx, false, delta)
}

// Thought adds to a thought of the agent, as Text does.
func (s *Session) Thought(ctx context.Context, delta string) error {
	return s.out.write(ctx, true, delta)
}

// EndMessage ends the message or thought that Text or Thought has begun, so that the next delta
// begins one of its own. A message of a model ends with its answer.
func (s *Session) EndMessage() error { return s.out.flush() }

// Update sends any update behind the text. Messages, tool calls, plans and usage are stored too.
// A tool call begins with an acp.ToolCall and ends with its turn: an update of one that has not
// begun, or has ended, does nothing.
func (s *Session) Update(ctx context.Context, u acp.SessionUpdate) error { return s.out.post(ctx, u) }

// Plan sends the plan, which takes the place of the one before.
func (s *Session) Plan(ctx context.Context, entries ...acp.PlanEntry) error {
	return s.Update(ctx, &acp.Plan{Entries: entries})
}

// Usage tells how many tokens of the context window the last request to the model has used.
func (s *Session) Usage(ctx context.Context, used, size uint64) error {
	return s.Update(ctx, &acp.UsageUpdate{Used: used, Size: size})
}

// Title sets the title of the session, of which the first line counts. A session without a title
// gets one from its first prompt.
func (s *Session) Title(ctx context.Context, title string) error {
	if title = oneLine(title); title == "" {
		return nil
	}
	s.setting.Lock() // so that the client learns of changes in their order
	defer s.setting.Unlock()
	log, err := s.journal()
	if err == nil {
		if err = log.SetMeta(func(m *journal.Meta) { m.Title = title }); err != nil {
			err = &storageError{err}
		}
	}
	if err != nil {
		s.stop(err)
		return err
	}
	return s.client.Title(ctx, title)
}

const maxTitle = 80 // bytes

// oneLine returns the first line with text of a title, cut at a rune.
func oneLine(text string) string {
	for line := range strings.Lines(strings.ToValidUTF8(text, "")) {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, line))
		if line == "" {
			continue
		}
		if len(line) > maxTitle {
			cut := maxTitle - len("…")
			for !utf8.RuneStart(line[cut]) {
				cut--
			}
			line = strings.TrimSpace(line[:cut]) + "…"
		}
		return line
	}
	return ""
}

// Notice shows the person a text that is no part of the conversation: at once if the client has
// notices, otherwise as a message before the next answer. It is not stored.
func (s *Session) Notice(ctx context.Context, text string) error {
	if s.conn.ClientCapabilities().Has("session.notices") {
		return s.client.Notice(ctx, acp.NoticeSeverityWarning, text, "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, text)
	return nil
}

// tellHeld sends the notices that wait, as one message.
func (s *Session) tellHeld(ctx context.Context) error {
	s.mu.Lock()
	held := s.held
	s.held = nil
	s.mu.Unlock()
	if len(held) == 0 {
		return nil
	}
	return s.client.Update(ctx, acp.AgentText(strings.Join(held, "\n")+"\n\n"))
}

// Run runs tool calls, asking for permission where that is needed; see tools.Registry.Run. An
// error means that the turn must end.
func (s *Session) Run(ctx context.Context, calls ...tools.Request) ([]tools.Done, error) {
	return s.registry().Run(ctx, s.env(), calls)
}

// Announce shows a tool call of which the model has said only the name yet. It returns the id
// for the Request of Run.
func (s *Session) Announce(ctx context.Context, name string) (acp.ToolCallID, error) {
	return s.registry().Announce(ctx, s.env(), name)
}

func (s *Session) env() tools.Env {
	env := tools.Env{Session: toolSession{s}, Rules: rules{s}, Logger: s.agent.log}
	if gate := s.agent.opts.Gate; gate != nil {
		env.Gate = func(_ context.Context, c *tools.Call) tools.Decision { return gate(s, c) }
	}
	return env
}

// toolSession is what package tools sees of a session.
type toolSession struct{ *Session }

// End stores what the model reads in place of a terminal, which is gone when session/load shows
// the call.
func (s toolSession) End(ctx context.Context, u *acp.ToolCallUpdate, model []tools.Part) error {
	var texts []acp.ToolCallContent
	for _, p := range model {
		if p.Data == nil {
			texts = append(texts, acp.ToolText(p.Text))
		}
	}
	return s.out.post(ctx, u, texts...)
}

// AskPermission asks behind the text. What was stored before survives the loss of power when
// the answer is acted on.
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

// rules are what the person has allowed for the session. They survive session/load.
type rules struct{ s *Session }

func (r rules) Allowed(rule tools.Rule) bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.s.rules[ruleRecord{rule.Tool, rule.What}]
}

func (r rules) Allow(ctx context.Context, rule tools.Rule) error {
	stored := ruleRecord{rule.Tool, rule.What}
	if err := r.s.store(ctx, record{journal.KindRule, stored}); err != nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.rules[stored] = true
	return nil
}

// Remember adds to what the model reads: values of the author's own, each encoded as JSON. They
// are no part of what session/load shows.
func (s *Session) Remember(items ...any) error { return s.remember(false, items) }

// Compact replaces all that the model reads. What the person sees stays as it is.
func (s *Session) Compact(items ...any) error { return s.remember(true, items) }

func (s *Session) remember(replace bool, items []any) error {
	r := modelRecord{Replace: replace, Items: make([]json.RawMessage, len(items))}
	for i, v := range items {
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("kit: what the model reads: %w", err)
		}
		r.Items[i] = data
	}
	return s.append(record{journal.KindModel, r})
}

// History returns what the model reads, as Remember and Compact have left it.
func (s *Session) History(ctx context.Context) ([]json.RawMessage, error) {
	log, err := s.journal()
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for r, err := range log.Read(ctx, 0) {
		if err != nil {
			return nil, err
		}
		if r.Kind != journal.KindModel {
			continue
		}
		var m modelRecord
		if err := json.Unmarshal(r.Data, &m); err != nil {
			return nil, err
		}
		if m.Replace {
			all = nil
		}
		all = append(all, m.Items...)
	}
	return all, nil
}
