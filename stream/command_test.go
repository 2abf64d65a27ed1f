package stream_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// start runs a command and closes it at the end of the test.
func start(t testing.TB, cmd *exec.Cmd, opts *stream.CommandOptions) *stream.Process {
	t.Helper()
	leak.Check(t)
	p, err := stream.Command(cmd, opts)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Close()) })
	return p
}

// readPID reads a message {"pid":N}.
func readPID(t testing.TB, s stream.Stream) int {
	t.Helper()
	msg, err := s.Read()
	require.NoError(t, err)
	var process struct{ PID int }
	require.NoError(t, json.Unmarshal(msg, &process))
	return process.PID
}

func TestCommandExchangesMessages(t *testing.T) {
	p := start(t, helper(t, "echo"), nil)
	for _, msg := range []string{"{}", `{"x":"` + strings.Repeat("y", 300_000) + `"}`} {
		errs := make(chan error, 1)
		go func() { errs <- p.Write([]byte(msg)) }() // ends when the child has read it
		got, err := p.Read()
		require.NoError(t, err)
		require.NoError(t, <-errs)
		assert.Equal(t, msg, string(got))
	}
	assert.Positive(t, p.PID())
	began := time.Now()
	require.NoError(t, p.Close())
	assert.Less(t, time.Since(began), 4*time.Second, "it ends by itself when its input ends")
	assert.NoError(t, p.Wait())
	_, err := p.Read()
	assert.ErrorIs(t, err, stream.ErrClosed)
	assert.ErrorIs(t, p.Write([]byte("{}")), stream.ErrClosed)
}

func TestCommandReportsEarlyExit(t *testing.T) {
	t.Run("status 3", func(t *testing.T) {
		p := start(t, helper(t, "crash"), nil)
		_, err := p.Read()
		exit, ok := errors.AsType[*stream.ExitError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, &stream.ExitError{Status: 3, Stderr: "boom: out of luck\n"}, exit)
		assert.EqualError(t, err, "process exited with status 3: boom: out of luck")
		assert.NotErrorIs(t, err, io.EOF)
		err = p.Write([]byte("{}"))
		require.ErrorAs(t, err, &exit)
		assert.ErrorContains(t, err, "status 3: boom")
		assert.ErrorAs(t, p.Wait(), &exit)
		assert.Equal(t, "boom: out of luck\n", p.Stderr())
	})
	t.Run("status 0", func(t *testing.T) {
		p := start(t, helper(t, "quit"), nil)
		_, err := p.Read()
		exit, ok := errors.AsType[*stream.ExitError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, 0, exit.Status)
		assert.ErrorIs(t, err, io.EOF)
		assert.NoError(t, p.Wait())
	})
	t.Run("output comes first", func(t *testing.T) {
		p := start(t, helper(t, "last words"), nil)
		<-p.Done()
		for _, want := range []string{`{"n":1}`, `{"n":2}`} {
			assert.Equal(t, want, receive(t, p))
		}
		_, err := p.Read()
		assert.EqualError(t, err, "process exited with status 4")
	})
}

func TestCommandRefusesBadCommands(t *testing.T) {
	leak.Check(t)
	_, err := stream.Command(exec.Command(filepath.Join(t.TempDir(), "none")), nil)
	missing := os.ErrNotExist
	if runtime.GOOS == "windows" { // os/exec tries each extension of PATHEXT there
		missing = exec.ErrNotFound
	}
	assert.ErrorIs(t, err, missing)
	inside := helper(t, "echo")
	inside.Dir = filepath.Join(t.TempDir(), "none")
	_, err = stream.Command(inside, nil)
	path, ok := errors.AsType[*fs.PathError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, inside.Dir, path.Path, "the folder is named, not the program")
	cmd := helper(t, "echo")
	cmd.Stdout = os.Stderr
	_, err = stream.Command(cmd, nil)
	assert.ErrorContains(t, err, "must not be set")
	_, err = stream.Command(nil, nil)
	require.EqualError(t, err, "stream: Command was given no command: pass the result of exec.Command")
	_, err = stream.CommandDial(nil, nil)(t.Context())
	require.EqualError(t, err, "stream: CommandDial was given no function: pass one that returns a new exec.Cmd at each call")
	cmd = helper(t, "quit")
	require.NoError(t, cmd.Run())
	_, err = stream.Command(cmd, nil)
	assert.ErrorContains(t, err, "already started")
}

func TestCommandSkipsNoise(t *testing.T) {
	var noise []string
	p := start(t, helper(t, "noise"), &stream.CommandOptions{OnNoise: func(line string) { noise = append(noise, line) }})
	for _, want := range []string{`{"n":1}`, `{"n":2}`} {
		assert.Equal(t, want, receive(t, p))
	}
	assert.Equal(t, []string{"Welcome!", "\x1b[2J{\"broken\":", "WARN [x] {}", "[1]", "{ a: 1 }"}, noise)
}

// The error for a program that is not an agent contains the first line of its output, which usually
// describes the program.
func TestCommandQuotesNoise(t *testing.T) {
	p := start(t, helper(t, "usage"), nil)
	_, err := p.Read()
	assert.EqualError(t, err, `process exited with status 0 (its standard output begins with "Usage: helper [-v]", which is not a message)`)
	assert.ErrorIs(t, err, io.EOF)
	exit, ok := errors.AsType[*stream.ExitError](err)
	require.True(t, ok)
	assert.Equal(t, p.Noise(), exit.Noise)
}

// Writing the first message to a program that has exited fails. That error contains what the
// program printed, too.
func TestCommandQuotesNoiseToTheWriter(t *testing.T) {
	p := start(t, helper(t, "usage"), nil)
	<-p.Done()
	failed := make(chan error, 1)
	go func() { // ends when the process has been read
		err := error(nil)
		for err == nil {
			err = p.Write([]byte("{}"))
		}
		failed <- err
	}()
	_, err := p.Read()
	require.Error(t, err)
	exit, ok := errors.AsType[*stream.ExitError](<-failed)
	require.True(t, ok)
	assert.Equal(t, p.Noise(), exit.Noise)
	assert.NotEmpty(t, exit.Noise)
}

func TestCommandDrainsStderr(t *testing.T) {
	var passed int
	var lines int
	p := start(t, helper(t, "chatter"), &stream.CommandOptions{
		Stderr:     writerFunc(func(b []byte) (int, error) { passed += len(b); return len(b), nil }),
		OnStderr:   func(string) { lines++ },
		StderrTail: 10_001,
	})
	require.NoError(t, p.Write([]byte("{}")))
	receive(t, p)
	require.NoError(t, p.Close())
	assert.GreaterOrEqual(t, passed, 100<<20)
	assert.InDelta(t, passed/999, lines, 2)
	assert.True(t, utf8.ValidString(p.Stderr()))
	assert.InDelta(t, 10_001, len(p.Stderr()), 4)
	assert.True(t, strings.HasSuffix(p.Stderr(), "é\nthe end"))
	assert.NotContains(t, p.Stderr(), "\ufffd")
}

// OnStderr gets no more than 64 KiB of a line, and all of the next one.
func TestCommandCutsLinesOfStderr(t *testing.T) {
	var lines []string
	p := start(t, helper(t, "long"), &stream.CommandOptions{OnStderr: func(line string) { lines = append(lines, line) }})
	require.NoError(t, p.Wait())
	assert.Equal(t, []string{strings.Repeat("x", 64<<10), "short"}, lines)
}

func TestCommandStderrWriterThatFails(t *testing.T) {
	cmd := helper(t, "crash")
	cmd.Stderr = writerFunc(func([]byte) (int, error) { return 0, errors.New("full") })
	p := start(t, cmd, nil)
	assert.Error(t, p.Wait())
	assert.Equal(t, "boom: out of luck\n", p.Stderr())
}

// What a process writes at the end must not block it or kill it.
func TestCommandLetsTheProcessFinish(t *testing.T) {
	file := filepath.Join(t.TempDir(), "done")
	cmd := helper(t, "late")
	cmd.Env = append(cmd.Env, "STREAM_TEST_FILE="+file)
	p := start(t, cmd, nil)
	require.NoError(t, p.Write([]byte("{}")))
	receive(t, p)
	blocked := make(chan error, 1)
	go func() { // ends with the close
		_, err := p.Read()
		blocked <- err
	}()
	require.NoError(t, p.Close())
	assert.ErrorIs(t, <-blocked, stream.ErrClosed)
	assert.FileExists(t, file)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
