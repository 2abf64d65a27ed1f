//go:build unix

package terminals_test

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/terminals"
)

const benchOutput = 256 << 20

// BenchmarkOutput compares the output of a terminal with a pipe whose output is discarded. The
// terminal must be at least half as fast. Both run in turn, so that other load slows both, and the
// median of all pairs is reported.
func BenchmarkOutput(b *testing.B) {
	args := []string{"-c", "head -c 268435456 /dev/zero"}
	h := newRunner(b, &terminals.Options{OnOutput: func(terminals.Output) {}}, nil)
	var ours, theirs time.Duration
	var ofAPipe []float64
	for b.Loop() {
		begun := time.Now()
		id := h.create(acp.CreateTerminalRequest{Command: "sh", Args: args})
		h.wait(id)
		h.release(id)
		between := time.Now()
		emptyPipe(b, exec.Command("sh", args...))
		our, their := between.Sub(begun), time.Since(between)
		ours, theirs = ours+our, theirs+their
		ofAPipe = append(ofAPipe, their.Seconds()/our.Seconds())
	}
	slices.Sort(ofAPipe)
	b.ReportMetric(float64(b.N)*benchOutput/1e6/ours.Seconds(), "MB/s")
	b.ReportMetric(float64(b.N)*benchOutput/1e6/theirs.Seconds(), "MB/s-pipe")
	b.ReportMetric(ofAPipe[len(ofAPipe)/2], "of-a-pipe")
	b.ReportMetric(0, "ns/op") // it would be the time of both
}

// emptyPipe runs a command and discards its output.
func emptyPipe(b *testing.B, cmd *exec.Cmd) {
	b.Helper()
	r, w, err := os.Pipe()
	require.NoError(b, err)
	defer r.Close()
	cmd.Stdout = w
	require.NoError(b, cmd.Start())
	w.Close()
	buf := make([]byte, 64<<10)
	for err == nil {
		_, err = r.Read(buf)
	}
	require.ErrorIs(b, err, io.EOF)
	require.NoError(b, cmd.Wait())
}
