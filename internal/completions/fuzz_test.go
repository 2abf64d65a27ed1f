package completions_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/internal/completions"
)

// Whatever a server sends, reading it ends with an answer or an error.
func FuzzRead(f *testing.F) {
	habits, err := os.ReadFile("../../agent/loop/chat/testdata/habits.txt")
	require.NoError(f, err)
	for entry := range strings.SplitSeq(string(habits), "\n== ") {
		_, body, _ := strings.Cut(entry, "\n")
		body = strings.NewReplacer("\nd ", "\ndata: {\"choices\":[{\"delta\":", "\nt ", "\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":").Replace(body)
		f.Add([]byte(body))
		f.Add([]byte(strings.ReplaceAll(body, "\n", "}]}\n\n")))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		completions.ReadReport(body)
		ended := false
		a := &completions.Answer{Model: "m", Show: func(e loop.Event) { _, ended = e.(loop.Stop) }}
		if completions.Read(strings.NewReader(string(body)), a) == nil {
			a.End(0)
			require.True(t, ended)
		}
	})
}
