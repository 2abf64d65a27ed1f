package recording

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/internal/filelock"
)

const (
	maxFiles = 50
	maxBytes = 2 << 30
	suffix   = ".jsonl"
)

// Folder returns the folder of this user's recordings, which is a temporary one if there is no home. It may not exist yet.
func Folder() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "acpkit", "recordings"), nil
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		dir, err := os.UserCacheDir()
		return filepath.Join(dir, "acpkit", "recordings"), err
	}
	home, err := os.UserHomeDir()
	if u, userErr := user.Current(); err != nil && userErr == nil {
		home = u.HomeDir
	}
	if home == "" { // an editor has started the program with PATH alone, for an account without a home
		return filepath.Join(os.TempDir(), fmt.Sprintf("acpkit-%d", os.Getuid()), "recordings"), nil
	}
	return filepath.Join(home, ".local", "state", "acpkit", "recordings"), nil
}

// File is a recording in a folder.
type File struct {
	Path     string
	Size     int64
	Modified time.Time
	Live     bool // it is being written
}

// List returns the recordings in a folder, the newest first. A folder that does not exist has
// none.
func List(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []File
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(e.Name()) != suffix {
			continue // it was just removed, or is no recording
		}
		path := filepath.Join(dir, e.Name())
		list = append(list, File{path, info.Size(), info.ModTime(), isLive(path)})
	}
	slices.SortFunc(list, func(a, b File) int { return cmp.Compare(b.Path, a.Path) }) // names begin with the time
	return list, nil
}

// isLive reports whether a process is writing the recording.
func isLive(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return filelock.IsLocked(f)
}

// create makes a new recording that this process is writing, after it has made room for it.
func create(dir string, now time.Time) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := prune(dir, maxFiles-1, maxBytes); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%d%s", now.UTC().Format("20060102T150405.000Z"), os.Getpid(), suffix)
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Lock(f); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// prune removes the oldest recordings until at most files are left, of at most bytes together. It
// removes none that is being written.
func prune(dir string, files int, bytes int64) error {
	list, err := List(dir)
	if err != nil {
		return err
	}
	left, size := len(list), int64(0)
	for _, f := range list {
		size += f.Size
	}
	for _, f := range slices.Backward(list) {
		if left <= files && size <= bytes {
			break
		}
		if !f.Live && os.Remove(f.Path) == nil {
			left--
			size -= f.Size
		}
	}
	return nil
}
