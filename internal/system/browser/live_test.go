package browser_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/stream"
)

// tapped is examples/agent behind acp tap.
type tapped struct {
	conn    *client.Conn
	session *client.Session
}

const greeting = "package main\n\nfunc main() { println(\"Hello, world!\") }\n"

// tap starts examples/agent behind acp tap, in a folder with a program. The recordings lie in a folder
// of the test.
func tap(t *testing.T) *tapped {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // in which the agent keeps its sessions
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	project := filepath.Join(t.TempDir(), "greet")
	require.NoError(t, os.Mkdir(project, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(project, "greet.go"), []byte(greeting), 0o644))
	h, err := host.Open(&host.Options{
		Roots: []string{project}, Terminals: &terminals.Options{},
		Ask: func(_ context.Context, q *permission.Question) (string, error) { return string(q.Options[0].ID), nil },
	})
	require.NoError(t, err)
	t.Cleanup(func() { h.Close() })
	t.Setenv("PATH", filepath.Dir(program(t, "agent"))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	process, err := stream.Command(exec.Command(program(t, "acp"), "tap", "--", "agent"), nil)
	require.NoError(t, err)
	var c acp.Client
	conn := client.New(process, func(conn *client.Conn) acp.Client { c = h.Client(conn); return c }, nil)
	require.NoError(t, conn.Start(context.Background()))
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		assert.NoError(t, conn.Wait())
	})
	_, err = conn.Initialize(t.Context(), &acp.InitializeRequest{ClientCapabilities: h.Capabilities(c)})
	require.NoError(t, err)
	session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: project})
	require.NoError(t, err)
	return &tapped{conn, session}
}

// ask sends a prompt and waits for the end of the turn.
func (a *tapped) ask(t *testing.T, text string) {
	t.Helper()
	_, err := a.session.Prompt(t.Context(), acp.Text(text)).Wait()
	require.NoError(t, err)
}

func TestALiveSessionIsFollowed(t *testing.T) {
	ctx := tab(t)
	a := tap(t)
	address := serve(t)
	open(t, ctx, address)
	until(t, ctx, status+`.includes('still recording') && document.querySelectorAll('.row').length >= 4`)
	a.ask(t, `edit greet.go: replace "Hello" with "Bonjour"`)
	until(t, ctx, thread+`.includes('Bonjour') && `+thread+`.includes('end_turn') && `+thread+`.includes('completed')`)
	assert.True(t, eval[bool](t, ctx, `[...document.querySelectorAll('.row')].at(-1).getBoundingClientRect().bottom <= innerHeight + 30`), "the newest message is seen")

	press(t, ctx, "g", "j", "j") // the user looks at message 3, and stays there
	until(t, ctx, chosen+` === '3'`)
	before := eval[string](t, ctx, status)
	a.ask(t, "run go version")
	until(t, ctx, status+` !== `+quote(before)+` && `+status+`.includes('still recording')`)
	assert.Equal(t, "3", eval[string](t, ctx, chosen))
	assert.Zero(t, eval[float64](t, ctx, `document.querySelector('#list').scrollTop`))
	press(t, ctx, "G")
	until(t, ctx, thread+`.includes('go version go1')`)

	require.NoError(t, a.conn.Close())
	until(t, ctx, status+`.includes('messages, 0 faults') && !`+status+`.includes('still recording')`)
}

func quote(s string) string { return "`" + s + "`" }

var write = flag.Bool("write", false, "write the pictures of docs/acp.md")

// The pictures show examples/agent behind acp tap, and a recording with faults, in the dark.
//
//	go test ./browser -run TestPictures -write
func TestPictures(t *testing.T) {
	if !*write {
		t.Skip("-write is not set: this test replaces the pictures of the documents")
	}
	ctx := tab(t)
	a := tap(t)
	a.ask(t, `edit greet.go: replace "Hello" with "Bonjour"`)
	a.ask(t, "run go run greet.go")
	require.NoError(t, a.conn.Close())
	address := serve(t)
	resize(t, ctx, 1280, 720)
	scheme(t, ctx, "light")
	open(t, ctx, address)
	until(t, ctx, status+`.includes('messages, 0 faults') && !`+status+`.includes('still recording') && `+thread+`.includes('Bonjour')`)
	run(t, ctx, `location.hash = '34'`)
	until(t, ctx, chosen+` === '34' && `+message+`.includes('Bonjour, world!')`)
	picture(t, ctx, "acp-view.png")

	lines := append(begin[:5:5],
		chunkOf("m", "Let me look at "), chunkOf("m", "the test that fails."),
		`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Run go test ./...","kind":"execute","status":"in_progress"}}}`,
		`< {"id":0,"method":"terminal/create","params":{"sessionId":"s","command":"go","args":["test","./..."]}}`,
		`> {"id":0,"error":{"code":-32601,"message":"Method not found","data":{"method":"terminal/create"}}}`,
		"< warning: no terminal, running the command here",
		chunk("The comparison in parse.go is the wrong way round."),
		`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[{"content":"Find the failing test","priority":"high","status":"completed"},{"content":"Turn the comparison round","priority":"high","status":"in_progress"},{"content":"Run the tests again","priority":"medium","status":"pending"}]}}}`,
		`< {"id":3,"result":{"stopReason":"end_turn"}}`,
		chunk("Done: all tests pass."),
	)
	scheme(t, ctx, "dark")
	open(t, ctx, "about:blank")
	open(t, ctx, serve(t, recording(t, lines...))+"#14")
	until(t, ctx, message+`.includes('open-tool-call')`)
	picture(t, ctx, "acp-view-faults.png")
}

func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join("../../../docs", name), png, 0o644))
}
