//go:build unix

package terminals_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/command"
	"github.com/acpkit/go-sdk/internal/reserve"
)

const isLinux = runtime.GOOS == "linux"

func TestOutput(t *testing.T) {
	h := newRunner(t, nil, nil)
	print := func(text string) []string { return []string{"-c", `printf "$1"`, "sh", text} }
	ten := new(uint64(10))
	for name, tt := range map[string]struct {
		text  string
		limit *uint64
		want  string
		cut   bool
	}{
		"fits":                    {"0123456789", ten, "0123456789", false},
		"too long":                {"x0123456789", ten, "0123456789", true},
		"no limit":                {"x%065536d", nil, strings.Repeat("0", 64<<10), true},
		"limit 0":                 {"x", new(uint64(0)), "", true},
		"limit 0, nothing":        {"", new(uint64(0)), "", false},
		"above the ceiling":       {"x%01048576d", new(uint64(1 << 40)), strings.Repeat("0", 1<<20), true},
		"greater than default":    {"%0100000d", new(uint64(100_000)), strings.Repeat("0", 100_000), false},
		"cut in a character":      {"aé€", new(uint64(4)), "€", true},
		"cut in the only one":     {"😀", new(uint64(3)), "", true},
		"not UTF-8":               {`a\377b`, ten, "a\ufffdb", false},
		"not UTF-8, to the limit": {`\377a\377a\377a\377a\377a`, ten, "a\ufffda\ufffda", true},
		"unfinished at the end":   {`a\342\202`, ten, "a\ufffd", false},
	} {
		t.Run(name, func(t *testing.T) {
			id := h.create(acp.CreateTerminalRequest{Command: "sh", Args: print(tt.text), OutputByteLimit: tt.limit})
			h.wait(id)
			out := h.output(id)
			assert.Equal(t, tt.want, out.Output)
			assert.Equal(t, tt.cut, out.Truncated)
			h.release(id)
		})
	}
}

// reserver replaces the connection. It is called for each reservation.
type reserver func(size int64) error

func (r reserver) ReserveResult(_ context.Context, size int64) error { return r(size) }

// Room for output is reserved before the output is copied. For long output, the room is as large as
// the output may become meanwhile.
func TestRoomIsReservedForOutput(t *testing.T) {
	const limit = 2 * reserve.Small
	h := newRunner(t, nil, nil)
	for _, length := range []int{10, reserve.Small - 1, reserve.Small, limit} {
		id := h.create(acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", fmt.Sprintf("head -c %d /dev/zero", length)}, OutputByteLimit: new(uint64(limit))})
		h.wait(id)
		reserved := int64(0)
		output := func(r reserver) (*acp.TerminalOutputResponse, error) {
			ctx := context.WithValue(t.Context(), reserve.Key{}, reserve.Reserver(r))
			return h.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: h.session, TerminalID: id})
		}
		res, err := output(func(size int64) error { reserved = size; return nil })
		require.NoError(t, err)
		assert.Len(t, res.Output, length)
		if length < reserve.Small {
			assert.EqualValues(t, length, reserved)
		} else {
			assert.EqualValues(t, limit, reserved)
		}
		_, err = output(func(int64) error { return context.Canceled })
		assert.Equal(t, context.Canceled, err)
		h.release(id)
	}
}

func TestBothStreamsInOrder(t *testing.T) {
	h := newRunner(t, nil, nil)
	id := h.sh(`for i in 1 2 3; do echo out $i; echo err $i >&2; done`)
	h.wait(id)
	assert.Equal(t, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n", h.output(id).Output)
}

// A character arrives in two pieces. Between them, its first piece is not returned.
func TestCharacterInTwoPieces(t *testing.T) {
	heard := make(chan string, 10)
	h := newRunner(t, &terminals.Options{OnOutput: func(o terminals.Output) { heard <- string(o.Data) }}, nil)
	id := h.sh(`printf 'a\342'; while [ ! -e go ]; do sleep 0.01; done; printf '\202\254b'`)
	assert.Equal(t, "a\xe2", <-heard)
	out := h.output(id)
	assert.Equal(t, "a", out.Output)
	assert.Nil(t, out.ExitStatus)
	h.run(acp.CreateTerminalRequest{Command: "touch", Args: []string{"go"}})
	h.wait(id)
	assert.Equal(t, "a€b", h.output(id).Output)
}

func TestMuchOutput(t *testing.T) {
	h := newRunner(t, nil, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	id := h.create(acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "yes | head -c 268435456; echo end"}})
	assertExit(t, 0, h.wait(id))
	runtime.ReadMemStats(&after)
	out := h.output(id)
	assert.Len(t, out.Output, 64<<10)
	assert.True(t, out.Truncated)
	assert.True(t, strings.HasSuffix(out.Output, "y\nend\n"))
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "all that was ever allocated")
}

func TestLiveOutput(t *testing.T) {
	var text strings.Builder
	seen := map[string]bool{}
	h := newRunner(t, &terminals.Options{OnOutput: func(o terminals.Output) {
		text.Write(o.Data)
		seen[fmt.Sprint(o.Session, " ", o.Terminal)] = true
	}}, nil)
	id := h.create(acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "echo one; echo two; echo three"}, OutputByteLimit: new(uint64(5))})
	h.wait(id)
	assert.Equal(t, "one\ntwo\nthree\n", text.String(), "whole, whatever is kept")
	assert.Equal(t, map[string]bool{fmt.Sprint("s ", id): true}, seen)
}

// A command ends while OnOutput still handles earlier output.
func TestNothingIsLostBySlowOutput(t *testing.T) {
	defer func(before time.Duration) { command.Linger = before }(command.Linger)
	command.Linger = 100 * time.Millisecond
	release := make(chan struct{})
	var heard strings.Builder
	h := newRunner(t, &terminals.Options{OnOutput: func(o terminals.Output) {
		if heard.Len() == 0 {
			<-release
		}
		heard.Write(o.Data)
	}}, nil)
	id := h.sh(`echo first; while [ ! -e go ]; do sleep 0.01; done; echo last`)
	h.run(acp.CreateTerminalRequest{Command: "touch", Args: []string{"go"}})
	waited := make(chan struct{})
	go func() { // ends with the command
		defer close(waited)
		h.wait(id)
	}()
	select {
	case <-waited:
		t.Error("the end was reported before all of the output was taken")
	case <-time.After(3 * command.Linger): // three times as long as the pipe is read after the end
	}
	close(release)
	<-waited
	assert.Equal(t, "first\nlast\n", heard.String())
	assert.Equal(t, "first\nlast\n", h.output(id).Output)
}

func TestOutputIsAlwaysValid(t *testing.T) {
	h := newRunner(t, nil, nil)
	id := h.create(acp.CreateTerminalRequest{Command: "head", Args: []string{"-c", "1000000", "/dev/urandom"}, OutputByteLimit: new(uint64(1000))})
	for range 50 {
		out := h.output(id)
		assert.True(t, utf8.ValidString(out.Output))
		assert.LessOrEqual(t, len(out.Output), 1000)
	}
	h.wait(id)
}
