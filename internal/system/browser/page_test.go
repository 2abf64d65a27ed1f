package browser_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var screens = flag.String("screens", "", "a folder for pictures of the page at four widths, in light and dark")

// crashed is a recording with all that can go wrong, and a text of 31 MiB.
func crashed(t *testing.T) string {
	lines := append(begin[:5:5],
		`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"The test compares dates."}}}}`,
	)
	for i := range 60 {
		lines = append(lines, chunkOf("m1", fmt.Sprintf("word %d ", i)))
	}
	lines = append(lines, // from number 67 on
		`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Run go test ./...","kind":"execute","status":"in_progress"}}}`,
		`< {"id":0,"method":"terminal/create","params":{"sessionId":"s","command":"go","args":["test","./..."]}}`,
		`> {"id":0,"error":{"code":-32601,"message":"Method not found","data":{"method":"terminal/create"}}}`,
		`< stderr! warning: no terminal, running the command here`,
	)
	for i := range 120 {
		lines = append(lines, fmt.Sprintf(`< stderr! [%d] retrying the model`, i))
	}
	lines = append(lines, // from number 191 on
		`< {"id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/parse.go"}}`,
		`> {"id":1,"result":{"content":"`+strings.Repeat("thirty-one MiB \\u202e of text ", 1_040_000)+`"}}`,
		`< {"id":3,"result":{"stopReason":"end_turn"}}`,
		`> {"id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"And now?"}]}}`,
		chunkOf("m2", "Let me see."),
		`< stderr! panic: runtime error: index out of range [3] with length 3`,
		`< stderr! main.go:12 +0x1d`,
		`< end! `,
		`< exit! exit status 2`,
	)
	return recording(t, lines...)
}

func resize(t *testing.T, ctx context.Context, width, height int64) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
		return err
	})))
}

// What went wrong is on the page when it opens, at every width, and nothing is cut off beside it.
func TestWhatWentWrong(t *testing.T) {
	ctx := tab(t)
	address := serve(t, crashed(t))
	open(t, ctx, address)
	wrong := `document.querySelector('#wrong').textContent`
	until(t, ctx, chosen+` === '199' && `+wrong+`.includes('exit status 2')`)
	assert.Contains(t, eval[string](t, ctx, wrong), "the agent ended: exit status 2")
	assert.Contains(t, eval[string](t, ctx, wrong), "123 lines of stderr")
	assert.Equal(t, 1, eval[int](t, ctx, `document.querySelectorAll('#plot rect[fill="var(--must)"][height="44"]').length`), "the crash is on the timeline")
	assert.Positive(t, eval[int](t, ctx, `document.querySelectorAll('#plot rect[fill="var(--notable)"]').length`), "so is standard error")
	for _, width := range []int64{1280, 1024, 800, 390} {
		resize(t, ctx, width, 844)
		for _, colours := range []string{"light", "dark"} {
			scheme(t, ctx, colours)
			for _, seq := range []string{"199", "67"} {
				run(t, ctx, `location.hash = '`+seq+`'`)
				until(t, ctx, chosenRow+`.dataset.seq === '`+seq+`' && `+message+`.startsWith('`+seq+`')`)
				assert.LessOrEqual(t, eval[int64](t, ctx, `document.documentElement.scrollWidth`), width, "%d", width)
				assert.True(t, eval[bool](t, ctx, `[...document.querySelectorAll('header *, #filter *')].every(e => e.getBoundingClientRect().right <= innerWidth)`), "%d", width)
				assert.Greater(t, eval[float64](t, ctx, chosenRow+`.querySelector('.says').getBoundingClientRect().width`), 110.0, "the text can be read at %d", width)
				if *screens != "" {
					png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
					require.NoError(t, err)
					require.NoError(t, os.WriteFile(filepath.Join(*screens, fmt.Sprintf("%d-%s-%s.png", width, colours, seq)), png, 0o600))
				}
			}
		}
	}
}

const chosenRow = `document.querySelector('.row[aria-selected=true]')`

// The keys of the page reach all of it.
func TestFiltersByKey(t *testing.T) {
	ctx := tab(t)
	open(t, ctx, serve(t, crashed(t)))
	matches := func(says string) {
		t.Helper()
		until(t, ctx, `document.querySelector('#matches').textContent === '`+says+`'`)
	}
	matches("199 messages in 140 rows")
	press(t, ctx, "s")
	matches("1 message") // the prompt, which took two seconds
	press(t, ctx, "s", "e")
	matches("2 messages")
	press(t, ctx, "e", "d")
	matches("6 messages")
	press(t, ctx, "d", "d")
	matches("199 messages in 140 rows")

	press(t, ctx, "t")
	until(t, ctx, `document.activeElement.id === 'kind'`)
	run(t, ctx, `{ const k = document.querySelector('#kind'); k.value = 'agent_message_chunk'; k.dispatchEvent(new Event('change')) }`)
	matches("61 messages in 2 rows")
	press(t, ctx, kb.Escape, "g")
	until(t, ctx, chosenRow+`.dataset.seq === '7'`)
	assert.Contains(t, eval[string](t, ctx, chosenRow+`.textContent`), "▸ 60word 0 word 1 word 2")
	press(t, ctx, "x")
	matches("61 messages")
	press(t, ctx, "j", "j")
	until(t, ctx, chosenRow+`.dataset.seq === '9'`)
	allow(t, ctx, "clipboard-read", "clipboard-write")
	press(t, ctx, "C")
	until(t, ctx, status+` === 'The messages were copied.'`)
	assert.Equal(t, 61, eval[int](t, ctx, `navigator.clipboard.readText().then(t => t.trim().split('\n').map(JSON.parse).length)`))

	run(t, ctx, `{ const k = document.querySelector('#kind'); k.value = ''; k.dispatchEvent(new Event('change')) }`)
	press(t, ctx, "w")
	until(t, ctx, chosenRow+`.dataset.seq === '199'`)
	run(t, ctx, `location.hash = '192'`)
	until(t, ctx, `document.querySelector('#message .fold')?.textContent.includes('MiB')`)
	for piece := 1; piece <= 3; piece++ {
		press(t, ctx, "u")
		until(t, ctx, fmt.Sprintf(`%s.length > %d && document.querySelector('#message .fold')`, message, piece*250_000))
	}
	assert.True(t, eval[bool](t, ctx, message+`.includes('MiB \\u{202e} of')`), "a text in pieces has escapes too")

	resize(t, ctx, 390, 844)
	shown := func(id string) bool { return eval[bool](t, ctx, `document.querySelector('#`+id+`').offsetHeight > 0`) }
	assert.Equal(t, []bool{true, false}, []bool{shown("message"), shown("thread")})
	press(t, ctx, "v")
	assert.Equal(t, []bool{false, true}, []bool{shown("message"), shown("thread")})
}
