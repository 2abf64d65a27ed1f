package localfs

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests call unexported functions: only Windows treats the names specially, and a real writer
// may be slower than the reader.

func TestWindowsNames(t *testing.T) {
	for name, safe := range map[string]bool{
		"a.txt": true, "console": true, "COM10": true, "LPT": true, "a~b": true, "nul_": true, "backup~": true, "long name~1.txt": true, ".git": true,
		"CON": false, "con": false, "Con.txt": false, "NUL": false, "nul .txt": false, "AUX": false, "prn": false, "COM1": false, "lpt9.log": false,
		"COM¹": false, "CONIN$": false, "conout$": false,
		"a.txt:stream": false, "a::$DATA": false, "C:": false, "a.": false, "a ": false, "...": false, "a?": false, "a*": false, `a"`: false,
		"a<": false, "a|b": false, "a\x01": false, `a\b`: false, "a/b": false, "PROGRA~1": false, "secret~2.txt": false,
	} {
		assert.Equal(t, safe, safeName(name, "windows"), "%q", name)
		assert.True(t, safeName(name, "linux"), "%q", name)
	}
}

// A test that runs as root cannot fail to keep the owner of a file.
func TestNarrowed(t *testing.T) {
	for _, c := range []struct {
		perm, owner, group, acl, all fs.FileMode // the last four: what is left if that one is not kept, and if all are
	}{
		{0o644, 0o644, 0o644, 0o600, 0o600},
		{0o640, 0o640, 0o600, 0o600, 0o600},
		{0o664, 0o664, 0o644, 0o600, 0o600},
		{0o604, 0o604, 0o600, 0o600, 0o600},
		{0o466, 0o444, 0o466, 0o400, 0o400},
		{0o755, 0o755, 0o755, 0o700, 0o700},
	} {
		assert.Equal(t, c.perm, narrowed(c.perm, true, true, true))
		assert.Equal(t, c.owner, narrowed(c.perm, false, true, true), "%o", c.perm)
		assert.Equal(t, c.group, narrowed(c.perm, true, false, true), "%o", c.perm)
		assert.Equal(t, c.acl, narrowed(c.perm, true, true, false), "%o", c.perm)
		assert.Equal(t, c.all, narrowed(c.perm, false, false, false), "%o", c.perm)
	}
}

// endless is a file that grows faster than it is read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > 1<<30 {
		return 0, io.EOF // the test has seen enough
	}
	return copy(p, strings.Repeat("x", len(p))), nil
}

func TestReadAllOfAFileThatGrows(t *testing.T) {
	const limit = 1 << 20
	for _, size := range []int64{0, 100, limit - 1, limit} { // size when the file was opened
		e := &endless{}
		_, err := readAll(e, size, limit)
		assert.ErrorIs(t, err, ErrTooLarge, size)
		assert.LessOrEqual(t, e.read, 2*limit, "it is not followed for ever")

		text, err := readAll(strings.NewReader(strings.Repeat("y", limit)), size, limit)
		require.NoError(t, err, "it has grown up to the limit")
		assert.Len(t, text, limit)

		text, err = readAll(io.LimitReader(e, 10), size, limit)
		require.NoError(t, err, "it has become shorter")
		assert.Len(t, text, 10)
	}
	_, err := readAll(&endless{}, limit+1, limit)
	assert.ErrorIs(t, err, ErrTooLarge)
}

// CheckText agrees with package unicode/utf8 on every beginning of a character, at every position.
func TestCheckText(t *testing.T) {
	heads := []string{"", strings.Repeat("a", bytesAtOnce-2), strings.Repeat("a", bytesAtOnce-1)}
	for at := range 3 { // around the first boundary of the four parts
		heads = append(heads, "é"+strings.Repeat("a", 2*bytesAtOnce-at))
	}
	for _, head := range heads {
		for _, after := range []int{0, 1, bytesAtOnce, 6 * bytesAtOnce} {
			tail := strings.Repeat("z", after)
			for first := range 256 {
				agree(t, head+string([]byte{byte(first)})+tail)
				if first < 0xc0 {
					continue
				}
				for second := range 256 {
					two := string([]byte{byte(first), byte(second)})
					agree(t, head+two+tail)
					if first >= 0xe0 && second >= 0x80 && second < 0xc0 {
						for _, rest := range []string{"\x80", "\xbf", "\x80\x80", "\xbf\xbf", "a", "\xc0", "\x80a"} {
							agree(t, head+two+rest+tail)
						}
					}
				}
			}
		}
	}
}

func TestCheckTextOfRandomTexts(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range r.IntN(300) {
			switch r.IntN(4) {
			case 0:
				b.WriteString(strings.Repeat("x", r.IntN(100)))
			case 1:
				b.WriteRune(rune(1 + r.IntN(0x10ffff)))
			case 2:
				b.WriteRune(rune(0x80 + r.IntN(0x8000)))
			case 3:
				b.WriteString([]string{"é", "日本", "😀", "\u0e01", "\uffff"}[r.IntN(5)])
			}
		}
		text := []byte(b.String())
		if seed%10 == 0 { // across the boundaries of pieces
			text = append([]byte(strings.Repeat("x", 16<<10-r.IntN(100))), text...)
		}
		agree(t, string(text))
		if len(text) > 0 { // an invalid byte at a random position
			text[r.IntN(len(text))] = byte(r.IntN(256))
			agree(t, string(text))
			agree(t, string(text[:r.IntN(len(text))]))
		}
	}
}

func agree(t *testing.T, s string) {
	t.Helper()
	if want := utf8.ValidString(s) && !strings.Contains(s, "\x00"); (CheckText(s) == nil) != want {
		require.FailNow(t, "CheckText is wrong", "want %v for %q", want, s)
	}
}

func FuzzCheckText(f *testing.F) {
	f.Add("a\x00", 10)
	f.Add("\xed\xa0\x80", 63)
	f.Add("😀é日", 62)
	f.Fuzz(func(t *testing.T, s string, before int) {
		agree(t, s)
		agree(t, strings.Repeat("x", before&0x3fff)+s)
	})
}
