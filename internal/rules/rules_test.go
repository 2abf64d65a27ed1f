package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/rules"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Every request is checked, and nearly all have nothing that a rule is about.
func TestChecksOfOrdinaryRequestsAllocateNothing(t *testing.T) {
	v := rules.Version{Session: "session.", Prompt: "prompt.", Server: "mcp.", Read: func(any) (r rules.Request) { return r }}
	m, has := new(wire.Method), func(string) bool { return false }
	assert.Zero(t, testing.AllocsPerRun(100, func() { v.Missing(m, nil, has) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = v.Agent(has, nil, false) }))
}
