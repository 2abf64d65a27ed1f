package terminal_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// own are the sequences with which chat itself edits its line and colors texts.
var own = regexp.MustCompile("\r?\x1b\\[K|\x1b\\[[0-9]+D|\x1b\\[[0-9;]*m|\r\n")

// imitated is a row of the terminal that looks like a line of chat. Chat marks rows that continue a line.
var imitated = regexp.MustCompile(`(?m)^[\s\p{Zs}\x{2800}\x{3164}]*IMITATION`)

// On a terminal, whose width chat knows, no text of the agent acts on it or makes a row that is not marked,
// and a question is answered by what was typed after it alone.
func TestHostileAgentOnATerminal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		play string
		args []string
		tags []string
	}{
		"a conversation": {"end_turn", nil, []string{"said", "title", "choice", "plan", "tool output", "raw", "file", "run"}},
		"signed out":     {"session/new", nil, []string{"way", "way description", "command"}},
		"a turn fails":   {"end", []string{"-no"}, []string{"said", "message"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := onTerminal(t, tt.play, tt.args...)
			assert.NotRegexp(t, imitated, own.ReplaceAllString(shown, "\n"))
			lines := own.ReplaceAllStringFunc(shown, func(s string) string { return strings.TrimRight(s[len(s)-1:], "KDm") })
			clean(t, strings.ReplaceAll(lines, "\n  ┆ ", ""), tt.tags...)
		})
	}
}

// onTerminal runs chat on a terminal of 40 columns, answers whatever it asks, and returns what it shows.
func onTerminal(t *testing.T, play string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	require.NoError(t, err)
	defer master.Close()
	control := func(request uintptr, value unsafe.Pointer) {
		conn, err := master.SyscallConn()
		require.NoError(t, err)
		require.NoError(t, conn.Control(func(fd uintptr) {
			_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(value))
			require.Zero(t, failed)
		}))
	}
	var n, unlock int32
	size := [4]uint16{24, 40}
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(syscall.TIOCGPTN, unsafe.Pointer(&n))
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	require.NoError(t, master.SetDeadline(time.Now().Add(time.Minute)))
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(n)), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "chat"), append(args, "--", self)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), playVar+"="+play, "TERM=xterm", "NO_COLOR=", "XDG_STATE_HOME="+cmd.Dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	slave.Close() // so that reading ends with the program
	var all strings.Builder
	buf, sent, turns, answers := make([]byte, 4096), 0, 0, 0
	for {
		n, err := master.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			break // EIO: the program has closed the terminal
		}
		switch rest := all.String()[sent:]; {
		case strings.HasSuffix(rest, "choose a number: ") && answers == 4: // an agent may ask again and again to sign in
			master.WriteString("\x04")
			sent = all.Len()
		case strings.HasSuffix(rest, "choose a number: "):
			master.WriteString("1\r")
			sent, answers = all.Len(), answers+1
		case strings.HasSuffix(rest, "\r\x1b[K> ") && turns == 0:
			master.WriteString("x\r")
			sent, turns = all.Len(), 1
		case strings.HasSuffix(rest, "\r\x1b[K> ") && strings.Contains(rest, "(end turn)"), strings.HasSuffix(rest, "\r\x1b[K> ") && strings.Contains(rest, "failed"):
			master.WriteString("\x04")
			sent = all.Len()
		}
	}
	_ = cmd.Wait() // a failed turn is an error
	require.NoError(t, ctx.Err(), "%.2000q", all.String())
	return all.String()
}
