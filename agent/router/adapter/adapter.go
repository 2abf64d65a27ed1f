package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// FromV1 returns a function that makes an agent of version 2 from an agent of version 1.
// Use it as Agents.V2 of package router, or pass it to Serve of package agent/v2. newV1 is
// called once for each connection, with a connection of its own that ends with it.
func FromV1(newV1 func(*agent.Conn) acp.Agent, opts *Options) func(*agent2.Conn) acp2.Agent {
	o := opts.clone()
	return func(conn *agent2.Conn) acp2.Agent {
		if newV1 == nil {
			return nil // package agent/v2 reports the error
		}
		a := &adapter{above: conn, log: endpoint.LimitLines(o.Logger), sessions: map[acp.SessionID]*session{}, outside: map[acp2.RequestID]struct{}{}}
		near, far := stream.Pipe()
		own := *o.Agent
		own.Receiving = append([]acp.Middleware{a.withMessageID}, own.Receiving...)
		a.agent = agent.New(far, newV1, &own)
		a.below = client.New(near, func(*client.Conn) acp.Client { return &lower{a} },
			&client.Options{CancelGrace: o.CancelGrace, Logger: o.Logger, Relay: true})
		conn.OnEnd(a.end)
		return a
	}
}

// adapter is an agent of version 2 that passes requests on to an agent of version 1.
type adapter struct {
	above *agent2.Conn // connection to the client
	below *client.Conn // connection to the agent
	agent *agent.Conn  // the agent's end of below
	log   *slog.Logger

	starting sync.Once
	startErr error

	mu       sync.Mutex // guards the fields below
	caps     *acp.AgentCapabilities
	sessions map[acp.SessionID]*session
	opened   []acp.SessionID             // sessions that are open, oldest first
	resting  []*session                  // sessions that are not open, the least recently used first; see maxResting
	outside  map[acp2.RequestID]struct{} // requests in flight that belong to no session
}

var (
	_ acp2.Agent                        = (*adapter)(nil)
	_ acp2.SessionConfigOptionSetter    = (*adapter)(nil)
	_ acp2.SessionDeleter               = (*adapter)(nil)
	_ acp2.Authenticator                = (*adapter)(nil)
	_ acp2.ExtensionHandler             = (*adapter)(nil)
	_ acp2.ExtensionNotificationHandler = (*adapter)(nil)
)

// Relays marks the connection to the client as a relay.
func (a *adapter) Relays(endpoint.Own) {}

// start starts the connection to the agent. Only the values of ctx are used.
func (a *adapter) start(ctx context.Context) error {
	a.starting.Do(func() {
		life := context.WithoutCancel(ctx) // end ends this connection
		if a.startErr = a.agent.Start(life); a.startErr != nil {
			return
		}
		if a.startErr = a.below.Start(life); a.startErr != nil {
			return
		}
		go func() { // ends with the connection to the agent
			<-a.below.Done()
			_ = a.above.Close()
		}()
	})
	return a.startErr
}

// end closes the connection to the agent after the connection to the client has ended.
func (a *adapter) end() {
	a.starting.Do(func() { a.startErr = acp.ErrClosed })
	_, _ = a.below.Close(), a.agent.Close()
	if a.startErr != nil {
		return
	}
	_ = a.below.Wait()
	if err := a.agent.Wait(); err != nil && !errors.Is(err, acp.ErrClosed) {
		a.log.Error("adapter: the connection of the agent of version 1 failed", "error", rpcerr.LogText(err))
	}
}

// HandleExtension passes an extension request on to the agent.
func (a *adapter) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return a.below.HandleExtension(ctx, method, params)
}

// HandleExtensionNotification passes an extension notification on to the agent.
func (a *adapter) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return a.below.HandleExtensionNotification(ctx, method, params)
}

// lower is the client of the agent of version 1.
type lower struct{ a *adapter }

var (
	_ acp.Client                       = (*lower)(nil)
	_ acp.Elicitor                     = (*lower)(nil)
	_ acp.ElicitationCompleter         = (*lower)(nil)
	_ acp.ExtensionHandler             = (*lower)(nil)
	_ acp.ExtensionNotificationHandler = (*lower)(nil)
)

// HandleExtension passes an extension request on to the client.
func (l *lower) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return l.a.above.HandleExtension(ctx, method, params)
}

// HandleExtensionNotification passes an extension notification on to the client.
func (l *lower) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return l.a.above.HandleExtensionNotification(ctx, method, params)
}
