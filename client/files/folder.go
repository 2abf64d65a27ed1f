package files

import (
	"os"

	"github.com/acpkit/go-sdk/acp"
)

// OpenFolder opens a folder of a session, under the rules for files, and returns its path
// without symlinks. An empty path means the session's cwd. It is for other parts of a
// client that work in folders. The caller must close dir.
func (f *Folders) OpenFolder(conn Sessions, id acp.SessionID, path string) (dir *os.Root, real string, err error) {
	dir, real, err = f.openFolder(conn, id, path)
	if err != nil {
		return nil, "", &Error{Path: path, Err: err}
	}
	return dir, real, nil
}

func (f *Folders) openFolder(conn Sessions, id acp.SessionID, path string) (*os.Root, string, error) {
	dirs, ok := conn.SessionRoots(id)
	if !ok || len(dirs) == 0 {
		return nil, "", ErrUnknownSession
	}
	if path == "" {
		path = dirs[0]
	}
	s := openSession(f.allowed(), dirs)
	defer s.close()
	at, err := locate(s.roots, path)
	if err != nil {
		return nil, "", err
	}
	defer at.close()
	switch {
	case at.folder:
	case at.info == nil:
		return nil, "", os.ErrNotExist
	default:
		return nil, "", ErrNotFolder
	}
	dir, err := at.dir.OpenRoot(".")
	return dir, at.path, err
}
