package acp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
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
