package stream_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
)

// The test binary is also the child process: TestMain runs the helper that this variable names.
const helperEnv = "STREAM_TEST_HELPER"

var helpers = map[string]func(){
	"echo":  helperEcho,
	"crash": func() { fmt.Fprintln(os.Stderr, "boom: out of luck"); os.Exit(3) },
	"quit":  func() { fmt.Fprintln(os.Stderr, "nothing to do"); os.Exit(0) },
	"last words": func() {
		fmt.Println(`{"n":1}`)
		fmt.Print(`{"n":2}`)
		os.Exit(4)
	},
	"noise":   helperNoise,
	"usage":   func() { fmt.Println("Usage: helper \x1b[31m[-v]\n  -v  say more") },
	"chatter": helperChatter,
	"long":    func() { os.Stderr.Write(append(bytes.Repeat([]byte("x"), 200<<10), "\nshort\n"...)) },
	"deaf":    func() { fmt.Println(`{"ready":true}`); stay() },
	"mute":    stay,
	"late":    helperLate,
	"relay":   helperRelay,
	"settles": func() {
		stream.EndOnSignal(&stream.SignalOptions{Grace: 50 * time.Millisecond, Before: func(ctx context.Context) error {
			fmt.Println("settled")
			<-ctx.Done()
			fmt.Println("late")
			select {} // the signal ends the program nevertheless
		}})
		fmt.Println("ready")
		stay()
	},
}

func TestMain(m *testing.M) {
	if helper := helpers[os.Getenv(helperEnv)]; helper != nil {
		helper()
		return
	}
	os.Exit(m.Run())
}

// helper returns the command that runs a helper.
func helper(t testing.TB, name string) *exec.Cmd {
	t.Helper()
	require.Contains(t, helpers, name)
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	// Under the race detector a process would wait for a second before it exits.
	cmd.Env = append(os.Environ(), helperEnv+"="+name, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// helperEcho answers each line with itself until its input ends.
func helperEcho() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		fmt.Print(line)
		if err != nil {
			return
		}
	}
}

// stay ignores the end of the input and blocks until a signal ends the process.
func stay() {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGHUP) // no test sends SIGHUP
	<-over
}

func helperNoise() {
	fmt.Print("Welcome!\n\x1b[2J{\"broken\":\n")
	fmt.Print("{\"n\":1}\nWARN [x] {}\n[1]\n{ a: 1 }\n\n{\"n\":2}\n")
	helperEcho()
}

// helperChatter fills standard error before it says anything.
func helperChatter() {
	line := make([]byte, 0, 1000)
	for len(line) < 999 {
		line = append(line, "é"...)
	}
	line = append(line[:998], '\n')
	w := bufio.NewWriterSize(os.Stderr, 64<<10)
	for n := 0; n < 100<<20; n += len(line) {
		_, _ = w.Write(line)
	}
	fmt.Fprint(w, "the end")
	_ = w.Flush()
	helperEcho()
}

// helperLate writes much output after its input has ended, and then a last message.
func helperLate() {
	helperEcho()
	for range 10_000 {
		fmt.Println(`{"late":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`)
	}
	_ = os.WriteFile(os.Getenv("STREAM_TEST_FILE"), []byte("done"), 0o600)
}
