package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAHundredThousandMessages(t *testing.T) {
	ctx := tab(t)
	lines := append([]string(nil), begin...)
	for i := range 100_000 {
		line := chunkOf(fmt.Sprint("m", i/500), fmt.Sprintf("word %d ", i))
		if i%2 == 0 { // a row for each
			line = strings.Replace(line, "agent_message", "agent_thought", 1)
		}
		lines = append(lines, line)
	}
	address := serve(t, recording(t, lines...))
	open(t, ctx, address)
	until(t, ctx, `performance.getEntriesByName('first-contentful-paint').length > 0`)
	paint := eval[float64](t, ctx, `performance.getEntriesByName('first-contentful-paint')[0].startTime`)
	until(t, ctx, status+`.startsWith('100005 messages')`)
	t.Logf("first paint after %.0f ms", paint)
	assert.Less(t, paint, 3000.0, "1000 on an idle machine")

	worst := 0.0
	for _, seq := range []int{6, 50_000, 99_999, 2001, 77_777} {
		took := eval[float64](t, ctx, fmt.Sprintf(`new Promise(done => {
			const start = performance.now()
			location.hash = '%d'
			const look = () => %s === '%d' && %s.includes('word %d ') && %s.startsWith('%d ') ? done(performance.now() - start) : requestAnimationFrame(look)
			look()
		})`, seq, chosen, seq, thread, seq-6, strings.ReplaceAll(message, "textContent", "textContent.replace('notification', ' ')"), seq))
		worst = max(worst, took)
	}
	t.Logf("the slowest jump took %.0f ms", worst)
	assert.Less(t, worst, 1500.0, "100 on an idle machine")

	run(t, ctx, `document.querySelector('#list').scrollTop = 1e9`)
	until(t, ctx, `[...document.querySelectorAll('.row .seq')].some(e => e.textContent === '100005')`)
	rows := eval[int](t, ctx, `document.querySelectorAll('.row').length`)
	assert.Less(t, rows, 100, "only the rows that are seen exist")
	heap := eval[int64](t, ctx, `performance.memory.usedJSHeapSize`)
	t.Logf("%d MiB of memory", heap>>20)
	assert.Less(t, heap, int64(300<<20))
}

func TestHostileTextsAreShownAsText(t *testing.T) {
	ctx := tab(t)
	script := `<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">`
	long := strings.Repeat("ten million bytes ", 600_000)
	address := serve(t, recording(t, append(begin[:5:5],
		chunk(script),
		`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"\u003cb\u003ebold \u202egnihton\u202c","content":[{"type":"content","content":{"type":"text","text":"\ud800 half a pair"}}]}}}`,
		"< "+script+" \xff\xfe broken",
		chunk(long),
		`> {"id":9,"method":"`+strings.ReplaceAll(script, `"`, `'`)+`","params":{}}`,
	)...))
	open(t, ctx, address)
	until(t, ctx, status+`.startsWith('10 messages')`)
	for seq := 6; seq <= 10; seq++ {
		run(t, ctx, fmt.Sprintf(`location.hash = '%d'`, seq))
		until(t, ctx, fmt.Sprintf(`%s.startsWith('%d') && %s === '%d'`, message, seq, chosen, seq))
	}
	until(t, ctx, thread+`.includes('<script>window.hacked = 1</script>')`)
	assert.True(t, eval[bool](t, ctx, thread+`.includes('<b>bold \\u{202e}gnihton\\u{202c}')`), "what turns a text round is shown as an escape")
	assert.True(t, eval[bool](t, ctx, `[...document.querySelectorAll('#thread .text, .row .text')].every(e => getComputedStyle(e).unicodeBidi === 'isolate')`))
	assert.Zero(t, eval[int](t, ctx, `window.hacked ?? 0`))
	assert.Equal(t, 1, eval[int](t, ctx, `document.scripts.length`))
	assert.Zero(t, eval[int](t, ctx, `document.images.length`))

	run(t, ctx, `location.hash = '8'`)
	until(t, ctx, message+`.includes('\uFFFD') && `+message+`.includes('<script>')`)
	run(t, ctx, `location.hash = '9'`)
	until(t, ctx, `document.querySelector('#message .fold')?.textContent.includes('10 MiB')`)
	assert.Less(t, eval[int](t, ctx, message+`.length`), 2000)
	run(t, ctx, `document.querySelector('#message .fold').click()`)
	until(t, ctx, message+`.length > 250_000`)
	assert.Less(t, eval[int](t, ctx, message+`.length`), 300_000, "it unfolds in pieces")
}

func TestKeys(t *testing.T) {
	ctx := tab(t)
	lines := append([]string(nil), begin...)
	for i := range 40 {
		lines = append(lines, chunk(fmt.Sprintf("word %d ", i)))
	}
	lines[19], lines[24] = "< a banner", "< another banner"
	lines = append(lines, `< {"id":3,"result":{"stopReason":"end_turn"}}`)
	address := serve(t, recording(t, lines...))
	open(t, ctx, address)
	to := func(key, seq string) {
		t.Helper()
		press(t, ctx, key)
		until(t, ctx, fmt.Sprintf(`%s === '%s' && location.hash === '#%s'`, chosen, seq, seq))
	}
	until(t, ctx, chosen+` === '46'`)
	until(t, ctx, thread+`.includes('word 39') && `+thread+`.includes('end_turn')`)
	to("g", "1")
	until(t, ctx, thread+`.includes('No session') || !`+thread+`.includes('word')`)
	to("j", "2")
	to(kb.ArrowDown, "3")
	to("k", "2")
	to(kb.PageDown, "22")
	to("N", "20")
	to("G", "46")
	to("N", "25")
	to("G", "46")
	to("p", "5")
	to("p", "46")
	to("g", "1")
	to("n", "20")
	until(t, ctx, message+`.includes('The line is not JSON.')`)
	press(t, ctx, "f")
	until(t, ctx, `document.querySelectorAll('.row .seq').length === 2`)
	press(t, ctx, "f", "/")
	until(t, ctx, `document.activeElement.id === 'search'`)
	run(t, ctx, `{ const s = document.querySelector('#search'); s.value = 'WORD 30'; s.dispatchEvent(new Event('input')) }`)
	until(t, ctx, `[...document.querySelectorAll('.row .seq')].map(e => e.textContent).join() === '36'`)
	press(t, ctx, kb.Escape)
	until(t, ctx, `document.querySelectorAll('.row .seq').length > 20`)
	press(t, ctx, "]", "]")
	until(t, ctx, `document.querySelector('#sessions [aria-current]').textContent.startsWith('s')`)
	press(t, ctx, "?")
	until(t, ctx, `document.querySelector('#keys').open`)

	open(t, ctx, "about:blank")
	open(t, ctx, address+"#7")
	until(t, ctx, chosen+` === '7'`)
	run(t, ctx, `{ const s = document.querySelector('#slider'); s.value = 120000; s.dispatchEvent(new Event('input')) }`)
	until(t, ctx, chosen+` === '13'`)
}

// What is copied is in the clipboard as it was sent, and a recording that cannot be played says why.
func TestCopies(t *testing.T) {
	ctx := tab(t)
	path := recording(t, begin...)
	address := serve(t, path)
	open(t, ctx, address+"#3")
	allow(t, ctx, "clipboard-read", "clipboard-write")
	until(t, ctx, chosen+` === '3'`)
	copied := func(says string) string {
		t.Helper()
		until(t, ctx, status+` === `+quote(says))
		return eval[string](t, ctx, `navigator.clipboard.readText()`)
	}
	press(t, ctx, "c")
	assert.Equal(t, `{"jsonrpc":"2.0",`+begin[2][3:], copied("The message was copied."))
	run(t, ctx, `[...document.querySelectorAll('#message button')].find(b => b.textContent === 'Copy link').click()`)
	assert.Equal(t, address+"#3", copied("The link was copied."))
	run(t, ctx, `document.querySelector('#fixture').click()`)
	source := copied("The Go test was copied.")
	assert.Contains(t, source, "func TestRecording(t *testing.T) {")
	assert.Contains(t, source, `{"jsonrpc":"2.0",`+begin[4][3:])

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	masked := strings.Replace(string(text), `"seq":2,`, `"seq":2,"masked":true,`, 1)
	require.NoError(t, os.WriteFile(path, []byte(masked), 0o600))
	run(t, ctx, `document.querySelector('#fixture').click()`)
	until(t, ctx, status+`.startsWith('message 2 is masked, so it cannot be played')`)
	until(t, ctx, `document.querySelector('#sessions').textContent.includes('Connection 1: an-agent 4.2')`)
}

func TestOtherSitesAreRefused(t *testing.T) {
	ctx := tab(t)
	address := serve(t, recording(t, begin...))
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<iframe src=%q></iframe>", address)
	}))
	defer evil.Close()
	open(t, ctx, evil.URL)
	for _, mode := range []string{"cors", "no-cors"} {
		read := eval[string](t, ctx, fmt.Sprintf(`fetch('%sapi/info', {mode: '%s'}).then(r => r.text()).catch(() => '')`, address, mode))
		assert.Empty(t, read, mode)
	}
	assert.False(t, eval[bool](t, ctx, `(() => { try { return !!document.querySelector('iframe').contentDocument?.querySelector('#list') } catch { return false } })()`))

	wrong := address[:len(address)-5] + "AAAA/"
	open(t, ctx, wrong)
	assert.Contains(t, eval[string](t, ctx, `document.body.innerText`), "The token is missing or wrong")
}

func TestLightAndDark(t *testing.T) {
	ctx := tab(t)
	address := serve(t, recording(t, begin...))
	var paper []string
	for _, name := range []string{"light", "dark"} {
		scheme(t, ctx, name)
		open(t, ctx, address)
		until(t, ctx, `document.querySelectorAll('.row').length === 5`)
		paper = append(paper, eval[string](t, ctx, `getComputedStyle(document.body).backgroundColor`))
	}
	require.Len(t, paper, 2)
	assert.Equal(t, "rgb(255, 255, 255)", paper[0])
	assert.Equal(t, "rgb(22, 24, 28)", paper[1])
}
