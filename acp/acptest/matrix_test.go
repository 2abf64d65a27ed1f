package acptest

import (
	"cmp"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
	"github.com/acpkit/go-sdk/acp/acptest/internal/defect"
	"github.com/acpkit/go-sdk/acp/acptest/internal/reference"
)

// The reference agent passes all checks, and each defect makes exactly those checks fail that it
// names. Every check has a defect.
func TestDefectsOfAgents(t *testing.T) {
	suite := agents.Suite()
	caught := map[string]bool{}
	for _, d := range append([]defect.Defect{{Name: "none"}}, defect.Agents...) {
		for _, version := range []int{1, 2} {
			if d.In != 0 && !d.In.Has(version) {
				continue
			}
			t.Run(fmt.Sprintf("%s in version %d", d.Name, version), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					target := defect.Wrap(check.InMemory(reference.NewAgent().Serve), &d)
					report := suite.Run(t.Context(), target, &check.Options{Version: version, Cwd: t.TempDir(), Prompts: reference.Prompts})
					compare(t, &d, suite, check.Memory, report)
					for _, r := range report.Results {
						caught[r.ID] = caught[r.ID] || r.Verdict == check.Fail
					}
				})
			})
		}
	}
	for _, c := range suite.Checks {
		assert.True(t, caught[c.ID] || !c.Over.Has(check.Memory), "no defect makes %s fail", c.ID)
	}
}

// compare checks that a report has the verdicts that a defect names.
func compare(t *testing.T, d *defect.Defect, suite check.Suite, kind check.Kind, report *check.Report) {
	version := cmp.Or(report.Version, 2)
	want := map[string]check.Verdict{}
	for _, c := range suite.Checks {
		if v := d.Finding(c.ID, version); v != "" && c.In.Has(version) && c.Over.Has(kind) {
			want[c.ID] = v
		}
	}
	found := map[string]check.Verdict{}
	for _, r := range report.Results {
		if r.Verdict == check.Fail || r.Verdict == check.Inconclusive {
			found[r.ID] = r.Verdict
			if want[r.ID] != r.Verdict {
				t.Logf("%s %s: %s\n  sent %s\n  read %s", r.ID, r.Verdict, r.Reason, r.Sent, r.Read)
			}
		}
	}
	assert.Equal(t, want, found)
}
