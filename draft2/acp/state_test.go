package acp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
)

// A member that is absent, one that is null and one that is empty differ.
func TestAbsentAndEmptyDiffer(t *testing.T) {
	empty := acp.SessionListCursor("")
	for name, c := range map[string]struct {
		value any
		wire  string
		read  any
	}{
		"no cursor":      {&acp.ListSessionsRequest{}, `{}`, new(acp.ListSessionsRequest)},
		"empty cursor":   {&acp.ListSessionsRequest{Cursor: &empty}, `{"cursor":""}`, new(acp.ListSessionsRequest)},
		"empty next one": {&acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}, NextCursor: &empty}, `{"sessions":[],"nextCursor":""}`, new(acp.ListSessionsResponse)},
		"no cost":        {&acp.UsageUpdate{}, `{"used":0,"size":0}`, new(acp.UsageUpdate)},
		"unknown cost":   {&acp.UsageUpdate{Cost: acp.Null[acp.Cost]()}, `{"used":0,"size":0,"cost":null}`, new(acp.UsageUpdate)},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := json.Marshal(c.value)
			require.NoError(t, err)
			assert.Contains(t, string(b), c.wire[1:]) // a variant of a union begins with its tag
			require.NoError(t, json.Unmarshal([]byte(c.wire), c.read))
			assert.Equal(t, c.value, c.read)
		})
	}
}

// The members of a state are in the object of its update. Both tags are written once, and unknown
// members are kept.
func TestStateUpdateKeepsWhatItDoesNotKnow(t *testing.T) {
	for _, update := range []string{
		`{"sessionUpdate":"state_update","state":"idle","stopReason":"_budget","left":3}`,
		`{"left":3,"stopReason":"_budget","state":"idle","sessionUpdate":"state_update"}`,
		`{"sessionUpdate":"state_update","state":"hibernating","until":"spring"}`,
	} {
		in := `{"sessionId":"s","update":` + update + `}`
		var n acp.UpdateSessionNotification
		require.NoError(t, json.Unmarshal([]byte(in), &n))
		out, err := json.Marshal(&n)
		require.NoError(t, err)
		assert.JSONEq(t, in, string(out))
		assert.Len(t, out, len(in), "no member is written twice: %s", out)
	}
}
