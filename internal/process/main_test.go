package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
)

// The test binary is also the commands of the tests. This variable names the command.
const playEnv = "PROCESS_TEST_PLAYS"

// plays are the commands. When a command is ready, it prints the lines of the processes it started
// and then a line with its process id.
var plays = map[string]func() error{
	// polite ends when it is asked to.
	"polite": func() error { return ready() },
	// rude ignores the request to end.
	"rude": func() error { refuse(); return ready() },
	// leaver ends and leaves a process behind.
	"leaver": func() error {
		if err := child("rude"); err != nil {
			return err
		}
		fmt.Println(os.Getpid())
		os.Exit(7)
		return nil
	},
	// family is three generations that all ignore the request to end.
	"family": func() error { return parent("rude family") },
	"rude family": func() error {
		refuse()
		return parent("rude")
	},
}

func TestMain(m *testing.M) {
	if play := plays[os.Getenv(playEnv)]; play != nil {
		fmt.Fprintln(os.Stderr, play())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// refuse makes this program ignore signals that ask it to end.
func refuse() { signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM) }

func ready() error {
	fmt.Println(os.Getpid())
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGHUP) // no test sends SIGHUP
	<-over
	return nil
}

func parent(of string) error {
	if err := child(of); err != nil {
		return err
	}
	return ready()
}

// child starts another command and passes on its output until it is ready.
func child(name string) error {
	cmd := command(name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return passOn(out, cmd.Process.Pid)
}

func command(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playEnv+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// passOn passes on the lines of a command up to the one with its own id.
func passOn(out io.Reader, pid int) error {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		fmt.Print(line)
		if line == fmt.Sprintln(pid) {
			return nil
		}
	}
}

// begin starts a command in r and returns its group and the ids of its processes.
func begin(t *testing.T, r *registry, name string) (cmd *exec.Cmd, g *Group, pids []int) {
	t.Helper()
	cmd = command(name)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	g, err = r.start(cmd)
	require.NoError(t, err)
	return cmd, g, readPIDs(t, out, cmd.Process.Pid)
}

// run is like begin, and waits for the command until the test ends.
func run(t *testing.T, r *registry, name string) (*Group, []int) {
	t.Helper()
	cmd, g, pids := begin(t, r, name)
	ended := make(chan struct{})
	go func() { // ends with the group
		defer close(ended)
		_ = cmd.Wait()
		for g.Reaped() && !g.Vanishes(time.Now().Add(time.Minute)) {
		}
		g.release()
		r.remove(g)
	}()
	t.Cleanup(func() { g.Kill(); <-ended })
	return g, pids
}

// readPIDs reads the ids of processes up to last, which is known.
func readPIDs(t *testing.T, out io.Reader, last int) (pids []int) {
	t.Helper()
	for lines := bufio.NewReader(out); len(pids) == 0 || pids[len(pids)-1] != last; {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	return pids
}

func requireGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		leak.CheckProcess(t, pid)
	}
}
