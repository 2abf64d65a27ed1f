package growth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/agent/journal"
)

// The sizes of the curves over the number of stored sessions.
var (
	steps = []int{50, 500, 5000, 50_000}
	lists = []int{1000, 100_000} // for those of the list
)

// overStore measures the curves over the number of sessions in a store. One store grows, because it takes long to
// make one. Each measurement leaves it as it was.
func overStore(ctx context.Context, dir string, quick bool) ([]curve, error) {
	all := slices.Concat(operations(), requests())
	curves := make([]curve, len(all))
	for i, of := range all {
		curves[i] = curve{name: fmt.Sprintf("%d times %s, by stored sessions", of.each, of.name), sizes: small(steps, quick), exponent: 0.1}
	}
	cold := curve{name: "a first page of the list in a new process", sizes: small(lists, quick), most: 2 * time.Second}
	warm := curve{name: "a first page of the list after a change", sizes: small(lists, quick), most: 10 * time.Millisecond}
	sizes := slices.Sorted(slices.Values(slices.Concat(curves[0].sizes, cold.sizes)))
	stored := 0
	for _, n := range sizes {
		if err := fill(dir, stored, n); err != nil {
			return nil, err
		}
		stored = n
		if slices.Contains(cold.sizes, n) {
			err := firstOf(cold.point(func() (float64, error) { return pages(ctx, dir, 0) }), warm.point(func() (float64, error) { return pages(ctx, dir, 20) }))
			if err != nil {
				return nil, err
			}
			continue
		}
		for i, of := range all {
			end, err := of.open(ctx, dir)
			if err == nil {
				err = curves[i].point(func() (float64, error) { return of.cost(dir) })
				end()
				of.once = nil // it holds what open has opened
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return append(curves, cold, warm), nil
}

// An operation is done several times on a store.
type operation struct {
	name string
	each int
	open func(ctx context.Context, dir string) (end func(), err error)
	once func(i int) error
}

// cost returns the cost of all times, and repairs the store.
func (o *operation) cost(dir string) (float64, error) {
	cost, err := spent(func() error {
		for i := range o.each {
			if err := o.once(i); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range o.each {
		err = firstOf(err, os.RemoveAll(filepath.Join(dir, fmt.Sprint("new", i))))
	}
	return cost, firstOf(err, fill(dir, 0, steps[0])) // some operations delete the first ones
}

// operations returns those of a store with limits.
func operations() []*operation {
	closed := func(l journal.Log, err error) error {
		if err != nil {
			return err
		}
		return l.Close()
	}
	op := func(each int, name string, once func(ctx context.Context, s *journal.Files, i int) error) *operation {
		o := &operation{name: name, each: each}
		o.open = func(ctx context.Context, dir string) (func(), error) {
			s, err := journal.OpenFiles(dir, &journal.FilesOptions{MaxAge: 250 * 365 * 24 * time.Hour, MaxBytes: 1 << 50})
			o.once = func(i int) error { return once(ctx, s, i) }
			return func() {}, err
		}
		return o
	}
	return []*operation{
		op(1000, "create", func(ctx context.Context, s *journal.Files, i int) error {
			return closed(s.Create(ctx, fmt.Sprint("new", i), journal.Meta{}))
		}),
		op(1000, "open", func(ctx context.Context, s *journal.Files, i int) error {
			return closed(s.Open(ctx, fmt.Sprint("s", i%steps[0])))
		}),
		op(100, "delete", func(ctx context.Context, s *journal.Files, i int) error {
			return s.Delete(ctx, fmt.Sprint("s", i%steps[0]))
		}),
	}
}

// line returns a line of a log.
func line(seq int, kind, data string) []byte {
	rest := fmt.Appendf(nil, `"seq":%d,"time":"2026-01-02T03:04:05Z","kind":%q,"data":%s}`, seq, kind, data)
	return append(fmt.Appendf(nil, `{"sum":"%08x",`, crc32.Checksum(rest, crc32.MakeTable(crc32.Castagnoli))), append(rest, '\n')...)
}

// fill writes small sessions, from number first to before number n, in place of what there is.
func fill(dir string, first, n int) error {
	for i := first; i < n; i++ {
		folder := filepath.Join(dir, fmt.Sprint("s", i))
		meta := fmt.Sprintf(`{"id":"s%d","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05.%09dZ","cwd":"/w","title":"A title","synced":1`, i, i)
		err := firstOf(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "meta.json"), []byte(meta+"}"), 0o600),
			os.WriteFile(logOf(dir, fmt.Sprint("s", i)), append(line(0, "head", meta+"}"), line(1, "note", "1")...), 0o600))
		if err != nil {
			return err
		}
	}
	return nil
}

// pages returns the cost of a first page, or the mean of several after the first one.
func pages(ctx context.Context, dir string, more int) (cost float64, err error) {
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
	if err := fill(dir, 0, 1); err != nil {
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
