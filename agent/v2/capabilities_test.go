package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
)

// Every agent has sessions, and each optional interface adds its capability.
func TestCapabilities(t *testing.T) {
	for name, tt := range map[string]struct {
		agent acp.Agent
		want  string
	}{
		"baseline": {&scripted{}, `{"session":{}}`},
		"delete": {struct {
			acp.Agent
			acp.SessionDeleter
		}{}, `{"session":{"delete":{}}}`},
		"sign-in needs no capability": {struct {
			acp.Agent
			acp.Authenticator
		}{}, `{"session":{}}`},
	} {
		got, err := json.Marshal(agent.Capabilities(tt.agent))
		require.NoError(t, err)
		assert.JSONEq(t, tt.want, string(got), name)
	}
}
