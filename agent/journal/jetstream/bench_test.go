package jetstream_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/natsserver"
)

// BenchmarkAppend appends one record at a time to one session.
func BenchmarkAppend(b *testing.B) {
	for _, servers := range []int{1, 3} {
		for sync, o := range map[string]natsserver.Options{"always": {}, "default": {DefaultSync: true}} {
			b.Run(fmt.Sprintf("servers=%d/sync=%s", servers, sync), func(b *testing.B) {
				o.Servers = servers
				s := open(b, natsserver.Start(b, o).URL(), name(), "a")
				l, err := s.Create(b.Context(), "s", journal.Meta{})
				require.NoError(b, err)
				b.ResetTimer()
				for i := range b.N {
					_, err := l.Append(number(i))
					require.NoError(b, err)
				}
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
				require.NoError(b, l.Close())
			})
		}
	}
}
