package mask

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// place is a line of testdata/secrets.txt or testdata/ordinary.txt.
type place struct {
	line    string   // as it is in the file
	record  string   // what a recorder masks: a message, the command of a head or a line of standard error
	secrets []string // that stand in it
}

var (
	letters = regexp.MustCompile(`\{([ahudb])([0-9]+)\}`)
	marked  = regexp.MustCompile(`⟦([^⟧]*)⟧`)
)

var alphabets = map[string]string{
	"a": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	"h": "0123456789abcdef", "u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "d": "0123456789",
	"b": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
}

// places reads a table, with letters made from a seed.
func places(t *testing.T, name string, seed uint64) (list []place) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(seed, 1))
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		filled := letters.ReplaceAllStringFunc(line, func(m string) string {
			parts := letters.FindStringSubmatch(m)
			n, _ := strconv.Atoi(parts[2])
			made := make([]byte, n)
			for i := range made {
				made[i] = alphabets[parts[1]][random.IntN(len(alphabets[parts[1]]))]
			}
			return string(made)
		})
		p := place{line: line}
		for _, m := range marked.FindAllStringSubmatch(filled, -1) {
			p.secrets = append(p.secrets, strings.Split(m[1], `\n`)...)
		}
		kind, what, _ := strings.Cut(marked.ReplaceAllString(filled, "$1"), " ")
		text := strings.ReplaceAll(what, `\n`, "\n")
		switch kind {
		case "argv":
			p.record = what
		case "json":
			p.record = `{"jsonrpc":"2.0","method":"m","params":` + what + `}`
		case "stderr":
			quoted, _ := json.Marshal(text)
			p.record = string(quoted)
		case "text":
			quoted, _ := json.Marshal(text)
			p.record = `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"content":{"type":"text","text":` + string(quoted) + `}}}}`
		}
		require.True(t, json.Valid([]byte(p.record)), line)
		list = append(list, p)
	}
	return list
}

// In realistic places, written down before the code, secrets are hidden. A few places say nothing about
// what stands in them: such as the word of an echo that is piped into a login.
func TestPlacesOfSecrets(t *testing.T) {
	for seed := range uint64(10) {
		list := places(t, "testdata/secrets.txt", seed)
		require.Len(t, list, 192)
		hidden := 0
		for _, p := range list {
			var m Masker
			got, _ := m.JSON([]byte(p.record))
			leaks := false
			for _, s := range p.secrets {
				leaks = leaks || strings.Contains(string(got), s)
			}
			if !leaks {
				hidden++
			} else {
				t.Log("not masked: ", p.line)
			}
			assert.True(t, json.Valid(got), p.line)
		}
		t.Logf("%d of %d places are masked", hidden, len(list))
		assert.GreaterOrEqual(t, hidden, 180)
	}
}

// Ordinary text that looks like such places stays as it is.
func TestOrdinaryTextIsNotMasked(t *testing.T) {
	for seed := range uint64(10) {
		for _, p := range places(t, "testdata/ordinary.txt", seed) {
			var m Masker
			got, changed := m.JSON([]byte(p.record))
			assert.Equal(t, p.record, string(got), p.line)
			assert.False(t, changed, p.line)
		}
	}
}
