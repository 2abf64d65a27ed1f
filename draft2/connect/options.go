package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/permission"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	permission2 "github.com/acpkit/go-sdk/draft2/permission"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/stream"
)

// Dial starts an agent or connects to one. [Connect] calls it once, and a second time if it
// must send a second initialize request. [stream.CommandDial] makes one for a child process.
type Dial func(ctx context.Context) (stream.Stream, error)

// Options configure a connection. With the zero value the client offers both versions, has
// neither files nor terminals, and denies every permission request. A nil *Options is
// equivalent to it.
type Options struct {
	// Permission answers permission requests if V1 or V2 is nil. Nil denies everything.
	Permission *permission.Policy

	// V1 and V2 return the client of a connection of that version, like the function given to
	// New of the package. Nil means a client that answers permission requests as Permission
	// decides. One of them is called, once the version of the agent is known.
	V1 func(*client.Conn) acp.Client
	V2 func(*client2.Conn) acp2.Client

	// ConnV1 and ConnV2 are the options of the underlying connections.
	ConnV1 *client.Options
	ConnV2 *client2.Options

	// InitializeV1 and InitializeV2 are the initialize requests; the version in them is ignored. They
	// are sent before V1 or V2 is called, so they must name the capabilities of the client if V1 or V2 is
	// set: the functions Capabilities of the packages client and draft2/client return those of a value, and
	// that of client/host those of a Host. What a middleware of ConnV1 or ConnV2 changes in them is not sent.
	InitializeV1 *acp.InitializeRequest
	InitializeV2 *acp2.InitializeRequest

	// Only, if it is not 0, restricts the connection to one version: 1 or 2.
	Only int

	// Handshake is how long Dial and initialize may take together; the error then names the
	// time. Zero means 1 minute, because Connect may dial twice; a negative value means no limit.
	Handshake time.Duration

	// Logger is the Logger of ConnV1 and ConnV2 if they have none. If it is nil,
	// slog.Default() is used.
	Logger *slog.Logger
}

const missing = "draft2/connect: Options.%s needs Options.%s, which are sent before the client is made: the function Capabilities of package %s returns those of a value"

const defaultHandshake = time.Minute

func (o *Options) clone() Options {
	c := endpoint.ValueOf(o)
	c.Handshake = cmp.Or(c.Handshake, defaultHandshake)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	v1, v2 := endpoint.ValueOf(c.ConnV1), endpoint.ValueOf(c.ConnV2)
	v1.Logger, v2.Logger = cmp.Or(v1.Logger, c.Logger), cmp.Or(v2.Logger, c.Logger)
	c.ConnV1, c.ConnV2 = &v1, &v2
	first, second := endpoint.ValueOf(c.InitializeV1), endpoint.ValueOf(c.InitializeV2)
	first.ProtocolVersion, second.ProtocolVersion = acp.ProtocolVersion, acp2.ProtocolVersion
	first.ClientCapabilities = cmp.Or(first.ClientCapabilities, &acp.ClientCapabilities{})
	second.Capabilities = cmp.Or(second.Capabilities, &acp2.ClientCapabilities{})
	second.Info.Name, second.Info.Version = cmp.Or(second.Info.Name, "unknown"), cmp.Or(second.Info.Version, "unknown")
	c.InitializeV1, c.InitializeV2 = &first, &second
	if c.Permission == nil {
		c.Permission = permission.New(nil)
	}
	return c
}

func (o Options) check() error {
	if o.V1 != nil && endpoint.ValueOf(o.InitializeV1).ClientCapabilities == nil {
		return fmt.Errorf(missing, "V1", "InitializeV1.ClientCapabilities", "client")
	}
	if o.V2 != nil && endpoint.ValueOf(o.InitializeV2).Capabilities == nil {
		return fmt.Errorf(missing, "V2", "InitializeV2.Capabilities", "draft2/client")
	}
	if o.Only != 0 && o.Only != acp.ProtocolVersion && o.Only != acp2.ProtocolVersion {
		return errors.New("draft2/connect: Options.Only is neither 1 nor 2")
	}
	return nil
}

// plainV1 is a client that only answers permission requests.
type plainV1 struct{ permission.Requests }

// clientV1 returns the default client of version 1.
func (c *Conn) clientV1(policy *permission.Policy, conn *client.Conn) acp.Client {
	served := &plainV1{permission.Requests{
		Scope: policy.Scope(),
		Session: func(ctx context.Context, id acp.SessionID) (string, uint64, bool) {
			folder := ""
			roots, turn, known := client.Asked(ctx, id)
			if len(roots) > 0 {
				folder = roots[0]
			}
			return folder, turn, known
		},
		Agent: c.agentName,
	}}
	conn.OnSessionEnd(func(id acp.SessionID) { served.Scope.EndSession(string(id)) })
	conn.OnEnd(served.Scope.Close)
	return served
}

func (c *plainV1) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	c.Scope.Apply(n.SessionID, n.Update)
	return nil
}

// agentName returns the name that the agent sent. It is called after the version is known.
func (c *Conn) agentName() string {
	info, _ := c.Info()
	return info.Name
}

type plainV2 struct{ permission2.Requests }

// clientV2 returns the default client of version 2.
func (c *Conn) clientV2(policy *permission.Policy, conn *client2.Conn) acp2.Client {
	served := &plainV2{permission2.Requests{
		Scope: policy.Scope(),
		Session: func(ctx context.Context, id acp2.SessionID) (string, uint64, bool) {
			turn, known := client2.Asked(ctx, id)
			return c.folder(string(id)), turn, known
		},
		Agent: c.agentName,
	}}
	conn.OnSessionEnd(func(id acp2.SessionID) { served.Scope.EndSession(string(id)) })
	conn.OnEnd(served.Scope.Close)
	return served
}

func (c *plainV2) SessionUpdate(_ context.Context, n *acp2.UpdateSessionNotification) error {
	permission2.Apply(c.Scope, n.SessionID, n.Update)
	return nil
}
