package browser_test

import (
	"bufio"
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
)

// share runs acp serve with examples/agent and returns the address of its page.
func share(t *testing.T) (address, project string) {
	t.Helper()
	project = filepath.Join(t.TempDir(), "greet")
	require.NoError(t, os.Mkdir(project, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(project, "greet.go"), []byte(greeting), 0o644))
	return shareOf(t, program(t, "agent"), "-state", t.TempDir()), project
}

// shareOf runs acp serve with an agent.
func shareOf(t *testing.T, agent ...string) string {
	t.Helper()
	cmd := exec.Command(program(t, "acp"), append([]string{"serve", "-listen", "127.0.0.1:0", "-store", t.TempDir(), "--"}, agent...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(address)
}

const (
	conversation = `document.querySelector('#items').textContent`
	question     = `document.querySelector('#questions .card')`
)

// say types a message and sends it.
func say(t *testing.T, ctx context.Context, text string) {
	t.Helper()
	run(t, ctx, `document.querySelector('#text').value = `+quote(text)+`; document.querySelector('#prompt').requestSubmit()`)
}

// What one tab does is seen in the other, which may answer its question.
func TestTwoTabsShareASession(t *testing.T) {
	address, project := share(t)
	a, b := tab(t), tab(t)
	for _, ctx := range []context.Context{a, b} {
		open(t, ctx, address)
		until(t, ctx, `document.querySelector('#state').textContent === 'connected'`)
	}
	resize(t, b, 390, 800)
	run(t, a, `document.querySelector('#folder').value = `+quote(project)+`; document.querySelector('#new').requestSubmit()`)
	until(t, a, `!document.querySelector('main').hidden`)
	open(t, b, "about:blank")
	open(t, b, address)
	until(t, b, `document.querySelectorAll('#list button').length === 1`)
	run(t, b, `document.querySelector('#list button').click()`)
	until(t, b, `!document.querySelector('main').hidden && document.activeElement.id === 'text'`)

	say(t, a, `edit greet.go: replace "Hello" with "Bonjour"`)
	until(t, a, question)
	until(t, b, question)
	until(t, b, `document.activeElement.closest('#questions .card')`)
	shot(t, a, "serve-question-1400")
	shot(t, b, "serve-question-390")
	run(t, b, question+`.querySelector('button').click()`)
	until(t, a, `!`+question+` && `+conversation+`.includes('completed') && document.querySelector('#state').textContent === 'connected'`)
	until(t, b, `!`+question+` && `+conversation+`.includes('completed') && `+conversation+`.includes('Bonjour')`)
	changed, err := os.ReadFile(filepath.Join(project, "greet.go"))
	require.NoError(t, err)
	assert.Contains(t, string(changed), "Bonjour")
	for _, ctx := range []context.Context{a, b} {
		assert.True(t, eval[bool](t, ctx, `document.documentElement.scrollWidth <= innerWidth`), "nothing is wider than the window")
		run(t, ctx, `document.querySelectorAll('details').forEach((d) => { d.open = true })`)
	}
	shot(t, a, "serve-done-1400")
	shot(t, b, "serve-done-390")

	open(t, b, "about:blank")
	open(t, b, address)
	until(t, b, `document.querySelectorAll('#list button').length === 1`)
	run(t, b, `document.querySelector('#list button').click()`)
	until(t, b, conversation+`.includes('Bonjour') && `+conversation+`.includes('completed')`)
	assert.Equal(t, eval[float64](t, a, `document.querySelectorAll('#items > *').length`), eval[float64](t, b, `document.querySelectorAll('#items > *').length`))
}

// Without the token there is no session, and the page says what to do.
func TestThePageNeedsItsToken(t *testing.T) {
	address, _ := share(t)
	ctx := tab(t)
	bare, _, _ := strings.Cut(address, "#")
	open(t, ctx, bare)
	until(t, ctx, `document.querySelector('#error').textContent.includes('token is missing')`)
	open(t, ctx, "about:blank")
	open(t, ctx, bare+"#wrong")
	until(t, ctx, `document.querySelector('#error').textContent.includes('is the token in the address right')`)
}

var shots = flag.String("shots", "", "write pictures of the page to this folder")

// shot writes a picture if -shots names a folder.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if *shots == "" {
		return
	}
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(*shots, name+".png"), data, 0o644))
}
