//go:build unix

package interop_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/terminals"
)

// A command prints 1 GiB: memory stays what it was, and the time is that of four commands
// with a quarter each. No other test runs beside, because memory is that of the process.
func TestHostKitOneGiBOfOutput(t *testing.T) {
	const whole = 1 << 30
	k := newHostKit(t, host.Options{Ask: yes, Terminals: &terminals.Options{}})
	print := func(n int) []step { return ran(sh("print", fmt.Sprintf("yes | head -c %d; echo end", n))) }
	took := func(steps ...step) time.Duration {
		begun := time.Now()
		got := k.run(steps...)
		assert.JSONEq(t, `{"exitCode":0}`, got.get("print wait"))
		var res acp.TerminalOutputResponse
		got.decode(t, "print output", &res)
		assert.Len(t, res.Output, 64<<10)
		assert.True(t, res.Truncated)
		assert.True(t, strings.HasSuffix(res.Output, "y\nend\n"))
		return time.Since(begun)
	}
	quarters := flatten(print(whole/4), print(whole/4), print(whole/4), print(whole/4))
	times := math.Inf(1)
	for round := 0; round < 5 && times > 2; round++ { // in turn, so that whatever else the machine does slows both
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		one := took(print(whole)...)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "all that was ever allocated")
		times = min(times, one.Seconds()/took(quarters...).Seconds())
	}
	assert.LessOrEqual(t, times, 2.0, "as one command and as four")
}

// The host is closed while commands run that ignore SIGTERM: none of their processes is
// left, and every pending request of the agent gets a response.
func TestHostKitIsClosedWhileCommandsRun(t *testing.T) {
	t.Parallel()
	pids := &pids{}
	k := newHostKit(t, host.Options{Ask: yes, Terminals: &terminals.Options{OnOutput: pids.hear, Grace: 100 * time.Millisecond}})
	const stubborn = `trap "" TERM; sh -c 'trap "" TERM; echo $$ stubborn; while :; do sleep 0.05; done' & echo $$ stubborn; while :; do sleep 0.05; done`
	turn := k.prompt(sh("a", stubborn), sh("b", stubborn), on("a", "wait").started(), on("b", "wait").started(), wait("a wait"), wait("b wait"), sh("late", "exit 0"))
	require.Eventually(t, func() bool { return pids.heard("stubborn") == 4 }, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, k.host.Close())
	pids.gone(t)
	_, err := turn.Wait()
	require.NoError(t, err)
	got := k.responses()
	for _, label := range []string{"a wait", "b wait"} {
		assert.Contains(t, []string{`{"signal":"SIGKILL"}`, "-32002"}, got.get(label), "whichever was first")
	}
	assert.Equal(t, "-32602", got.get("late"))
}

// Commands of an agent run elsewhere, for example in a container.
func TestHostKitExec(t *testing.T) {
	t.Parallel()
	var asked []string
	k := newHostKit(t, host.Options{Ask: yes, Terminals: &terminals.Options{Exec: func(_ context.Context, c *terminals.Command, out io.Writer) (terminals.Process, error) {
		asked = append(asked, strings.Join(c.Argv, " ")+" in "+c.Cwd)
		fmt.Fprintln(out, "from elsewhere")
		return exited(7), nil
	}}})
	got := k.run(ran(step{Label: "x", Method: acp.MethodTerminalCreate, Params: map[string]any{"command": "only-there", "args": []string{"a b"}}})...)
	assert.JSONEq(t, `{"exitCode":7}`, got.get("x wait"))
	assert.JSONEq(t, `{"output":"from elsewhere\n","truncated":false,"exitStatus":{"exitCode":7}}`, got.get("x output"))
	assert.Equal(t, []string{"only-there a b in " + k.work}, asked)
}

// exited is a process that has ended with a code.
type exited uint32

func (e exited) Wait() acp.TerminalExitStatus {
	return acp.TerminalExitStatus{ExitCode: new(uint32(e))}
}
func (exited) Terminate() {}
func (exited) Kill()      {}
func (exited) Close()     {}
