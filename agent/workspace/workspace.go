// Package workspace reads, writes, edits and searches the files of one session, and runs its
// commands. It uses the client for what the client offers, and otherwise this machine.
//
// The capabilities of the client decide about each operation separately. An operation that the
// client offers is always done by the client, with its unsaved texts, its policy and its terminals.
// If the client refuses or fails, the operation fails: it is not repeated on this machine. An
// operation that the client does not offer is done on this machine, unless [Options] exclude that
// or the folders do not exist here; then it fails with [ErrNotOffered]. Searches are always done on
// this machine.
//
// A path is absolute or relative to the first root, and must be in a root. On this machine symlinks
// are followed if they stay in the roots, and only regular files with valid UTF-8 and without NUL
// are used. Texts are neither trimmed nor converted. A [Version] tells which text a write expects.
// If the client offers reading but not writing, a file is written only if the disk has the same
// text as the client.
//
// A command on this machine runs in a process group of its own, without input, and with environment
// variables that are unlikely to be secret. When it ends, the processes that it has started are
// ended too.
package workspace

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/localfs"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Options configure [New], which copies them. The zero value selects the defaults. If both NoLocal
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

// New returns the workspace of a session. The first root is the session's cwd, the others are its
// additional directories. The error for an invalid root is meant for the client.
func New(conn *agent.Conn, id acp.SessionID, roots []string, opts *Options) (*Workspace, error) {
	if len(roots) == 0 {
		return nil, errors.New("workspace: New was given no root: pass at least the cwd of the session")
	}
	w := &Workspace{conn: conn, id: id, windows: !strings.HasPrefix(roots[0], "/")}
	if opts != nil {
		w.opts = *opts
	}
	home, _ := os.UserHomeDir() // empty if there is none
	home = realPath(home)
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

// locate returns the place of a path on this machine.
func (w *Workspace) locate(name string) (*localfs.Place, error) {
	if !w.local() {
		return nil, ErrNotOffered
	}
	return localfs.Find(w.roots, w.real, name)
}

// resolve returns the absolute path for a name, without "." and "..". This path is shown to the
// person, compared by rules, and used for the operation. It must be in a root.
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

// slashed returns a path with slashes as separators.
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
