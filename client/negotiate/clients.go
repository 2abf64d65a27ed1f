package negotiate

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/permission"
	client2 "github.com/acpkit/go-sdk/client/v2"
	permission2 "github.com/acpkit/go-sdk/client/v2/permission"
)

// plainV1 is a client that only answers questions.
type plainV1 struct{ permission.Requests }

// clientV1 returns the client for a connection. The policy decides about its permissions.
func clientV1(policy *permission.Policy, conn *client.Conn) acp.Client {
	c := &plainV1{permission.Requests{
		Scope: policy.Scope(),
		Session: func(id acp.SessionID) (string, uint64, bool) {
			folder := ""
			if dirs, ok := conn.SessionRoots(id); ok && len(dirs) > 0 {
				folder = dirs[0]
			}
			return folder, conn.CurrentTurn(id), conn.HasSession(id)
		},
		Agent: func() string {
			if info := conn.PeerInfo(); info != nil {
				return info.Name
			}
			return ""
		},
	}}
	conn.OnSessionEnd(func(id acp.SessionID) { c.Scope.EndSession(string(id)) })
	conn.OnEnd(c.Scope.Close)
	return c
}

func (c *plainV1) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	c.Scope.Apply(n.SessionID, n.Update)
	return nil
}

// plainV2 is a client that only answers questions.
type plainV2 struct{ permission2.Requests }

// clientV2 returns the client for a connection. The policy decides about its permissions. folder
// returns the folder of a session.
func clientV2(policy *permission.Policy, conn *client2.Conn, folder func(id string) string) acp2.Client {
	c := &plainV2{permission2.Requests{
		Scope: policy.Scope(),
		Session: func(id acp2.SessionID) (string, uint64, bool) {
			return folder(string(id)), conn.CurrentTurn(id), conn.HasSession(id)
		},
		Agent: func() string {
			if info := conn.PeerInfo(); info != nil {
				return info.Name
			}
			return ""
		},
	}}
	conn.OnSessionEnd(func(id acp2.SessionID) { c.Scope.EndSession(string(id)) })
	conn.OnEnd(c.Scope.Close)
	return c
}

func (c *plainV2) SessionUpdate(_ context.Context, n *acp2.UpdateSessionNotification) error {
	permission2.Apply(c.Scope, n.SessionID, n.Update)
	return nil
}
