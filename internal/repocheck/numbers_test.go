package repocheck_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// results has the cells of internal/bench/RESULTS.md, by the heading, the words of the first columns and the
// title of the column.
type results map[string]string

func readResults(t *testing.T) (results, string) {
	t.Helper()
	text, err := os.ReadFile("internal/bench/RESULTS.md")
	require.NoError(t, err)
	all := results{}
	var heading string
	var titles []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			heading, titles = strings.TrimPrefix(line, "## "), nil
		case !strings.HasPrefix(line, "|"):
			titles = nil
		case titles == nil:
			titles = cells(line)
		default:
			row := cells(line)
			key := heading + " / " + row[0]
			if len(titles) > 1 && titles[1] == "contender" {
				key += " / " + row[1]
			}
			for i, cell := range row {
				all[key+" / "+titles[i]] = cell
			}
		}
	}
	rounds := regexp.MustCompile(`medians of (\d+) rounds`).FindStringSubmatch(string(text))
	require.NotNil(t, rounds)
	return all, rounds[1]
}

func cells(line string) (all []string) {
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		all = append(all, strings.TrimSpace(cell))
	}
	return all
}

// short returns a number as documents show it: with two digits, or with all before the point.
func (r results) short(t *testing.T, key string) string {
	t.Helper()
	cell, ok := r[key]
	require.True(t, ok, "RESULTS.md has no %s", key)
	if cell == "failed" {
		return "fails"
	}
	number, unit, _ := strings.Cut(cell, " ")
	f, err := strconv.ParseFloat(number, 64)
	require.NoError(t, err, key)
	decimals := 0
	if f < 10 {
		decimals = 1
	}
	return strings.TrimSpace(strconv.FormatFloat(f, 'f', decimals, 64) + " " + unit)
}

// A claim is a part of a page with the cells of RESULTS.md that its numbers are.
var claims = []struct {
	page, text string
	of         []string
}{
	{"README.md", "An update costs {} between two processes, {} with github.com/coder/acp-go-sdk and {} with the TypeScript SDK", []string{
		two + "updates-synced / acpkit / each", two + "updates-synced / coder / each", two + "updates-synced / ts / each"}},
	{"docs/performance.md", "| the sender runs ahead (`updates`) | {} | {} |", []string{one + "updates / acpkit / each", two + "updates / acpkit / each"}},
	{"docs/performance.md", "| the sender waits after every 500 (`updates-synced`) | {} | {} |", []string{
		one + "updates-synced / acpkit / each", two + "updates-synced / acpkit / each"}},
	{"docs/performance.md", "| both in github.com/coder/acp-go-sdk, whose queue can overflow when the sender runs ahead | {}; {} | {}; {} |", []string{
		one + "updates / coder / each", one + "updates-synced / coder / each", two + "updates / coder / each", two + "updates-synced / coder / each"}},
	{"docs/performance.md", "| both in the official TypeScript SDK | {}; {} | {}; {} |", []string{
		one + "updates / ts / each", one + "updates-synced / ts / each", two + "updates / ts / each", two + "updates-synced / ts / each"}},
	{"docs/performance.md", "a fifth of them with a diff of 2 KB | {} | {} |", []string{one + "mixed / acpkit / each", two + "mixed / acpkit / each"}},
	{"docs/performance.md", "64 at once | {} | {} |", []string{one + "rtt64 / acpkit / each", two + "rtt64 / acpkit / each"}},
	{"docs/performance.md", "one after the other | {} | {} |", []string{one + "rtt / acpkit / each", two + "rtt / acpkit / each"}},
	{"docs/performance.md", "| `fs/read_text_file` with 1 MiB of ASCII text | {} | {} |", []string{
		one + "read-ascii-1M / acpkit / each", two + "read-ascii-1M / acpkit / each"}},
	{"docs/performance.md", "| an idle connection, one end | {} KiB of heap, 1 goroutine |", []string{"Start and memory / acpkit / KiB an end, 1000 idle"}},
	{"docs/performance.md", "from exec to the response to `initialize` | | {} ms |", []string{"Start and memory / acpkit / start ms"}},
	{"docs/performance.md", "That an update takes {} and {} allocations there", []string{
		one + "updates / plain / each", one + "updates / plain / allocs each, both ends"}},
	{"internal/rpc/doc.go", "takes about {} and\n// {} allocations", []string{
		one + "updates / plain / each", one + "updates / plain / allocs each, both ends"}},
}

const (
	one = "Both ends in one process / "
	two = "Both ends in two processes / "
)

var update = flag.Bool("update", false, "write the numbers of internal/bench/RESULTS.md into the pages")

// number is a number in a page, with its unit if it has one, or what stands there for a contender that fails.
const number = `(?:fails|[0-9.]+(?: [a-zA-Zµ/]+)?)`

// writeNumbers writes the numbers of the results into the pages.
func writeNumbers(t *testing.T, all results, rounds string) {
	t.Helper()
	replace := func(page, old, text string) {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		at := regexp.MustCompile(old).FindIndex(b)
		require.NotNil(t, at, "%s has no %s", page, old)
		require.NoError(t, os.WriteFile(page, slices.Concat(b[:at[0]], []byte(text), b[at[1]:]), 0o600))
	}
	for _, claim := range claims {
		text := claim.text
		for _, key := range claim.of {
			text = strings.Replace(text, "{}", all.short(t, key), 1)
		}
		replace(claim.page, strings.ReplaceAll(regexp.QuoteMeta(claim.text), regexp.QuoteMeta("{}"), number), text)
	}
	replace("docs/performance.md", `medians of \d+ rounds`, "medians of "+rounds+" rounds")
}

// One claim has one number: that of internal/bench/RESULTS.md. A number of a page that is no claim would not be
// found when the results change.
func TestNumbersAreThoseOfTheResults(t *testing.T) {
	all, rounds := readResults(t)
	if *update {
		writeNumbers(t, all, rounds)
	}
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	left := map[string]string{}
	for _, page := range append(pages, "README.md", "CHANGELOG.md", "internal/rpc/doc.go") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		left[page] = string(text)
	}
	for _, claim := range claims {
		want := claim.text
		for _, key := range claim.of {
			want = strings.Replace(want, "{}", all.short(t, key), 1)
		}
		if assert.Contains(t, left[claim.page], want, claim.page) {
			left[claim.page] = strings.Replace(left[claim.page], want, "", 1)
		}
	}
	for page, text := range left {
		assert.Empty(t, regexp.MustCompile(`\d+(\.\d+)? (µs|MB/s)`).FindAllString(text, -1), "%s has numbers that are no claims", page)
	}
	assert.Contains(t, left["docs/performance.md"], "medians of "+rounds+" rounds")
}
