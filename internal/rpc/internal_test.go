// In the package, for the defaults.
package rpc

import (
	"cmp"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// The table of limits in SECURITY.md contains the defaults of the code.
func TestTableOfLimits(t *testing.T) {
	text, err := os.ReadFile("../../SECURITY.md")
	require.NoError(t, err)
	told := map[string]string{}
	fixed := map[string]string{ // by what the table says of limits that have no option
		"requests that wait for a handler":                            "MaxWaiting",
		"the responses of the connection itself that wait to be writ": "SendReserve",
		"a notification handler that keeps others waiting":            "SlowHandler",
		"writing after `Close`":                                       "FlushGrace",
		"requests that are open, waiting or running, 8 KiB more for":  "MaxOpen",
		"results, in memory and encoded, until they are written; all": "Results",
		"nothing written while the queue or the reserve was full":     "StallTimeout",
		"handlers after the peer has closed its end":                  "DrainGrace",
		"handlers after their ctx has ended":                          "HandlerGrace",
	}
	row := regexp.MustCompile("(?m)^\\| *([^|]{0,59})[^|]*?\\| *([0-9]+)(?: (MiB|GiB|s))? *\\| *(?:`Limits\\.(\\w+)`|fixed) *\\|")
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		name := cmp.Or(m[4], fixed[strings.TrimSpace(m[1])])
		if name == "" { // not a limit of this package
			continue
		}
		n, err := strconv.ParseInt(m[2], 10, 64)
		require.NoError(t, err)
		unit := map[string]int64{"": 1, "MiB": 1 << 20, "GiB": 1 << 30, "s": int64(time.Second)}[m[3]]
		told[name] = strconv.FormatInt(n*unit, 10)
	}
	l := Limits{}.withDefaults()
	want := map[string]string{}
	for name, v := range map[string]int64{
		"Backlog": l.Backlog, "MaxBacklog": l.MaxBacklog, "MaxHandlers": int64(l.MaxHandlers), "MaxWaiting": l.MaxWaiting, "MaxOpen": l.MaxOpen,
		"Results": l.Results, "SendQueue": l.SendQueue, "SendReserve": l.SendReserve, "StallTimeout": int64(l.StallTimeout), "DrainGrace": int64(l.DrainGrace),
		"HandlerGrace": int64(l.HandlerGrace), "FlushGrace": int64(l.FlushGrace), "SlowHandler": int64(l.SlowHandler),
	} {
		want[name] = strconv.FormatInt(v, 10)
	}
	assert.Equal(t, want, told)
}

func TestIDKey(t *testing.T) {
	for _, same := range [][]string{
		{"1", "1.0", "1e0", "10e-1"}, {`"a"`, `"\u0061"`}, {"-7", "-7.0"}, {"0", "-0", "0.0"},
		{"null"}, {`"1"`}, {`"null"`}, {"9007199254740993"}, {"9007199254740992"}, {"1.5"}, {`""`}, {"1e300"}, {`"\ud800"`, `"\uD800"`},
	} {
		for _, id := range same {
			assert.Equal(t, envelope.IDKey(same[0]), envelope.IDKey(id), id)
		}
	}
	assert.NotEqual(t, envelope.IDKey("1"), envelope.IDKey(`"1"`))
	assert.NotEqual(t, envelope.IDKey("9007199254740993"), envelope.IDKey("9007199254740992"))
	for id, want := range map[string]uint64{"1": 1, "7.0": 7, "7e0": 7, "18446744073709551615": 1<<64 - 1, "0": 0, `"1"`: 0, "null": 0, "-1": 0, "1.5": 0, "": 0, "18446744073709551616": 0} {
		got, ok := callID([]byte(id))
		assert.Equal(t, want, got, id)
		assert.Equal(t, want != 0, ok, id)
	}
}
