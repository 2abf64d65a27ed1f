//go:build unix

package workspace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/workspace"
)

// cpu is the CPU time in seconds of this process, or of those that it has waited for.
func cpu(b *testing.B, who int) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(who, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// mostTimes is how much more CPU time than ripgrep a search for a text may need, with (?i) too.
const mostTimes = 6

// BenchmarkSearch searches 2000 files of 16 KB for what is in none of them. If ripgrep is installed, the CPU
// time is compared with that of ripgrep.
func BenchmarkSearch(b *testing.B) {
	base := b.TempDir()
	words := strings.Fields("func return if err != nil { } := range context Session prompt // the ( ) [ ] for struct type string")
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 2000 {
		var text strings.Builder
		for text.Len() < 16<<10 {
			text.WriteString(words[r.IntN(len(words))] + map[bool]string{true: "\n", false: " "}[r.IntN(8) == 0])
		}
		require.NoError(b, os.WriteFile(filepath.Join(base, fmt.Sprint(i, ".go")), []byte(text.String()), 0o600))
	}
	w, err := workspace.Open(connect(b, "", nil), "s1", []string{base}, nil)
	require.NoError(b, err)
	for _, pattern := range []string{"notinthere", "(?i)notinthere", "not[ia]n+there", "notin|there_is|nothere", "(?i)notin|there_is|nothere"} {
		b.Run(pattern, func(b *testing.B) {
			own := cpu(b, syscall.RUSAGE_SELF)
			for b.Loop() {
				found, _, err := w.Search(b.Context(), workspace.Query{Pattern: pattern})
				require.NoError(b, err)
				require.Empty(b, found)
			}
			own = cpu(b, syscall.RUSAGE_SELF) - own
			b.ReportMetric(own/float64(b.N), "CPU-s/op")
			if _, err := exec.LookPath("rg"); err != nil {
				return
			}
			others := cpu(b, syscall.RUSAGE_CHILDREN)
			for range b.N {
				_ = exec.Command("rg", "-n", pattern, base).Run() // it fails, because it finds nothing
			}
			times := own / (cpu(b, syscall.RUSAGE_CHILDREN) - others)
			b.ReportMetric(times, "times-rg")
			if b.N > 1 && times > mostTimes { // one search is too short to be judged
				b.Errorf("%.1f times the CPU time of ripgrep, and %d times are allowed", times, mostTimes)
			}
		})
	}
}
