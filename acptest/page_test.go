package acptest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/clients"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
)

var update = flag.Bool("update", false, "write the tables of docs/checks.md")

// docs/checks.md has a row for each check, with the defects that make it fail. The flag -update
// writes the rows.
func TestPage(t *testing.T) {
	const file = "../docs/checks.md"
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	want := string(page)
	for _, part := range []struct {
		name    string
		suite   check.Suite
		defects []defect.Defect
	}{{"agents", agents.Suite(), defect.Agents}, {"clients", clients.Suite(), defectsOfClients()}} {
		begin, end := "<!-- "+part.name+" -->\n", "<!-- end of "+part.name+" -->"
		before, rest, ok := strings.Cut(want, begin)
		require.True(t, ok, "the mark %q is missing", begin)
		_, after, ok := strings.Cut(rest, end)
		require.True(t, ok, "the mark %q is missing", end)
		want = before + begin + rows(part.suite, part.defects) + end + after
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	assert.Equal(t, want, string(page), "run go test . -run TestPage -update")
}

func defectsOfClients() (all []defect.Defect) {
	for _, d := range append(clientDefects(), terminalDefects()...) {
		all = append(all, d.Defect)
	}
	return all
}

func rows(suite check.Suite, defects []defect.Defect) string {
	var b strings.Builder
	b.WriteString("| id | what holds | tier | version | specification | defects that it finds |\n|---|---|---|---|---|---|\n")
	for _, c := range suite.Checks {
		var found []string
		for _, d := range defects {
			for _, version := range []int{1, 2} {
				if c.In.Has(version) && c.Over.Has(check.Memory) && (d.In == 0 || d.In.Has(version)) && d.Found(c.ID, version) {
					found = append(found, d.Name)
					break
				}
			}
		}
		versions := map[check.Versions]string{check.V1: "1", check.V2: "2", check.Both: "both"}[c.In]
		for _, d := range defect.Network {
			if strings.Contains(d.Finds, c.ID) {
				found = append(found, d.Name)
			}
		}
		fmt.Fprintf(&b, "| <a id=%q></a>%s | %s | %s | %s | %s | %s |\n", strings.ToLower(c.ID), c.ID,
			strings.ReplaceAll(c.Title, "|", "\\|"), c.Tier, versions, fmt.Sprintf("[%s](%s)", c.Fact, c.Page(1)), strings.Join(found, ", "))
	}
	return b.String()
}
