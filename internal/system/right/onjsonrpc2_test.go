package right_test

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acptest"
	"github.com/acpkit/go-sdk/agent/onjsonrpc2"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// libraryVar makes the test binary an echo on a connection of sourcegraph/jsonrpc2.
const libraryVar = "ACPKIT_RIGHT_LIBRARY"

// echo repeats each prompt.
type echo struct{ client acp.Client }

func (echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: "echo", Version: "1"}}, nil
}

func (echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: acp.SessionID(rand.Text())}, nil
}

func (e echo) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	err := e.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: req.SessionID,
		Update: acp.AgentText("You said: " + acp.PlainText(req.Prompt...))})
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func (echo) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// serveLibrary runs echo over stdio, on a stream of this module or of the library.
func serveLibrary(kind string) {
	var s jsonrpc2.ObjectStream
	if kind == "of" {
		s = objectstream.Of(stream.Stdio())
	} else {
		s = jsonrpc2.NewPlainObjectStream(struct {
			io.Reader
			io.WriteCloser
		}{os.Stdin, os.Stdout})
	}
	<-jsonrpc2.NewConn(context.Background(), s, onjsonrpc2.Handler(func(c acp.Client) acp.Agent { return echo{c} }, nil)).DisconnectNotify()
}

// Echo on a connection of the library fails the checks that docs/rough-edges.md lists, and no others.
func TestEchoOnTheLibrary(t *testing.T) {
	page, err := os.ReadFile("../../../docs/rough-edges.md")
	require.NoError(t, err)
	ids := regexp.MustCompile(`AK-[A-Z]+-\d+`)
	_, list, _ := strings.Cut(string(page), "### Agents and clients on a connection of jsonrpc2")
	anyStream, plain, _ := strings.Cut(list, "Over the streams of the library")
	always := ids.FindAllString(anyStream, -1)
	never := map[string]string{"slow": "", "tool": "", "ask": "", "read": "", "write": "", "run": ""}
	for kind, want := range map[string][]string{"of": always, "plain": append(ids.FindAllString(plain, -1), always...)} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			report, err := acptest.CheckAgent(t.Context(), acptest.Command([]string{os.Args[0]}, libraryVar+"="+kind), &acptest.Options{Prompts: never, Wait: time.Minute})
			require.NoError(t, err)
			var failed []string
			for _, r := range report.Results {
				if r.Verdict == acptest.Fail {
					failed = append(failed, r.ID)
					t.Log(r.ID, r.Verdict, r.Tier, r.Title, r.Reason, r.Sent)
				}
			}
			assert.ElementsMatch(t, want, failed)
		})
	}
}
