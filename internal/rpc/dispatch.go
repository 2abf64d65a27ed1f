package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/rpcerr"
)

// incoming is what a message's way through the receiving middlewares leads to.
type incoming struct {
	entry *Entry
	note  bool
}

type incomingKey struct{ c *Conn }

// handleWrapped is what the receiving middlewares wrap.
func (c *Conn) handleWrapped(ctx context.Context, method string, params any) (any, error) {
	in, ok := ctx.Value(incomingKey{c}).(incoming)
	if !ok {
		return nil, fmt.Errorf("acp: %s: a receiving middleware passed on a foreign ctx", shown(method))
	}
	return c.handle(ctx, in.entry, in.note, method, params)
}

func (c *Conn) handle(ctx context.Context, e *Entry, note bool, method string, params any) (any, error) {
	if e != nil {
		return e.Handle(ctx, params)
	}
	raw, ok := params.(json.RawMessage)
	if !ok { // a middleware's own
		var err error
		if raw, err = encodeRaw(params); err != nil {
			return nil, encodingError(method+" params", err)
		}
	}
	switch {
	case note:
		return nil, c.cfg.ExtensionNotification(ctx, method, raw)
	case c.cfg.Extension == nil || len(method) > 1 && method[:2] == "$/" || isProtocol(method):
		return nil, rpcerr.MethodNotFound(shown(method))
	}
	return c.cfg.Extension(ctx, method, raw)
}
