package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/examples/agent/worker"
	"github.com/acpkit/go-sdk/stream"
)

// A page that knows only the state and the address for answers can allow what an agent asks about, and deny it.
func TestAnswersOfAPage(t *testing.T) {
	for label, written := range map[string]bool{"Allow once": true, "Reject": false} {
		a, err := worker.Open(t.TempDir(), true)
		require.NoError(t, err)
		near, far := stream.Pipe()
		served := make(chan error, 1)
		go func() { served <- a.Serve(t.Context(), far) }() // ends with near
		dir := t.TempDir()
		s, end, err := start(t.Context(), near, dir)
		require.NoError(t, err)
		server := httptest.NewServer(s.handler())
		send := func(path, body string) int {
			res, err := http.Post(server.URL+path, "application/json", strings.NewReader(body))
			require.NoError(t, err)
			res.Body.Close()
			return res.StatusCode
		}
		events, err := http.Get(server.URL + "/events")
		require.NoError(t, err)
		assert.Equal(t, 200, send("/prompt", `{"text":"write a.txt: x"}`))
		assert.Equal(t, 400, send("/answer", `{"key":99,"option":"x"}`))
		lines := bufio.NewScanner(events.Body)
		lines.Buffer(nil, 1<<20)
		answered := 0
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var event struct {
				State struct {
					Permissions []struct {
						Key     uint64
						Lines   []string
						Options []struct{ ID, Label string }
					}
					Turn struct{ StopReason string }
				}
			}
			require.NoError(t, json.Unmarshal([]byte(data), &event))
			state := event.State
			for _, q := range state.Permissions {
				for _, o := range q.Options {
					if q.Lines != nil && o.Label == label {
						assert.Contains(t, strings.Join(q.Lines, "\n"), "a.txt")
						body, err := json.Marshal(map[string]any{"key": q.Key, "option": o.ID})
						require.NoError(t, err)
						send("/answer", string(body)) // fails if the state is older than the last answer
						answered++
					}
				}
			}
			if state.Turn.StopReason != "" {
				break
			}
		}
		assert.Positive(t, answered)
		_, err = os.Stat(filepath.Join(dir, "a.txt"))
		assert.Equal(t, written, err == nil)
		events.Body.Close()
		server.Close()
		end()
		require.NoError(t, <-served)
	}
}

// refuser is an agent that refuses every prompt.
type refuser struct{ acp.Agent }

func (refuser) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return nil, nil
}

func (refuser) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func (refuser) Prompt(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) {
	return &acp.PromptResponse{StopReason: acp.StopReasonRefusal}, nil
}

// The page says what the person can do after a turn that has ended early.
func TestTurnsThatEndEarly(t *testing.T) {
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() { // ends with near
		served <- agent.Serve(t.Context(), far, func(*agent.Conn) acp.Agent { return refuser{} }, nil)
	}()
	s, end, err := start(t.Context(), near, t.TempDir())
	require.NoError(t, err)
	_, err = s.session.Prompt(t.Context(), acp.Text("hello")).Wait()
	require.NoError(t, err)
	shown := show(s.thread.Snapshot())
	assert.Contains(t, shown.Early, "Say it in another way")
	text, err := json.Marshal(shown)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"early":"the agent stopped: refusal\n`)
	end()
	require.NoError(t, <-served)
}

// What another site can send without asking is refused.
func TestFormsOfOtherSites(t *testing.T) {
	server := httptest.NewServer((&site{}).handler())
	defer server.Close()
	res, err := http.Post(server.URL+"/answer", "text/plain", strings.NewReader(`{"key":1,"option":"y"}`))
	require.NoError(t, err)
	defer res.Body.Close()
	assert.Equal(t, http.StatusBadRequest, res.StatusCode)
}
