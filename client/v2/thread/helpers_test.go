package thread_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/client/v2/thread"
)

// update reads an update as it stands on the wire.
func update(t testing.TB, raw string) acp.SessionUpdate {
	t.Helper()
	var n acp.UpdateSessionNotification
	require.NoError(t, json.Unmarshal([]byte(`{"sessionId":"s","update":`+raw+`}`), &n), raw)
	return n.Update
}

// told returns a thread that was told the updates.
func told(t testing.TB, updates ...string) *model.Thread {
	t.Helper()
	th := model.New()
	for _, u := range updates {
		thread.Apply(th, update(t, u))
	}
	return th
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
