package pairtest

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
