package worker

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
)

// store keeps sessions as one JSON file each.
type store struct{ dir string }

func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &store{dir}, nil
}

const extension = ".json"

// path escapes the id, which comes from the client and may hold anything.
func (s *store) path(id acp.SessionID) string {
	return filepath.Join(s.dir, "s-"+url.PathEscape(string(id))+extension)
}

// save replaces the file in one step, so that a crash leaves the old one.
func (s *store) save(r *record) error {
	r.UpdatedAt = time.Now().UTC()
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(s.dir, "new-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), s.path(r.ID))
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

func (s *store) load(id acp.SessionID) (*record, error) {
	data, err := os.ReadFile(s.path(id))
	if err != nil {
		return nil, err
	}
	r := new(record)
	return r, json.Unmarshal(data, r)
}

// list returns all sessions, the newest first. Files that cannot be read are left
// out: one bad file must not hide the others.
func (s *store) list() ([]*record, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var records []*record
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extension)
		if !ok {
			continue
		}
		id, err := url.PathUnescape(strings.TrimPrefix(name, "s-"))
		if err != nil {
			continue
		}
		if r, err := s.load(acp.SessionID(id)); err == nil {
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b *record) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return records, nil
}

// remove succeeds for a session that is not there.
func (s *store) remove(id acp.SessionID) error {
	err := os.Remove(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
