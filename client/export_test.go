package client

import (
	"context"

	"github.com/acpkit/go-sdk/internal/asked"
)

// Handling returns the ctx of a handler of c, for a test that asks at a time when none runs.
func Handling(ctx context.Context, c *Conn) context.Context { return asked.With(ctx, known{c}) }
