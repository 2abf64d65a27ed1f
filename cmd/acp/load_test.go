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

	messages = flag.Int("messages", 100, "messages that TestLatency sends to each program in a round")
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
		require.Len(t, list, *updates+3)
		for _, rec := range list[1:] {
			require.Contains(t, []recording.Kind{recording.Notification, recording.End, recording.Exit}, rec.Kind)
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

// peer is a program that sends each line back, and how long that took.
type peer struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.Reader
	took []time.Duration
}

func startPeer(t *testing.T, cmd *exec.Cmd) *peer {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return &peer{cmd: cmd, in: in, out: out}
}

func (p *peer) send(t *testing.T, line []byte) {
	t.Helper()
	began := time.Now()
	_, err := p.in.Write(line)
	require.NoError(t, err)
	_, err = io.ReadFull(p.out, make([]byte, len(line)))
	require.NoError(t, err)
	p.took = append(p.took, time.Since(began))
}

// percentile returns the time that so many of a hundred messages took at most.
func (p *peer) percentile(n int) time.Duration {
	slices.Sort(p.took)
	return p.took[(len(p.took)-1)*n/100]
}

// A message arrives at most 100 us later than through a plain pump, and so does its response. The
// programs get a message in turn, so what else the machine does is the same for all.
func TestLatency(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes time of its own: the test needs a build without it, which CI makes as well")
	}
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}` + "\n")
	idle := time.NewTicker(time.Millisecond)
	defer idle.Stop()
	plain, taps := time.Hour, time.Hour
	for round := 0; round == 0 || round < rounds && taps > plain+2*100*time.Microsecond; round++ {
		direct, pump := agent("reply"), append([]string{"play", "pump"}, agent("reply")...)
		peers := []*peer{
			startPeer(t, exec.Command(direct[0], direct[1:]...)),
			startPeer(t, exec.Command(os.Args[0], pump...)),
			startPeer(t, tapped(t.TempDir(), direct)),
		}
		for range *messages {
			for _, p := range peers {
				<-idle.C
				p.send(t, line)
			}
		}
		for i, p := range peers {
			t.Logf("%-6s p50 %-12v p90 %-12v p99 %v", []string{"direct", "pump", "tap"}[i], p.percentile(50), p.percentile(90), p.percentile(99))
			require.NoError(t, p.in.Close())
		}
		for _, p := range peers {
			require.NoError(t, p.cmd.Wait())
		}
		plain, taps = min(plain, peers[1].percentile(*percent)), min(taps, peers[2].percentile(*percent))
	}
	assert.LessOrEqual(t, taps, plain+2*100*time.Microsecond)
}
