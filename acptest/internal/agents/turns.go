package agents

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

var cancelling = []check.Check{
	{ID: "ACP-CANCEL-001", Title: "A turn that is cancelled ends with the stop reason cancelled.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			s.isCancelled(s.call)
		})},
	{ID: "AK-CANCEL-001", Title: "A cancel right behind its prompt ends the turn.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(open, func(t *check.T, s *session) {
			c := s.prompt(t.Prompt("slow"))
			s.cancel()
			if m := s.AwaitTurn(c.From(), "the end of the turn", c.IsResponse, true); t.Version == 2 && m.Error != nil { // it was withdrawn before it was inserted
				fails(t, m, -32800)
				return
			}
			s.isCancelled(c)
		})},
	{ID: "AK-CANCEL-002", Title: "A cancel while text is sent ends the turn.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.Both, Prompts: []string{"stream"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.works("stream")
			s.cancel()
			s.endsWell(s.call, "error") // it may have ended before, for a reason of its own
		})},
	{ID: "AK-CANCEL-003", Title: "A second cancel changes nothing.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			s.cancel()
			s.isCancelled(s.call)
			s.cancel()
			s.Alive()
		})},
	{ID: "AK-CANCEL-004", Title: "A cancel when no turn runs does not reach the next turn.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.Both, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.cancel()
			s.Quiet(s.Mark())
			s.notCancelled()
		})},
	{ID: "AK-CANCEL-005", Title: "After a turn that was cancelled there are further ones.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.Both, Prompts: []string{"slow", "text"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
			s.notCancelled()
		})},
	{ID: "AK-CANCEL-006", Title: "A cancel of an unknown session is ignored.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.Both, Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			from := s.Mark()
			s.cancel()
			s.Unanswered(from)
			s.Alive()
		})},
	{ID: "AK-CANCEL-007", Title: "A prompt that is sent behind a cancel is not cancelled by it.", Tier: check.Should, Fact: "prompt-turn#cancellation", In: check.V2, Prompts: []string{"slow", "text"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			s.notCancelled()
		})},
}

func (s *session) isCancelled(c *check.Call) {
	s.t.Expect("the stop reason cancelled")
	reason := s.stopReason(c)
	s.t.FailAtIf(reason != "cancelled", s.end, "The turn ended with the stop reason %q.", reason)
}

// notCancelled fails the check if a turn that nobody cancels is cancelled.
func (s *session) notCancelled() {
	c := s.prompt(s.t.Prompt("text"))
	m := c.Turn(true)
	s.end = m
	reason := m.Text("stopReason")
	if s.t.Version == 2 { // the idle state of an earlier turn may come first
		s.end = s.state(s.echo(c, m).Seq, "idle")
		reason = s.end.Text("update", "stopReason")
	}
	s.ended(reason, "cancelled")
}

// echo awaits the message of the user that a prompt became, by the id in the response to the prompt. Without
// it the check is inconclusive.
func (s *session) echo(c *check.Call, response check.Message) check.Message {
	id := response.Text("messageId")
	m, ok := s.Arrives(c.From(), func(u *check.Message) bool {
		return s.is(u, "user_message", "user_message_chunk") && u.Text("update", "messageId") == id
	})
	s.t.Requires(ok, "The prompt did not come back as a message with its id %q, of which ACP-PROMPT-203 judges, so nothing shows where its turn began.", id)
	return m
}

// somePieces is how many pieces an answer must have for their ids to be judged.
const somePieces = 10

// streamed is how many numbers the text of the prompt stream must have for its order to be judged.
const streamed = 50

var ordering = []check.Check{
	{ID: "AK-ORDER-002", Title: "The pieces of a long text arrive in their order.", Tier: check.Must, Fact: "prompt-turn", In: check.Both, Prompts: []string{"stream"},
		Run: func(t *check.T) {
			var numbers []int
			s := open(t)
			log := s.turn("stream")
			text := said(log, "agent")
			if numbers = counted(strings.Split(text, "\n")); len(numbers) < streamed {
				numbers = counted(strings.Fields(text)) // behind a sentence that has the first and the last
				numbers = numbers[max(0, len(numbers)-1-slices.Index(reversed(numbers), 1)):]
			}
			t.Requires(len(numbers) >= streamed, "The agent did not count: its text has %d numbers. Give a text that makes it count by -prompt stream=TEXT, or by Options.Prompts in a Go test.", len(numbers))
			if !slices.IsSorted(numbers) {
				t.FailAt(kinds(log, spoken...)[0], "The numbers that the agent was asked to count arrived in another order.")
			}
		}},
	{ID: "AK-MESSAGE-001", Title: "The pieces of one answer are pieces of one message: they have the same message id.", Tier: check.Should, Fact: "prompt-turn", In: check.Both, Prompts: []string{"stream"},
		Run: check.With(open, func(t *check.T, s *session) {
			var ids []string
			pieces := kinds(s.turn("stream"), "agent_message_chunk")
			for _, m := range pieces {
				if id := m.Text("update", "messageId"); id != "" && !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			t.Requires(len(pieces) >= somePieces, "The agent has answered in %d pieces.", len(pieces))
			t.FailAtIf(len(ids) > len(pieces)/2, pieces[1], "The %d pieces of the answer have %d message ids: a client shows as many messages.", len(pieces), len(ids))
		})},
	{ID: "AK-TOOL-003", Title: "A tool call begins with an id that no earlier one of its session had.", Tier: check.Should, Fact: "tool-calls", In: check.V1, Prompts: []string{"tool", "tool"},
		Run: check.With(open, func(t *check.T, s *session) {
			var ids []string
			for _, m := range kinds(s.turn("tool"), "tool_call") {
				ids = append(ids, m.Text("update", "toolCallId"))
			}
			t.Requires(len(ids) > 0, "The agent has called no tool.")
			for _, m := range kinds(s.turn("tool"), "tool_call") {
				id := m.Text("update", "toolCallId")
				t.FailAtIf(slices.Contains(ids, id), m, "The tool call has the id %q, as one of the turn before: a client shows one instead of two.", id)
			}
		})},
	{ID: "AK-ORDER-003", Title: "No message and no tool call comes after the end of the turn.", Tier: check.Should, Fact: "prompt-turn", In: check.V2, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			silent(t, s.afterIdle(), "after the idle state", spoken...)
		})},
	{ID: "ACP-CANCEL-002", Title: "No message and no tool call comes after the end of a cancelled turn.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
			silent(t, s.afterIdle(), "after the end of the cancelled turn", spoken...)
		})},
}

// counted returns the numbers among texts.
func counted(texts []string) (numbers []int) {
	for _, text := range texts {
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

func reversed(numbers []int) []int {
	numbers = slices.Clone(numbers)
	slices.Reverse(numbers)
	return numbers
}

// afterIdle returns what comes after the end of a turn that has just ended, until further work
// begins.
func (s *session) afterIdle() (late []check.Message) {
	s.Quiet(s.Mark())
	for _, m := range slices.Backward(s.Since(0)) {
		if m.IsResponse() && s.t.Version == 1 {
			break
		}
		if s.is(&m, "state_update") {
			if m.Text("update", "state") != "idle" {
				return nil
			}
			break
		}
		late = append(late, m)
	}
	slices.Reverse(late)
	return late
}

// secret is a value in params that the agent cannot read.
const secret = "acptest-secret-5b1c9e"

// traces are what a stack trace, or a file of a program, looks like.
var traces = regexp.MustCompile(`\n\s+at \S|goroutine \d+ \[|Traceback \(most recent|panicked at |\.(go|js|mjs|cjs|ts|py|rs|kt|java):\d+`)

// codes are the codes to which the protocol gives a meaning, in the ranges that it reserves.
var codes = []int64{-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002, -32022}

var failing = []check.Check{
	{ID: "ACP-ERROR-001", Title: "An error has a code, and a message that is not empty.", Tier: check.Should, Fact: "overview", In: check.Both, Rough: true,
		Run: provoking(func(t *check.T, m check.Message) {
			t.FailAtIf(m.Error.Code == 0 || strings.TrimSpace(m.Error.Message) == "", m, "The error has no code or no message.")
		})},
	{ID: "AK-ERROR-001", Title: "An error shows no stack trace and no line of the program.", Tier: check.Should, Fact: "overview", In: check.Both, Rough: true,
		Run: provoking(func(t *check.T, m check.Message) {
			found := traces.FindString(m.Error.Message + "\n" + strings.ReplaceAll(string(m.Error.Data), `\n`, "\n"))
			t.FailAtIf(found != "", m, "The error shows %q.", strings.TrimSpace(found))
		})},
	{ID: "AK-ERROR-002", Title: "An error does not show variables of MCP servers, which hold secrets.", Tier: check.Should, Fact: "overview", In: check.Both, Rough: true,
		Run: provoking(func(t *check.T, m check.Message) {
			t.FailAtIf(strings.Contains(string(m.Raw), secret), m, "The error shows the value of a variable.")
		})},
	{ID: "AK-ERROR-003", Title: "The codes of errors are those of the protocol, or outside of the ranges that it reserves.", Tier: check.Should, Fact: "overview", In: check.Both, Rough: true,
		Run: provoking(func(t *check.T, m check.Message) {
			reserved := m.Error.Code >= -32768 && m.Error.Code <= -32000 || m.Error.Code >= -32899 && m.Error.Code <= -32800
			t.FailAtIf(reserved && !slices.Contains(codes, m.Error.Code), m, "The code %d is reserved.", m.Error.Code)
			t.FailAtIf(m.Error.Code == -32000 && t.Blocked == "", m, "The code -32000 says that the user must sign in, and sessions can be started.")
			t.FailAtIf(m.Error.Code == -32700 || m.Error.Code == -32800 || m.Error.Code == -32022, m, "The code %d means something else than what is wrong here.", m.Error.Code)
		})},
}

// provoking returns a check of the errors of requests that cannot succeed.
func provoking(f func(t *check.T, m check.Message)) func(*check.T) {
	return check.With(unknown, func(t *check.T, s *session) {
		broken := newParams(t)
		broken["mcpServers"] = []any{map[string]any{"type": "stdio", "name": "acptest", "command": 5, "args": "x", "env": []any{map[string]any{"name": "KEY", "value": secret}}}}
		failed := false
		calls := []*check.Call{
			s.Start("acptest/unknown", map[string]any{}),
			s.Start("session/new", broken),
			s.Start("session/new", []any{}),
			s.prompt("hello"),
		}
		if t.Target.Kind != check.HTTP { // there it fails by its status
			calls = append(calls, s.Start("session/prompt", map[string]any{}))
		}
		for _, c := range calls {
			if m := c.Response(); m.Error != nil {
				f(t, m)
				failed = true
			}
		}
		t.Requires(failed, "The agent has answered all requests with results.")
	})
}
