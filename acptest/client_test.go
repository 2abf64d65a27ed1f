package acptest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
	"github.com/acpkit/go-sdk/acptest/internal/reference"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// clientVar makes the test binary the reference client, and binaryVar one that sends binary frames.
const (
	clientVar = "ACPTEST_CLIENT"
	binaryVar = "ACPTEST_BINARY"
)

func TestMain(m *testing.M) {
	launched, err := Launched()
	switch {
	case launched:
	case os.Getenv(clientVar) != "":
		err = runClient(os.Args[1], os.Args[2])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runClient(agent, cwd string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var s stream.Stream
	var err error
	if strings.Contains(agent, "://") {
		opts := &remote.DialOptions{}
		if os.Getenv(binaryVar) != "" {
			opts.Client = &http.Client{Transport: binaryTransport{}}
		}
		s, err = remote.Dial(ctx, agent, opts)
	} else {
		s, err = stream.Command(exec.Command(agent), nil)
	}
	if err != nil {
		return err
	}
	return reference.Client{Cwd: cwd, Terminals: &terminals.Options{}}.Run(ctx, s)
}

// A client that reaches its agent over the network gets a URL.
func TestClientOverNetwork(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	only := []string{"AKC-INIT-001", "AKC-SESSION-003", "AKC-READ-001", "AKC-PERM-001", "AKC-EXIT-003"}
	for _, scheme := range []string{"ws", "http"} {
		target := ClientOverNetwork([]string{self, "{url}", "{cwd}"}, scheme, clientVar+"=1")
		report, err := CheckClient(t.Context(), target, &Options{Version: 1, Only: only, Wait: time.Minute})
		require.NoError(t, err)
		assert.Len(t, report.Results, len(only))
		for _, r := range report.Results {
			assert.Equal(t, Pass, r.Verdict, "%s: %s", scheme, r)
		}
	}
}

// A client whose messages are binary frames has that one fault, and its run is not green.
func TestClientWithBinaryFrames(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	target := ClientOverNetwork([]string{self, "{url}", "{cwd}"}, "ws", clientVar+"=1", binaryVar+"=1")
	report, err := CheckClient(t.Context(), target, &Options{Version: 1, Wait: 4 * time.Second})
	require.NoError(t, err)
	assert.Contains(t, report.Blocked, "Initialize did not come as text. A binary frame did, of which AKC-WS-001 judges.")
	for _, r := range report.Results {
		want := Inconclusive
		if r.ID == "AKC-WS-001" {
			want = Fail
		}
		assert.Equal(t, want, r.Verdict, r.String())
	}
}

// binaryTransport begins WebSockets whose frames are binary.
type binaryTransport struct{}

func (binaryTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &binarySocket{ReadWriteCloser: response.Body.(io.ReadWriteCloser)}
	return response, nil
}

type binarySocket struct {
	io.ReadWriteCloser

	frames check.Frames
}

func (s *binarySocket) Write(p []byte) (int, error) {
	return s.ReadWriteCloser.Write(defect.BinaryFrames(&s.frames, p))
}

// A client that is a program of its own starts the launcher as its agent.
func TestClientCommand(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	only := []string{"AKC-INIT-001", "AKC-SESSION-003", "AKC-RPC-009", "AKC-READ-001", "AKC-EXIT-001", "AKC-EXIT-003"}
	if runtime.GOOS != "windows" { // which has neither sh nor interrupts
		only = append(only, "AKC-PERM-007", "AKC-TERM-002", "AKC-TERM-014", "AKC-EXIT-004")
	}
	report, err := CheckClient(t.Context(), ClientCommand([]string{self, "{agent}", "{cwd}"}, self, clientVar+"=1"), &Options{Version: 1, Only: only, Wait: time.Minute})
	require.NoError(t, err)
	assert.Len(t, report.Results, len(only))
	for _, r := range report.Results {
		assert.Equal(t, Pass, r.Verdict, r.String())
	}
}

// What is wrong with a client that never starts its agent is told at once.
func TestClientThatStartsNoAgent(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	_, err = CheckClient(t.Context(), ClientCommand([]string{self, "/no such agent", "{cwd}"}, self, clientVar+"=1"), nil)
	require.ErrorContains(t, err, "the client has not started its agent")
	assert.ErrorContains(t, err, "no such agent")
}
