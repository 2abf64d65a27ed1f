package stream_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamtest"
)

func TestContract(t *testing.T) {
	stream.ShortenStatusPatience(t)
	for name, connect := range map[string]func() (a, b stream.Stream){
		"Pipe": stream.Pipe,
		"Forward between pipes": func() (a, b stream.Stream) {
			a, b, _ = forwarded(nil)
			return a, b
		},
		"Tap before a pipe": func() (a, b stream.Stream) {
			a, b = stream.Pipe()
			return stream.Tap(a, func(stream.Direction, []byte) {}), b
		},
		"Lines over io.Pipe": func() (a, b stream.Stream) {
			r1, w1 := io.Pipe()
			r2, w2 := io.Pipe()
			return stream.Lines(r1, w2, nil), stream.Lines(r2, w1, nil)
		},
		"Lines over os.Pipe": func() (a, b stream.Stream) { return osPipeLines(t, nil) },
		"Lines over a network connection": func() (a, b stream.Stream) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer listener.Close()
			x, err := net.Dial("tcp", listener.Addr().String())
			require.NoError(t, err)
			y, err := listener.Accept()
			require.NoError(t, err)
			return stream.Lines(x, x, nil), stream.Lines(y, y, nil)
		},
		"tolerant Lines over net.Pipe": func() (a, b stream.Stream) {
			x, y := net.Pipe()
			opts := &stream.LinesOptions{Tolerant: true}
			return stream.Lines(x, x, opts), stream.Lines(y, y, opts)
		},
		"Command": func() (a, b stream.Stream) { return relay(t) },
	} {
		t.Run(name, func(t *testing.T) { streamtest.Test(t, connect) })
	}
}

// relay starts a process that connects its standard input and output with two pipes. The other ends
// of these pipes are the far end.
func relay(t testing.TB) (near, far stream.Stream) {
	if runtime.GOOS == "windows" { // a child process inherits only the standard files there
		return relayOverTCP(t)
	}
	r1, w1, err := os.Pipe()
	require.NoError(t, err)
	r2, w2, err := os.Pipe()
	require.NoError(t, err)
	cmd := helper(t, "relay")
	cmd.ExtraFiles = []*os.File{r1, w2}
	near, err = stream.Command(cmd, &stream.CommandOptions{Grace: time.Second / 2})
	require.NoError(t, err)
	require.NoError(t, r1.Close())
	require.NoError(t, w2.Close())
	return near, stream.Lines(r2, w1, nil)
}

// relayOverTCP is like relay, but the process connects to this one over TCP.
func relayOverTCP(t testing.TB) (near, far stream.Stream) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	cmd := helper(t, "relay")
	cmd.Env = append(cmd.Env, relayEnv+"="+listener.Addr().String())
	near, err = stream.Command(cmd, &stream.CommandOptions{Grace: time.Second / 2})
	require.NoError(t, err)
	conn, err := listener.Accept()
	require.NoError(t, err)
	return near, stream.Lines(conn, conn, nil)
}

// relayEnv holds the address that the relay connects to.
const relayEnv = "ACPKIT_TEST_RELAY"

// helperRelay ends when either side does.
func helperRelay() {
	in, out := os.NewFile(3, "in"), os.NewFile(4, "out")
	if address := os.Getenv(relayEnv); address != "" {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer conn.Close()
		copyBoth(conn, conn)
		return
	}
	copyBoth(out, in)
}

// copyBoth passes standard input on to out, and in to standard output, until either ends.
func copyBoth(out io.Writer, in io.Reader) {
	ended := make(chan struct{})
	pass := func(w io.Writer, r io.Reader) { // ends with its input or output
		_, _ = io.Copy(w, r)
		ended <- struct{}{}
	}
	go pass(out, os.Stdin)
	go pass(os.Stdout, in)
	<-ended
}
