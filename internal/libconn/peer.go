package libconn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Peer sends the messages of one end. It is an [endpoint.Engine].
type Peer struct {
	conn *jsonrpc2.Conn
	bare *rpc.Bare
}

// NewPeer uses of cfg what [rpc.NewBare] uses.
func NewPeer(conn *jsonrpc2.Conn, cfg rpc.Config) Peer { return Peer{conn, rpc.NewBare(&cfg)} }

// Call calls a method of the protocol, or an extension if m has no types. Of opts it uses OnCtxDone.
func (p *Peer) Call(ctx context.Context, m *wire.Method, params any, opts *rpc.CallOptions) (any, error) {
	raw, err := p.params(ctx, m, params)
	if err != nil {
		return nil, err
	}
	// A string, because the library takes a response with the id null for that of its call 0.
	id := jsonrpc2.ID{Str: "acp-" + strconv.FormatUint(calls.Add(1), 10), IsString: true}
	sent, err := p.conn.DispatchCall(ctx, m.Name, endpoint.OrAbsent(raw), jsonrpc2.PickID(id))
	if err != nil {
		return nil, failed(m, err)
	}
	var result json.RawMessage
	err = sent.Wait(ctx, &result)
	switch {
	case err == nil:
		return p.bare.Result(m, result)
	case ctx.Err() == nil || !errors.Is(err, ctx.Err()):
		return nil, failed(m, err)
	case opts != nil && opts.OnCtxDone != nil:
		go opts.OnCtxDone() // ends with the write
	default:
		go p.conn.Notify(ctx, "$/cancel_request", map[string]jsonrpc2.ID{"requestId": id}) // ends with the write
	}
	return nil, err
}

var calls atomic.Uint64

// Notify sends a notification.
func (p *Peer) Notify(ctx context.Context, m *wire.Method, params any) error {
	raw, err := p.params(ctx, m, params)
	if err != nil {
		return err
	}
	return failed(m, p.conn.Notify(ctx, m.Name, endpoint.OrAbsent(raw)))
}

// HandleExtension calls a method that the protocol does not define.
func (p *Peer) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return p.Call(ctx, &wire.Method{Name: method}, endpoint.OrAbsent(params), nil)
}

// HandleExtensionNotification sends a notification that the protocol does not define.
func (p *Peer) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return p.Notify(ctx, &wire.Method{Name: method}, endpoint.OrAbsent(params))
}

func (p *Peer) params(ctx context.Context, m *wire.Method, params any) (json.RawMessage, error) {
	if p.conn == nil {
		return nil, errors.New("onjsonrpc2: the peer was made of a nil *jsonrpc2.Conn: pass the connection")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.bare.Params(m, params)
}

// failed converts an error of the library.
func failed(m *wire.Method, err error) error {
	said, ok := err.(*jsonrpc2.Error)
	switch {
	case err == nil:
		return nil
	case ok:
		return rpcerr.From(said)
	case errors.Is(err, jsonrpc2.ErrClosed):
		err = fmt.Errorf("%w: %w", wire.ErrClosed, err)
	}
	return fmt.Errorf("acp: %s: %w", m.Name, err)
}
