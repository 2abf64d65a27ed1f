package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

// prompts are the prompts of the client. Each one makes the agent fail in another way.
var prompts = []string{
	"explicit", "contract", "busy", "refused", "http", "who", "file", "bug", "panic", "fatal", // of the request
	"tool error", "tool envelope", "tool contract", "tool bug", // of a tool call in it
}

// articles declares how the tool fetch_articles fails.
var articles = contract.New("fetch_articles")

// NoMatch is the failure that callers of fetch_articles handle.
var NoMatch = articles.Declare(contract.Mode{
	Reason:   "no_match",
	Kind:     kind.NotFound,
	When:     "No requested id returned an article.",
	Recovery: "Call search_articles to find ids that exist.",
})

// failing is the agent. It runs one prompt at a time.
type failing struct {
	conn     *agent.Conn
	signedIn bool
	tried    map[string]int
}

func (f *failing) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AuthMethods: []acp.AuthMethod{&acp.AuthMethodAgent{ID: "browser", Name: "Browser"}}}, nil
}

func (f *failing) Authenticate(context.Context, *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	f.signedIn = true
	return &acp.AuthenticateResponse{}, nil
}

func (f *failing) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if !f.signedIn {
		return nil, rpcerr.AuthRequired(nil)
	}
	f.tried = map[string]int{}
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (f *failing) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (f *failing) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if req.SessionID != "s1" {
		return nil, rpcerr.SessionNotFound(string(req.SessionID))
	}
	prompt := acp.PlainText(req.Prompt...)
	if tool, ok := strings.CutPrefix(prompt, "tool "); ok {
		return f.failTool(ctx, req.SessionID, tool)
	}
	f.tried[prompt]++
	if err := fail(ctx, prompt, f.tried[prompt]); err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// fail returns the error of a request.
func fail(ctx context.Context, how string, attempt int) error {
	switch how {
	case "explicit":
		return kind.Validation.New("The date lies in the past.").WithHint("Choose a day after today.").With("field", "date")
	case "contract":
		return fetchArticles("7", "8")
	case "busy": // the error contains the time to wait
		if attempt == 1 {
			return kind.UpstreamRateLimit("The index is busy.", 20*time.Millisecond)
		}
		return nil
	case "refused": // a plain Go error; OnError classifies it
		if attempt == 1 {
			return fmt.Errorf("dialing 10.0.0.7:9200: %w", syscall.ECONNREFUSED)
		}
		return nil
	case "http":
		resp := &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody}
		return classify.FromResponse(resp, &classify.ResponseOptions{Service: "The tracker"})
	case "who":
		return kind.ContextRequired.New("Two people are called John.").WithHint("Which one: John Smith or John Doe?")
	case "file":
		_, err := os.ReadFile("/no/such/file")
		return err
	case "bug":
		return errors.New("pq: password of user admin is wrong")
	case "panic":
		return caught(ctx)
	case "fatal":
		return kind.Fatal.New("The account was deleted.").WithDebug("since migration 7")
	}
	return kind.Validation.Newf(nil, "I do not know how to %q.", how)
}

// fetchArticles is a tool with a contract. It fails as declared, and the compiler
// knows the names.
func fetchArticles(ids ...string) error {
	return NoMatch.Failf(nil, "None of the %d ids returned an article", len(ids)).WithHint(NoMatch.Recovery())
}

// caught is the code of a service. Every failure in it becomes an error with a kind.
func caught(ctx context.Context) (err error) {
	defer classify.Op{Name: "index.update"}.Catch(ctx, &err)
	var index []int
	return fmt.Errorf("entry %d", index[len(index)])
}

// failTool makes a tool call fail. The turn continues: the model or the user sees what happened.
func (f *failing) failTool(ctx context.Context, id acp.SessionID, how string) (*acp.PromptResponse, error) {
	call, err := f.conn.Session(id).StartToolCall(ctx, &acp.ToolCall{Title: how})
	if err != nil {
		return nil, err
	}
	switch how {
	case "error":
		err = toolerr.RateLimited("Too many messages", 2*time.Second)
	case "envelope":
		err = toolcode.AmbiguousMatch.New("old_string was found 3 times in main.go")
	case "contract":
		err = fetchArticles("9")
	case "bug":
		err = errors.New("exec: /home/me/.ssh/id_rsa")
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, call.Fail(ctx, err)
}
