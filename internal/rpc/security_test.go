// In the package, for the defaults.
package rpc

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table of limits in SECURITY.md contains the defaults of the code.
func TestTableOfLimits(t *testing.T) {
	text, err := os.ReadFile("../../SECURITY.md")
	require.NoError(t, err)
	told := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\|[^|]*\\| *([0-9]+)(?: (MiB|GiB|s))? *\\| *`Limits\\.(\\w+)` *\\|").FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.ParseInt(m[1], 10, 64)
		require.NoError(t, err)
		unit := map[string]int64{"": 1, "MiB": 1 << 20, "GiB": 1 << 30, "s": int64(time.Second)}[m[2]]
		told[m[3]] = strconv.FormatInt(n*unit, 10)
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
