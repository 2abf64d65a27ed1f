package acptest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/clients"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
	"github.com/acpkit/go-sdk/acptest/internal/reference"
	"github.com/acpkit/go-sdk/client/terminals"
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
		clientDefect{defect.Defect{Name: "serves_outside_roots", In: check.V1, Finds: "AKC-READ-006 AKC-WRITE-004 AKC-WRITE-005 AKC-OUTSIDE-001 AKC-OUTSIDE-002 AKC-OUTSIDE-003 AKC-OUTSIDE-004 AKC-OUTSIDE-005 AKC-OUTSIDE-006 AKC-OUTSIDE-007 AKC-OUTSIDE-008 AKC-OUTSIDE-009 AKC-OUTSIDE-010 AKC-OUTSIDE-011"}, reference.Client{Careless: true}},
		clientDefect{defect.Defect{Name: "lingers", Finds: "AKC-EXIT-001 AKC-EXIT-002 AKC-EXIT-003 AKC-EXIT-004 AKC-EXIT-005"}, reference.Client{Lingers: true}},
	)
}

// The reference client passes all checks, and each defect makes exactly those checks fail that it
// names. Every check has a defect.
func TestDefectsOfClients(t *testing.T) {
	suite := clients.Suite()
	try := func(t *testing.T, d clientDefect, opts check.Options) {
		checked := suite
		checked.Checks = slices.DeleteFunc(slices.Clone(suite.Checks), func(c check.Check) bool {
			return len(opts.Only) > 0 && !slices.Contains(opts.Only, c.ID)
		})
		compare(t, &d.Defect, checked, check.Memory, func() *check.Report {
			opts.Cwd, opts.Few = t.TempDir(), true
			d.client.Cwd = opts.Cwd
			return suite.Run(t.Context(), defect.Wrap(check.InMemory(d.client.Run), &d.Defect, nil), &opts)
		})
	}
	t.Run("in a bubble", func(t *testing.T) {
		for i, d := range clientDefects() {
			for _, version := range []int{1, 2} {
				if d.In != 0 && !d.In.Has(version) || d.In == 0 && i > 0 && i%2 != version-1 && os.Getenv(whole) == "" {
					continue
				}
				opts := check.Options{Version: version}
				for n, c := range suite.Checks {
					if i > 0 && os.Getenv(whole) == "" && (d.Found(c.ID, version) || c.Passive == "" && (n+i)%8 == 0) {
						opts.Only = append(opts.Only, c.ID)
					}
				}
				t.Run(fmt.Sprintf("%s in version %d", d.Name, version), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { try(t, d, opts) })
				})
			}
		}
	})
	t.Run("with commands", func(t *testing.T) { // which are not in a bubble
		if os.Getenv(whole) == "" {
			t.Skipf("%s is not set: this test waits for clients that hang", whole)
		}
		if _, err := exec.LookPath("mkfifo"); err != nil {
			require.Empty(t, os.Getenv("CI"), "mkfifo is not installed, which CI must have")
			t.Skip("mkfifo is not installed: the clients of this test use named pipes")
		}
		for _, d := range terminalDefects() {
			// What a defect makes hang is waited for in vain.
			found, others := check.Options{Wait: 3 * time.Second, AtOnce: 4}, check.Options{Wait: time.Minute}
			for _, c := range suite.Checks {
				if d.Found(c.ID, 1) {
					found.Only = append(found.Only, c.ID)
				} else if strings.HasPrefix(c.ID, "AKC-TERM") {
					others.Only = append(others.Only, c.ID)
				}
			}
			for _, opts := range []check.Options{found, others} {
				if len(opts.Only) > 0 {
					opts.Version, opts.Quiet = 1, 10*time.Millisecond
					t.Run(d.Name, func(t *testing.T) {
						t.Parallel()
						try(t, d, opts)
					})
				}
			}
		}
	})
	all := defectsOfClients()
	for _, c := range suite.Checks {
		assert.True(t, !c.Over.Has(check.Memory) || slices.ContainsFunc(all, func(d defect.Defect) bool {
			return c.In.Has(1) && d.Found(c.ID, 1) || c.In.Has(2) && d.Found(c.ID, 2)
		}), "no defect makes %s fail", c.ID)
	}
}

// A client that needs a while before it goes on is not right for that.
func TestClientsThatGoOnLate(t *testing.T) {
	for name, id := range map[string]string{"accepts_any_version": "AKC-INIT-002", "ignores_refusal": "AKC-INIT-003", "prompts_without_session": "AKC-SESSION-002"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := slices.IndexFunc(defect.Clients, func(d defect.Defect) bool { return d.Name == name })
				require.GreaterOrEqual(t, i, 0)
				opts := &check.Options{Version: 1, Only: []string{id}, Cwd: t.TempDir()}
				target := reading(defect.Wrap(check.InMemory(reference.Client{Cwd: opts.Cwd}.Run), &defect.Clients[i], nil), func(line []byte) []byte {
					if bytes.Contains(line, []byte(`"session/`)) {
						time.Sleep(5 * time.Second) // in a bubble
					}
					return line
				})
				results := clients.Suite().Run(t.Context(), target, opts).Results
				require.Len(t, results, 1)
				assert.Equal(t, check.Fail, results[0].Verdict, results[0])
			})
		})
	}
}

func terminalDefects() []clientDefect {
	all := []clientDefect{
		{defect.Defect{Name: "none"}, reference.Client{Terminals: &terminals.Options{}}},
		{defect.Defect{Name: "leaves_children", Finds: "AKC-TERM-005 AKC-TERM-006 AKC-TERM-014"}, reference.Client{Terminals: &terminals.Options{Exec: reference.Lone}}},
	}
	for _, d := range defect.Terminals {
		all = append(all, clientDefect{d, reference.Client{Terminals: &terminals.Options{}}})
	}
	return all
}
