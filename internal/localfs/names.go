package localfs

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/filename"
)

// elements splits a path into its volume, if there is one, and its names. It does not resolve "..",
// which is the folder above the target of a symlink. A "." at the end stands for a separator or a
// "." at the end of the path: the element before it must be a folder.
func elements(path string) []string {
	volume := filepath.VolumeName(path)
	names := strings.FieldsFunc(path[len(volume):], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	folder := len(names) > 0 && (names[len(names)-1] == "." || os.IsPathSeparator(path[len(path)-1]))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "." })
	if folder && len(names) > 0 {
		names = append(names, ".")
	}
	if volume != "" {
		return append([]string{filepath.FromSlash(volume)}, names...)
	}
	if names == nil {
		return []string{}
	}
	return names
}

func hasPrefix(names, prefix []string) bool {
	same := func(a, b string) bool { return a == b }
	if runtime.GOOS == "windows" {
		same = strings.EqualFold
	}
	return len(names) >= len(prefix) && slices.EqualFunc(names[:len(prefix)], prefix, same)
}

func checkName(name string) error {
	if len(name) > maxName || !safeName(name, runtime.GOOS) {
		return ErrName
	}
	return nil
}

// safeName reports whether a system uses a name literally. On Windows some names are devices,
// streams or other spellings of a name, which no rule for paths would match.
func safeName(name, goos string) bool {
	if goos != "windows" {
		return true
	}
	switch {
	case strings.ContainsAny(name, `<>:"|?*\/`),
		strings.HasSuffix(name, "."), strings.HasSuffix(name, " "),
		strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return false
	}
	// A short name such as PROGRA~1 is another name of a file with a longer name.
	if base, _, _ := strings.Cut(name, "."); len(base) <= 8 {
		if _, number, ok := strings.Cut(base, "~"); ok && number != "" && strings.Trim(number, "0123456789") == "" {
			return false
		}
	}
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return false
	}
	if port, ok := strings.CutPrefix(base, "COM"); ok || strings.HasPrefix(base, "LPT") {
		if !ok {
			port = base[len("LPT"):]
		}
		return !slices.Contains([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, port)
	}
	return true
}

// onDisk returns the name as the folder spells it.
func onDisk(dir *os.Root, name string) string { return filename.Spelling(opened{dir}, name) }

// opened is an open folder.
type opened struct{ *os.Root }

func (o opened) Names() ([]string, error) {
	f, err := o.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
