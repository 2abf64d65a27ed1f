package loop_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

func Example_tool() {
	l := loop.New(model, &loop.Options{System: func(*kit.Session) string { return "You plan trips." }})
	type place struct {
		City string `json:"city" description:"without the country" validate:"required"`
	}
	weather := tools.Typed("weather", "Tells the weather of a city.", func(ctx context.Context, _ *tools.Call, in place) (tools.Result, error) {
		text, err := forecast(ctx, in.City)
		return tools.Text(text), err
	})
	weather.Effect = tools.Network // a call needs permission
	talk(kit.New(&kit.Options{Turn: l.Turn, Tools: func(*kit.Session) []tools.Tool { return []tools.Tool{weather} }}), "Do I need an umbrella in Oslo?")
	// Output:
	// user: Do I need an umbrella in Oslo?
	// asked: weather {"city":"Oslo"}
	// agent: Yes: it rains there.
}

// model calls the tool weather, and then answers with its result.
var model = &script{answers: answers{
	says(loop.CallDelta{ID: "1", Name: "weather", Input: `{"city":"Oslo"}`}),
	says(loop.Text("Yes: it rains there.")),
}}

func forecast(_ context.Context, city string) (string, error) { return "rain in " + city, nil }

// talk sends a prompt for a person who allows every call, and prints the conversation.
func talk(a *kit.Agent, text string) {
	ours, theirs := stream.Pipe()
	go a.Serve(context.Background(), theirs) // ends with the connection
	p := &person{}
	conn, err := client.Connect(context.Background(), ours, func(*client.Conn) acp.Client { return printer{p} }, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.NewSession(context.Background(), &acp.NewSessionRequest{Cwd: os.TempDir()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("user:", text)
	if _, err := conn.Prompt(context.Background(), &acp.PromptRequest{SessionID: session.SessionID, Prompt: []acp.ContentBlock{acp.Text(text)}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("agent:", p.text)
}

// printer prints the permission requests.
type printer struct{ *person }

func (p printer) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	fmt.Println("asked:", req.ToolCall.Title, string(req.ToolCall.RawInput))
	return p.person.RequestPermission(ctx, req)
}
