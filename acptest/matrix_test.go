package acptest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
	"github.com/acpkit/go-sdk/acptest/internal/reference"
)

// streamed is how many pieces the long text of the reference agent has here.
const streamed = 60

// whole is the variable with which each defect is tried in both versions of the protocol, and with
// all checks. Without it the versions take turns, and so do the checks that must not find the
// defect.
const whole = "ACPKIT_TEST_MATRIX"

// The reference agent passes all checks, and each defect makes exactly those checks fail that it
// names. Every check has a defect.
func TestDefectsOfAgents(t *testing.T) {
	suite := agents.Suite()
	for i, d := range append([]defect.Defect{{Name: "none", In: check.Both}}, defect.Agents...) {
		for _, version := range []int{1, 2} {
			if d.In != 0 && !d.In.Has(version) || d.In == 0 && version != 1+i%2 && os.Getenv(whole) == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s in version %d", d.Name, version), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					opts := &check.Options{Version: version, Prompts: reference.Prompts, Few: true}
					if i == 0 || ofSignIn(&d, version) {
						opts.Auth = "key"
					}
					for n, c := range suite.Checks {
						if i > 0 && os.Getenv(whole) == "" && (d.Found(c.ID, version) || c.Passive == "" && (n+i)%8 == 0) {
							opts.Only = append(opts.Only, c.ID)
						}
					}
					compare(t, &d, suite, check.Memory, func() *check.Report {
						opts.Cwd = t.TempDir()
						target := defect.Wrap(defect.Wrap(check.InMemory(reference.NewAgent(streamed)), &defect.November, nil), &d, reference.Prompts)
						return suite.Run(t.Context(), target, opts)
					})
				})
			})
		}
	}
	for _, c := range suite.Checks {
		assert.True(t, !c.Over.Has(check.Memory) || slices.ContainsFunc(defect.Agents, func(d defect.Defect) bool {
			return c.In.Has(1) && d.Found(c.ID, 1) || c.In.Has(2) && d.Found(c.ID, 2)
		}), "no defect makes %s fail", c.ID)
	}
}

// ofSignIn reports whether a defect is one that only a user who signs in meets.
func ofSignIn(d *defect.Defect, version int) bool {
	return d.Found("ACP-AUTH-003", version) || d.Found("AK-AUTH-002", version) || d.Found("AK-AUTH-004", version)
}

// compare runs checks, and compares those that fail with those that a defect names: no others fail, and
// without a defect each comes to a verdict.
func compare(t *testing.T, d *defect.Defect, suite check.Suite, kind check.Kind, run func() *check.Report) {
	report := run()
	version := cmp.Or(report.Version, 2)
	var want, found []string
	for _, c := range suite.Checks {
		if d.Found(c.ID, version) && c.In.Has(version) && c.Over.Has(kind) {
			want = append(want, c.ID)
		}
	}
	for _, r := range report.Results {
		if r.Verdict == check.Fail || d.Finds == "" && r.Verdict == check.Inconclusive {
			found = append(found, r.ID)
		}
		if r.Verdict == check.Fail && !d.Found(r.ID, version) || r.Verdict == check.Inconclusive {
			t.Logf("%s %s: %s\n  sent %s\n  read %s", r.ID, r.Verdict, r.Reason, r.Sent, r.Read)
		}
	}
	assert.Equal(t, want, found)
}

// An id is the same one if it is written with escapes, and the report shows the response with
// another one.
func TestIDsOfResponses(t *testing.T) {
	for _, test := range []struct {
		id, old, new string
		want         check.Verdict
		reason       string
	}{
		{"AK-ID-002", `ä`, `\u00e4`, check.Pass, ""},
		{"AK-ID-003", `9223372036854775807`, `9223372036854776000`, check.Fail, "The response has the id 9223372036854776000."},
	} {
		target := reading(check.InMemory(reference.NewAgent(streamed)), func(line []byte) []byte {
			return bytes.ReplaceAll(line, []byte(test.old), []byte(test.new))
		})
		report := agents.Suite().Run(t.Context(), target, &check.Options{Version: 1, Only: []string{test.id}, Wait: time.Minute})
		require.Len(t, report.Results, 1)
		result := report.Results[0]
		assert.Equal(t, test.want, result.Verdict, result)
		assert.Equal(t, test.reason, result.Reason)
		if test.want == check.Fail {
			assert.Contains(t, result.Read, test.new)
		}
	}
}

// reading returns the target with what the peer has sent changed.
func reading(target check.Target, change func(line []byte) []byte) check.Target {
	open := target.Open
	target.Open = func(ctx context.Context, cwd string) (check.Link, error) {
		link, err := open(ctx, cwd)
		return changed{link, change}, err
	}
	return target
}

type changed struct {
	check.Link
	change func(line []byte) []byte
}

func (c changed) Read() ([]byte, error) {
	line, err := c.Link.Read()
	return c.change(line), err
}
