package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The sizes of programs that pages tell are those of programs built as they say.
func TestSizes(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" || os.Getenv(programsEnv) != "" {
		t.Skip("the pages tell the sizes on Linux with amd64")
	}
	told := regexp.MustCompile("The program has ([0-9.]+) MB, ([0-9.]+) MB without symbols \\(`-ldflags \"(.*?)\"`\\)")
	for program, page := range map[string]string{"echo": "../README.md", "coder": "coder/README.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		sizes := told.FindStringSubmatch(string(text))
		require.NotNil(t, sizes, page)
		for size, flags := range map[string]string{sizes[1]: "", sizes[2]: sizes[3]} {
			want, err := strconv.ParseFloat(size, 64)
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), program)
			out, err := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", file, "./"+program).CombinedOutput()
			require.NoError(t, err, "%s", out)
			info, err := os.Stat(file)
			require.NoError(t, err)
			assert.InDelta(t, want, float64(info.Size())/1e6, 0.15, "%s with -ldflags %q", program, flags)
		}
	}
}
