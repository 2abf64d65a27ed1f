package adapters_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
)

// With -record the conversations with the agents of this folder become the transcripts
// that TestReplay and others play:
//
//	ACPKIT_INTEROP_ADAPTERS=1 go test ./internal/system/interop/adapters -record
var record = flag.Bool("record", false, "write what the agents of this folder say to testdata, with filler for texts")

// recording holds the messages exchanged with the processes of one agent. It is safe for
// concurrent use.
type recording struct {
	place *workplace
	begin time.Time // of the process

	mu    sync.Mutex // guards lines
	lines []any
}

// tap records the messages of a process that was just started.
func (r *recording) tap(s stream.Stream, label string) stream.Stream {
	r.begin = time.Now()
	r.add(struct {
		T     float64  `json:"t"`
		Dir   string   `json:"dir"`
		Event string   `json:"event"`
		Argv  []string `json:"argv"`
		Label string   `json:"label"`
	}{0, "meta", "start", []string{r.place.adapter.name}, label})
	return stream.Tap(s, func(d stream.Direction, msg []byte) {
		dir := "send"
		if d == stream.Received {
			dir = "recv"
		}
		r.add(struct {
			T   float64 `json:"t"`
			Dir string  `json:"dir"`
			Raw string  `json:"raw"`
		}{float64(time.Since(r.begin).Milliseconds()) / 1000, dir, r.clean(msg)})
	})
}

func (r *recording) add(line any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// clean returns the message with filler for its texts, and without the names of this computer.
func (r *recording) clean(msg []byte) string {
	message := string(fill(bytes.TrimSpace(bytes.ReplaceAll(msg, []byte(r.place.dir), []byte("/srv/acp/ws")))))
	return strings.ReplaceAll(message, r.place.home, "/home/user")
}

// write writes the recording to the folder of testdata, if that is asked for.
func (r *recording) write(t *testing.T, folder, suffix string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	for _, line := range r.lines {
		require.NoError(t, lines.Encode(line))
	}
	for _, private := range []string{os.TempDir() + "/", filepath.Base(r.place.dir) + "/", "127.0.0.1", "localhost"} {
		assert.NotContains(t, b.String(), private)
	}
	if *record && !t.Failed() {
		a := r.place.adapter
		require.NoError(t, os.WriteFile(filepath.Join("..", "..", "..", "recordings", folder, a.name+"-"+a.version+suffix+".jsonl"), b.Bytes(), 0o644))
	}
}
