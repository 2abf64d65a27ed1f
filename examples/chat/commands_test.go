package main

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

func TestCommands(t *testing.T) {
	for name, tt := range map[string]struct {
		typed string
		wants []string
	}{
		"help":               {"help\n:help\n", []string{"(end turn)", ":mode [MODE] ", "/plan <requests, joined by then>"}},
		"nothing":            {":\n", []string{":mode [MODE] "}},
		"modes":              {":mode\n:mode auto\n:mode\n", []string{"* ask ", "  auto ", "  ask ", "* auto "}},
		"no such mode":       {":mode fast\n:mode\n", []string{"no such mode", "* ask"}},
		"options":            {":set\n:set detail\n:set detail full\n:set detail\n", []string{"brief | full", "detail: brief", "detail: full"}},
		"no such option":     {":set depth 3\n:set detail none\n", []string{"there is no option depth", "detail is one of brief, full"}},
		"no such command":    {":write\n", []string{"there is no command :write; :help lists them"}},
		"which session":      {":load\n", []string{":sessions lists them"}},
		"no such session":    {":load nope\nhelp\n", []string{"the session cannot be opened", "(end turn)"}},
		"a new session":      {"help\n:new\n:sessions\n", []string{"(a new session)", "*  1  ", "   2  "}},
		"back to a session":  {"read one\n:new\nread two\n:sessions\n:load 2\n", []string{"*  1  ", "   2  ", "> read one", "(session sess_"}},
		"quit":               {":quit\nhelp\n", []string{"Talking to"}},
		"commands of agents": {"/help\n", []string{"(end turn)"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := converse(t, settings{}, tt.typed)
			rest := got
			for _, want := range tt.wants {
				_, after, found := strings.Cut(rest, want)
				require.True(t, found, "%q, in this order, in %s", want, got)
				rest = after
			}
		})
	}
	assert.NotContains(t, converse(t, settings{}, ":quit\nhelp\n"), "(end turn)")
}

// Flags list the stored sessions and load one of them. The messages of a loaded session
// are shown again.
func TestStoredSessions(t *testing.T) {
	agent := exampleAgent(t)
	s := settings{dir: t.TempDir(), agent: []string{agent, "-state", t.TempDir()}, yes: true}
	list := s
	list.list = true
	assert.Contains(t, converse(t, list, ""), "no sessions for "+s.dir)
	s.prompt = "write a.txt: hello"
	converse(t, s, "")
	listed := converse(t, list, "")
	found := regexp.MustCompile(`  1  (\S+)`).FindStringSubmatch(listed)
	require.NotNil(t, found, listed)
	s.load, s.prompt = found[1], "read a.txt"
	got := converse(t, s, "")
	assert.Contains(t, got, "> write a.txt: hello\n")
	assert.Contains(t, got, "✓ Write a.txt")
	assert.Contains(t, got, "a.txt has 1 line.")
	assert.Equal(t, 1, strings.Count(got, "(end turn)"))
	s.prompt = ""
	_, sessions, _ := strings.Cut(converse(t, s, ":new\n:sessions\n"), "(a new session)")
	assert.Regexp(t, `\*  1  sess_[^*]*   2  `+found[1], sessions, "-load is for the first session only")
}

func TestCompletion(t *testing.T) {
	th := thread.New()
	th.Apply(&acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{{Name: "help"}, {Name: "plan"}}})
	th.Opened(&acp.SessionModeState{CurrentModeID: "ask", AvailableModes: []acp.SessionMode{{ID: "ask"}, {ID: "auto"}}},
		[]acp.SessionConfigOption{
			{ID: "detail", Name: "Detail", Kind: &acp.SessionConfigSelect{CurrentValue: "brief", Options: acp.SessionConfigSelectOptions{
				Ungrouped: []acp.SessionConfigSelectOption{{Value: "brief", Name: "B"}, {Value: "full", Name: "F"}}}}},
			{ID: "fast", Name: "Fast", Kind: &acp.SessionConfigBoolean{}},
		})
	c := &chat{sessions: []*acp.SessionInfo{{SessionID: "one"}, {SessionID: "two"}}}
	c.view.Store(newView(newScreen(io.Discard, false), "s", th, "/"))
	for before, want := range map[string][]string{
		"":               nil,
		"/":              {"/help ", "/plan "},
		"/p":             {"/plan "},
		"/plan r":        nil,
		":m":             {":mode "},
		":mode a":        {":mode ask", ":mode auto"},
		":mode au":       {":mode auto"},
		":set ":          {":set detail", ":set fast"},
		":set detail f":  {":set detail full"},
		":set fast ":     {":set fast on", ":set fast off"},
		":set detail f ": nil,
		":load t":        {":load two"},
		":nonsense ":     nil,
		"hello":          nil,
	} {
		assert.Equal(t, want, c.complete(before), before)
	}
	assert.EqualError(t, c.setOption(t.Context(), []string{"detail", "none"}), "detail is one of brief, full")
	assert.EqualError(t, c.setOption(t.Context(), []string{"fast", "none"}), "fast is on or off")
	th.Do(thread.SuggestionsChanged{Suggestions: []thread.Suggestion{
		{Prompt: []thread.Block{{Type: thread.BlockText, Text: "Run the tests"}}}, {Prompt: []thread.Block{{Type: thread.BlockText, Text: "/plan it"}}},
	}})
	for before, want := range map[string][]string{
		"": {"Run the tests", "/plan it"}, "Run ": {"Run the tests"}, "Rx": nil, "/p": {"/plan "}, ":m": {":mode "},
	} {
		assert.Equal(t, want, c.complete(before), before)
	}
}
