package journal_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
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

// A full disk on which the meta file cannot be written is no reason to give up the log.
func TestSyncWithoutRoomForMeta(t *testing.T) {
	dir := t.TempDir()
	l, _ := faultyLog(t, dir)
	blocked := filepath.Join(dir, "s", "meta.json.new")
	require.NoError(t, os.Mkdir(blocked, 0o700))
	require.Error(t, l.Sync(t.Context()))
	require.NoError(t, os.Remove(blocked))
	_, err := l.Append(number(2))
	require.NoError(t, err)
	require.NoError(t, l.Sync(t.Context()))
	assert.Equal(t, []string{"1", "2"}, numbers(t, l))
}

// What another program does to the file of an open log is noticed before anything is appended to a
// file that nobody will read.
func TestLogChangedWhileOpen(t *testing.T) {
	for name, change := range map[string]func(name string) error{
		"removed":  os.Remove,
		"cut":      func(name string) error { return os.Truncate(name, 10) },
		"emptied":  func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"appended": func(name string) error { return appendTo(name, "x") },
		"replaced": func(name string) error {
			text, err := os.ReadFile(name)
			return errors.Join(err, os.WriteFile(name+"2", text, 0o600), os.Rename(name+"2", name))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && name == "replaced" {
				t.Skip("Windows replaces no open file")
			}
			dir := t.TempDir()
			s := files(t, dir)
			l, err := s.Create(t.Context(), "s", journal.Meta{})
			require.NoError(t, err)
			defer l.Close()
			_, err = l.Append(number(1))
			require.NoError(t, err)
			file := filepath.Join(dir, "s", "log.jsonl")
			require.NoError(t, change(file))
			for range 2 {
				_, err = l.Append(number(2))
				var damaged *journal.DamagedError
				require.ErrorAs(t, err, &damaged)
				assert.Equal(t, file, damaged.Damage.File)
			}
			require.NoError(t, l.Close())
			if l, err = s.Open(t.Context(), "s"); name == "replaced" || name == "appended" {
				require.NoError(t, err)
				_, err = l.Append(number(2))
				require.NoError(t, err)
				assert.Equal(t, []string{"1", "2"}, numbers(t, l))
				require.NoError(t, l.Close())
			}
		})
	}
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Read begins near the first record that is asked for, and finds the same records as a read from the
// beginning, also where lines are damaged.
func TestReadAfter(t *testing.T) {
	dir := t.TempDir()
	s := files(t, dir)
	l, err := s.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	const n = 400
	for i := 1; i <= n; i++ {
		_, err = l.Append(journal.Record{Data: fmt.Appendf(nil, `{"n":%d,"x":%q}`, i, bytes.Repeat([]byte("x"), 1+i*37%5000))})
		require.NoError(t, err)
	}
	check := func(l journal.Log, lost int64) {
		for after := int64(-1); after <= n+1; after++ {
			var got []int64
			for r, err := range l.Read(t.Context(), after) {
				require.NoError(t, err)
				got = append(got, r.Seq)
			}
			var want []int64
			for seq := max(after, 0) + 1; seq <= n; seq++ {
				if seq != lost {
					want = append(want, seq)
				}
			}
			require.Equal(t, want, got, "after %d", after)
		}
	}
	check(l, 0)
	require.NoError(t, l.Close())
	l, err = s.Open(t.Context(), "s")
	require.NoError(t, err)
	check(l, 0)
	require.NoError(t, l.Close())
	name := filepath.Join(dir, "s", "log.jsonl")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	text[bytes.Index(text, []byte(`"n":200,`))] = 'N'
	require.NoError(t, os.WriteFile(name, text, 0o600))
	l, err = s.Open(t.Context(), "s")
	require.NoError(t, err)
	defer l.Close()
	check(l, 200)
}

// Two records whose line feed is damaged are both found, and so is one after a damaged record and its
// line feed.
func TestLineFeedsFlipped(t *testing.T) {
	dir := t.TempDir()
	text := written(t, dir)
	lines := bytes.SplitAfter(text, []byte("\n"))
	name := filepath.Join(dir, "s", "log.jsonl")
	for what, c := range map[string]struct {
		change func(b []byte)
		want   []string
	}{
		"all line feeds": {func(b []byte) {
			for i := range b {
				if b[i] == '\n' {
					b[i] = 'x'
				}
			}
		}, []string{"1", "2", "3"}},
		"the end of a record": {func(b []byte) {
			end := len(lines[0]) + len(lines[1])
			b[end-1], b[end-2] = 'x', 'x'
		}, []string{"2", "3"}},
	} {
		bad := bytes.Clone(text)
		c.change(bad)
		require.NoError(t, os.WriteFile(name, bad, 0o600))
		l, err := files(t, dir).Open(t.Context(), "s")
		require.NoError(t, err, what)
		assert.Equal(t, c.want, numbers(t, l), what)
		require.NoError(t, l.Close())
	}
}

// A damaged record costs little more than an intact one, whatever its data looks like.
func TestCostOfDamage(t *testing.T) {
	dir := t.TempDir()
	s := files(t, dir)
	for _, part := range []string{`{"sum":"00000000","seq":1},`, `{"sum":"`} {
		data := "[" + strings.Repeat(part, 4<<20/len(part)) + "0]"
		if !json.Valid([]byte(data)) {
			quoted, err := json.Marshal(strings.Repeat("x", len(data)))
			require.NoError(t, err)
			data = string(quoted)
		}
		id := fmt.Sprint("s", len(part))
		l, err := s.Create(t.Context(), id, journal.Meta{})
		require.NoError(t, err)
		_, err = l.Append(number(1))
		require.NoError(t, err)
		_, err = l.Append(journal.Record{Data: json.RawMessage(data)})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		name := filepath.Join(dir, id, "log.jsonl")
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if data[0] == '"' {
			text = bytes.Replace(text, bytes.Repeat([]byte("x"), 4<<20), bytes.Repeat([]byte(part), 4<<20/len(part)), 1)
		}
		text[len(text)-3] = 'y'
		require.NoError(t, os.WriteFile(name, text, 0o600))
		least := time.Hour
		for range 5 {
			begun := time.Now()
			l, err = s.Open(t.Context(), id)
			least = min(least, time.Since(begun))
			require.NoError(t, err)
			assert.Len(t, l.Damage(), 1)
			require.NoError(t, l.Close())
		}
		assert.Less(t, least, 2*time.Second, part)
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
