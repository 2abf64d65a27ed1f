package defect

import (
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// Terminals are the defects of clients that serve terminals.
var Terminals = []Defect{
	{Name: "creates_late", Does: "responds to terminal/create when the command has ended",
		New:   ignores(line("acptest-long")),
		Finds: map[string]check.Verdict{"AKC-TERM-001": fail}},
	{Name: "loses_exit_codes", Does: "reports 0 for every exit code",
		New: changes(responds("terminal/wait_for_exit"), replace(`"exitCode":3`, `"exitCode":0`)), Finds: map[string]check.Verdict{"AKC-TERM-002": fail}},
	{Name: "waits_alone", Does: "answers nothing while it waits for an exit",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			waiting := 0
			return func(m *Message) {
					if m.Method == "terminal/wait_for_exit" {
						waiting++
					}
					if waiting == 0 || m.Method != "terminal/output" {
						w.ToPeer(m)
					}
				}, func(m *Message) {
					if m.Method == "terminal/wait_for_exit" {
						waiting--
					}
					w.ToCheck(m)
				}
		},
		Finds: map[string]check.Verdict{"AKC-TERM-003": fail}},
	{Name: "kills_terminals", Does: "forgets a terminal whose command is killed",
		New:   since("terminal/kill", "terminal/output", func(m *Message) { m.fails(-32002, "Unknown terminal") }),
		Finds: map[string]check.Verdict{"AKC-TERM-004": fail}},
	{Name: "keeps_terminals", Does: "keeps terminals that are released",
		New:   since("terminal/release", "terminal/output", becomes(`{"output":"out\n","truncated":false}`)),
		Finds: map[string]check.Verdict{"AKC-TERM-007": fail}},
	{Name: "knows_every_terminal", Does: "finds terminals that do not exist",
		New: replies(has(`"acptest-unknown"`, "terminal/kill"), becomes(`{}`)), Finds: map[string]check.Verdict{"AKC-TERM-008": fail}},
	{Name: "hides_truncation", Does: "does not mark output that is truncated",
		New: changes(responds("terminal/output"), replace(`"truncated":true`, `"truncated":false`)), Finds: map[string]check.Verdict{"AKC-TERM-009": fail}},
	{Name: "drops_variables", Does: "runs commands without the variables of the agent",
		New: hears(replace("ACPTEST_VALUE\",", "OTHER\",")), Finds: map[string]check.Verdict{"AKC-TERM-010": fail}},
	{Name: "expands_arguments", Does: "gives arguments to a shell",
		New: hears(replace(`"$HOME"`, `"/home/me"`)), Finds: map[string]check.Verdict{"AKC-TERM-011": fail}},
	{Name: "runs_missing_commands", Does: "reports success for a command that does not exist",
		New: hears(replace(`"acptest-missing"`, `"true"`)), Finds: map[string]check.Verdict{"AKC-TERM-012": fail}},
	{Name: "hides_signals", Does: "reports the exit code 0 for a command that a signal has ended",
		New: changes(responds("terminal/wait_for_exit"), func(m *Message) {
			if strings.Contains(string(m.Object["result"]), `"signal"`) {
				becomes(`{"exitCode":0}`)(m)
			}
		}),
		Finds: map[string]check.Verdict{"AKC-TERM-013": fail}},
	{Name: "runs_in_unknown_sessions", Does: "runs commands in sessions that do not exist",
		New:   replies(has("terminal/create", `"acptest-unknown"`), becomes(`{"terminalId":"t"}`)),
		Finds: map[string]check.Verdict{"AKC-TERM-015": fail}},
}

// since returns a maker that changes the peer's responses to a method after it got a request of
// another one.
func since(first, method string, change func(m *Message)) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		seen := false
		return func(m *Message) {
				seen = seen || m.Method == first
				w.ToPeer(m)
			}, func(m *Message) {
				if seen && m.Response && m.Method == method {
					change(m)
				}
				w.ToCheck(m)
			}
	}
}
