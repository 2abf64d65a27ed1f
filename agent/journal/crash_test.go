package journal_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
)

func files(t testing.TB, dir string) *journal.Files {
	s, err := journal.OpenFiles(dir, nil)
	require.NoError(t, err)
	return s
}

// number returns a record with the number n as its data.
func number(n int) journal.Record {
	return journal.Record{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Kind: journal.KindEvent, Data: fmt.Append(nil, n)}
}

// numbers returns the data of all records of a log.
func numbers(t testing.TB, l journal.Log) (all []string) {
	for r, err := range l.Read(t.Context(), 0) {
		require.NoError(t, err)
		all = append(all, string(r.Data))
	}
	return all
}

// written returns the text of the log of session "s". The log has three records, and its meta file
// counts two of them.
func written(t testing.TB, dir string) []byte {
	s := files(t, dir)
	l, err := s.Create(t.Context(), "s", journal.Meta{Cwd: "/w", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	require.NoError(t, err)
	_, err = l.Append(number(1), number(2))
	require.NoError(t, err)
	require.NoError(t, l.Sync(t.Context()))
	_, err = l.Append(number(3))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	text, err := os.ReadFile(filepath.Join(dir, "s", "log.jsonl"))
	require.NoError(t, err)
	return text
}

// A log that is cut at any byte has the records before the cut, reports the loss, and accepts new
// records.
func TestCutAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	text := written(t, dir)
	name := filepath.Join(dir, "s", "log.jsonl")
	lines := bytes.SplitAfter(text, []byte("\n"))
	begins := len(lines[0]) // of record 1
	for size := range text {
		require.NoError(t, os.WriteFile(name, text[:size], 0o600))
		want, complete, at := 0, false, begins
		for _, line := range lines[1:4] {
			if size >= at+len(line)-1 { // a record without its line feed is complete
				want++
				complete = size >= at+len(line)-1 && size <= at+len(line)
			}
			at += len(line)
		}
		l, err := files(t, dir).Open(t.Context(), "s")
		if want == 0 {
			var damaged *journal.DamagedError
			require.ErrorAs(t, err, &damaged, size)
			require.Equal(t, name, damaged.Damage.File)
			continue
		}
		require.NoError(t, err, size)
		all := []string{"1", "2", "3"}[:want]
		require.Equal(t, all, numbers(t, l), size)
		if want < 2 || !complete {
			require.NotEmpty(t, l.Damage(), size)
		}
		_, err = l.Append(number(4))
		require.NoError(t, err)
		require.NoError(t, l.Close())
		l, err = files(t, dir).Open(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, append(all, "4"), numbers(t, l), size)
		require.NoError(t, l.Close())
	}
}

// A changed byte damages the record that contains it, and no other record.
func TestEveryByteFlipped(t *testing.T) {
	dir := t.TempDir()
	text := written(t, dir)
	name := filepath.Join(dir, "s", "log.jsonl")
	end := 0
	for n, line := range bytes.SplitAfter(text, []byte("\n"))[:3] { // the head and two records
		begin := end
		end += len(line)
		for at := begin; at < end; at++ {
			for _, bit := range []byte{1, 0x80} {
				bad := bytes.Clone(text)
				bad[at] ^= bit
				require.NoError(t, os.WriteFile(name, bad, 0o600))
				l, err := files(t, dir).Open(t.Context(), "s")
				require.NoError(t, err)
				want := []string{"1", "2", "3"}
				if n > 0 && at < end-1 { // a line feed is not part of a record
					want = append(want[:n-1:n-1], want[n:]...)
				}
				require.Equal(t, want, numbers(t, l), "byte %d of line %d", at-begin, n)
				if at < end-1 {
					require.Len(t, l.Damage(), 1, "byte %d of line %d", at-begin, n)
				}
				require.NoError(t, l.Close())
			}
		}
	}
}

// faulty is a log file whose operations can be made to fail.
type faulty struct {
	journal.LogFile
	write    func(b []byte) (int, error)
	truncate error
	sync     func() error
}

func (f *faulty) Write(b []byte) (int, error) {
	if f.write != nil {
		if n, err := f.write(b); err != nil || n < len(b) {
			f.LogFile.Write(b[:n])
			return n, err
		}
	}
	return f.LogFile.Write(b)
}

func (f *faulty) Truncate(size int64) error {
	if f.truncate != nil {
		return f.truncate
	}
	return f.LogFile.Truncate(size)
}

func (f *faulty) Sync() error {
	if f.sync != nil {
		return f.sync()
	}
	return f.LogFile.Sync()
}

// faultyLog creates session "s" with one record and a log file that can fail.
func faultyLog(t *testing.T, dir string) (journal.Log, *faulty) {
	s, f := files(t, dir), new(faulty)
	s.Wrap(func(inner journal.LogFile) journal.LogFile { f.LogFile = inner; return f })
	l, err := s.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	_, err = l.Append(number(1))
	require.NoError(t, err)
	return l, f
}

// A failed Append leaves nothing in the log, and the next one succeeds once there is room.
func TestAppendFails(t *testing.T) {
	for name, write := range map[string]func(b []byte) (int, error){
		"the disk is full at once":  func([]byte) (int, error) { return 0, syscall.ENOSPC },
		"the disk is full midway":   func(b []byte) (int, error) { return len(b) / 2, syscall.ENOSPC },
		"all but the end":           func(b []byte) (int, error) { return len(b) - 1, syscall.EIO },
		"a short write":             func(b []byte) (int, error) { return 5, nil },
		"behind the first of two":   func(b []byte) (int, error) { return bytes.IndexByte(b, '\n') + 1, syscall.ENOSPC },
		"an error after everything": func(b []byte) (int, error) { return len(b), syscall.EIO },
	} {
		for _, truncate := range []error{nil, syscall.EIO} {
			t.Run(fmt.Sprint(name, ", truncate: ", truncate), func(t *testing.T) {
				dir := t.TempDir()
				l, f := faultyLog(t, dir)
				f.write, f.truncate = write, truncate
				for range 3 {
					_, err := l.Append(number(2), number(3))
					require.Error(t, err)
					assert.Contains(t, err.Error(), filepath.Join(dir, "s", "log.jsonl"))
					if _, want := write([]byte("\n")); want != nil && truncate == nil {
						assert.ErrorIs(t, err, want)
					}
				}
				assert.Equal(t, []string{"1"}, numbers(t, l))
				f.write, f.truncate = nil, nil
				seq, err := l.Append(number(4))
				require.NoError(t, err)
				assert.EqualValues(t, 2, seq)
				require.NoError(t, l.Close())
				l, err = files(t, dir).Open(t.Context(), "s")
				require.NoError(t, err)
				defer l.Close()
				assert.Equal(t, []string{"1", "4"}, numbers(t, l))
				assert.Empty(t, l.Damage())
			})
		}
	}
}

// After a failed fsync the content of the disk is unknown, so Sync and Append keep failing.
func TestSyncFails(t *testing.T) {
	l, f := faultyLog(t, t.TempDir())
	f.sync = func() error { return syscall.EIO }
	require.ErrorIs(t, l.Sync(t.Context()), syscall.EIO)
	f.sync = nil
	require.ErrorIs(t, l.Sync(t.Context()), syscall.EIO)
	_, err := l.Append(number(2))
	require.ErrorIs(t, err, syscall.EIO)
}

// Append does not wait for a running fsync. Sync waits for it until its ctx is done.
func TestAppendDuringSync(t *testing.T) {
	l, f := faultyLog(t, t.TempDir())
	began, end := make(chan struct{}), make(chan struct{})
	f.sync = func() error { close(began); <-end; f.sync = nil; return nil }
	synced := make(chan error)
	go func() { synced <- l.Sync(t.Context()) }() // ends with end
	<-began
	for i := range 100 {
		_, err := l.Append(number(i))
		require.NoError(t, err)
	}
	require.Len(t, numbers(t, l), 101)
	ctx, cancel := contextWithCause(t, errors.New("no time"))
	cancel()
	require.EqualError(t, l.Sync(ctx), "no time")
	close(end)
	require.NoError(t, <-synced)
	require.NoError(t, l.Sync(t.Context()))
}

// A killed process leaves no lock, and all records that it has appended are there.
func TestKilledWriter(t *testing.T) {
	if dir := os.Getenv("JOURNAL_WRITER"); dir != "" {
		l, err := files(t, dir).Create(t.Context(), "s", journal.Meta{})
		require.NoError(t, err)
		for i := 0; ; i++ {
			_, err := l.Append(number(i))
			require.NoError(t, err)
			fmt.Println("appended", i)
		}
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$")
	cmd.Env = append(os.Environ(), "JOURNAL_WRITER="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	reported := 0
	lines := bufio.NewScanner(out)
	for lines.Scan() && reported < 1000 {
		if _, err := fmt.Sscanf(lines.Text(), "appended %d", &reported); err != nil {
			continue
		}
		if reported == 500 {
			_, err := files(t, dir).Open(t.Context(), "s")
			var held *journal.HeldError
			require.ErrorAs(t, err, &held, "the process runs")
		}
	}
	require.NoError(t, cmd.Process.Kill())
	rest, _ := io.ReadAll(out)
	assert.NotContains(t, string(rest), "FAIL")
	_ = cmd.Wait()
	l, err := files(t, dir).Open(t.Context(), "s")
	require.NoError(t, err)
	defer l.Close()
	all := numbers(t, l)
	require.Greater(t, len(all), reported)
	for i, n := range all {
		require.Equal(t, fmt.Sprint(i), n)
	}
}
