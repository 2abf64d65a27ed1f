package acptest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
	"github.com/acpkit/go-sdk/acptest/internal/reference"
	"github.com/acpkit/go-sdk/stream"
)

// What is unusual and allowed fails no check of the tier must.
func TestUnusualAgents(t *testing.T) {
	for _, d := range defect.Unusual {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				target := defect.Wrap(check.InMemory(reference.NewAgent(streamed)), &d, reference.Prompts)
				report := agents.Suite().Run(t.Context(), target, &check.Options{Version: 1, Cwd: t.TempDir(), Prompts: reference.Prompts, Few: true})
				for _, r := range report.Results {
					assert.False(t, r.Verdict == check.Fail && r.Tier == check.Must, "%s: %s\n  sent %s\n  read %s", r.ID, r.Reason, r.Sent, r.Read)
					assert.NotContains(t, r.Reason, "The check itself is wrong", r.ID)
				}
				assert.Empty(t, report.Blocked)
			})
		})
	}
}

// A check that panics is inconclusive, tells it, and leaves the others alone.
func TestCheckThatPanics(t *testing.T) {
	suite := agents.Suite()
	suite.Checks = slices.DeleteFunc(suite.Checks, func(c check.Check) bool { return c.ID != "ACP-INIT-001" })
	panics := func(*check.T) { panic("no such member") }
	suite.Checks = append(suite.Checks, check.Check{ID: "X-1", Tier: check.Must, In: check.Both, Run: panics})
	suite.Checks = append(suite.Checks, check.Check{ID: "X-2", Tier: check.Must, In: check.Both, Run: func(t *check.T) {
		p := t.Connect()
		p.Handle("x", func(check.Message) any { panic("no such handler") })
		p.Start("initialize", map[string]any{"protocolVersion": 1}).Result()
	}})
	synctest.Test(t, func(t *testing.T) {
		results := suite.Run(t.Context(), check.InMemory(reference.NewAgent(1)), &check.Options{Version: 1, Cwd: t.TempDir()}).Results
		require.Len(t, results, 3)
		assert.Equal(t, check.Pass, results[0].Verdict)
		assert.Equal(t, check.Inconclusive, results[1].Verdict)
		assert.Contains(t, results[1].Reason, "no such member, at acptest/unusual_test.go:")
		assert.Contains(t, results[1].Reason, "issues")
	})
}

// A run in which no session can be started says what to pass.
func TestBlockedRun(t *testing.T) {
	for name, c := range map[string]struct {
		auth, refuses string
		want          []string
	}{
		"no session":     {"", "session/new", []string{"session/new failed with -32000", `-auth METHOD ("key")`}},
		"a sign-in":      {"key", "authenticate", []string{`The sign-in by "key" failed with -32000`, `-auth METHOD ("key")`}},
		"nothing at all": {"", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			refusing := defect.Refusing(c.refuses)
			target := defect.Wrap(check.InMemory(reference.NewAgent(1)), &refusing, nil)
			report, err := CheckAgent(context.Background(), Target{target}, &Options{Version: 1, Auth: c.auth, Only: []string{"ACP-INIT-001"}})
			require.NoError(t, err)
			assert.Equal(t, c.want == nil, report.Blocked == "", report.Blocked)
			for _, want := range c.want {
				assert.Contains(t, report.Blocked, want)
			}
		})
	}
}

// A run in which initialize was not answered is not green, whatever did not need an answer.
func TestUnansweredRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := check.InMemory(func(_ context.Context, s stream.Stream) error {
			for {
				if _, err := s.Read(); err != nil {
					return err
				}
			}
		})
		for _, checked := range []func(context.Context, Target, *Options) (*Report, error){CheckAgent, CheckClient} {
			report, err := checked(t.Context(), Target{target}, nil)
			require.NoError(t, err)
			assert.Contains(t, report.Blocked, "No connection could be begun, so next to nothing was checked.")
		}
	})
}

// A failure has its rule, the page of the specification, and what to change; its texts are clean for a
// terminal.
func TestFailureText(t *testing.T) {
	target := reading(check.InMemory(reference.NewAgent(1)), func(line []byte) []byte {
		return []byte(strings.Replace(string(line), `"code":-32601,"message":"`, `"code":0,"message":"\u001b[31m`+"\u202e", 1))
	})
	report, err := CheckAgent(t.Context(), Target{target}, &Options{Version: 1, Only: []string{"ACP-EXT-001", "AK-EXT-001"}})
	require.NoError(t, err)
	require.Len(t, report.Results, 2)
	text := report.Results[1].String()
	assert.Contains(t, text, "FAIL AK-EXT-001 (should)\n  rule     A request of an extension")
	assert.Contains(t, text, "https://agentclientprotocol.com/protocol/v1/extensibility")
	assert.Contains(t, text, "change   Answer methods")
	assert.NotContains(t, text, "\u202e")
	for _, c := range agents.Suite().Checks {
		assert.NotEmpty(t, c.Advice(), c.ID)
	}
}
