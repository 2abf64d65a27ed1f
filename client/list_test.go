package client_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// An empty cursor ends the list. A cursor that repeats is an error.
func TestSessions(t *testing.T) {
	conn, peer := open(t, &peertest.Client{}, `{"sessionCapabilities":{"list":{}}}`, nil)
	page := func(want, id, next string) {
		m := peer.Expect("session/list")
		assert.JSONEq(t, want, string(m.Params))
		peer.Answer(m, fmt.Sprintf(`{"sessions":[{"sessionId":%q,"cwd":"/"}]%s}`, id, next))
	}
	list := func(req *acp.ListSessionsRequest) (ids []acp.SessionID, failed error) {
		for s, err := range conn.Sessions(t.Context(), req) {
			if err != nil {
				return ids, err
			}
			ids = append(ids, s.SessionID)
		}
		return ids, nil
	}
	go func() { // ends with the third page
		page(`{"cwd":"/x","cursor":"c0"}`, "a", `,"nextCursor":"c1"`)
		page(`{"cwd":"/x","cursor":"c1"}`, "b", `,"nextCursor":"c2"`)
		page(`{"cwd":"/x","cursor":"c2"}`, "c", `,"nextCursor":null`)
	}()
	req := &acp.ListSessionsRequest{Cwd: "/x", Cursor: "c0"}
	ids, err := list(req)
	require.NoError(t, err)
	assert.Equal(t, []acp.SessionID{"a", "b", "c"}, ids)
	assert.Equal(t, "c0", req.Cursor)

	go func() { // ends with the second page
		page(`{}`, "a", `,"nextCursor":"x"`)
		page(`{"cursor":"x"}`, "b", `,"nextCursor":"x"`)
	}()
	ids, err = list(nil)
	assert.ErrorContains(t, err, `the cursor "x"`)
	assert.Len(t, ids, 2)

	go func() { peer.Fail(peer.Expect("session/list"), -32602, "Invalid params") }() // ends with the response
	_, err = list(nil)
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)

	go page(`{}`, "a", `,"nextCursor":"x"`) // ends with the page
	for range conn.Sessions(t.Context(), nil) {
		break
	}
}
