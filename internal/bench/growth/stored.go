package growth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"github.com/acpkit/go-sdk/agent/journal"
)

// steps are the sizes of the curves over the number of stored sessions.
var steps = []int{50, 500, 5000, 50_000}

// stored returns the curves over the number of sessions in a store, and over the size of a record that
// is damaged.
func stored() []curve {
	op := func(each int, name string, f func(ctx context.Context, s *journal.Files, i int) error) curve {
		return curve{name: fmt.Sprintf("%d times %s, by stored sessions", each, name), sizes: steps, exponent: 0.1,
			cost: func(ctx context.Context, dir string, n int) (float64, error) {
				if err := fill(dir, n); err != nil {
					return 0, err
				}
				s, err := journal.OpenFiles(dir, &journal.FilesOptions{MaxAge: 250 * 365 * 24 * time.Hour, MaxBytes: 1 << 50})
				if err != nil {
					return 0, err
				}
				return spent(func() error {
					for i := range each {
						if err := f(ctx, s, i); err != nil {
							return err
						}
					}
					return nil
				})
			}}
	}
	closed := func(l journal.Log, err error) error {
		if err != nil {
			return err
		}
		return l.Close()
	}
	return []curve{
		op(100, "create", func(ctx context.Context, s *journal.Files, i int) error {
			return closed(s.Create(ctx, fmt.Sprint("new", i), journal.Meta{}))
		}),
		op(1000, "open", func(ctx context.Context, s *journal.Files, i int) error {
			return closed(s.Open(ctx, fmt.Sprint("s", i%50)))
		}),
		op(100, "delete", func(ctx context.Context, s *journal.Files, i int) error {
			return s.Delete(ctx, fmt.Sprint("s", i%50))
		}),
		{name: "a first page of the list in a new process", sizes: []int{1000, 100_000}, most: 2 * time.Second, cost: func(ctx context.Context, dir string, n int) (float64, error) {
			return pages(ctx, dir, n, 0)
		}},
		{name: "a first page of the list after a change", sizes: []int{1000, 100_000}, most: 10 * time.Millisecond, cost: func(ctx context.Context, dir string, n int) (float64, error) {
			return pages(ctx, dir, n, 20)
		}},
		{name: "open with a damaged record that looks like many, by its KB", sizes: []int{64, 512, 4096}, exponent: 1.1, cost: damaged},
	}
}

// line returns a line of a log.
func line(seq int, kind, data string) []byte {
	rest := fmt.Appendf(nil, `"seq":%d,"time":"2026-01-02T03:04:05Z","kind":%q,"data":%s}`, seq, kind, data)
	return append(fmt.Appendf(nil, `{"sum":"%08x",`, crc32.Checksum(rest, crc32.MakeTable(crc32.Castagnoli))), append(rest, '\n')...)
}

// fill writes n small sessions.
func fill(dir string, n int) error {
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprint("s", i))
		meta := fmt.Sprintf(`{"id":"s%d","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05.%09dZ","cwd":"/w","title":"A title","synced":1`, i, i)
		err := firstOf(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "meta.json"), []byte(meta+"}"), 0o600),
			os.WriteFile(logOf(dir, fmt.Sprint("s", i)), append(line(0, "head", meta+"}"), line(1, "note", "1")...), 0o600))
		if err != nil {
			return err
		}
	}
	return nil
}

// pages returns the cost of a first page, or the mean of several after the first one.
func pages(ctx context.Context, dir string, n, more int) (cost float64, err error) {
	if err := fill(dir, n); err != nil {
		return 0, err
	}
	s, err := journal.OpenFiles(dir, nil)
	if err != nil {
		return 0, err
	}
	page := func() error {
		all, _, err := s.List(ctx, journal.Query{})
		if err == nil && len(all) != 100 {
			err = fmt.Errorf("a page has %d sessions", len(all))
		}
		return err
	}
	cost, err = spent(page)
	if more == 0 || err != nil {
		return cost, err
	}
	cost = 0
	for i := range more {
		l, err := s.Open(ctx, fmt.Sprint("s", i))
		if err != nil {
			return 0, err
		}
		if err := firstOf(l.SetMeta(func(m *journal.Meta) { m.Title = "changed" }), l.Close()); err != nil {
			return 0, err
		}
		once, err := spent(page)
		if err != nil {
			return 0, err
		}
		cost += once / float64(more)
	}
	return cost, nil
}

// damaged opens a session with a record of n KB that looks like the beginnings of many records.
func damaged(ctx context.Context, dir string, n int) (float64, error) {
	if err := fill(dir, 1); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(logOf(dir, "s0"))
	if err != nil {
		return 0, err
	}
	part := []byte(`{"sum":"00000000","seq":1},`)
	long := line(2, "event", "["+string(bytes.Repeat(part, n<<10/len(part)))+"0]")
	long[len(long)-3] ^= 1
	if err := os.WriteFile(logOf(dir, "s0"), append(text, long...), 0o600); err != nil {
		return 0, err
	}
	s, err := journal.OpenFiles(dir, nil)
	if err != nil {
		return 0, err
	}
	return spent(func() error {
		l, err := s.Open(ctx, "s0")
		if err != nil {
			return err
		}
		return l.Close()
	})
}

// parse returns the cost of reading a log and parsing each line of it.
func parse(name string) (float64, error) {
	return spent(func() error {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for l := range bytes.Lines(text) {
			var v any
			if err := json.Unmarshal(l, &v); err != nil {
				return err
			}
		}
		return nil
	})
}
