// Copied to acp/v2 by go generate.

package acp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
)

// Members that stand beside a stop reason of a vendor belong to it: they are kept, also
// where another stop reason has a member of that name.
func TestMembersBesideAStopReason(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"of a vendor":       {`{"state":"idle","stopReason":"_budget","left":0.5,"until":{"day":[1]}}`, ``},
		"its own error":     {`{"state":"idle","stopReason":"_budget","error":"spent"}`, ``},
		"an error":          {`{"state":"idle","stopReason":"error","error":{"code":1,"message":"m"}}`, ``},
		"of a newer peer":   {`{"state":"idle","stopReason":"end_turn","cost":1}`, ``},
		"no error at all":   {`{"state":"idle","stopReason":"error","error":{"code":1}}`, `{"state":"idle","stopReason":"error"}`},
		"null is no error":  {`{"state":"idle","stopReason":"error","error":null}`, `{"state":"idle","stopReason":"error"}`},
		"the last of two":   {`{"state":"idle","stopReason":"_budget","left":1,"left":2}`, `{"state":"idle","stopReason":"_budget","left":2}`},
		"nothing beside it": {`{"state":"idle","stopReason":"_budget"}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var u acp.IdleStateUpdate
			require.NoError(t, json.Unmarshal([]byte(tt.in), &u))
			out, err := json.Marshal(&u)
			require.NoError(t, err)
			if tt.want == "" {
				tt.want = tt.in
			}
			assert.JSONEq(t, tt.want, string(out))
		})
	}
	var u acp.IdleStateUpdate
	require.NoError(t, json.Unmarshal([]byte(`{"state":"idle","stopReason":"_budget","left":0.5}`), &u))
	assert.Equal(t, map[string]json.RawMessage{"left": json.RawMessage(`0.5`)}, u.Extra)
}
