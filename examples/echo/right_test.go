package main

import (
	"context"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acp/acptest"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/stream"
)

func TestEchoIsRight(t *testing.T) {
	serve := func(ctx context.Context, s stream.Stream) error {
		return agent.Serve(ctx, s, func(c *agent.Conn) acp.Agent { return echo{c} }, &agent.Options{CheckIDs: true})
	}
	never := map[string]string{"slow": "", "tool": "", "ask": "", "read": "", "write": "", "run": ""}
	acptest.Agent(t, acptest.InMemory(serve), &acptest.Options{Prompts: never})
}
