package journal

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pages holds the order in which a store lists its sessions. The lock of the store guards it. A
// session keeps its place until reset, so a session that changes between two pages is neither
// listed twice nor left out.
type pages struct{ order []place }

// A place is the position of a session in the list. The latest session is first; sessions of the
// same time are in the order of their ids.
type place struct {
	updated time.Time
	id      string
}

func (p place) compare(q place) int {
	return cmp.Or(q.updated.Compare(p.updated), strings.Compare(p.id, q.id))
}

func (p *pages) reset(all []Meta) {
	p.order = make([]place, len(all))
	for i, m := range all {
		p.order[i] = place{m.Updated, m.ID}
	}
	slices.SortFunc(p.order, place.compare)
}

// add adds a session that is new.
func (p *pages) add(m Meta) {
	at := place{m.Updated, m.ID}
	i, _ := slices.BinarySearchFunc(p.order, at, place.compare)
	p.order = slices.Insert(p.order, i, at)
}

// page returns the page for q and the next cursor. The function meta returns the metadata of a
// session, or false if the session is deleted.
func (p *pages) page(q Query, meta func(id string) (Meta, bool)) (page []Meta, next string, err error) {
	start := 0
	if q.Cursor != "" {
		at, ok := parseCursor(q.Cursor)
		if !ok {
			return nil, "", ErrCursor
		}
		i, found := slices.BinarySearchFunc(p.order, at, place.compare)
		if start = i; found {
			start++
		}
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	var last place
	for _, at := range p.order[start:] {
		m, ok := meta(at.id)
		if !ok || m.Owner != q.Owner || q.Cwd != "" && m.Cwd != q.Cwd {
			continue
		}
		if len(page) == limit {
			return page, last.cursor(), nil
		}
		page, last = append(page, m), at
	}
	return page, "", nil
}

func (p place) cursor() string { return strconv.FormatInt(p.updated.UnixNano(), 36) + "." + p.id }

func parseCursor(s string) (place, bool) {
	when, id, ok := strings.Cut(s, ".")
	nanos, err := strconv.ParseInt(when, 36, 64)
	return place{time.Unix(0, nanos), id}, ok && err == nil
}
