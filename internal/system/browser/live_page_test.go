package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openSession opens the page and a new session in it.
func openSession(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	open(t, ctx, address)
	until(t, ctx, stateIs("connected"))
	run(t, ctx, `document.querySelector('#folder').value = '/work'; document.querySelector('#new').requestSubmit()`)
	until(t, ctx, `!document.querySelector('main').hidden && document.activeElement.id === 'text'`)
}

func stateIs(state string) string {
	return `document.querySelector('#state').textContent === '` + state + `'`
}

// What an agent shows is on the page at every width, in light and dark, and nothing is cut off.
func TestThePageShowsAll(t *testing.T) {
	ctx := tab(t)
	openSession(t, ctx, shareActor(t))
	say(t, ctx, "tour")
	until(t, ctx, question+` && `+stateIs("asks you")+` && `+conversation+`.includes('Shall I run')`)
	assert.Equal(t, "if a > b {", eval[string](t, ctx, `document.querySelector('#items pre code').textContent.split('\n')[0]`))
	assert.Equal(t, []string{"parse.go", "12"}, eval[[]string](t, ctx, `[...document.querySelectorAll('#items td')].slice(0, 2).map(e => e.textContent)`))
	assert.Equal(t, []string{"-\treturn a > b", "+\treturn a < b"}, eval[[]string](t, ctx, `[...document.querySelectorAll('.removed, .added')].map(e => e.textContent.trimEnd())`))
	assert.Equal(t, []string{"✓", "▸", "·"}, eval[[]string](t, ctx, `[...document.querySelectorAll('#plans .card > .text')].map(e => e.textContent[0])`))
	assert.Equal(t, []bool{false, false, true, true, true}, eval[[]bool](t, ctx, `[...document.querySelectorAll('#items details')].map(e => e.open)`), "changes and failures are open, thoughts and the rest are not")
	assert.Equal(t, []string{"Allow once", `Always allow, as far as this agent decides: "Yes, and do not ask again"`, "Reject"},
		eval[[]string](t, ctx, question+` && [...document.querySelectorAll('#questions button .text:first-child')].map(e => e.textContent).slice(0, 3)`))
	for _, width := range []int64{1280, 1024, 800, 390} {
		resize(t, ctx, width, 844)
		for _, colours := range []string{"light", "dark"} {
			scheme(t, ctx, colours)
			run(t, ctx, `document.querySelector('#log').scrollTop = 0`)
			assert.LessOrEqual(t, eval[int64](t, ctx, `document.documentElement.scrollWidth`), width, "%d", width)
			assert.Empty(t, eval[[]string](t, ctx, `[...document.querySelectorAll('header *, #settings *, #items > *, #plans > *, #questions *, #prompt *')]
				.filter(e => e.offsetWidth && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('pre')).map(e => e.outerHTML.slice(0, 100))`), "%d", width)
			assert.Greater(t, eval[float64](t, ctx, `document.querySelector('#log').clientHeight`), 79.0, "the conversation can be read at %d", width)
			shot(t, ctx, fmt.Sprintf("tour-%d-%s", width, colours))
			run(t, ctx, `document.querySelector('#log').scrollTop = 1e6`)
			shot(t, ctx, fmt.Sprintf("tour-%d-%s-end", width, colours))
		}
	}
	run(t, ctx, question+`.querySelector('button').click()`)
	until(t, ctx, stateIs("connected"))
	run(t, ctx, `document.querySelector('#back').click()`)
	until(t, ctx, `document.querySelector('#list').offsetHeight > 0 && document.querySelector('main').offsetHeight === 0`) // the server lists the sessions
	shot(t, ctx, "sessions-390")
}

// All of the page is reached by keys; what has the focus is seen, and a question does not put it on a button that a
// key would press.
func TestThePageByKeyboard(t *testing.T) {
	ctx := tab(t)
	open(t, ctx, shareActor(t))
	until(t, ctx, stateIs("connected"))
	focus := func(selector string) {
		t.Helper()
		for range 30 {
			if eval[bool](t, ctx, `document.activeElement.matches(`+quote(selector)+`)`) {
				assert.NotEqual(t, "none", eval[string](t, ctx, `getComputedStyle(document.activeElement).outlineStyle`), selector)
				return
			}
			press(t, ctx, kb.Tab)
		}
		require.Fail(t, "the key Tab does not reach "+selector)
	}
	focus("#folder")
	press(t, ctx, kb.Enter)
	until(t, ctx, `document.activeElement.id === 'text'`)
	press(t, ctx, "t", "o", "u", "r", kb.Enter)
	until(t, ctx, question)
	until(t, ctx, `document.activeElement === `+question)
	press(t, ctx, kb.Enter, " ")
	assert.True(t, eval[bool](t, ctx, `!!`+question), "a key that was meant for the text answers nothing")
	press(t, ctx, kb.Tab)
	assert.Equal(t, "Allow once", eval[string](t, ctx, `document.activeElement.textContent.split(' “')[0]`))
	press(t, ctx, kb.Enter)
	until(t, ctx, `!`+question+` && document.activeElement.id === 'text' && `+stateIs("connected")+` && `+conversation+`.includes('Done.')`)

	press(t, ctx, "w", "a", "i", "t", kb.Enter)
	until(t, ctx, stateIs("working")+` && !document.querySelector('#cancel').disabled`)
	press(t, ctx, kb.Escape)
	until(t, ctx, stateIs("cancelled")+` && document.querySelector('#cancel').disabled`)

	press(t, ctx, "f", "o", "r", "m", kb.Enter)
	until(t, ctx, question)
	press(t, ctx, kb.Tab)
	press(t, ctx, "m", "a", "i", "n", kb.Enter)
	until(t, ctx, `!`+question+` && `+stateIs("connected"))

	focus("#items summary")
	folded := eval[bool](t, ctx, `document.activeElement.parentElement.open`)
	press(t, ctx, kb.Enter)
	assert.NotEqual(t, folded, eval[bool](t, ctx, `document.activeElement.parentElement.open`))
	focus("#items pre")

	unnamed := eval[[]string](t, ctx, `[...document.querySelectorAll('button, input, select, textarea, section, nav')].filter(e => e.offsetWidth
		&& !e.textContent.trim() && !e.labels?.length && !e.getAttribute('aria-label')).map(e => e.outerHTML)`)
	assert.Empty(t, unnamed, "all that can be used has a name")
	assert.Equal(t, []string{"status", "assertive", "log", "alert"}, eval[[]string](t, ctx, `[document.querySelector('#state').role, document.querySelector('#questions').ariaLive,
		document.querySelector('#items').role, document.querySelector('#error').role]`))
}

// Nothing of an agent becomes markup, is loaded, or turns the text around it; a link says where it leads.
func TestAHostileAgent(t *testing.T) {
	asked := make(chan string, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer elsewhere.Close()
	ctx := tab(t)
	openSession(t, ctx, shareActor(t))
	say(t, ctx, "hostile")
	until(t, ctx, question+` && `+conversation+`.includes('safe.example') && document.querySelector('#title').textContent.includes('script')`)
	shot(t, ctx, "hostile")
	assert.Zero(t, eval[int](t, ctx, `window.hacked ?? 0`))
	assert.Equal(t, 1, eval[int](t, ctx, `document.scripts.length`))
	assert.Zero(t, eval[int](t, ctx, `document.querySelectorAll('img, iframe, main style, [onerror]').length`))
	assert.False(t, eval[bool](t, ctx, `document.body.innerText.includes('\u202e') || document.title.includes('\u202e')`), "what turns a text is shown as an escape")
	assert.True(t, eval[bool](t, ctx, `document.body.innerText.includes('\\u{202e}gnihton')`))
	links := eval[[]string](t, ctx, `[...document.querySelectorAll('main a')].map(a => [a.getAttribute('href'), a.target, a.rel].join(' '))`)
	assert.Equal(t, []string{"http://evil.example/ _blank noreferrer noopener"}, links)
	assert.True(t, eval[bool](t, ctx, conversation+`.includes('safe.example (http://evil.example/)')`), "a link says where it leads")
	assert.True(t, eval[bool](t, ctx, `[...document.querySelectorAll('main .text, header .text, nav li .text')].every(e => getComputedStyle(e).unicodeBidi === 'isolate')`))
	assert.Empty(t, asked)
	run(t, ctx, question+`.querySelector('button').click()`)
	until(t, ctx, stateIs("connected"))
}

// A message of 31 MiB and 100 000 updates leave the page in order, and the next prompt works.
func TestFloods(t *testing.T) {
	ctx := tab(t)
	openSession(t, ctx, shareActor(t))
	for prompt, shows := range map[string]string{"updates": "word 99999", "huge": "MiB end", "calls": "call 1999"} {
		say(t, ctx, prompt)
		until(t, ctx, conversation+`.includes(`+quote(shows)+`)`)
		until(t, ctx, stateIs("connected"))
	}
	assert.Less(t, eval[int](t, ctx, `document.querySelectorAll('#items > *').length`), 2300)
	heap := eval[int64](t, ctx, `performance.memory.usedJSHeapSize`)
	assert.Less(t, heap, int64(200<<20))
	say(t, ctx, "and now")
	until(t, ctx, conversation+`.endsWith('and now ')`+` || `+conversation+`.trimEnd().endsWith('and now')`)

	open(t, ctx, "about:blank") // a page that comes later gets the newest part, and more when it asks
	run(t, ctx, `history.back()`)
	until(t, ctx, stateIs("connected")+` && document.querySelectorAll('#list button').length === 1`)
	run(t, ctx, `document.querySelector('#list button').click()`)
	until(t, ctx, `document.querySelectorAll('#items > *').length >= 200`)
	shown := eval[int](t, ctx, `document.querySelectorAll('#items > *').length`)
	assert.LessOrEqual(t, shown, 200)
	run(t, ctx, `document.querySelector('#earlier').click()`)
	until(t, ctx, fmt.Sprintf(`document.querySelectorAll('#items > *').length === %d`, 2*shown))
	calls := eval[[]string](t, ctx, `[...document.querySelectorAll('#items .tool')].map(e => e.textContent.match(/call \d+/)[0])`)
	for i := 1; i < len(calls); i++ {
		var a, b int
		fmt.Sscanf(calls[i-1]+" "+calls[i], "call %d call %d", &a, &b)
		require.Equal(t, a+1, b, "in order")
	}
}

// A page of another site reads nothing and reaches nothing, though it is on the same machine.
func TestAnotherSite(t *testing.T) {
	ctx := tab(t)
	address, token, _ := strings.Cut(shareActor(t), "/#")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<iframe src=%q></iframe>", address+"/#"+token)
	}))
	defer evil.Close()
	open(t, ctx, evil.URL)
	secret := fmt.Sprintf(`['acp.page', 'acp.token.' + btoa('%s').replaceAll('=', '')]`, token) // even if it knew the token
	for _, path := range []string{"/page", "/acp"} {
		ended := eval[string](t, ctx, fmt.Sprintf(`new Promise(done => {
			const s = new WebSocket('%s%s', %s)
			s.onopen = () => done('open')
			s.onerror = () => done('refused')
		})`, strings.Replace(address, "http", "ws", 1), path, secret))
		assert.Equal(t, "refused", ended, path)
		read := eval[string](t, ctx, fmt.Sprintf(`fetch('%s%s', {headers: {Authorization: 'Bearer %s'}}).then(r => r.text()).catch(() => '')`, address, path, token))
		assert.Empty(t, read, path)
	}
	assert.False(t, eval[bool](t, ctx, `(() => { try { return !!document.querySelector('iframe').contentDocument?.querySelector('#list') } catch { return false } })()`))
}

// The picture of the README: an editor that acp attach connects, here examples/chat, and the page beside it.
//
//	go test ./browser -run TestPictureOfThePage -write
func TestPictureOfThePage(t *testing.T) {
	if !*write {
		t.Skip("-write is not set: this test replaces the picture of the README")
	}
	address, project := share(t)
	bare, token, _ := strings.Cut(address, "/#")
	chat := exec.Command(program(t, "chat"), "-dir", project, "--", program(t, "acp"), "attach", bare)
	chat.Env = append(os.Environ(), "ACP_TOKEN="+token)
	in, err := chat.StdinPipe()
	require.NoError(t, err)
	var screen bytes.Buffer
	chat.Stdout, chat.Stderr = &screen, os.Stderr
	require.NoError(t, chat.Start())
	prompt := `edit greet.go: replace "Hello" with "Bonjour"`
	_, err = fmt.Fprintln(in, prompt)
	require.NoError(t, err)

	ctx := tab(t)
	resize(t, ctx, 800, 560)
	scheme(t, ctx, "light")
	open(t, ctx, address)
	until(t, ctx, `document.querySelectorAll('#list button').length === 1 && document.querySelector('#list').textContent.includes('asks you')`)
	run(t, ctx, `document.querySelector('#list button').click()`)
	until(t, ctx, question+` && `+stateIs("asks you"))
	run(t, ctx, `{ // the folder of the test is not of interest
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
		while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(`+quote(project)+`, '/home/you/greet')
		document.querySelector('#folder').value = '/home/you/greet'
	}`)
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	run(t, ctx, question+`.querySelector('button').click()`)
	until(t, ctx, conversation+`.includes('Wrote greet.go')`)
	require.NoError(t, in.Close())
	require.NoError(t, chat.Wait())
	said := strings.ReplaceAll(screen.String(), project, "/home/you/greet")
	said = strings.Replace(said, "> ", "> "+prompt+"\n", 1)
	both := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page.png" {
			_, _ = w.Write(png)
			return
		}
		fmt.Fprintf(w, `<!doctype html><style>body { margin: 0; display: grid; grid-template-columns: 600px 800px; background: #888; gap: 1px }
			pre { margin: 0; padding: 16px; height: 528px; overflow: hidden; background: #1e222a; color: #d8dee9; font: 13px/1.5 "DejaVu Sans Mono", monospace; white-space: pre-wrap }</style>
			<pre>%s</pre><img src="/page.png">`, strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace("$ chat -- acp attach http://127.0.0.1:7777\n"+said))
	}))
	defer both.Close()
	resize(t, ctx, 1401, 560)
	open(t, ctx, both.URL)
	picture(t, ctx, "acp-serve.png")
}
