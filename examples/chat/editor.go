package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/client/safetext"
)

// editor reads a line from a terminal that passes on single keys. It shows the part of a long text
// around the cursor.
type editor struct {
	screen *screen
	tty    *tty
	in     *bufio.Reader

	// Guarded by the mutex of the screen.
	ask     question
	text    []rune
	cursor  int
	drafts  map[string][]rune // by prompt: unfinished text
	history []string          // lines of questions that can be completed
	recall  int               // the line of history that is shown; len(history) for a new one
}

// The keys that the editor knows, as the terminal sends them.
const (
	keyStart     = 'A' - '@' // Ctrl-A
	keyBack      = 'B' - '@'
	keyEnd       = 'D' - '@' // of input
	keyLineEnd   = 'E' - '@'
	keyForward   = 'F' - '@'
	keyBackspace = 'H' - '@'
	keyTab       = '\t'
	keyEnter     = '\n'
	keyCutRest   = 'K' - '@'
	keyRedraw    = 'L' - '@'
	keyReturn    = '\r'
	keyNext      = 'N' - '@'
	keyPrevious  = 'P' - '@'
	keyCutLine   = 'U' - '@'
	keyCutWord   = 'W' - '@'
	keyEscape    = '[' - '@'
	keyRubOut    = 0x7f
	keyDelete    = -1 // is sent as a sequence only
)

func (e *editor) read(ask question) (string, error) {
	e.screen.lock()
	e.recall = len(e.history)
	e.begin(ask)
	e.screen.unlock()
	for {
		key, err := e.key()
		switch {
		case key == keyEnter || key == keyReturn:
			return e.close(true), nil
		case key == keyTab:
			e.complete()
		case err != nil || !e.press(key):
			e.close(false)
			return "", io.EOF
		}
	}
}

// begin shows the line of a question, with an earlier draft. The caller holds the mutex of the
// screen.
func (e *editor) begin(ask question) {
	e.ask, e.text = ask, e.drafts[ask.prompt]
	delete(e.drafts, ask.prompt)
	e.cursor = len(e.text)
	e.open()
}

// open puts the line on the screen. The caller holds its mutex.
func (e *editor) open() {
	e.tty.set(modeKeys)
	e.screen.edited = e
}

// close removes the line from the screen, unless it was entered, and returns it.
func (e *editor) close(entered bool) string {
	e.screen.lock()
	defer e.screen.unlock()
	line := string(e.text)
	if e.screen.edited != nil {
		if entered {
			shown := safetext.OneLine(line, len(line))
			if e.ask.secret {
				shown = ""
			}
			fmt.Fprintln(e.screen.out, e.ask.prompt+shown)
		}
		e.screen.edited = nil
		e.tty.restore()
	}
	if entered && e.ask.complete != nil && strings.TrimSpace(line) != "" {
		e.history = append(e.history, line)
	}
	e.text, e.cursor = nil, 0
	return line
}

func (e *editor) change(ask question) {
	e.screen.lock()
	defer e.screen.unlock()
	e.drafts[e.ask.prompt] = e.text
	e.begin(ask)
}

func (e *editor) leave() {
	e.screen.lock()
	defer e.screen.unlock()
	e.screen.edited = nil
	e.tty.restore()
}

// again shows the line after another program used the terminal.
func (e *editor) again() {
	e.screen.mu.Lock()
	defer e.screen.mu.Unlock()
	if e.screen.edited != nil {
		e.open()
		e.show()
	}
}

func (e *editor) hide() { fmt.Fprint(e.screen.out, "\r\x1b[K") }

func (e *editor) show() {
	fmt.Fprint(e.screen.out, "\r\x1b[K"+e.ask.prompt)
	if e.ask.secret {
		return
	}
	room := max(e.tty.width()-columns([]rune(e.ask.prompt))-1, 8)
	from := 0
	for columns(e.text[from:e.cursor]) > room {
		from++
	}
	to := len(e.text)
	for columns(e.text[from:to]) > room {
		to--
	}
	fmt.Fprint(e.screen.out, string(e.text[from:to]))
	if back := columns(e.text[e.cursor:to]); back > 0 {
		fmt.Fprintf(e.screen.out, "\x1b[%dD", back)
	}
}

func columns(text []rune) (n int) {
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x1100 && r <= 0x115f, unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
			r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
			n += 2
		default:
			n++
		}
	}
	return n
}

// key reads a key. A sequence becomes the control character that does the same.
func (e *editor) key() (rune, error) {
	r, _, err := e.in.ReadRune()
	if err != nil || r != keyEscape || e.in.Buffered() == 0 {
		return r, err
	}
	sequence := ""
	for e.in.Buffered() > 0 {
		r, _, err := e.in.ReadRune()
		if err != nil {
			return 0, err
		}
		sequence += string(r)
		if sequence != "[" && sequence != "O" && (r >= '@' && r <= '~') {
			break
		}
	}
	if key, known := sequences[sequence]; known {
		return key, nil
	}
	return keyEscape, nil // does nothing
}

// sequences are the keys that terminals send as several characters, by those after the escape.
var sequences = map[string]rune{
	"[A": keyPrevious, "OA": keyPrevious,
	"[B": keyNext, "OB": keyNext,
	"[C": keyForward, "OC": keyForward,
	"[D": keyBack, "OD": keyBack,
	"[H": keyStart, "OH": keyStart, "[1~": keyStart, "[7~": keyStart,
	"[F": keyLineEnd, "OF": keyLineEnd, "[4~": keyLineEnd, "[8~": keyLineEnd,
	"[3~": keyDelete,
}

// press carries out a key. It reports false if the key ends the input.
func (e *editor) press(key rune) bool {
	e.screen.lock()
	defer e.screen.unlock()
	switch key {
	case keyStart:
		e.cursor = 0
	case keyLineEnd:
		e.cursor = len(e.text)
	case keyBack:
		e.cursor = max(0, e.cursor-1)
	case keyForward:
		e.cursor = min(len(e.text), e.cursor+1)
	case keyBackspace, keyRubOut:
		e.cut(e.cursor-1, e.cursor)
	case keyDelete:
		e.cut(e.cursor, e.cursor+1)
	case keyEnd:
		if len(e.text) == 0 {
			return false
		}
		e.cut(e.cursor, e.cursor+1)
	case keyCutRest:
		e.cut(e.cursor, len(e.text))
	case keyCutLine:
		e.cut(0, e.cursor)
	case keyCutWord:
		from := e.cursor
		for from > 0 && unicode.IsSpace(e.text[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(e.text[from-1]) {
			from--
		}
		e.cut(from, e.cursor)
	case keyPrevious:
		e.remember(e.recall - 1)
	case keyNext:
		e.remember(e.recall + 1)
	case keyRedraw:
		fmt.Fprint(e.screen.out, "\x1b[2J\x1b[H")
	default:
		if !unicode.IsControl(key) && key != utf8.RuneError {
			e.text = slices.Insert(e.text, e.cursor, key)
			e.cursor++
		}
	}
	return true
}

func (e *editor) cut(from, to int) {
	from, to = max(0, from), min(len(e.text), to)
	e.text = slices.Delete(e.text, from, to)
	e.cursor = from
}

func (e *editor) remember(i int) {
	if e.ask.complete == nil || i < 0 || i > len(e.history) {
		return
	}
	e.recall, e.text = i, nil
	if i < len(e.history) {
		e.text = []rune(e.history[i])
	}
	e.cursor = len(e.text)
}

// complete extends the text before the cursor as far as all completions agree. If it cannot, it
// lists them.
func (e *editor) complete() {
	e.screen.mu.Lock()
	complete, before := e.ask.complete, string(e.text[:e.cursor])
	e.screen.mu.Unlock()
	if complete == nil {
		return
	}
	all := slices.DeleteFunc(complete(before), func(line string) bool { return safetext.OneLine(line, len(line)) != line })
	if len(all) == 0 { // or their names could act on the terminal
		return
	}
	common := all[0]
	for _, line := range all {
		for !strings.HasPrefix(line, common) {
			common = common[:len(common)-1]
		}
	}
	if common == before {
		shown := make([]string, len(all))
		for i, line := range all {
			shown[i] = strings.TrimSpace(line[strings.LastIndexAny(strings.TrimSpace(line), " ")+1:])
		}
		e.screen.line(dim, "%s", strings.Join(shown, "  "))
		return
	}
	e.screen.lock()
	defer e.screen.unlock()
	if string(e.text[:e.cursor]) == before {
		done := []rune(strings.ToValidUTF8(common, ""))
		e.text, e.cursor = append(done, e.text[e.cursor:]...), len(done)
	}
}
