package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/panics"
)

// session records what a client would see, one line for each message. Each id of a call is replaced
// by a number.
type session struct {
	answer func(ctx context.Context, options []acp.PermissionOption) (acp.PermissionOption, error)
	update func(line string) error

	mu    sync.Mutex
	lines []string
	ids   map[acp.ToolCallID]int

	failure string // the text of the last error
}

func (s *session) Update(_ context.Context, u acp.SessionUpdate) error {
	line := ""
	switch u := u.(type) {
	case *acp.ToolCall:
		line = s.line("call", u.ToolCallID, u.Title, string(u.Kind), string(u.Status), u.RawInput, u.Locations, u.Content)
	case *acp.ToolCallUpdate:
		line = s.line("update", u.ToolCallID, u.Title, string(u.Kind), string(u.Status), u.RawInput, u.Locations, u.Content)
	}
	if s.update != nil {
		return s.update(line)
	}
	return nil
}

func (s *session) FailedCall(_ context.Context, id acp.ToolCallID, err error) *acp.ToolCallUpdate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if panics.Contained(func() { s.failure = err.Error() }) != nil {
		err = nil
	}
	return acp.FailToolCall(id, err)
}

func (s *session) AskPermission(ctx context.Context, u *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	var names []string
	for _, o := range options {
		names = append(names, "("+o.Name+")")
	}
	s.line("ask", u.ToolCallID, u.Title, string(u.Kind), string(u.Status), u.RawInput, u.Locations, u.Content, names...)
	return s.answer(ctx, options)
}

func (s *session) line(what string, id acp.ToolCallID, title, kind, status string, input json.RawMessage, at []acp.ToolCallLocation, content []acp.ToolCallContent, more ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[acp.ToolCallID]int{}
	}
	if s.ids[id] == 0 {
		s.ids[id] = len(s.ids) + 1
	}
	words := []string{what, fmt.Sprint(s.ids[id])}
	for _, w := range []string{title, kind, status, string(input)} {
		if w != "" {
			words = append(words, w)
		}
	}
	for _, l := range at {
		words = append(words, "@"+l.Path)
	}
	if content != nil {
		var all []string
		for _, x := range content {
			switch x := x.(type) {
			case *acp.Diff:
				all = append(all, "diff of "+x.Path)
			case *acp.Content:
				all = append(all, x.Content.(*acp.TextContent).Text)
			}
		}
		words = append(words, "["+strings.Join(all, " | ")+"]")
	}
	line := strings.Join(append(words, more...), " ")
	s.lines = append(s.lines, line)
	return line
}

// choose answers a question with the option of a kind.
func choose(kind acp.PermissionOptionKind) func(context.Context, []acp.PermissionOption) (acp.PermissionOption, error) {
	return func(_ context.Context, options []acp.PermissionOption) (acp.PermissionOption, error) {
		for _, o := range options {
			if o.Kind == kind {
				return o, nil
			}
		}
		return acp.PermissionOption{}, errors.New("not offered")
	}
}

var object = json.RawMessage(`{"type":"object"}`)

// edit returns a tool that shows a diff before it runs and when it has run.
func edit(run func(ctx context.Context, c *tools.Call) (tools.Result, error)) tools.Tool {
	return tools.Tool{
		Name: "edit", Title: "Edit a file", Kind: acp.ToolKindEdit, Effect: tools.Writes, Schema: object,
		Describe: func(context.Context, json.RawMessage) tools.Summary {
			return tools.Summary{
				Title: "Edit /a", Locations: []acp.ToolCallLocation{{Path: "/a"}},
				Preview: []acp.ToolCallContent{&acp.Diff{Path: "/a", NewText: "x"}},
				Rule:    &tools.Rule{What: "/a", Label: "editing /a in this session"},
			}
		},
		Run: run,
	}
}

func registry(t *testing.T, all ...tools.Tool) *tools.Registry {
	r := tools.NewRegistry(all...)
	return r
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// text returns the text that the model reads of a result.
func text(d tools.Done) (all string) {
	for _, p := range d.Model {
		all += p.Text
	}
	return all
}
