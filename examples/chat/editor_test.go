//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func edit(typed string) (*lines, *bytes.Buffer) {
	var out bytes.Buffer
	s := newScreen(&out, false)
	return &lines{reader: newReader(&console{typed: &keyboard{typed: typed, end: true}, edit: true}, s)}, &out
}

func names(before string) (all []string) {
	for _, name := range []string{"/help ", "/hello ", "/plan ", ":mode auto", ":mode ask"} {
		if strings.HasPrefix(name, before) {
			all = append(all, name)
		}
	}
	return all
}

func TestEditing(t *testing.T) {
	const left, right, home, end, up, down, del = "\x1b[D", "\x1b[C", "\x1b[H", "\x1bOF", "\x1b[A", "\x1b[B", "\x1b[3~"
	for name, tt := range map[string]struct{ typed, want string }{
		"plain":                 {"hello\n", "hello"},
		"carriage return":       {"hello\r", "hello"},
		"wide":                  {"héllo 世界🎉\x7f\n", "héllo 世界"},
		"insert":                {"hllo" + left + left + left + "e\n", "hello"},
		"rub out at the start":  {"x" + home + "\x7f\n", "x"},
		"delete":                {"xhello" + home + del + "\n", "hello"},
		"delete at the end":     {"hello" + del + "\n", "hello"},
		"Ctrl-D deletes too":    {"xhello" + home + "\x04\n", "hello"},
		"end":                   {"ello" + home + "h" + end + "!\n", "hello!"},
		"too far":               {left + right + right + "a\n", "a"},
		"cut a word":            {"say hello  \x17world\n", "say world"},
		"cut the line":          {"rubbish\x15hello\n", "hello"},
		"cut the rest":          {"hello rubbish" + strings.Repeat(left, 8) + "\x0b\n", "hello"},
		"unknown sequence":      {"he\x1b[15~llo\x1b[200~\n", "hello"},
		"control characters":    {"he\x00\x07llo\n", "hello"},
		"the only name":         {"/p\t\n", "/plan "},
		"as far as names agree": {"/h\t\n", "/hel"},
		"then one is left":      {"/h\tl\t\n", "/hello "},
		"arguments":             {":mode a\ts\t\n", ":mode ask"},
		"no name":               {"/x\t\n", "/x"},
		"history":               {"one\ntwo\n" + up + up + "\n", "one"},
		"history and back":      {"one\ntwo\n" + up + up + down + down + down + "three\n", "three"},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := edit(tt.typed)
			got := ""
			for {
				line, err := l.next(t.Context(), question{prompt: "> ", ahead: true, complete: names})
				if err != nil {
					require.ErrorIs(t, err, io.EOF)
					break
				}
				got = line
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestEndOfInput(t *testing.T) {
	l, _ := edit("\x04more\n")
	for range 2 {
		_, err := l.next(t.Context(), question{prompt: "> ", ahead: true})
		assert.ErrorIs(t, err, io.EOF, "also for the next question")
	}
}

// If a text can be completed in several ways, the names are listed.
func TestNamesAreListed(t *testing.T) {
	l, out := edit("/he\t\t\n")
	line, err := l.next(t.Context(), question{prompt: "> ", ahead: true, complete: names})
	require.NoError(t, err)
	assert.Equal(t, "/hel", line)
	assert.Contains(t, out.String(), "/help  /hello\n")
}

func TestSecretsAreNotShown(t *testing.T) {
	l, out := edit("secret\nsecret\n")
	line, err := l.next(t.Context(), question{prompt: "key: ", secret: true, ahead: true})
	require.NoError(t, err)
	assert.Equal(t, "secret", line)
	assert.NotContains(t, out.String(), "secret")
}

// Output appears above the line that the user types. A new question is answered first, and the
// draft is kept.
func TestQuestionWhileTyping(t *testing.T) {
	l, s, out, keys := terminalLines(true)
	prompt := begin(t.Context(), l, question{prompt: "> ", ahead: true, complete: names})
	waitFor(t, s, out, "> ")
	keys.press("half\x01")
	waitFor(t, s, out, "> half")
	s.note("an update")
	answer := begin(t.Context(), l, question{prompt: "allow? "})
	waitFor(t, s, out, "allow? ")
	keys.press("yes\n")
	assert.Equal(t, "yes", (<-answer).line)
	waitFor(t, s, out, "allow? yes\n\r\x1b[K> half")
	keys.press("\x05 a line\n")
	assert.Equal(t, "half a line", (<-prompt).line)
	assert.Contains(t, out.String(), "an update\n\r\x1b[K> half")
}

// A question that is withdrawn gives the line back to the one before it.
func TestWithdrawnQuestion(t *testing.T) {
	l, s, out, keys := terminalLines(true)
	prompt := begin(t.Context(), l, question{prompt: "> ", ahead: true})
	waitFor(t, s, out, "> ")
	ctx, cancel := context.WithCancel(t.Context())
	withdrawn := begin(ctx, l, question{prompt: "allow? "})
	waitFor(t, s, out, "allow? ")
	cancel()
	require.ErrorIs(t, (<-withdrawn).err, context.Canceled)
	keys.press("hello\n")
	assert.Equal(t, "hello", (<-prompt).line)
	assert.Contains(t, out.String(), "> hello\n", "it stands beside the question that it belongs to")
}

// A text that is longer than the screen is shown around the cursor.
func TestLongLine(t *testing.T) {
	l, out := edit(strings.Repeat("x", 200) + "end\n")
	_, err := l.next(t.Context(), question{prompt: "> ", ahead: true})
	require.NoError(t, err)
	for shown := range strings.SplitSeq(out.String(), "\r\x1b[K") {
		if line, _, entered := strings.Cut(shown, "\n"); !entered {
			assert.Less(t, len(line), 80)
		}
	}
}
