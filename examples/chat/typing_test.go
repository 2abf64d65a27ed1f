package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// begin asks a question and returns its answer later.
func begin(ctx context.Context, l *lines, ask question) <-chan typed {
	answer := make(chan typed, 1)
	go func() { // ends with the line, or with ctx
		line, err := l.next(ctx, ask)
		answer <- typed{line, err}
	}()
	return answer
}

// waitFor waits until the screen shows a text.
func waitFor(t *testing.T, s *screen, out *bytes.Buffer, text string) {
	t.Helper()
	for {
		require.NoError(t, t.Context().Err())
		s.mu.Lock()
		found := strings.Contains(out.String(), text)
		s.mu.Unlock()
		if found {
			return
		}
		runtime.Gosched()
	}
}

// keyboard is the input of a terminal.
type keyboard struct {
	mu    sync.Mutex // guards all below
	typed string
	end   bool
	more  chan struct{} // closed by press; nil if nobody waits
}

func (k *keyboard) press(keys string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.typed += keys
	if k.more != nil {
		close(k.more)
		k.more = nil
	}
}

func (k *keyboard) wait() error {
	for {
		k.mu.Lock()
		if k.typed != "" || k.end {
			k.mu.Unlock()
			return nil
		}
		if k.more == nil {
			k.more = make(chan struct{})
		}
		more := k.more
		k.mu.Unlock()
		<-more
	}
}

func (k *keyboard) take() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text := []byte(k.typed)
	k.typed = ""
	if len(text) == 0 && k.end {
		return nil, io.EOF
	}
	return text, nil
}

func (k *keyboard) flush() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.typed = ""
}

// terminalLines returns lines on a terminal that chat edits, or that edits lines itself.
func terminalLines(edit bool) (*lines, *screen, *bytes.Buffer, *keyboard) {
	var out bytes.Buffer
	s, keys := newScreen(&out, false), &keyboard{}
	return &lines{reader: newReader(&console{typed: keys, edit: edit}, s)}, s, &out, keys
}

// On a terminal, a question is answered only by what was typed after it was shown, in whatever way
// something else can have been typed before.
func TestAnswersAreTypedAfterTheirQuestion(t *testing.T) {
	prompt := question{prompt: "> ", ahead: true, complete: func(string) []string { return nil }}
	first, second := question{prompt: "first? "}, question{prompt: "second? "}
	type play struct {
		*testing.T
		*lines
		keys  *keyboard
		shown func(string)
	}
	for name, before := range map[string]func(p play){
		"typed before any question":       func(p play) { p.keys.press("1\n") },
		"half a line before any question": func(p play) { p.keys.press("1") },
		"typed while the turn runs": func(p play) {
			line := begin(p.Context(), p.lines, prompt)
			p.shown("> ")
			p.keys.press("go\n1\n1\n")
			assert.Equal(p, "go", (<-line).line)
		},
		"typed for one that was withdrawn": func(p play) {
			ctx, withdraw := context.WithCancel(p.Context())
			line := begin(ctx, p.lines, first)
			p.shown("first? ")
			p.keys.press("1")
			withdraw()
			assert.Error(p, (<-line).err)
		},
		"entered after it was withdrawn": func(p play) {
			ctx, withdraw := context.WithCancel(p.Context())
			line := begin(ctx, p.lines, first)
			p.shown("first? ")
			withdraw()
			assert.Error(p, (<-line).err)
			p.keys.press("1\n")
		},
		"typed for one that is still asked": func(p play) {
			begin(p.Context(), p.lines, first)
			p.shown("first? ")
			p.keys.press("1")
		},
		"a draft at the prompt": func(p play) {
			begin(p.Context(), p.lines, prompt)
			p.shown("> ")
			p.keys.press("1")
		},
		"two answers at once": func(p play) {
			line := begin(p.Context(), p.lines, first)
			p.shown("first? ")
			p.keys.press("1\n1\n")
			assert.Equal(p, "1", (<-line).line)
		},
	} {
		for kind, edit := range map[string]bool{"edited by chat": true, "edited by the terminal": false} {
			for _, secret := range []bool{false, true} {
				t.Run(name+", "+kind, func(t *testing.T) {
					l, s, out, keys := terminalLines(edit)
					shown := func(text string) { t.Helper(); waitFor(t, s, out, text) }
					before(play{t, l, keys, shown})
					second := second
					second.secret = secret
					answer := begin(t.Context(), l, second)
					shown("second? ")
					keys.press("\n") // what is left of what was typed before would be entered here
					assert.Equal(t, "", (<-answer).line)
				})
			}
		}
	}
}

// A question that is shown while a read for nobody returns is read next, with what was typed for it.
func TestQuestionBeginsOnce(t *testing.T) {
	for _, edit := range []bool{true, false} {
		for _, ahead := range []bool{true, false} {
			l, _, _, keys := terminalLines(edit)
			a := &asking{question: question{prompt: "allow? ", ahead: ahead}}
			l.reader.change(a)
			keys.press("no\n")
			keys.end = true
			_, line, err := l.reader.read(a)
			require.NoError(t, err)
			assert.Equal(t, "no", line)
		}
	}
}

// What was typed ahead is for the prompt, and for nothing between.
func TestTypedAhead(t *testing.T) {
	for _, edit := range []bool{true, false} {
		l, s, out, keys := terminalLines(edit)
		keys.press("one\ntwo\nthr")
		for _, want := range []string{"one", "two"} {
			line, err := l.next(t.Context(), question{prompt: "> ", ahead: true})
			require.NoError(t, err)
			assert.Equal(t, want, line)
		}
		answer := begin(t.Context(), l, question{prompt: "allow? "})
		waitFor(t, s, out, "allow? ")
		keys.press("no\n")
		assert.Equal(t, "no", (<-answer).line)
		keys.press("three\n")
		line, err := l.next(t.Context(), question{prompt: "> ", ahead: true})
		require.NoError(t, err)
		assert.Equal(t, "three", line)
	}
}

// The lines of a pipe stay in order, whatever is asked when.
func TestLinesOfAPipe(t *testing.T) {
	r, w := io.Pipe()
	var out bytes.Buffer
	s := newScreen(&out, false)
	l := &lines{reader: &pipeReader{screen: s, in: bufio.NewReader(r)}}
	ctx, withdraw := context.WithCancel(t.Context())
	withdrawn := begin(ctx, l, question{prompt: "first? "})
	waitFor(t, s, &out, "first? ")
	withdraw()
	require.Error(t, (<-withdrawn).err)
	go io.Copy(w, strings.NewReader("1\n2\n")) // ends when both lines are read
	for _, want := range []string{"1\n", "2\n"} {
		line, err := l.next(t.Context(), question{prompt: "next? "})
		require.NoError(t, err)
		assert.Equal(t, want, line)
	}
}

// An input that cannot be asked whether there is something to read drops what a read returns that began
// before the question.
func TestReadThatBeganBeforeTheQuestion(t *testing.T) {
	r, w := io.Pipe()
	flushed := 0
	in := &blockingInput{r: r, discard: func() { flushed++ }}
	began := make(chan struct{})
	ended := make(chan error)
	go func() { // ends with the line
		close(began)
		ended <- in.wait()
	}()
	<-began
	go io.WriteString(w, "1\n") // ends when it is read
	in.flush()
	require.NoError(t, <-ended)
	text, err := in.take()
	require.NoError(t, err)
	if len(text) > 0 { // the read had not begun when it was flushed
		t.Skip("the goroutine came late")
	}
	go io.WriteString(w, "2\n") // ends when it is read
	require.NoError(t, in.wait())
	text, err = in.take()
	require.NoError(t, err)
	assert.Equal(t, "2\n", string(text))
	assert.Equal(t, 1, flushed)
}
