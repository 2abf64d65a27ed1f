// Package pairtest connects an agent and a client for the tests of this module, over any
// stream, directly or through a proxy, and measures what they log and hold.
package pairtest

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
)

// Bubble runs f in a synctest bubble, where time stands still while anything runs
// and a circle of waiting is found at once. The test fails when a goroutine of ours
// is left behind.
func Bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		f(t)
	})
}

// Race reports whether the race detector is on, with which everything takes about ten times as long.
var Race = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// Main runs the tests of a package, and keeps what they provoke out of their output.
func Main(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// Log keeps what was logged.
type Log struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// String returns all of it.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Logger returns a logger that writes here, at all levels.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Memory watches how much memory is in use.
type Memory struct {
	t          testing.TB
	start, top uint64
}

// Watch begins to watch. Nothing else may run meanwhile.
func Watch(t testing.TB) *Memory { return &Memory{t: t, start: live()} }

// live is what is still in use, after the garbage was collected.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// Look takes one measurement. It costs a garbage collection, so call it now and
// then. One goroutine at a time may call it.
func (m *Memory) Look() { m.top = max(m.top, live()) }

// Most is the largest measurement, in bytes above the first one.
func (m *Memory) Most() int64 { return int64(m.top) - int64(m.start) }

// Within fails the test when more than limit bytes were in use at a time.
func (m *Memory) Within(limit int64) {
	m.t.Helper()
	m.t.Logf("at most %.1f MiB in use, %.1f MiB allowed", float64(m.Most())/(1<<20), float64(limit)/(1<<20))
	assert.LessOrEqual(m.t, m.Most(), limit)
}

// StrictLogger returns a logger that fails the test for a warning or an error.
func StrictLogger(t testing.TB) *slog.Logger {
	w := &strictWriter{t: t}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.done = true
	})
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type strictWriter struct {
	t    testing.TB
	mu   sync.Mutex // guards done
	done bool       // the test has ended, and may log no more
}

func (w *strictWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.t.Errorf("logged: %s", line)
	}
	return len(line), nil
}

// Err returns the error of a call whose result does not matter.
func Err[T any](_ T, err error) error { return err }

// TempDir returns a folder for the test. Its name has no symlinks, so every program calls it the
// same.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}
