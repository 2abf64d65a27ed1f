package acptest

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
	"github.com/acpkit/go-sdk/acp/acptest/internal/clients"
	"github.com/acpkit/go-sdk/acp/acptest/internal/defect"
	"github.com/acpkit/go-sdk/acp/acptest/internal/reference"
)

// clientDefect is a defect of the reference client: on the wire, or one of its switches.
type clientDefect struct {
	defect.Defect
	client reference.Client
}

func clientDefects() []clientDefect {
	all := []clientDefect{{Defect: defect.Defect{Name: "none"}}}
	for _, d := range defect.Clients {
		all = append(all, clientDefect{Defect: d})
	}
	return append(all,
		clientDefect{defect.Defect{Name: "sends_no_prompt"}, reference.Client{Silent: true}},
		clientDefect{defect.Defect{Name: "serves_outside_roots", In: check.V1, Finds: map[string]check.Verdict{
			"AKC-READ-006": check.Fail, "AKC-WRITE-004": check.Fail, "AKC-WRITE-005": check.Fail,
			"AKC-OUTSIDE-001": check.Fail, "AKC-OUTSIDE-002": check.Fail, "AKC-OUTSIDE-003": check.Fail, "AKC-OUTSIDE-004": check.Fail,
			"AKC-OUTSIDE-005": check.Fail, "AKC-OUTSIDE-006": check.Fail, "AKC-OUTSIDE-007": check.Fail, "AKC-OUTSIDE-008": check.Fail,
			"AKC-OUTSIDE-009": check.Fail, "AKC-OUTSIDE-010": check.Fail, "AKC-OUTSIDE-011": check.Fail,
		}}, reference.Client{Careless: true}},
		clientDefect{defect.Defect{Name: "lingers", Finds: map[string]check.Verdict{
			"AKC-EXIT-001": check.Fail, "AKC-EXIT-002": check.Fail, "AKC-EXIT-003": check.Fail, "AKC-EXIT-004": check.Fail, "AKC-EXIT-005": check.Fail,
		}}, reference.Client{Lingers: true}},
	)
}

// The reference client passes all checks, and each defect makes exactly those checks fail that it
// names. Every check has a defect.
func TestDefectsOfClients(t *testing.T) {
	suite := clients.Suite()
	var mu sync.Mutex
	caught := map[string]bool{}
	t.Run("defects", func(t *testing.T) {
		for i, d := range clientDefects() {
			for _, version := range []int{1, 2} {
				if d.In != 0 && !d.In.Has(version) || d.In == 0 && i > 0 && i%2 != version-1 {
					continue
				}
				t.Run(fmt.Sprintf("%s in version %d", d.Name, version), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						d.client.Cwd = t.TempDir()
						target := defect.Wrap(check.InMemory(d.client.Run), &d.Defect)
						report := suite.Run(t.Context(), target, &check.Options{Version: version, Cwd: d.client.Cwd, Few: true})
						compare(t, &d.Defect, suite, check.Memory, report)
						mu.Lock()
						defer mu.Unlock()
						for _, r := range report.Results {
							caught[r.ID] = caught[r.ID] || r.Verdict == check.Fail
						}
					})
				})
			}
		}
	})
	for _, c := range suite.Checks {
		assert.True(t, caught[c.ID], "no defect makes %s fail", c.ID)
	}
}
