//go:build unix

package stream_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

func init() {
	helpers["stray"] = helperStray
	helpers["pipe"] = helperPipe
	helpers["interrupt"] = helperInterrupt
	helpers["stdio echo"] = func() { echo(stream.Stdio()) }
	helpers["stdio short"] = func() { echo(stream.StdioLines(&stream.LinesOptions{MaxMessage: 10})) }
}

// helperStray prints to every standard output it can reach: before, between and after its messages.
func helperStray() {
	fmt.Println("before") // before Stdio is called, so the client sees it
	s := stream.Stdio()
	for i := range 3 {
		fmt.Println("stray", i)
		_, _ = os.Stdout.WriteString("direct\n")
		_, _ = syscall.Write(1, []byte("raw\n"))
		child := exec.Command("sh", "-c", "echo child; cat")
		child.Stdin, child.Stdout = os.Stdin, os.Stdout // cat must not read what the client sends
		check(child.Run())
		check(s.Write(fmt.Appendf(nil, `{"n":%d}`, i)))
	}
	msg, err := s.Read()
	check(err)
	check(s.Write(msg))
	again := stream.Stdio()
	_, readErr := again.Read()
	check(s.Write(fmt.Appendf(nil, `{"read":%q,"write":%q}`, readErr, again.Write([]byte("{}")))))
	check(again.Close())
	_, err = s.Read()
	if err != io.EOF {
		check(fmt.Errorf("want io.EOF, got %w", err))
	}
	check(s.Close())
	fmt.Println("after")
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		os.Exit(1)
	}
}

func TestStdioKeepsStrayOutputAway(t *testing.T) {
	var noise []string
	var stderr strings.Builder
	p := start(t, helper(t, "stray"), &stream.CommandOptions{Stderr: &stderr, OnNoise: func(line string) { noise = append(noise, line) }})
	require.NoError(t, p.Write([]byte(`{"hello":1}`)))
	for _, want := range []string{
		`{"n":0}`, `{"n":1}`, `{"n":2}`, `{"hello":1}`,
		`{"read":"stream: Stdio was already called in this process","write":"stream: Stdio was already called in this process"}`,
	} {
		assert.Equal(t, want, receive(t, p))
	}
	require.NoError(t, p.Close())
	assert.NoError(t, p.Wait(), p.Stderr())
	assert.Equal(t, []string{"before"}, noise)
	want := ""
	for i := range 3 {
		want += fmt.Sprintf("stray %d\ndirect\nraw\nchild\n", i)
	}
	assert.Equal(t, want+"after\n", stderr.String())
}

// helperPipe writes until the client is gone, and writes the error to a file.
func helperPipe() {
	s := stream.Stdio()
	var err error
	for err == nil {
		err = s.Write([]byte("{}"))
	}
	for range 100 {
		fmt.Println("nobody reads this") // this pipe is broken as well
		fmt.Fprintln(os.Stderr, "nor this")
	}
	// A socket is reset if its other end had unread data.
	verdict := fmt.Sprintf("broken: %v", errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET))
	check(os.WriteFile(os.Getenv("STREAM_TEST_FILE"), []byte(verdict), 0o600))
}

func TestStdioSurvivesABrokenPipe(t *testing.T) {
	for _, kind := range []string{"pipe", "socket"} {
		t.Run(kind, func(t *testing.T) {
			leak.Check(t)
			file := filepath.Join(t.TempDir(), "verdict")
			cmd := helper(t, "pipe")
			cmd.Env = append(cmd.Env, "STREAM_TEST_FILE="+file)
			near, far := filePair(t, kind)
			cmd.Stdout, cmd.Stderr = far, far
			require.NoError(t, cmd.Start())
			require.NoError(t, far.Close())
			_, err := near.Read(make([]byte, 1))
			require.NoError(t, err)
			require.NoError(t, near.Close())
			require.NoError(t, cmd.Wait())
			verdict, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, "broken: true", string(verdict))
		})
	}
}

// filePair returns two connected files. What is written to far can be read from near. A socket
// works in the other direction too.
func filePair(t testing.TB, kind string) (near, far *os.File) {
	t.Helper()
	if kind == "pipe" {
		near, far, err := os.Pipe()
		require.NoError(t, err)
		return near, far
	}
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return os.NewFile(uintptr(fds[0]), "near"), os.NewFile(uintptr(fds[1]), "far")
}

// helperInterrupt closes its stream while a read and a write are blocked. It reports that on
// descriptor 4 and runs until descriptor 3 ends.
func helperInterrupt() {
	s := stream.Stdio()
	ended := make(chan error, 2)
	progress := make(chan struct{}, 1)
	go func() { // ends with the close
		_, err := s.Read()
		ended <- err
	}()
	go func() { // ends with the close
		for {
			if err := s.Write(make([]byte, 100_000)); err != nil {
				ended <- err
				return
			}
			select {
			case progress <- struct{}{}:
			default:
			}
		}
	}()
	for blocked := false; !blocked; {
		select {
		case <-progress:
		case <-time.After(100 * time.Millisecond):
			blocked = true
		}
	}
	check(s.Close())
	for range 2 {
		select {
		case err := <-ended:
			if !errors.Is(err, stream.ErrClosed) {
				check(fmt.Errorf("want ErrClosed, got %w", err))
			}
		case <-time.After(10 * time.Second):
			check(errors.New("still blocked"))
		}
	}
	_, err := os.NewFile(4, "done").WriteString("free")
	check(err)
	_, _ = os.NewFile(3, "wait").Read(make([]byte, 1))
}

func TestStdioCloseInterruptsAndIsSeen(t *testing.T) {
	for _, kind := range []string{"pipe", "socket"} {
		t.Run(kind, func(t *testing.T) {
			leak.Check(t)
			out, theirOut := filePair(t, kind)
			in, theirIn := filePair(t, kind)
			if kind == "pipe" {
				in, theirIn = theirIn, in
			}
			hold, wait := filePair(t, "pipe")
			done, theirDone := filePair(t, "pipe")
			var stderr strings.Builder
			cmd := helper(t, "interrupt")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, &stderr
			cmd.ExtraFiles = []*os.File{hold, theirDone}
			require.NoError(t, cmd.Start())
			for _, f := range []*os.File{theirIn, theirOut, hold, theirDone} {
				require.NoError(t, f.Close())
			}
			said, err := io.ReadAll(io.LimitReader(done, 4))
			require.NoError(t, err)
			assert.Equal(t, "free", string(said))
			_, err = io.Copy(io.Discard, out)
			assert.NoError(t, err, "the client sees the end of input while the process still lives")
			_, err = in.Write([]byte("{}\n"))
			assert.ErrorIs(t, err, syscall.EPIPE, "and that nobody reads any more")
			require.NoError(t, wait.Close())
			assert.NoError(t, cmd.Wait(), stderr.String())
			for _, f := range []*os.File{out, in, done} {
				require.NoError(t, f.Close())
			}
		})
	}
}

func TestStdioOfAPipeline(t *testing.T) {
	out, err := shell(t, "stdio echo", `printf '{"a":1}\n{"b":2}' | "$0" | cat`).Output()
	require.NoError(t, err)
	assert.Equal(t, "{\"a\":1}\n{\"b\":2}\n", string(out))

	file := filepath.Join(t.TempDir(), "out")
	require.NoError(t, shell(t, "stdio echo", `printf '{"a":1}' > `+file+`.in; "$0" < `+file+`.in > `+file).Run())
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "{\"a\":1}\n", string(got))
}

func TestStdioLinesHasOptions(t *testing.T) {
	p := start(t, helper(t, "stdio short"), nil)
	for _, msg := range []string{`{"a":1}`, `{"a":100000}`, `{"b":2}`} {
		require.NoError(t, p.Write([]byte(msg)))
	}
	for _, want := range []string{`{"a":1}`, `{"large":12}`, `{"b":2}`} {
		assert.Equal(t, want, receive(t, p))
	}
}

// echo answers each message with itself.
func echo(s stream.Stream) {
	for {
		msg, err := s.Read()
		if large, ok := errors.AsType[*stream.TooLargeError](err); ok {
			msg, err = fmt.Appendf(nil, `{"large":%d}`, large.Size), nil
		}
		if err != nil {
			return
		}
		check(s.Write(msg))
	}
}
