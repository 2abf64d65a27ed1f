package journal

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Index is the list of a store's sessions in memory, for authors of stores. The zero Index is empty. It
// is not safe for concurrent use. A session keeps its place until a first page is read, so a session
// that changes between two pages is neither listed twice nor left out.
type Index struct {
	all     map[string]*entry // by the key that the store gives
	order   []*entry          // the session that was changed for longest is first
	moved   []*entry          // those whose place is not the right one any more, or that have none yet
	dropped bool              // order has sessions that are gone
	front   int               // next has returned the sessions of order before it
}

type entry struct {
	meta  Meta // shared, not modified
	place place
	moved bool // listed in Index.moved
	gone  bool // deleted
}

// A place is the position of a session in the list. Sessions of the same time are in the order of
// their ids, backwards.
type place struct {
	updated time.Time
	id      string
}

func (p place) compare(q place) int {
	return cmp.Or(p.updated.Compare(q.updated), strings.Compare(q.id, p.id))
}

// Put adds a session, or changes its metadata. The caller chooses the key.
func (p *Index) Put(key string, m Meta) {
	e := p.all[key]
	if e == nil {
		e = new(entry)
		if p.all == nil {
			p.all = make(map[string]*entry)
		}
		p.all[key] = e
	}
	if m.Updated.Before(e.meta.Updated) { // the meta file does not tell when the last records were appended
		m.Updated = e.meta.Updated
	}
	e.meta = m
	if !e.moved && e.place != (place{e.meta.Updated, e.meta.ID}) {
		e.moved = true
		p.moved = append(p.moved, e)
	}
}

// Drop removes a session.
func (p *Index) Drop(key string) {
	if e := p.all[key]; e != nil {
		delete(p.all, key)
		e.gone, p.dropped = true, true
	}
}

// arrange gives the sessions that have changed their new places.
func (p *Index) arrange() {
	if len(p.moved) == 0 && !p.dropped {
		return
	}
	p.order = slices.DeleteFunc(p.order, func(e *entry) bool { return e.moved || e.gone })
	p.moved = slices.DeleteFunc(p.moved, func(e *entry) bool { return e.gone })
	for _, e := range p.moved {
		e.moved, e.place = false, place{e.meta.Updated, e.meta.ID}
	}
	byPlace := func(a, b *entry) int { return a.place.compare(b.place) }
	slices.SortFunc(p.moved, byPlace)
	n := len(p.order)
	p.order = append(p.order, p.moved...)
	if n > 0 && len(p.moved) > 0 && byPlace(p.order[n-1], p.moved[0]) > 0 { // which is rare: most have changed last
		slices.SortFunc(p.order, byPlace)
	}
	p.moved, p.dropped, p.front = nil, false, 0
}

// next returns the first session of order from front on that has its place there, and otherwise that of all.
// It returns nil if there is no session.
func (p *Index) next() *entry {
	for range 2 {
		for ; p.front < len(p.order); p.front++ {
			if e := p.order[p.front]; !e.moved && !e.gone {
				return e
			}
		}
		p.arrange()
		p.front = 0
	}
	return nil
}

// end returns the end of the sessions in order that are listed from a cursor on.
func (p *Index) end(cursor string) (int, error) {
	if cursor == "" {
		p.arrange()
		return len(p.order), nil
	}
	at, ok := parseCursor(cursor)
	if !ok {
		return 0, ErrCursor
	}
	find := func() (int, bool) {
		return slices.BinarySearchFunc(p.order, at, func(e *entry, at place) int { return e.place.compare(at) })
	}
	i, ours := find()
	if !ours { // another process has begun this list
		p.arrange()
		i, _ = find()
	}
	return i, nil
}

// Page returns the page for q and the cursor of the next one, as Store.List does.
func (p *Index) Page(q Query) (page []Meta, next string, err error) {
	end, err := p.end(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	var last place
	for _, e := range slices.Backward(p.order[:end]) {
		if e.gone || e.meta.Owner != q.Owner || q.Cwd != "" && e.meta.Cwd != q.Cwd {
			continue
		}
		if len(page) == limit {
			return page, last.cursor(), nil
		}
		page, last = append(page, e.meta.Clone()), e.place
	}
	return page, "", nil
}

func (p place) cursor() string { return strconv.FormatInt(p.updated.UnixNano(), 36) + "." + p.id }

func parseCursor(s string) (place, bool) {
	when, id, ok := strings.Cut(s, ".")
	nanos, err := strconv.ParseInt(when, 36, 64)
	return place{time.Unix(0, nanos), id}, ok && err == nil
}
