package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/thread"
)

// In the recordings of agents of version 2, the output of a command is shown once, below its tool call.
func TestOutputOfRecordings(t *testing.T) {
	for _, name := range []string{"chat-claude2.work", "chat-codex2.work"} {
		b, err := os.ReadFile("../../../internal/recordings/transcripts-november/" + name + ".jsonl")
		require.NoError(t, err)
		th := model.New()
		for line := range bytes.Lines(b) {
			var l struct{ Raw string }
			var m struct {
				Method string
				Params json.RawMessage
			}
			require.NoError(t, json.Unmarshal(line, &l))
			require.NoError(t, json.Unmarshal([]byte(l.Raw), &m))
			if m.Method == "session/update" {
				var n acp.UpdateSessionNotification
				require.NoError(t, json.Unmarshal(m.Params, &n))
				thread.Apply(th, n.Update)
			}
		}
		var out bytes.Buffer
		c := &chat{out: &out}
		s := th.Snapshot()
		for _, item := range s.Items.All() {
			c.show(s, item)
		}
		assert.Contains(t, out.String(), "* echo shell-says-hi > shell.txt; cat shell.txt: completed\n  | shell-says-hi\n", name)
		assert.Equal(t, 1, bytes.Count(out.Bytes(), []byte("| shell-says-hi\n")), name)
		assert.Contains(t, out.String(), "All done, fake model finished.", name)
	}
}
