package repocheck_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A promise is worth its test: each row of a table of promises or limits in SECURITY.md names tests, and each one that it names exists,
// in the package that the row or the head of the table names.
func TestSecurityNamesTests(t *testing.T) {
	functions := map[string]string{} // the source of the tests, by folder
	source := func(dir string) string {
		if _, ok := functions[dir]; !ok {
			names, err := filepath.Glob(dir + "/*_test.go")
			require.NoError(t, err)
			for _, name := range names {
				text, err := os.ReadFile(name)
				require.NoError(t, err)
				functions[dir] += string(text)
			}
		}
		return functions[dir]
	}
	test, folder := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`"), regexp.MustCompile("(?:in `|]\\()((?:acp|agent|client|cmd|draft2|examples|internal|rpcerr|stream)(?:/[\\w/]+)?)[`)]")
	heads := regexp.MustCompile(`^\| (promise|operation|what) \|`)
	text, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	var head []string
	named, table := 0, false
	for line := range strings.Lines(string(text)) {
		dirs := head
		if found := folder.FindAllStringSubmatch(line, -1); found != nil {
			dirs = append(slices.Clone(head), all(found)...)
		}
		switch {
		case heads.MatchString(line):
			table = true
		case !strings.HasPrefix(line, "|"):
			table = false
		case table && !strings.HasPrefix(line, "|--"):
			assert.True(t, test.MatchString(line), "no test shows that this holds: %s", line)
		}
		if heads.MatchString(line) {
			head = dirs[len(head):]
		}
		for _, name := range all(test.FindAllStringSubmatch(line, -1)) {
			named++
			assert.True(t, slices.ContainsFunc(dirs, func(dir string) bool { return strings.Contains(source(dir), "\nfunc "+name+"(") }), "%s: not in %v", name, dirs)
		}
	}
	assert.Greater(t, named, 60)
}

// A promise in prose would need no test. Outside of the sections that promise nothing, the prose of SECURITY.md introduces a table,
// in one sentence that ends with a colon, or says what is not promised; and a row promises one thing.
func TestSecurityPromisesInTables(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	promisesNothing := []string{"# Security", "## Who trusts whom", "## What is not promised"}
	secondSentence := regexp.MustCompile("[.] [A-Z`*]")
	heading, rows := "", 0
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		switch {
		case strings.HasPrefix(block, "#"):
			heading = block
		case slices.Contains(promisesNothing, heading), strings.HasPrefix(block, "Not promised: "):
		case strings.HasPrefix(block, "|"):
			head, table, _ := strings.Cut(block, "\n")
			assert.Regexp(t, `^\| (promise|operation|what) \|`, head)
			for row := range strings.Lines(table) {
				if strings.HasPrefix(head, "| promise |") {
					rows++
					assert.NotRegexp(t, secondSentence, strings.Split(row, "|")[1], "two promises in a row")
				}
			}
		default:
			assert.True(t, strings.HasSuffix(block, ":") && !secondSentence.MatchString(block), "%s: what is promised is a row of a table, with its test: %s", heading, block)
		}
	}
	assert.Greater(t, rows, 100)
}
