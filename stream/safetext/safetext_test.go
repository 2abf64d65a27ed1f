package safetext_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/stream/safetext"
)

// Every kind of character that acts on a terminal, on the text around it, or cannot be seen.
var hostile = map[string]struct{ text, line, lines string }{
	"plain":                  {"Run go test ./... (äöü 世界)", "Run go test ./... (äöü 世界)", "Run go test ./... (äöü 世界)"},
	"empty":                  {"", "", ""},
	"lines":                  {"a\nb\tc", `a\nb\tc`, "a\nb\tc"},
	"other ends of lines":    {"a\r\nb\rc\vd\fe\u0085f\u2028g\u2029h", `a\r\nb\rc\vd\fe\u0085f\u2028g\u2029h`, "a\nb\nc\nd\ne\nf\ng\nh"},
	"a return at the end":    {"50%\r", `50%\r`, "50%"},
	"CSI":                    {"\x1b[31mred\x1b[0m\x1b[2J\x1b[1;1H", `\x1b[31mred\x1b[0m\x1b[2J\x1b[1;1H`, "red"},
	"half a CSI":             {"a\x1b[3\nb\x1b[", `a\x1b[3\nb\x1b[`, "a[3\nb["},
	"OSC title":              {"a\x1b]0;title\ab", `a\x1b]0;title\ab`, "ab"},
	"OSC link":               {"\x1b]8;;http://evil\x1b\\good\x1b]8;;\x1b\\", `\x1b]8;;http://evil\x1b\good\x1b]8;;\x1b\`, "good"},
	"OSC clipboard":          {"\x1b]52;c;cm0gLXJm\a", `\x1b]52;c;cm0gLXJm\a`, ""},
	"OSC without an end":     {"\x1b]0;seen\nnext", `\x1b]0;seen\nnext`, "]0;seen\nnext"},
	"DCS, APC, PM, SOS":      {"\x1bPa\x1b\\\x1b_b\x1b\\\x1b^c\x1b\\\x1bXd\x1b\\e", `\x1bPa\x1b\\x1b_b\x1b\\x1b^c\x1b\\x1bXd\x1b\e`, "e"},
	"an escape in an escape": {"\x1b\x1b[0m[2J\x1b[\x1b[0m2J", `\x1b\x1b[0m[2J\x1b[\x1b[0m2J`, "[2J[2J"},
	"reset":                  {"\x1bc", `\x1bc`, "c"},
	"C1":                     {"\u009b31m\u009d0;x\u009c\u0090", `\u009b31m\u009d0;x\u009c\u0090`, "31m0;x"},
	"C1 as bytes":            {"a\x9b31m", `a\x9b31m`, "a\ufffd31m"},
	"not UTF-8":              {"a\xffb\xc3", `a\xffb\xc3`, "a\ufffdb\ufffd"},
	"NUL, BEL, BS, DEL":      {"a\x00\a\b\x7fb", `a\x00\a\b\x7fb`, "ab"},
	"bidi":                   {"\u202eevil\u202c\u2066x\u2069\u200e\u200f\u061c", `\u202eevil\u202c\u2066x\u2069\u200e\u200f\u061c`, "evilx"},
	"zero width":             {"r\u200bm\ufeff\u2060\u00ad\u034f", `r\u200bm\ufeff\u2060\u00ad\u034f`, "rm"},
	"joiners in ASCII":       {"r\u200dm\u200c \u200d", `r\u200dm\u200c \u200d`, "rm "},
	"joiners in words":       {"नि\u200dन می\u200cخواهم", "नि\u200dन می\u200cخواهم", "नि\u200dन می\u200cخواهم"},
	"joiners in a row":       {"é\u200d\u200d\u200d", "é\u200d" + `\u200d\u200d`, "é\u200d"},
	"emoji":                  {"👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3", "👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3", "👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3"},
	"selectors":              {"rm\ufe0f é\ufe0f\ufe0f\U000e0100", `rm\ufe0f é` + "\ufe0f" + `\ufe0f\U000e0100`, "rm é\ufe0f"},
	"tags":                   {"a\U000e0041\U000e007f", `a\U000e0041\U000e007f`, "a"},
	"spaces":                 {"a b  c\u00a0 \u3000d", `a b \x20c` + "\u00a0" + `\x20` + "\u3000d", "a b  c\u00a0 \u3000d"},
	"joined spaces":          {"\u00a0\u200d\u00a0", "\u00a0" + `\u200d` + "\u00a0", "\u00a0\u00a0"},
	"Hangul fillers":         {"a\u3164\uffa0\u115f\u1160b", `a\u3164\uffa0\u115f\u1160b`, "ab"},
	"blank symbols":          {"a\u2800\U0001d159b", `a\u2800\U0001d159b`, "a  b"},
}

func TestOneLine(t *testing.T) {
	for name, tt := range hostile {
		assert.Equal(t, tt.line, safetext.OneLine(tt.text, len(tt.text)), name)
	}
}

func TestLabel(t *testing.T) {
	for name, tt := range hostile {
		assert.Equal(t, tt.line, safetext.Label(tt.text), name)
	}
	for _, long := range []string{strings.Repeat("世", 201), strings.Repeat("\n", 120), strings.Repeat("😀", 1000), strings.Repeat("a", 10_000)} {
		label := safetext.Label(long)
		assert.Equal(t, 200, utf8.RuneCountInString(label))
		assert.True(t, strings.HasSuffix(label, "..."))
		assert.Equal(t, label, safetext.Label(label))
	}
	whole := strings.Repeat("世", 200)
	assert.Equal(t, whole, safetext.Label(whole))
}

func TestLines(t *testing.T) {
	for name, tt := range hostile {
		assert.Equal(t, tt.lines, safetext.Lines(tt.text, len(tt.text)), name)
	}
}

// A text is cut between characters, and before it is cleaned: what is beyond the limit costs nothing.
func TestLimit(t *testing.T) {
	for _, clean := range []func(string, int) string{safetext.OneLine, safetext.Lines} {
		for limit, want := range []string{"...", "a...", "a...", "aé...", "aé...", "aé...", "aé世..."} {
			assert.Equal(t, want, clean("aé世b", limit), limit)
		}
		assert.Equal(t, "aé世b", clean("aé世b", 7))
		assert.Equal(t, "...", clean("a", -1))
		assert.Equal(t, "...", clean("\x80\x80\x80\x80", 2), "of what is no text")
		huge := strings.Repeat("\x1b]\u202e", 8<<20)
		began := time.Now()
		for range 1000 {
			clean(huge, 100)
		}
		assert.Less(t, time.Since(began), 5*time.Second, "to clean all of it a thousand times takes minutes")
	}
}

// Whatever the text, what is printed holds nothing that acts on a terminal, and a line no second one
// and no gap.
func FuzzText(f *testing.F) {
	for _, tt := range hostile {
		f.Add(tt.text, len(tt.text))
	}
	f.Add(strings.Repeat("\x1b]", 100), 50)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		line, lines := safetext.OneLine(text, limit), safetext.Lines(text, limit)
		check(t, line, "")
		check(t, lines, "\n\t")
		blanks := 0
		for _, r := range line {
			if blanks++; r != ' ' && !unicode.Is(unicode.Zs, r) && r != '\u2800' {
				blanks = 0
			}
			if blanks > 1 {
				t.Fatalf("%q of %q has a gap", line, text)
			}
		}
		if again := safetext.OneLine(line, len(line)); again != line {
			t.Fatalf("%q becomes %q", line, again)
		}
		if again := safetext.Lines(lines, len(lines)); again != lines {
			t.Fatalf("%q becomes %q", lines, again)
		}
	})
}

func check(t *testing.T, shown, allowed string) {
	t.Helper()
	if !utf8.ValidString(shown) {
		t.Fatalf("%q is not UTF-8", shown)
	}
	width := 0
	for _, r := range shown {
		joins := r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f'
		if joins {
			width++
		} else {
			width = 0
		}
		acts := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point)
		if acts && !joins && !strings.ContainsRune(allowed, r) || width > 2 {
			t.Fatalf("%q holds %U", shown, r)
		}
	}
}
