package repocheck_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/schema"
)

// What the schemas mark as guessed is what one table of docs/rough-edges.md lists, with its versions and whether
// it is stable. The official files have no such marks, so the table ends with them.
func TestGuessedFactsAreListed(t *testing.T) {
	marked := map[string]bool{} // by version, name and stability
	for version := 1; version <= 2; version++ {
		stable := unsure(t, fmt.Sprintf("v%d.json", version))
		for name := range unsure(t, fmt.Sprintf("v%d-unstable.json", version)) {
			marked[fmt.Sprintf("%d %s stable=%v", version, name, stable[name])] = true
		}
	}
	page, err := os.ReadFile("docs/rough-edges.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| what | version | what is not known |\n")
	require.True(t, found || len(marked) == 0, "docs/rough-edges.md has no table of what was guessed")
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "|") {
			break
		}
		row := cells(line)
		for version := range strings.SplitSeq(row[1], ", ") {
			for _, name := range all(regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[0], -1)) {
				listed[fmt.Sprintf("%s %s stable=%v", version, name, strings.Contains(row[0], "**stable**"))] = true
			}
		}
	}
	assert.Equal(t, marked, listed)
}

// unsure returns the definitions, members and variants of a schema that are marked as guessed.
func unsure(t *testing.T, file string) map[string]bool {
	t.Helper()
	type mark struct {
		Unsure bool `json:"x-unsure"`
	}
	type variant struct {
		mark
		Properties map[string]struct {
			Const string
		}
	}
	var facts struct {
		Defs map[string]struct {
			mark
			Properties   map[string]mark
			AnyOf, OneOf []variant
		} `json:"$defs"`
	}
	data, err := schema.Files.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &facts))
	names := map[string]bool{}
	for name, def := range facts.Defs {
		if def.Unsure {
			names[name] = true
		}
		for member, m := range def.Properties {
			if m.Unsure {
				names[name+"."+member] = true
			}
		}
		for _, v := range append(def.AnyOf, def.OneOf...) {
			for _, tag := range v.Properties {
				if v.Unsure && tag.Const != "" {
					names[name+"."+tag.Const] = true
				}
			}
		}
	}
	return names
}
