package kit_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/stream/remote"
)

func Example() {
	a := kit.New(&kit.Options{
		Info: acp.Implementation{Name: "echo", Version: "1"},
		Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			return acp.StopReasonEndTurn, s.Text(ctx, "You said: "+acp.PlainText(p.Blocks...))
		},
	})
	talk(a, "hello")
	// Output:
	// user: hello
	// agent: You said: hello
}

func ExampleOptions_store() {
	store, err := journal.OpenFiles(stateFolder(), &journal.FilesOptions{MaxAge: 90 * 24 * time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	options := &kit.Options{Store: store, Turn: polite}
	talk(kit.New(options), "hello")
	load(kit.New(options)) // a new agent, as after a restart of the program
	// Output:
	// user: hello
	// agent: At your service.
	// loaded: hello
	// user: hello
	// agent: At your service.
}

func ExampleSession_Remember() {
	a := kit.New(&kit.Options{
		Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			history, err := s.History(ctx) // what the model has read so far, each item as JSON
			if err == nil {
				err = s.Remember(message{"user", p.Parts})
			}
			if err != nil {
				return "", err
			}
			answer := ""
			for delta, failed := range generate(ctx, history, p.Parts) {
				if err = failed; err == nil {
					answer += delta
					err = s.Text(ctx, delta)
				}
				if err != nil {
					break
				}
			}
			// The part of a cancelled answer that the person has seen stays in the history.
			return acp.StopReasonEndTurn, errors.Join(err, s.Remember(message{"assistant", answer}))
		},
	})
	talk(a, "hello", "hello again")
	// Output:
	// user: hello
	// agent: I have read 0 messages before this one.
	// user: hello again
	// agent: I have read 2 messages before this one.
}

// A turn shows a thought, a plan and two messages, and says how much of the context window it has used.
func ExampleSession_Text() {
	turn := func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
		return acp.StopReasonEndTurn, errors.Join(
			s.Thought(ctx, "They want to know what is in here."),
			s.SendPlan(ctx,
				acp.PlanEntry{Content: "Look", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusInProgress},
				acp.PlanEntry{Content: "Tell", Priority: acp.PlanEntryPriorityLow, Status: acp.PlanEntryStatusPending},
			),
			s.Text(ctx, "There is "), s.Text(ctx, "a program."), // the parts of one message
			s.EndMessage(), // the next text begins another message
			s.Text(ctx, "It has a test."),
			s.SendUsage(ctx, 1200, 128_000), // the last request to the model has used 1200 of 128 000 tokens
			s.SetTitle(ctx, "What is in here"),
		)
	}
	talk(kit.New(&kit.Options{Turn: turn}), "What is in here?")
	// Output:
	// user: What is in here?
	// thought: They want to know what is in here.
	// plan: Look, Tell
	// agent: There is a program.
	// agent: It has a test.
}

// A turn runs the calls of a model. In the mode "ask", the person is asked about a call that changes something.
func ExampleSession_Run() {
	type note struct {
		Text string `json:"text" description:"what to write down" validate:"required"`
	}
	take := tools.Typed("take_note", "Writes a note down.", func(_ context.Context, _ *tools.Call, in note) (tools.Result, error) {
		return tools.Text("Noted: " + in.Text), nil
	})
	take.Effect = tools.Writes
	a := kit.New(&kit.Options{
		Tools: func(*kit.Session) []tools.Tool { return []tools.Tool{take} },
		Modes: kit.Modes{{ID: "ask", Name: "Ask first"}, {ID: "auto", Name: "Just do it"}}, // the first is the default
		Gate: func(s *kit.Session, c *tools.Call) tools.Decision {
			if s.Mode() == "auto" || c.Effect() == tools.Reads {
				return tools.Allow
			}
			return tools.Ask
		},
		Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			// A real agent sends s.Tools() and p.Parts to a model, which responds with this call.
			done, err := s.Run(ctx, tools.Request{ID: "1", Name: "take_note", Input: []byte(`{"text": "milk"}`)})
			if err != nil {
				return "", err // the turn must end
			}
			return acp.StopReasonEndTurn, s.Text(ctx, "The model reads: "+done[0].Model[0].Text)
		},
	})
	talk(a, "Remember the milk.")
	// Output:
	// user: Remember the milk.
	// call: take_note pending
	// may it? take_note
	// call: in_progress
	// call: completed
	// agent: The model reads: Noted: milk
}

func ExampleSession_Workspace() {
	a := kit.New(&kit.Options{
		Tools: func(s *kit.Session) []tools.Tool { return workspace.Tools(s.Workspace()) },
		Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
			_, err := s.Run(ctx, tools.Request{Name: "write_file", Input: []byte(`{"path": "hello.txt", "text": "hello\n"}`)})
			if err != nil {
				return "", err
			}
			file, err := s.Workspace().Read(ctx, "hello.txt") // the agent reads the file itself, without a tool call
			if err != nil {
				return "", err
			}
			return acp.StopReasonEndTurn, s.Text(ctx, fmt.Sprintf("%d bytes", len(file.Text)))
		},
	})
	talk(a, "Write hello.")
	// Output:
	// user: Write hello.
	// call: Write hello.txt pending
	// may it? Write hello.txt
	// call: in_progress
	// call: completed
	// agent: 6 bytes
}

func ExampleCommand() {
	compact := func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		if err := s.Compact(message{"user", "A summary that keeps " + p.Args}); err != nil {
			return "", err
		}
		return acp.StopReasonEndTurn, s.Text(ctx, "The conversation is summarized.")
	}
	a := kit.New(&kit.Options{
		Commands: kit.Commands{{Name: "compact", Description: "Summarize the conversation", Hint: "what to keep", Run: compact}},
		Turn:     polite,
	})
	talk(a, "hello", "/compact the names")
	// Output:
	// user: hello
	// agent: At your service.
	// user: /compact the names
	// agent: The conversation is summarized.
}

func ExampleSetting() {
	a := kit.New(&kit.Options{
		Settings: kit.Settings{{
			ID: "model", Name: "Model", Category: acp.SessionConfigOptionCategoryModel,
			Values: []acp.SessionConfigSelectOption{{Value: "small", Name: "Small"}, {Value: "large", Name: "Large"}},
		}},
		Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
			return acp.StopReasonEndTurn, s.Text(ctx, "I am the "+s.Setting("model")+" one.")
		},
	})
	talk(a, "Who are you?")
	// Output:
	// user: Who are you?
	// agent: I am the small one.
}

func ExampleAuth() {
	auth := &kit.Auth{
		Methods: []acp.AuthMethod{&acp.AuthMethodAgent{ID: "environment", Name: "API key", Description: "Set EXAMPLE_API_KEY and start the agent again"}},
		Ready: func(context.Context) error {
			if os.Getenv("EXAMPLE_API_KEY") == "" {
				return errors.New("set EXAMPLE_API_KEY in the environment of the agent")
			}
			return nil
		},
	}
	talk(kit.New(&kit.Options{Auth: auth, Turn: polite}), "hello")
	// Output:
	// Authentication required: set EXAMPLE_API_KEY in the environment of the agent (-32000)
}

func ExampleOptions_owner() {
	a := kit.New(&kit.Options{
		Owner: func(ctx context.Context) string {
			if p, ok := remote.PrincipalFrom(ctx); ok {
				return p.ID
			}
			return ""
		},
		Turn: polite,
	})
	server := remote.NewServer(":8080", remote.NewHandler(a.Serve, &remote.Options{Authorize: identify}))
	_ = server.ListenAndServe
}

// identify stands for the program's own user management.
func identify(r *http.Request) (*remote.Principal, error) {
	name, _, ok := r.BasicAuth()
	if !ok {
		return nil, errors.New("no credentials")
	}
	return &remote.Principal{ID: name}, nil // a real program checks the password here
}

// polite is a turn that always gives the same answer.
func polite(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
	return acp.StopReasonEndTurn, s.Text(ctx, "At your service.")
}

// message is one message for the model of the examples.
type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// generate stands for a model. It counts the messages that it reads.
func generate[T any](_ context.Context, history []T, _ []tools.Part) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		_ = yield("I have read ", nil) && yield(fmt.Sprint(len(history)), nil) && yield(" messages before this one.", nil)
	}
}
