package acp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
)

// A state stands in the object of its update: both tags are written once, and what
// neither of them knows is kept.
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
