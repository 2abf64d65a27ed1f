package workspace

import (
	"path"
	"strings"
)

// resolve returns the absolute path that a path means, without "." and "..": the path that is shown,
// that a rule is about, and that is used. It must be in a root.
func (w *Workspace) resolve(name string) (string, error) {
	full, ok := w.clean(name)
	if !ok && name != "" && !strings.HasPrefix(w.slashed(name), "/") && !(w.windows && strings.Contains(name, ":")) {
		full, ok = w.clean(w.roots[0] + "/" + name)
	}
	if !ok {
		return "", &Error{name, ErrName}
	}
	for i, root := range w.roots {
		if w.below(full, root) || w.real[i] != "" && w.below(full, w.real[i]) {
			return full, nil
		}
	}
	return "", &Error{full, ErrOutside}
}

// clean returns an absolute path without "." and "..", and false for any other. The paths are those
// of the client, which may run on another system than this program.
func (w *Workspace) clean(name string) (string, bool) {
	if strings.IndexByte(name, 0) >= 0 {
		return "", false
	}
	if !w.windows {
		return path.Clean(name), strings.HasPrefix(name, "/")
	}
	slashed, volume := w.slashed(name), "/" // of a share, //host/name
	if len(slashed) > 2 && slashed[1] == ':' && slashed[2] == '/' && slashed[0]|0x20 >= 'a' && slashed[0]|0x20 <= 'z' {
		volume = slashed[:2]
	} else if !strings.HasPrefix(slashed, "//") {
		return "", false
	}
	return strings.ReplaceAll(volume+path.Clean(slashed[len(volume):]), "/", `\`), true
}

// slashed returns a path with slashes for separators.
func (w *Workspace) slashed(name string) string {
	if w.windows {
		return strings.ReplaceAll(name, `\`, "/")
	}
	return name
}

// below reports whether a clean path is the folder or in it.
func (w *Workspace) below(name, folder string) bool {
	name, folder = w.slashed(name)+"/", strings.TrimSuffix(w.slashed(folder), "/")+"/"
	return strings.HasPrefix(name, folder) || w.windows && len(name) >= len(folder) && strings.EqualFold(name[:len(folder)], folder)
}

// short returns a path as people read it: relative to the cwd if it is there.
func (w *Workspace) short(name string) string {
	if name != w.roots[0] && w.below(name, w.roots[0]) {
		name = strings.TrimPrefix(w.slashed(name)[len(w.roots[0]):], "/")
	}
	return oneLine(name)
}
