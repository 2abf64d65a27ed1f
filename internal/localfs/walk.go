package localfs

import (
	"io/fs"
	"path/filepath"
)

// Walk calls visit with each regular file below the place, which may be a file itself, in the order
// of their names. It neither follows symlinks nor enters folders that skip names or that cannot be
// opened. A place that visit gets is valid during the call. Walk ends with the error of visit.
func (p *Place) Walk(skip func(name string) bool, visit func(*Place) error) error {
	if !p.Folder {
		if p.Info == nil {
			return fs.ErrNotExist
		}
		if !p.Info.Mode().IsRegular() {
			return ErrNotFile
		}
		return visit(p)
	}
	entries, err := fs.ReadDir(p.dir.FS(), ".")
	if err != nil {
		return err
	}
	w := &walker{root: &Root{dir: p.dir}}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || checkName(e.Name()) != nil {
			continue
		}
		path := filepath.Join(p.Path, e.Name())
		switch {
		case info.IsDir() && !skip(e.Name()):
			if err := w.enter(folder{dir: p.dir, dev: p.dev}, e.Name(), info); err != nil {
				w.leave(0)
				continue
			}
			next := w.here()
			err = (&Place{Path: path, dir: next.dir, Folder: true, dev: next.dev}).Walk(skip, visit)
			w.leave(0)
		case info.Mode().IsRegular():
			err = visit(&Place{Path: path, dir: p.dir, name: e.Name(), Info: info, dev: p.dev})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
