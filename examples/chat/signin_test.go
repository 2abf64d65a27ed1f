package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/signin"
)

const (
	callWay     = `{"id":"browser","name":"In the browser"}`
	terminalWay = `{"id":"tty","name":"In a shell","type":"terminal","args":["login"]}`
	variableWay = `{"id":"key","name":"A key","type":"env_var","vars":[{"name":"CHAT_TEST_KEY"}],"link":"https://keys"}`
)

// olderWay is a terminal as older agents offer it: a call with a command in its _meta.
func olderWay(t *testing.T) string {
	self, err := os.Executable()
	require.NoError(t, err)
	command, err := json.Marshal(self)
	require.NoError(t, err)
	return `{"id":"old","name":"As before","_meta":{"terminal-auth":{"command":` + string(command) + `,"args":["login","DOOR"]}}}`
}

// Each way to sign in works, for each method that the agent refuses.
func TestSigningIn(t *testing.T) {
	for name, tt := range map[string]struct {
		ways, typed, auth string
		reopens           bool
		want              string
	}{
		"a call":                    {callWay, "1\n", "", false, "Waiting for the agent to sign you in."},
		"a reason":                  {callWay, "1\n", "", false, "The agent asks you to sign in: Authentication required (-32000): no account"},
		"a call by flag":            {callWay + "," + terminalWay, "", "browser", false, "Waiting for the agent to sign you in."},
		"a call, then a new start":  {callWay, "1\n", "", true, "Signed in, but the agent still asks for it: Authentication required (-32000): no account. It is started again."},
		"a terminal":                {terminalWay, "1\n", "", true, "login"},
		"a terminal by flag":        {callWay + "," + terminalWay, "", "tty", true, "login"},
		"a variable":                {variableWay, "1\nsecret\n", "", true, "You get the value at https://keys"},
		"a variable after nonsense": {callWay + "," + variableWay, "x\n7\n2\nsecret\n", "", true, "2 A key: set CHAT_TEST_KEY"},
		"nonsense":                  {callWay + "," + variableWay, "x\n7\n1\n", "", false, "Type a number from 1 to 2."},
		"older agents":              {olderWay(t), "1\n", "", true, "login"},
	} {
		for _, refuses := range []string{"session/new", "session/prompt"} {
			t.Run(name+" for "+refuses, func(t *testing.T) {
				s := lock(t, lockedAgent{Methods: "[" + tt.ways + "]", Refuses: refuses, Reopens: tt.reopens})
				s.prompt, s.auth = "hello", tt.auth
				var screen bytes.Buffer
				require.NoError(t, run(t.Context(), s, onTerminal(tt.typed, &screen)), "%s", &screen)
				assert.Contains(t, screen.String(), tt.want)
				assert.Contains(t, screen.String(), "welcome in")
			})
		}
	}
}

// If no way can be used, the error says what to do. It suggests no flag for a way that cannot work.
func TestNotSigningIn(t *testing.T) {
	for name, tt := range map[string]struct {
		ways, typed, auth string
		terminal          bool
		want              []string
		not               string
	}{
		"no input":               {callWay + "," + terminalWay, "", "", true, []string{"no account", "-auth browser    In the browser", "-auth tty    In a shell: run ", " login"}, ""},
		"no terminal":            {callWay + "," + terminalWay, "", "", false, []string{"-auth browser"}, "tty"},
		"no such way":            {callWay, "", "other", true, []string{`no way "other"`, "-auth browser"}, ""},
		"no way at all":          {"", "", "", true, []string{"no account", "use its own command"}, "-auth"},
		"only another terminal":  {olderWay(t), "", "", false, []string{"no account", "old: As before; run ", " login"}, "-auth"},
		"an unknown way":         {`{"id":"x","name":"X","type":"hologram"}`, "", "", true, []string{"x: X"}, "-auth"},
		"no value of a variable": {variableWay, "1\n", "", true, []string{"the agent needs variables: set CHAT_TEST_KEY in the agent's environment, with a value from https://keys, and start chat again"}, ""},
		"a call that fails":      {callWay, "1\n", "", true, []string{`signing in with "browser": Invalid params: no such account (-32602)`}, "signin:"},
	} {
		t.Run(name, func(t *testing.T) {
			s := lock(t, lockedAgent{Methods: "[" + tt.ways + "]", Refuses: "session/new", Fails: name == "a call that fails"})
			s.prompt, s.auth = "hello", tt.auth
			console := onTerminal(tt.typed, io.Discard)
			if !tt.terminal {
				console.tty = nil
			}
			err := run(t.Context(), s, console)
			require.Error(t, err)
			for _, want := range tt.want {
				assert.Contains(t, text(err), want)
			}
			if tt.not != "" {
				assert.NotContains(t, text(err), tt.not)
			}
		})
	}
}

// A flag is tried once, so an agent that asks again is not started again and again.
func TestSignInThatDoesNotHelp(t *testing.T) {
	s := lock(t, lockedAgent{Methods: "[" + callWay + "]", Refuses: "session/new", Never: true})
	s.prompt, s.auth = "hello", "browser"
	err := run(t.Context(), s, noConsole())
	require.Error(t, err)
	assert.Contains(t, text(err), "you signed in with -auth browser, and the agent still asks for it: Authentication required (-32000): no account\n")
}

// An id on the command line is no consent to a program that the agent names: it is shown, and chosen.
func TestFlagIsNoConsentToAProgram(t *testing.T) {
	for typed, runs := range map[string]bool{"": false, "1\n": true} {
		s := lock(t, lockedAgent{Methods: "[" + olderWay(t) + "]", Refuses: "session/new", Reopens: true})
		s.prompt, s.auth = "hello", "old"
		var screen bytes.Buffer
		err := run(t.Context(), s, onTerminal(typed, &screen))
		assert.Equal(t, runs, err == nil, "%v", err)
		assert.Contains(t, screen.String(), "1 As before: run ")
		assert.Equal(t, runs, strings.Contains(screen.String(), "welcome in"))
	}
}

// In a conversation, a turn that fails does not end the program.
func TestFailedTurnContinuesTheLoop(t *testing.T) {
	s := lock(t, lockedAgent{Methods: "[" + callWay + "]", Refuses: "session/prompt"})
	s.auth = "other"
	var screen bytes.Buffer
	require.NoError(t, run(t.Context(), s, onTerminal("hello\n:nonsense\n:mode\n", &screen)))
	for _, want := range []string{`no way "other"`, "there is no command :nonsense", "the session has no modes"} {
		assert.Contains(t, screen.String(), want)
	}
}

func onTerminal(typed string, out io.Writer) *console {
	return &console{in: strings.NewReader(typed), out: out, err: out, tty: &tty{}}
}

// The name of a way to sign in cannot add a line.
func TestNamesOfWaysAreOneLine(t *testing.T) {
	c := &chat{}
	text := c.list([]signin.Way{{ID: "a\nb", Name: "A\r\n  -auth c    C", Description: "\x1b[2J"}})
	assert.Equal(t, "\n"+`  -auth a\nb    A\r\n \x20-auth c \x20 \x20C (\x1b[2J)`, text)
}
