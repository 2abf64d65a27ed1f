package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/stream/safetext"
)

// editor reads a line from a terminal that passes on single keys. It shows the part of a long text
// around the cursor. The mutex of the screen guards it.
type editor struct {
	screen *screen
	tty    *tty
	typing

	text    []rune
	cursor  int
	draft   []rune   // unfinished text of a question that may be typed ahead
	history []string // lines of questions that can be completed
	recall  int      // the line of history that is shown; len(history) for a new one
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

func (e *editor) read(a *asking) (*asking, string, error) {
	e.screen.lock()
	e.recall = len(e.history)
	e.start(a)
	e.screen.unlock()
	for {
		err := e.more(e.screen, utf8.FullRune)
		for err == nil && utf8.FullRune(e.pending) {
			switch key := e.key(); {
			case key == keyEnter || key == keyReturn:
				a, line := e.ask, e.close(true)
				e.screen.unlock()
				return a, line, nil
			case key == keyTab:
				e.complete()
			case !e.press(key):
				err = io.EOF
			}
		}
		if err != nil {
			e.close(false)
		}
		e.screen.unlock()
		if err != nil {
			return nil, "", err
		}
	}
}

// start shows the line of a question. The caller holds the mutex of the screen, as those of all
// methods below.
func (e *editor) start(a *asking) {
	if e.begin(a) {
		e.text = nil
		if a.ahead {
			e.text, e.draft = e.draft, nil
		}
		e.cursor = len(e.text)
	}
	e.open()
	e.show()
}

// open puts the line on the screen.
func (e *editor) open() {
	e.tty.set(modeKeys)
	e.screen.edited = e
}

// close removes the line from the screen, unless it was entered, and returns it.
func (e *editor) close(entered bool) string {
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
	e.ask, e.text, e.cursor = nil, nil, 0
	return line
}

// keep keeps the text that may be for a later question.
func (e *editor) keep() {
	if e.ask != nil && e.ask.ahead {
		e.draft = e.text
	}
}

func (e *editor) change(a *asking) {
	e.screen.lock()
	defer e.screen.unlock()
	e.keep()
	e.start(a)
}

func (e *editor) leave() {
	e.screen.lock()
	defer e.screen.unlock()
	e.keep()
	e.screen.edited = nil
	e.tty.restore()
	e.typing.leave()
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

// key takes the first key that is pending. A sequence becomes the control character that does the same.
func (e *editor) key() rune {
	r, n := utf8.DecodeRune(e.pending)
	e.pending = e.pending[n:]
	if r != keyEscape || len(e.pending) == 0 {
		return r
	}
	n = 0
	for n < len(e.pending) {
		c := e.pending[n]
		if n++; (n > 1 || c != '[' && c != 'O') && c >= '@' && c <= '~' {
			break
		}
	}
	key, known := sequences[string(e.pending[:n])]
	e.pending = e.pending[n:]
	if !known {
		return keyEscape // does nothing
	}
	return key
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
	if e.ask.complete == nil {
		return
	}
	before := string(e.text[:e.cursor])
	all := slices.DeleteFunc(e.ask.complete(before), func(line string) bool {
		return safetext.OneLine(line, len(line)) != line // it could act on the terminal
	})
	if len(all) == 0 {
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
			shown[i] = strings.TrimSpace(line[strings.LastIndexAny(before, " ")+1:])
		}
		e.screen.put(dim, shownOfLine, strings.Join(shown, "  "))
		return
	}
	done := []rune(strings.ToValidUTF8(common, ""))
	e.text, e.cursor = append(done, e.text[e.cursor:]...), len(done)
}
