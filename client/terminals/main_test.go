//go:build unix

package terminals_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/stream"
)

// The test binary plays a program that runs commands as well: this variable holds its
// folder.
const playEnv = "TERMINALS_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(playEnv); dir != "" {
		fmt.Fprintln(os.Stderr, play(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// play runs a command that ignores SIGTERM and passes its output on.
func play(dir string) error {
	stream.EndOnSignal(&stream.SignalOptions{Grace: 100 * time.Millisecond})
	folders, err := files.Open(&files.Options{Roots: []string{dir}})
	if err != nil {
		return err
	}
	pool := terminals.New(folders, &terminals.Options{OnOutput: func(o terminals.Output) { os.Stdout.Write(o.Data) }})
	conn := &sessions{roots: map[acp.SessionID][]string{"s": {dir}}}
	h := &runner{Terminals: pool.Terminals(conn, nil), session: "s"}
	if _, err := h.tryCreate(acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", stubborn + `trap "" TERM; echo $$; while :; do sleep 0.05; done`}}); err != nil {
		return err
	}
	select {} // until a signal ends the program
}
