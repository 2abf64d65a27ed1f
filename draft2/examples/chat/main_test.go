package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/examples/agent/worker"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// A turn that ends early says what the person can do now, in both versions.
func TestTurnsThatEndEarly(t *testing.T) {
	for only, agent := range map[int]func(p *rawpeer.Peer, reason string){
		1: func(p *rawpeer.Peer, reason string) {
			p.Answer(p.Expect("initialize"), `{"protocolVersion":1}`)
			p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
			p.Answer(p.Expect("session/prompt"), `{"stopReason":"`+reason+`"}`)
		},
		2: func(p *rawpeer.Peer, reason string) {
			p.Answer(p.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}`)
			p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
			p.Answer(p.Expect("session/prompt"), `{"messageId":"m"}`)
			p.Notify("session/update", `{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"`+reason+`"}}`)
		},
	} {
		for reason, next := range map[string]string{
			"end_turn":          "",
			"refusal":           "The agent does not take this prompt, and will not remember it.",
			"max_tokens":        "The model has reached its limit of tokens.",
			"max_turn_requests": "The agent has reached its limit of requests to its model.",
		} {
			dial := func(context.Context) (stream.Stream, error) {
				near, peer := rawpeer.Pipe(t)
				go agent(peer, reason) // ends with the turn
				return near, nil
			}
			var out bytes.Buffer
			c := &chat{in: bufio.NewReader(strings.NewReader("hello\n")), out: &out}
			require.NoError(t, c.talk(t.Context(), dial, only))
			_, said, _ := strings.Cut(out.String(), "("+reason+")\n")
			assert.Regexp(t, "^"+regexp.QuoteMeta(next), said, "version %d", only)
			assert.Equal(t, next != "", strings.Contains(said, "\n"), "version %d: %s", only, out.String())
		}
	}
}

// What the agent suggests is printed above the next prompt, in both versions, until it is withdrawn.
func TestSuggestions(t *testing.T) {
	suggest := func(p *rawpeer.Peer, list string) {
		p.Notify("session/update", `{"sessionId":"s","update":{"sessionUpdate":"prompt_suggestions_update","suggestions":[`+list+`]}}`)
	}
	lists := []string{
		`{"prompt":[{"type":"text","text":"run the\u001b tests"}]},{"prompt":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}` +
			strings.Repeat(`,{"prompt":[{"type":"text","text":"more"}]}`, 9), "",
	}
	for only, agent := range map[int]func(p *rawpeer.Peer){
		1: func(p *rawpeer.Peer) {
			m := p.Expect("initialize")
			assert.Contains(t, string(m.Params), `"promptSuggestions":{}`)
			p.Answer(m, `{"protocolVersion":1}`)
			p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
			for _, list := range lists {
				m := p.Expect("session/prompt")
				suggest(p, list)
				p.Answer(m, `{"stopReason":"end_turn"}`)
			}
		},
		2: func(p *rawpeer.Peer) {
			m := p.Expect("initialize")
			assert.Contains(t, string(m.Params), `"promptSuggestions":{}`)
			p.Answer(m, `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}`)
			p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
			for _, list := range lists {
				p.Answer(p.Expect("session/prompt"), `{"messageId":"m"}`)
				suggest(p, list)
				p.Notify("session/update", `{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}`)
			}
		},
	} {
		dial := func(context.Context) (stream.Stream, error) {
			near, peer := rawpeer.Pipe(t)
			go agent(peer) // ends with the last turn
			return near, nil
		}
		var out bytes.Buffer
		c := &chat{in: bufio.NewReader(strings.NewReader("one\ntwo\n")), out: &out}
		require.NoError(t, c.talk(t.Context(), dial, only))
		_, said, _ := strings.Cut(out.String(), "\n")
		assert.Equal(t, "> (end_turn)\nsuggested: run the\\x1b tests\n"+strings.Repeat("suggested: more\n", 3)+"> (end_turn)\n> ", said, "version %d", only)
	}
}

// Chat holds a conversation in each version, and does what the person allows.
func TestConversation(t *testing.T) {
	for name, tt := range map[string]struct {
		only    int
		yes     bool
		typed   string
		version string
		written bool
	}{
		"the newest":            {0, true, "\nwrite a.txt: x\nrun `echo from the shell`", "version 2", true},
		"version 1":             {1, true, "write a.txt: x\n", "version 1", false}, // whose files are those of the client
		"a line typed too soon": {0, false, "write a.txt: x\n1\n", "version 2", false},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := worker.Open(t.TempDir(), tt.only == 0)
			require.NoError(t, err)
			served := make(chan error, 1)
			dial := func(context.Context) (stream.Stream, error) {
				near, far := stream.Pipe()
				go func() { served <- serve.Serve(context.WithoutCancel(t.Context()), far, a.Agent, nil) }() // ends with near
				return near, nil
			}
			t.Chdir(t.TempDir())
			dir, err := os.Getwd()
			require.NoError(t, err)
			var out bytes.Buffer
			c := &chat{in: bufio.NewReader(strings.NewReader(tt.typed)), out: &out, yes: tt.yes}
			require.NoError(t, c.talk(t.Context(), dial, tt.only))
			require.NoError(t, <-served)
			assert.Contains(t, out.String(), "The agent speaks "+tt.version+".")
			assert.Contains(t, out.String(), "(end_turn)")
			assert.Equal(t, tt.only == 0 && tt.yes, strings.Count(out.String(), "\n  | from the shell\n") == 1, out.String())
			assert.Equal(t, tt.only == 0, strings.Contains(out.String(), "? write "+filepath.Join(dir, "a.txt")), out.String())
			_, err = os.Stat(filepath.Join(dir, "a.txt"))
			assert.Equal(t, tt.written, err == nil, out.String())
		})
	}
}
