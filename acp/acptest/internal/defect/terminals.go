package defect

import "slices"

// Terminals are the defects of clients that serve terminals.
var Terminals = []Defect{
	{Name: "creates_late", Does: "responds to terminal/create when the command has ended",
		ToPeer: drops(line("acptest-long")),
		Finds:  "AKC-TERM-001"},
	{Name: "loses_exit_codes", Does: "reports 0 for every exit code",
		ToCheck: changes(responds("terminal/wait_for_exit"), replace(`"exitCode":3`, `"exitCode":0`)), Finds: "AKC-TERM-002"},
	{Name: "waits_alone", Does: "answers nothing while it waits for an exit",
		ToPeer: drops(func(w *Wire, m *Message) bool {
			return m.Method == "terminal/output" && slices.ContainsFunc(w.log, func(one *Message) bool {
				return one.Method == "terminal/wait_for_exit" && !one.answered
			})
		}),
		Finds: "AKC-TERM-003"},
	{Name: "kills_terminals", Does: "forgets a terminal whose command is killed",
		ToCheck: changes(responds("terminal/output").after("terminal/kill"), fails(-32002, "Unknown terminal")),
		Finds:   "AKC-TERM-004"},
	{Name: "keeps_terminals", Does: "keeps terminals that are released",
		ToCheck: changes(responds("terminal/output").after("terminal/release"), becomes(`{"output":"out\n","truncated":false}`)),
		Finds:   "AKC-TERM-007"},
	{Name: "knows_every_terminal", Does: "finds terminals that do not exist",
		ToCheck: changes(to(line(`"acptest-unknown"`, "terminal/kill")), becomes(`{}`)), Finds: "AKC-TERM-008"},
	{Name: "hides_truncation", Does: "does not mark output that is truncated",
		ToCheck: changes(responds("terminal/output"), replace(`"truncated":true`, `"truncated":false`)), Finds: "AKC-TERM-009"},
	{Name: "drops_variables", Does: "runs commands without the variables of the agent",
		ToPeer: changes(line(), replace("ACPTEST_VALUE\",", "OTHER\",")), Finds: "AKC-TERM-010"},
	{Name: "expands_arguments", Does: "gives arguments to a shell",
		ToPeer: changes(line(), replace(`"$HOME"`, `"/home/me"`)), Finds: "AKC-TERM-011"},
	{Name: "runs_missing_commands", Does: "reports success for a command that does not exist",
		ToPeer: changes(line(), replace(`"acptest-missing"`, `"true"`)), Finds: "AKC-TERM-012"},
	{Name: "hides_signals", Does: "reports the exit code 0 for a command that a signal has ended",
		ToCheck: changes(responds("terminal/wait_for_exit", `"signal"`), becomes(`{"exitCode":0}`)),
		Finds:   "AKC-TERM-013"},
	{Name: "runs_in_unknown_sessions", Does: "runs commands in sessions that do not exist",
		ToCheck: changes(to(line("terminal/create", `"acptest-unknown"`)), becomes(`{"terminalId":"t"}`)),
		Finds:   "AKC-TERM-015"},
}
