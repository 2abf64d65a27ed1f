// Package browser holds the tests of the pages of acp view and acp serve in a real browser. It has no code of its
// own.
//
// Where Chromium is missing the tests say so and are skipped; with the environment variable CI set
// they fail instead.
package browser_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// need returns the path of Chromium.
func need(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("chromium is not installed; in CI the tests of the page may not be skipped")
	}
	t.Skip("chromium is not installed: the page is tested in it")
	return ""
}

var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "acp-browser")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir, "github.com/acpkit/go-sdk/cmd/acp", "github.com/acpkit/go-sdk/examples/agent", "github.com/acpkit/go-sdk/examples/chat").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return dir, err
})

func TestMain(m *testing.M) {
	if os.Getenv(actorVar) != "" {
		os.Exit(act())
	}
	code := m.Run()
	if dir, err := programs(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// program builds a program of this repository.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	require.NoError(t, err)
	return filepath.Join(dir, name)
}

// serve runs acp view and returns the address of the page.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(program(t, "acp"), append([]string{"view"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		assert.NoError(t, cmd.Wait(), "Ctrl-C ends it without an error")
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "http://") {
			return lines.Text()
		}
	}
	require.Fail(t, "acp view printed no address")
	return ""
}

// tab opens a tab of a new browser.
func tab(t *testing.T) context.Context {
	t.Helper()
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(need(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1400, 860), chromedp.Flag("no-sandbox", true),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("enable-precise-memory-info", true))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), flags...)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// open opens an address in a tab.
func open(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(address)))
}

// press presses keys, one after the other.
func press(t *testing.T, ctx context.Context, keys ...string) {
	t.Helper()
	for _, key := range keys {
		require.NoError(t, chromedp.Do(ctx, chromedp.KeyEvent(key)))
	}
}

// eval returns the value of an expression in the page; a promise is awaited.
func eval[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(t, err, expression)
	return v
}

// run runs statements in the page.
func run(t *testing.T, ctx context.Context, statements string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](statements+"; null")))
}

// until waits for an expression in the page to be true.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	poll := func() error {
		_, err := chromedp.Run(ctx, chromedp.Poll[bool]("!!("+expression+")", chromedp.WithPollingTimeout(20*time.Second)))
		return err
	}
	err := poll()
	if err != nil && strings.Contains(err.Error(), "Cannot find context") { // of the page before
		err = poll()
	}
	if err != nil {
		shows, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText.slice(-2500)`))
		require.NoError(t, err, "%s; the page shows %s", expression, shows)
	}
}

// scheme lets the page see a preference of the user for light or dark.
func scheme(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	})))
}

// allow gives the page permissions.
func allow(t *testing.T, ctx context.Context, names ...string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for _, name := range names {
			_, err := cdp.Call(ctx, target, browser.SetPermission, browser.SetPermissionParams{
				Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})))
}

// The expressions read what the page shows.
const (
	chosen  = `document.querySelector('.row[aria-selected=true] .seq')?.textContent`
	message = `document.querySelector('#message').textContent`
	thread  = `document.querySelector('#thread').textContent`
	status  = `document.querySelector('#status').textContent`
)

// recording builds a recording: > the client sends, < the agent sends.
func recording(t *testing.T, lines ...string) string {
	t.Helper()
	began := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "a.jsonl")
	file, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriter(file)
	fmt.Fprintf(w, `{"acp":"recording","format":1,"version":"test","command":["an-agent"],"started":%q}`+"\n", began.Format(time.RFC3339Nano))
	for i, line := range lines {
		dir := "client"
		if line[0] == '<' {
			dir = "agent"
		}
		fmt.Fprintf(w, `{"seq":%d,"time":%q,"dir":%q,"conn":1,`, i+1, began.Add(time.Duration(i)*10*time.Millisecond).Format(time.RFC3339Nano), dir)
		var m struct {
			ID             json.RawMessage
			Method         string
			Params, Result struct{ SessionID string }
		}
		text := line[2:]
		if kind, text, ok := strings.Cut(text, "! "); ok { // a record that is no message
			quoted, _ := json.Marshal(text)
			fmt.Fprintf(w, `"kind":%q,"line":%s}`+"\n", kind, quoted)
			continue
		}
		if json.Unmarshal([]byte(text), &m) != nil {
			quoted, _ := json.Marshal(text)
			fmt.Fprintf(w, `"kind":"invalid","line":%s}`+"\n", quoted)
			continue
		}
		kind := "request"
		switch {
		case m.Method == "":
			kind = "response"
		case m.ID == nil:
			kind = "notification"
		}
		fmt.Fprintf(w, `"kind":%q,"method":%q,"session":%q,`, kind, m.Method, m.Params.SessionID+m.Result.SessionID)
		if m.ID != nil {
			fmt.Fprintf(w, `"id":%s,`, m.ID)
		}
		fmt.Fprintf(w, `"raw":{"jsonrpc":"2.0",%s}`+"\n", text[1:])
	}
	require.NoError(t, w.Flush())
	require.NoError(t, file.Close())
	return path
}

// begin opens a session and a turn, with 5 messages.
var begin = []string{
	`> {"id":1,"method":"initialize","params":{"protocolVersion":1}}`,
	`< {"id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"an-agent","version":"4.2"}}}`,
	`> {"id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
	`< {"id":2,"result":{"sessionId":"s"}}`,
	`> {"id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Fix it"}]}}`,
}

// chunk is an update with a text, which is a message of its own.
func chunk(text string) string {
	return chunkOf(fmt.Sprintf("m%x", sha256.Sum256([]byte(text)))[:9], text)
}

// chunkOf is a part of a message.
func chunkOf(message, text string) string {
	quoted, _ := json.Marshal(text)
	return `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"` + message + `","content":{"type":"text","text":` + string(quoted) + `}}}}`
}
