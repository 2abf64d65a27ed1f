// Package workspace reads, writes, edits and searches the files of one session, and runs its commands. Experimental: it may
// change in any release. It uses the client for what the client offers, and otherwise this machine.
//
// The capabilities of the client decide about each operation separately. An operation that the
// client offers is always done by the client, with its unsaved texts, its policy and its terminals.
// If the client refuses or fails, the operation fails: it is not repeated on this machine. An
// operation that the client does not offer is done on this machine, unless [Options] exclude that
// or the folders do not exist here; then it fails with [ErrNotOffered]. Searches are always done on
// this machine.
//
// A path is absolute or relative to the first root, and must be in a root. On this machine symlinks
// are followed if they stay in the roots. They are followed once: the target is what the person
// reads and what a rule names, and the operation fails if the path leads elsewhere by then. Only
// regular files with valid UTF-8 and without NUL are used. Texts are neither trimmed nor converted. A [Version] tells which text a write expects.
// If the client offers reading but not writing, a file is written only if the disk has the same
// text as the client.
//
// A command on this machine runs in a process group of its own, without input, and with environment
// variables that are unlikely to be secret. When it ends, the processes that it has started are
// ended too.
package workspace

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/command"
	"github.com/acpkit/go-sdk/internal/localfs"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Options configure [Open], which copies them. The zero value selects the defaults. If both NoLocal
// and OnlyLocal are set, no operation is offered.
type Options struct {
	NoLocal   bool // nothing is done on this machine, for agents with untrusted users
	OnlyLocal bool // nothing is done by the client, for agents that work in another folder than the session's
	AnyRoot   bool // roots may contain the whole home folder of the user

	// Inherit lists environment variables of this program for commands on this machine, as names or
	// patterns of path.Match. It extends a default list that includes PATH, HOME and LC_*. A
	// pattern that begins with "!" excludes variables that earlier entries include.
	Inherit []string
}

// A Workspace gives access to the files and commands of one session. It holds no open resources.
// All methods are safe for concurrent use.
type Workspace struct {
	conn    *agent.Conn
	id      acp.SessionID
	opts    Options
	windows bool     // the paths of the session are Windows paths; this machine may have another system
	roots   []string // as the client gave them, without "." and ".."
	real    []string // the roots on this machine, without symlinks; empty if they do not exist here
}

// Open returns the workspace of a session. The first root is the session's cwd, the others are its
// additional directories. The error for an invalid root is meant for the client.
func Open(conn *agent.Conn, id acp.SessionID, roots []string, opts *Options) (*Workspace, error) {
	if len(roots) == 0 {
		return nil, errors.New("workspace: Open was given no root: pass at least the cwd of the session")
	}
	w := &Workspace{conn: conn, id: id, windows: !strings.HasPrefix(roots[0], "/")}
	if opts != nil {
		w.opts = *opts
	}
	home := realPath(command.Home()) // empty if there is none
	for _, given := range roots {
		root, ok := w.clean(given)
		real := realPath(root) // empty if the root is on another machine
		bad := rpcerr.InvalidParams(map[string]any{"path": given})
		switch {
		case !ok:
			return nil, bad.WithDetail("a folder of a session must be an absolute path")
		case !w.opts.AnyRoot && !w.opts.NoLocal && (w.wide(root, home) || w.wide(real, home)):
			return nil, bad.WithDetail("the folder contains the whole home folder or disk; open a folder with a project")
		}
		w.roots, w.real = append(w.roots, root), append(w.real, real)
	}
	return w, nil
}

// wide reports whether a folder contains a whole disk or the whole home folder.
func (w *Workspace) wide(dir, home string) bool {
	return dir == "/" || w.windows && len(dir) == len(`C:\`) || dir != "" && home != "" && w.below(home, dir)
}

// realPath returns the path of a folder on this machine without symlinks, or "" if there is no such
// folder.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(dir) {
		return real
	}
	return ""
}

// An offer tells what the client offers.
type offer struct{ read, write, commands bool }

func (w *Workspace) offers() (o offer) {
	if caps := w.conn.ClientCapabilities(); caps != nil && !w.opts.OnlyLocal {
		o.commands = caps.Terminal
		if caps.FS != nil {
			o.read, o.write = caps.FS.ReadTextFile, caps.FS.WriteTextFile
		}
	}
	return o
}

// local reports whether operations that the client does not offer are done on this machine.
func (w *Workspace) local() bool { return !w.opts.NoLocal && w.real[0] != "" }

// here reports whether a path is in a root of this machine.
func (w *Workspace) here(full string) bool {
	for i, real := range w.real {
		if real != "" && (w.below(full, w.roots[i]) || w.below(full, real)) {
			return w.local()
		}
	}
	return false
}

// locate returns the place of a path that resolve has returned. It is an error if the path leads to
// another place by now, so that no other file is used than the one that was shown.
func (w *Workspace) locate(path string) (*localfs.Place, error) {
	if !w.here(path) {
		return nil, ErrNotOffered
	}
	at, err := localfs.Find(w.roots, w.real, path)
	if err == nil && w.shown(at.Path) != path {
		at.Close()
		return nil, ErrChanged
	}
	return at, err
}

// held returns the path without symlinks on this machine of a path that resolve has returned, or
// the path itself if it is on another machine. It is an error if it leads to another place by now.
func (w *Workspace) held(path string) (string, error) {
	if !w.here(path) {
		return path, nil
	}
	at, err := w.locate(path)
	if err != nil {
		return "", failed(path, err)
	}
	at.Close()
	return at.Path, nil
}

// resolve returns the absolute path for a name, without ".", ".." and, on this machine, symlinks
// below the root. This path is shown to the person, compared by rules, and used for the operation.
// It must be in a root.
func (w *Workspace) resolve(name string) (string, error) {
	full, err := w.named(name)
	if err != nil || !w.here(full) {
		return full, err
	}
	at, err := localfs.Find(w.roots, w.real, full)
	if err != nil {
		return "", failed(full, err)
	}
	at.Close()
	return w.shown(at.Path), nil
}

// named returns the absolute path for a name, without "." and "..". It must be in a root.
func (w *Workspace) named(name string) (string, error) {
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

// shown returns a path of this machine with the innermost root as the client has given it.
func (w *Workspace) shown(real string) string {
	root := -1
	for i, r := range w.real {
		if r != "" && w.below(real, r) && (root < 0 || len(r) > len(w.real[root])) {
			root = i
		}
	}
	if root < 0 {
		return real
	}
	full, _ := w.clean(w.roots[root] + "/" + real[len(w.real[root]):]) // a root is absolute
	return full
}

// clean returns an absolute path without "." and "..". It reports false for a path that is not
// absolute. Paths are those of the client, which may run on another system than this program.
func (w *Workspace) clean(name string) (string, bool) {
	if strings.IndexByte(name, 0) >= 0 {
		return "", false
	}
	if !w.windows {
		return path.Clean(name), strings.HasPrefix(name, "/")
	}
	slashed, volume := w.slashed(name), "/" // the volume of a share is //host/name
	if len(slashed) > 2 && slashed[1] == ':' && slashed[2] == '/' && slashed[0]|0x20 >= 'a' && slashed[0]|0x20 <= 'z' {
		volume = slashed[:2]
	} else if !strings.HasPrefix(slashed, "//") {
		return "", false
	}
	return strings.ReplaceAll(volume+path.Clean(slashed[len(volume):]), "/", `\`), true
}

func (w *Workspace) slashed(name string) string {
	if w.windows {
		return strings.ReplaceAll(name, `\`, "/")
	}
	return name
}

// below reports whether a clean path is the folder itself or in it.
func (w *Workspace) below(name, folder string) bool {
	name, folder = w.slashed(name)+"/", strings.TrimSuffix(w.slashed(folder), "/")+"/"
	return strings.HasPrefix(name, folder) || w.windows && len(name) >= len(folder) && strings.EqualFold(name[:len(folder)], folder)
}

// short returns a path for display: relative to the cwd if it is in the cwd.
func (w *Workspace) short(name string) string {
	if name != w.roots[0] && w.below(name, w.roots[0]) {
		name = strings.TrimPrefix(w.slashed(name)[len(w.roots[0]):], "/")
	}
	return name
}
