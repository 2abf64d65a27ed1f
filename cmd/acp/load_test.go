//go:build linux

package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

var (
	mib     = flag.Int("mib", 100, "MiB that an agent sends in TestConstantMemory")
	percent = flag.Int("percentile", 50, "percentile that TestLatency compares; higher ones need a quiet machine")
	updates = flag.Int("updates", 10_000, "updates that an agent sends in TestManyUpdates")
)

// drain reads the output of a program to its end, and returns how long that took.
func drain(t *testing.T, cmd *exec.Cmd) (lines int, took time.Duration) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stdin, err = os.Open(os.DevNull)
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	began := time.Now()
	buf := make([]byte, 64<<10)
	for {
		n, err := out.Read(buf)
		lines += bytes.Count(buf[:n], []byte("\n"))
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	took = time.Since(began)
	require.NoError(t, cmd.Wait())
	return lines, took
}

// rounds is how often a measurement is repeated, because the machine may be busy.
const rounds = 20

// The recording of many updates has all of them, and they take at most twice as long as without.
func TestManyUpdates(t *testing.T) {
	n := strconv.Itoa(*updates)
	plain, taps := time.Hour, time.Hour
	for round := 0; round == 0 || round < rounds && taps > 2*plain; round++ {
		state := t.TempDir()
		lines, took := drain(t, exec.Command(os.Args[0], append([]string{"play", "pump"}, agent("updates", n)...)...))
		require.Equal(t, *updates, lines)
		plain = min(plain, took)
		lines, took = drain(t, tapped(state, agent("updates", n)))
		require.Equal(t, *updates, lines)
		taps = min(taps, took)
		_, list := theRecording(t, state)
		require.Len(t, list, *updates+2)
		for _, rec := range list[1:] {
			require.Contains(t, []recording.Kind{recording.Notification, recording.End}, rec.Kind)
		}
	}
	t.Logf("%d updates: %v, %v through a plain pump", *updates, taps, plain)
	assert.LessOrEqual(t, taps, 2*plain)
}

// raceEnabled reports whether the race detector is on.
var raceEnabled = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// An agent that sends without end does not make tap grow.
func TestConstantMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector needs memory of its own: the test needs a build without it, which CI makes as well")
	}
	cmd := tapped(t.TempDir(), agent("flood", strconv.Itoa(*mib)))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	peak := 0
	buf := make([]byte, 1<<20)
	for read := 0; ; {
		n, err := out.Read(buf)
		if read += n; err == io.EOF {
			break
		}
		require.NoError(t, err)
		if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)); err == nil {
			if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
				_, _ = fmt.Sscan(rest, &peak)
			}
		}
	}
	require.NoError(t, cmd.Wait())
	t.Logf("%d MiB: at most %d MiB of memory", *mib, peak>>10)
	assert.Less(t, peak>>10, 320) // half of it is enough
}

// A message arrives at most 100 us later than through a plain pump, and so does its response.
func TestLatency(t *testing.T) {
	const messages = 100
	latency := func(cmd *exec.Cmd) time.Duration {
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		line := []byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}` + "\n")
		var all []time.Duration
		idle := time.NewTicker(time.Millisecond)
		defer idle.Stop()
		for range messages {
			<-idle.C
			began := time.Now()
			_, err = in.Write(line)
			require.NoError(t, err)
			_, err = io.ReadFull(out, make([]byte, len(line)))
			require.NoError(t, err)
			all = append(all, time.Since(began))
		}
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
		slices.Sort(all)
		return all[len(all)**percent/100]
	}
	plain, taps := time.Hour, time.Hour
	for round := 0; round == 0 || round < rounds && taps > plain+2*100*time.Microsecond; round++ {
		plain = min(plain, latency(exec.Command(os.Args[0], append([]string{"play", "pump"}, agent("reply")...)...)))
		taps = min(taps, latency(tapped(t.TempDir(), agent("reply"))))
	}
	t.Logf("a request and its response, percentile %d: %v, %v through a plain pump", *percent, taps, plain)
	assert.LessOrEqual(t, taps, plain+2*100*time.Microsecond)
}
