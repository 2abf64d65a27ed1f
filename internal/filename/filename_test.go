package filename

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"secret", "SECRET", "Secret", "secret.", "secret ", "secret. .", "se\u200ccret", "\ufeffsecret", "secret\ufe0f"},
		{"caf\u00e9", "cafe\u0301", "CAFE\u0301", "CAF\u00c9"},
		{"stra\u00dfe", "STRASSE", "STRA\u1e9eE", "strasse"},
		{"\u1ec7", "\u1eb9\u0302", "e\u0302\u0323", "\u1ec6"},
		{"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
		{"\ufb01le", "FILE"}, {"\u212aey", "key"}, {"\u03c3", "\u03c2", "\u03a3"}, {"g\u0131t", "git"},
	} {
		for _, name := range same[1:] {
			assert.Equal(t, Fold(same[0]), Fold(name), "%q %q", same[0], name)
		}
	}
	for _, differ := range [][2]string{{"a", "b"}, {"cafe", "caf\u00e9"}, {"a.b", "ab"}, {".a", "a"}, {"\u65e5", "\u672c"}, {"a/b", "a\uff0fb"}, {"\uff4b", "k"}} {
		assert.NotEqual(t, Fold(differ[0]), Fold(differ[1]))
	}
}

func FuzzFold(f *testing.F) {
	f.Add("Stra\u00dfe. ")
	f.Add("e\u0302\u0323\u200c")
	f.Fuzz(func(t *testing.T, name string) {
		assert.Equal(t, Fold(name), Fold(Fold(name)), "%q", name)
		assert.LessOrEqual(t, len(Fold(name)), 8*len(name)+8)
	})
}

// stand is a folder of a file system that takes names for the same if their keys are equal. The number of a file
// is its index. Without numbers, files cannot be compared.
type stand struct {
	names   []string
	key     func(string) string
	short   map[string]string
	numbers map[string]fs.FileInfo
	listed  int
}

func (s *stand) Lstat(name string) (fs.FileInfo, error) {
	if long, ok := s.short[s.key(name)]; ok {
		name = long
	}
	i := slices.IndexFunc(s.names, func(other string) bool { return s.key(other) == s.key(name) })
	if i < 0 {
		return nil, fs.ErrNotExist
	}
	if info := s.numbers[s.names[i]]; info != nil {
		return info, nil
	}
	return unnumbered(s.names[i]), nil
}

func (s *stand) Names() ([]string, error) { s.listed++; return s.names, nil }

// unnumbered is a file whose number is not known.
type unnumbered string

func (u unnumbered) Name() string     { return string(u) }
func (unnumbered) Size() int64        { return 1 }
func (unnumbered) Mode() fs.FileMode  { return 0o600 }
func (unnumbered) ModTime() time.Time { return time.Time{} }
func (unnumbered) IsDir() bool        { return false }
func (unnumbered) Sys() any           { return nil }

func TestSpelling(t *testing.T) {
	dir := t.TempDir()
	numbers := map[string]fs.FileInfo{}
	names := []string{"Secret", "caf\u00e9", "Makefile", "a long name.txt", "123"}
	for i, name := range names {
		file := filepath.Join(dir, string(rune('a'+i)))
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		info, err := os.Lstat(file)
		require.NoError(t, err)
		numbers[name] = info
	}
	short := map[string]string{"along~1.txt": "a long name.txt"}
	exact := func(name string) string { return name }
	for _, tt := range []struct {
		kind             string
		dir              *stand
		name, want       string
		timesListed, max int
	}{
		{"folds", &stand{names, Fold, short, numbers, 0}, "SECRET", "Secret", 1, 1},
		{"folds", &stand{names, Fold, short, numbers, 0}, "Secret", "Secret", 1, 1},
		{"folds", &stand{names, Fold, short, numbers, 0}, "CAFE\u0301", "caf\u00e9", 1, 1},
		{"folds", &stand{names, Fold, short, numbers, 0}, "makefile.", "Makefile", 1, 1},
		{"folds", &stand{names, Fold, short, numbers, 0}, "ALONG~1.TXT", "a long name.txt", 1, 1},
		{"folds", &stand{names, Fold, short, numbers, 0}, "none", "none", 0, 0},
		{"folds", &stand{names, Fold, short, numbers, 0}, "123", "123", 0, 0},
		{"distinguishes", &stand{names, exact, nil, numbers, 0}, "Secret", "Secret", 0, 0},
		{"distinguishes", &stand{names, exact, nil, numbers, 0}, "SECRET", "SECRET", 0, 0},
		{"distinguishes", &stand{append(names, "SECRET"), exact, nil, numbers, 0}, "Secret", "Secret", 0, 1},
		{"distinguishes", &stand{names, exact, nil, numbers, 0}, "caf\u00e9", "caf\u00e9", 0, 1},
		{"folds, without numbers", &stand{names, Fold, nil, nil, 0}, "SECRET", "Secret", 1, 1},
	} {
		assert.Equal(t, tt.want, Spelling(tt.dir, tt.name), "%s: %s", tt.kind, tt.name)
		assert.GreaterOrEqual(t, tt.dir.listed, tt.timesListed, "%s: %s", tt.kind, tt.name)
		assert.LessOrEqual(t, tt.dir.listed, tt.max, "%s: %s", tt.kind, tt.name)
	}
}

func TestPathSpelling(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "Sub"), 0o700))
	for _, path := range []string{dir, filepath.Join(dir, "Sub"), filepath.Join(dir, "Sub", "None", "x"), filepath.Join(dir, "none")} {
		assert.Equal(t, path, PathSpelling(path))
	}
	if _, err := os.Lstat(filepath.Join(dir, "SUB")); err == nil { // on macOS and Windows
		assert.Equal(t, filepath.Join(dir, "Sub", "x"), PathSpelling(filepath.Join(dir, "SUB", "x")))
	}
}
