package interop_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded is one line of a transcript: "send" from client to agent, "recv" back.
type recorded struct {
	Dir   string
	Raw   string
	Event string
	Label string
	line  int
}

// recordedProcess holds the messages exchanged with one process.
type recordedProcess struct {
	name  string
	probe bool // some of the lines sent are bad on purpose
	lines []recorded
}

// version is the version of the protocol that the agent chose, or 0.
func (p *recordedProcess) version() (chosen int64) {
	for _, l := range p.lines {
		var m struct {
			Result struct{ ProtocolVersion int64 }
		}
		if l.Dir == "recv" && json.Unmarshal([]byte(l.Raw), &m) == nil && m.Result.ProtocolVersion > chosen {
			chosen = m.Result.ProtocolVersion
		}
	}
	return chosen
}

// probes are the transcripts in which agents were asked bad things too.
var probes = []string{"gemini", "tsdk-agent", "cline", "pi-acp", "tsdk2-probe", "tsdk2-router-probe"}

// transcripts returns the recordings in which a version is spoken. Recordings without a response to
// initialize are of version 1.
func transcripts(t *testing.T, version int64) []recordedProcess {
	t.Helper()
	return slices.DeleteFunc(allTranscripts(t), func(p recordedProcess) bool { return max(p.version(), 1) != version })
}

func allTranscripts(t *testing.T) []recordedProcess {
	t.Helper()
	first, err := filepath.Glob("../../recordings/transcripts/*.jsonl")
	require.NoError(t, err)
	require.Len(t, first, 15)
	second, err := filepath.Glob("../../recordings/transcripts-v2/*.jsonl")
	require.NoError(t, err)
	require.Len(t, second, 13)
	november, err := filepath.Glob("../../recordings/transcripts-november/*.jsonl")
	require.NoError(t, err)
	require.Len(t, november, 12)
	return readTranscripts(t, slices.Concat(first, second, november))
}

func readTranscripts(t *testing.T, files []string) []recordedProcess {
	t.Helper()
	var all []recordedProcess
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := bufio.NewScanner(bytes.NewReader(b))
		lines.Buffer(nil, len(b)+1)
		from := len(all) // the first process of this file
		for n := 1; lines.Scan(); n++ {
			var r recorded
			require.NoError(t, json.Unmarshal(lines.Bytes(), &r), "%s:%d", file, n)
			r.line = n
			switch {
			case r.Dir == "meta" && r.Event == "start":
				p := recordedProcess{name: name, probe: slices.Contains(probes, name)}
				if r.Label != "" {
					p.name += "/" + strings.ReplaceAll(r.Label, " ", "_")
				}
				all = append(all, p)
			case r.Dir == "send" || r.Dir == "recv":
				if len(all) == from { // a file of one process may have no start
					all = append(all, recordedProcess{name: name})
				}
				last := &all[len(all)-1]
				last.lines = append(last.lines, r)
			}
		}
		require.NoError(t, lines.Err())
	}
	return all
}

// envelope is a recorded message, taken apart.
type envelope struct {
	JSONRPC json.RawMessage
	ID      json.RawMessage
	Method  string
	Params  json.RawMessage
	Result  json.RawMessage
	Error   json.RawMessage
	hasID   bool
}

// open takes a line apart; false when it is no message object.
func open(line string) (envelope, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &m) != nil || m == nil {
		return envelope{}, false
	}
	e := envelope{JSONRPC: m["jsonrpc"], ID: m["id"], Params: m["params"], Result: m["result"], Error: m["error"]}
	_, e.hasID = m["id"]
	if m["method"] != nil && json.Unmarshal(m["method"], &e.Method) != nil {
		return envelope{}, false
	}
	return e, true
}

func (e *envelope) isRequest() bool  { return e.Method != "" && e.hasID }
func (e *envelope) isNote() bool     { return e.Method != "" && !e.hasID }
func (e *envelope) isResponse() bool { return e.Method == "" && (e.Result != nil || e.Error != nil) }

// entry is one thing that one end was told.
type entry struct {
	What  string          `json:"what"`
	Value json.RawMessage `json:"value"`
}

// record is what an end was told, in order. It is safe for concurrent use.
type record struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when something was recorded
	journal []entry
}

func (h *record) wakeLocked() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// note writes down what arrived, as the SDK's own types write it.
func (h *record) note(what string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		raw, _ = json.Marshal(err.Error())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.journal = append(h.journal, entry{what, raw})
	h.wakeLocked()
}

// until waits for what test looks for; test is called with the lock held.
func (h *record) until(ctx context.Context, test func() bool) error {
	for {
		h.mu.Lock()
		ok, changed := test(), h.changed
		h.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the agent: %w", ctx.Err())
		}
	}
}

func (h *record) seenLocked(what string) bool {
	return slices.ContainsFunc(h.journal, func(e entry) bool { return e.What == what })
}

// told are the entries so far.
func (h *record) told() []entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.journal)
}
