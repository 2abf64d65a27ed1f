package adapters_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// scriptedModel is a language model on the loopback interface whose answers are known. A
// prompt that begins with scriptMark selects a script by its next word; each answer is the
// script's next step.
type scriptedModel struct {
	dialect dialect
	dir     string // where the files of the scripts are
	server  *httptest.Server
	calls   atomic.Int64           // for ids
	result  atomic.Pointer[string] // of the tool that was used last
}

const scriptMark = "script: "

// modelScripts are the scripts by name. A step follows each time that the tools of the step
// before have their results.
var modelScripts = map[string][]modelStep{
	"say":   {{text: "One two three."}},
	"think": {{thought: "Let me see.", text: "I have thought."}},
	"write": {{text: "I write.", tool: toolWrite}, {text: "Written."}},
	"run":   {{tool: toolRun}, {text: "It ran."}},
	"wait":  {{text: "I wait.", wait: true}},

	"ask":        {{tool: toolAsk}, {text: "Thank you."}},
	"background": {{tool: toolBackground}, {text: "It goes on."}},
	"delegate":   {{tool: toolDelegate}, {text: "It was done."}},
	"plan":       {{tool: toolPlan}, {text: "Planned."}},
	"fail":       {{fail: true}},
	"silent":     {{wait: true}},
}

// modelStep is one answer of the model: text, then the use of a tool.
type modelStep struct {
	thought, text string
	tool          string
	wait          bool   // the answer never ends
	fail          bool   // the model refuses the call
	file          string // of toolWrite: the second word of the prompt
}

// The tools that scripts use. Agents have other names for them.
const (
	toolWrite = "write" // writes "new\n" to a file in which is "old\n"
	toolRun   = "run"   // runs a command that needs no permission

	toolAsk        = "ask"        // asks the user to choose "red" or "blue"
	toolBackground = "background" // runs a command that goes on when the turn has ended
	toolDelegate   = "delegate"   // makes a subagent say something
	toolPlan       = "plan"       // makes a plan
)

// The commands of toolRun and toolBackground.
const (
	commandText    = "echo hi; echo there"
	backgroundText = "echo begun; sleep 60"
)

// modelCall is what a dialect has understood of a request.
type modelCall struct {
	prompt  string // the last text of the user with scriptMark; empty without one
	results int    // how many tools have been used since
	result  string // of the last of them, as JSON
	tools   bool   // whether there are any: a call for a title has none
}

// dialect is the interface of a vendor's models.
type dialect interface {
	// path is where the requests go.
	path() string
	read(body []byte) (modelCall, error)
	// write writes the answer up to its end, which end writes.
	write(w *eventWriter, m *scriptedModel, id int64, s *modelStep)
	end(w *eventWriter, m *scriptedModel, id int64, s *modelStep)
}

func newScriptedModel(t *testing.T, d dialect, dir string) *scriptedModel {
	m := &scriptedModel{dialect: d, dir: dir}
	m.server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.server.CloseClientConnections()
		m.server.Close()
	})
	return m
}

func (m *scriptedModel) url() string { return m.server.URL }

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != m.dialect.path() {
		http.NotFound(w, r) // lists of models, token counts: agents do without
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	call, err := m.dialect.read(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if call.result != "" {
		m.result.Store(&call.result)
	}
	step := step(call)
	if step.fail {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"the model refuses"}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := &eventWriter{w: w}
	id := m.calls.Add(1)
	m.dialect.write(events, m, id, step)
	if step.wait {
		<-r.Context().Done() // the agent cancels the call
		return
	}
	m.dialect.end(events, m, id, step)
}

func step(c modelCall) *modelStep {
	words := append(strings.Fields(strings.TrimPrefix(c.prompt, scriptMark)), "", "")
	script := modelScripts[words[0]]
	if !c.tools || c.results >= len(script) {
		return &modelStep{text: "Nothing more."}
	}
	s := script[c.results]
	s.file = words[1]
	return &s
}

// chunks cuts a text after each space.
func chunks(text string) []string { return strings.SplitAfter(text, " ") }

// eventWriter writes server-sent events.
type eventWriter struct{ w http.ResponseWriter }

// object is a JSON object.
type object = map[string]any

func (e *eventWriter) event(kind string, fields object) {
	fields["type"] = kind
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(fields) // maps of plain values
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n", kind, b.Bytes())
	e.w.(http.Flusher).Flush()
}
