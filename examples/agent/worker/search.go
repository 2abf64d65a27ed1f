package worker

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// perFile is how many lines of one file a search finds.
const perFile = 20

// search lets grep look through the client's files. Windows has no grep.
func (t *turn) search(ctx context.Context, _ *agent.ToolCall, path string, r request) (result, error) {
	look := t.grep
	if t.worker.own || runtime.GOOS == "windows" {
		look = t.lookThrough
	}
	output, err := look(ctx, path, r.text)
	if err != nil {
		return result{}, err
	}
	found := result{locations: matches(output), content: []acp.ToolCallContent{acp.ToolText(output)}}
	if len(found.locations) == 0 {
		found.told = fmt.Sprintf("%q does not occur in %s.\n", r.text, folderName(r.path))
		return found, nil
	}
	found.told = fmt.Sprintf("%q occurs on %s:\n%s", r.text, lines(len(found.locations)), quote(t.shorten(output)))
	return found, nil
}

func (t *turn) grep(ctx context.Context, path, text string) (string, error) {
	output, code, err := t.output(ctx, "grep", "-rnHIF", "--exclude-dir=.git", "-m", strconv.Itoa(perFile), "-e", text, "--", path)
	if err == nil && code > 1 { // 1: nothing found
		err = rpcerr.InternalError(nil).WithDetail("grep failed: " + firstLine(output, 200))
	}
	return output, err
}

// lookThrough prints the same as grep.
func (t *turn) lookThrough(ctx context.Context, path, text string) (string, error) {
	var out strings.Builder
	err := t.inFolder(path, func(root *os.Root, name string) error {
		return fs.WalkDir(root.FS(), filepath.ToSlash(name), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == ".git":
				return fs.SkipDir
			case !d.Type().IsRegular():
				return nil
			}
			content, err := root.ReadFile(name)
			if err == nil && bytes.IndexByte(content, 0) < 0 {
				printMatches(&out, filepath.Join(t.session.CWD, name), string(content), text)
			}
			return ctx.Err()
		})
	})
	return out.String(), err
}

func printMatches(out *strings.Builder, path, content, text string) {
	n, found := 0, 0
	for line := range strings.Lines(content) {
		if n++; strings.Contains(line, text) {
			fmt.Fprintf(out, "%s:%d:%s\n", path, n, strings.TrimRight(line, "\r\n"))
			if found++; found == perFile {
				return
			}
		}
	}
}

// matches reads grep's PATH:LINE:TEXT lines.
func matches(output string) []acp.ToolCallLocation {
	var all []acp.ToolCallLocation
	for line := range strings.Lines(output) {
		volume := filepath.VolumeName(line)
		path, rest, _ := strings.Cut(line[len(volume):], ":")
		number, _, ok := strings.Cut(rest, ":")
		if n, err := strconv.ParseUint(number, 10, 32); ok && err == nil {
			all = append(all, acp.ToolCallLocation{Path: volume + path, Line: new(uint32(n))})
		}
	}
	return all
}
