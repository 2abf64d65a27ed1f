package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// Begin returns the metadata of a new session that is created with m, for authors of stores. It fails if
// the id is empty.
func (m Meta) Begin(id string) (Meta, error) {
	if id == "" {
		return Meta{}, errors.New("journal: the id of a session is empty")
	}
	m = m.Clone()
	m.ID, m.Updated = id, now()
	m.Created = cmp.Or(m.Created, m.Updated)
	return m, nil
}

// Clone returns metadata that share nothing with m.
func (m Meta) Clone() Meta {
	m.AdditionalDirectories = slices.Clone(m.AdditionalDirectories)
	m.Data = bytes.Clone(m.Data)
	return m
}

// Changed returns the metadata after a SetMeta, for authors of stores.
func (m Meta) Changed(change func(*Meta)) Meta {
	after := m.Clone()
	change(&after)
	after = after.Clone()
	after.ID, after.Created, after.Updated = m.ID, m.Created, now()
	return after
}

// Follow returns r with the number and time of the successor of last, for authors of stores. It fails
// if the data are not one JSON value. The result shares them with r.
func (r Record) Follow(last Record) (Record, error) {
	end, err := envelope.Skip(r.Data, 0, maxNesting)
	if err != nil || envelope.SkipSpace(r.Data, end) != len(r.Data) {
		return Record{}, fmt.Errorf("journal: the data of a record of kind %q is not JSON", r.Kind)
	}
	r.Seq = last.Seq + 1
	if r.Time.IsZero() {
		r.Time = now()
	}
	if r.Time.Before(last.Time) {
		r.Time = last.Time
	}
	return r, nil
}

// maxNesting is the nesting limit of encoding/json, which decodes the records.
const maxNesting = 10_000

// now returns the time in the form in which it is decoded: in UTC and without a monotonic clock.
func now() time.Time { return time.Now().UTC().Round(0) }
