package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// TestTurns plays an agent line by line: "prompt" sends the next prompt, "response n id" and
// "refusal n code" respond to the n-th, "resume", "resumed" and "not resumed" are a resume of
// the session, and everything else is an update. The n-th line has the updates of the n-th
// turn, and its end after an arrow. The last line has the updates of OnUpdate.
func TestTurns(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"begins at the response": {
			`early; prompt; before; response 1 u1; echo u1; running; one; idle end_turn; late`,
			"echo u1, running, one, idle end_turn -> end_turn\nearly, before, late"},
		"begins at the whole message": {
			`prompt; before; echo u1; running; response 1 u1; one; idle end_turn; late`,
			"echo u1, running, one, idle end_turn -> end_turn\nbefore, late"},
		"begins at the first chunk": {
			`prompt; running; chunk u1; chunk u1; response 1 u1; one; idle refusal; late`,
			"chunk u1, chunk u1, one, idle refusal -> refusal\nrunning, late"},
		"ends before the response is there": {
			`prompt; echo u1; running; one; idle end_turn; late; response 1 u1; later`,
			"echo u1, running, one, idle end_turn -> end_turn\nlate, later"},
		"requires action between": {
			`prompt; response 1 u1; running; requires_action; running; idle end_turn`,
			"running, requires_action, running, idle end_turn -> end_turn\n"},
		"three prompts and one idle": {
			`prompt; response 1 u1; running; one; prompt; echo u2; two; response 2 u2; prompt; response 3 u3; three; idle end_turn`,
			"running, one -> end_turn\necho u2, two -> end_turn\nthree, idle end_turn -> end_turn\n"},
		"held prompts begin one after the other": {
			`prompt; prompt; prompt; echo u1; response 1 u1; running; one; idle end_turn; echo u2; response 2 u2; running; idle max_tokens; response 3 u3; running; idle`,
			"echo u1, running, one, idle end_turn -> end_turn\necho u2, running, idle max_tokens -> max_tokens\nrunning, idle -> \n"},
		"held prompts are cancelled": {
			`prompt; prompt; echo u1; response 1 u1; running; refusal 2 -32800; idle cancelled`,
			"echo u1, running, idle cancelled -> cancelled\n-> -32800\n"},
		"a message that is not that of the prompt": {
			`prompt; response 1 u1; running; prompt; echo other; two; idle end_turn; late; echo u2; three; response 2 u2; running; four; idle end_turn`,
			"running -> end_turn\necho other, two, idle end_turn, running, four, idle end_turn -> end_turn\nlate, echo u2, three"},
		"a message that is not that of the prompt, and the end of the work on the right one": {
			`prompt; echo other; idle end_turn; echo u1; running; idle refusal; response 1 u1; late`,
			"echo other, idle end_turn -> refusal\necho u1, running, idle refusal, late"},
		"a list of background work between message and work": {
			`idle; prompt; response 1 u1; idle +; running; one; idle end_turn +`,
			"idle, running, one, idle end_turn -> end_turn\nidle"},
		"an agent without the state running": {
			`idle; prompt; response 1 u1; one; idle; late`,
			"one, idle -> \nidle, late"},
		"a snapshot of a resume": {
			`prompt; response 1 u1; running; resume; idle; resumed; running; one; idle end_turn`,
			"running, idle, running, one, idle end_turn -> end_turn\n"},
		"the end of the work during a resume": {
			`prompt; response 1 u1; running; resume; one; idle end_turn; idle; resumed; late`,
			"running, one, idle end_turn, idle -> end_turn\nlate"},
		"the end of the work during a resume that fails": {
			`prompt; response 1 u1; running; resume; idle end_turn; not resumed; late`,
			"running, idle end_turn -> end_turn\nlate"},
		"an error as the stop reason": {
			`prompt; response 1 u1; running; idle error`,
			"running, idle error -> error: gave no reason\n"},
		"work that no prompt began": {
			`running; one; idle end_turn; prompt; response 1 u1; running; idle end_turn`,
			"running, idle end_turn -> end_turn\nrunning, one, idle end_turn"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { assert.Equal(t, tt.want, play(t, tt.script)) })
		})
	}
}

// play returns the updates of the turns and of OnUpdate.
func play(t *testing.T, script string) string {
	v := &viewer{}
	s, peer := session(t, v, nil)
	var late []string
	s.OnUpdate(func(_ context.Context, u acp.SessionUpdate) { late = append(late, updateText(u)) })
	var results []chan string
	var prompts []rawpeer.Message
	var resume rawpeer.Message
	resumed := make(chan error, 1)
	for line := range strings.SplitSeq(script, "; ") {
		var n, code int
		var id string
		switch word, _, _ := strings.Cut(line, " "); word {
		case "prompt":
			turn := s.Prompt(t.Context(), acp.Text("hi"))
			result := make(chan string, 1)
			results = append(results, result)
			go func() { result <- outcomeOf(turn) }() // ends with the turn
			prompts = append(prompts, peer.Expect("session/prompt"))
		case "response":
			fmt.Sscanf(line, "response %d %s", &n, &id)
			peer.Answer(prompts[n-1], fmt.Sprintf(`{"messageId":%q}`, id))
		case "refusal":
			fmt.Sscanf(line, "refusal %d %d", &n, &code)
			peer.Fail(prompts[n-1], code, "refused")
		case "resume":
			go func() { // ends with the response
				_, err := v.conn.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"})
				resumed <- err
			}()
			resume = peer.Expect("session/resume")
		case "resumed":
			peer.Answer(resume, `{}`)
			assert.NoError(t, <-resumed)
		case "not":
			peer.Fail(resume, -32002, "unknown")
			assert.Error(t, <-resumed)
		default:
			sendUpdate(peer, line)
		}
		synctest.Wait()
	}
	var lines []string
	for i, result := range results {
		select {
		case line := <-result:
			lines = append(lines, line)
		default:
			lines = append(lines, fmt.Sprintf("turn %d goes on", i+1))
		}
	}
	return strings.Join(append(lines, strings.Join(late, ", ")), "\n")
}

// outcomeOf returns the updates of a turn, and how it ended.
func outcomeOf(turn *client.Turn) string {
	var got []string
	for u, err := range turn.Updates() {
		if err == nil {
			got = append(got, updateText(u))
		}
	}
	idle, err := turn.Wait()
	end := ""
	if idle != nil {
		end = string(idle.StopReason)
	}
	var said *rpcerr.RequestError
	switch {
	case errors.As(err, &said):
		end += fmt.Sprint(int(said.Code))
	case err != nil:
		_, reason, ok := strings.Cut(err.Error(), " and ")
		if !ok {
			reason = err.Error()
		}
		end += ": " + reason
	}
	text := strings.Join(got, ", ")
	if text != "" {
		text += " "
	}
	return text + "-> " + end
}

// When Wait has returned, every middleware has handled the response to the prompt. One that keeps a
// thread has taken the prompt out of those that wait.
func TestWaitFollowsTheMiddlewares(t *testing.T) {
	for name, script := range map[string]string{
		"the end after the response":  "response; idle end_turn",
		"the end before the response": "echo u1; idle end_turn; response",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handled := false
				slow := around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
					res, err := next(ctx, method, params)
					if method == acp.MethodSessionPrompt {
						time.Sleep(time.Second)
						handled = true
					}
					return res, err
				})
				s, peer := session(t, &viewer{}, &client.Options{Sending: []acp.Middleware{slow}})
				turn := s.Prompt(t.Context(), acp.Text("hi"))
				prompt := peer.Expect("session/prompt")
				for step := range strings.SplitSeq(script, "; ") {
					if step == "response" {
						peer.Answer(prompt, `{"messageId":"u1"}`)
					} else {
						sendUpdate(peer, step)
					}
				}
				idle, err := turn.Wait()
				require.NoError(t, err)
				assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason)
				assert.True(t, handled)
			})
		})
	}
}

// The error of a turn that has ended early says what to do.
func TestTurnThatEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session, peer := session(t, &viewer{}, nil)
		turn := session.Prompt(t.Context(), acp.Text("x"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"refusal"}}`)
		_, err := turn.Text()
		assert.Equal(t, "the agent stopped: refusal\n"+
			"The agent does not take this prompt, and will not remember it. Say it in another way, or ask for something else.", client.Explain(nil, err))
	})
}

// The error of a turn is the agent's, with its reason.
func TestErrorOfATurnIsThatOfTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session, peer := session(t, &viewer{}, nil)
		turn := session.Prompt(t.Context(), acp.Text("x"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"Internal error","data":{"details":"the model is gone"}}}}`)
		_, err := turn.Wait()
		assert.True(t, rpcerr.FromPeer(err))
		assert.Equal(t, "Internal error (-32603): the model is gone\nThe agent has failed. If its words do not say what it needs, look into its log.", client.Explain(nil, err))
	})
}
