package fold

import "maps"

// Messages finds the message that a chunk continues. M is the message as a program keeps it. Roles
// are those of the program; it has one for thoughts. The zero Messages is empty.
//
// A chunk with a message id continues the message with its role and id. A chunk without one
// continues the newest item of the conversation if that is a message of its role, unless the turn
// of that message has ended.
type Messages[M any] struct {
	byID     map[messageKey]M
	role, id string // of newest; the id is empty if it may be that of another message
	newest   M
	open     bool // chunks without an id continue newest
}

type messageKey struct{ role, id string }

// Find returns the message that a chunk with the role and id continues. The id is empty for a
// chunk without one.
func (m *Messages[M]) Find(role, id string) (found M, ok bool) {
	if m.open && m.role == role && (id == "" || id == m.id) {
		return m.newest, true
	}
	if id != "" {
		found, ok = m.byID[messageKey{role, id}]
	}
	return found, ok
}

// Add adds a message, which is the newest item then. The id may be empty.
func (m *Messages[M]) Add(role, id string, added M) {
	if id != "" {
		m.Name(role, id, added)
	}
	m.role, m.id, m.newest, m.open = role, id, added, true
}

// Close reports that another item follows, or that the turn has ended: no chunk without an id
// continues a message that was added before.
func (m *Messages[M]) Close() {
	var none M
	m.newest, m.open = none, false
}

// Open reports whether chunks without an id continue the newest message.
func (m *Messages[M]) Open() bool { return m.open }

// Name makes an id that of a message, which may have none yet.
func (m *Messages[M]) Name(role, id string, named M) {
	if m.byID == nil {
		m.byID = map[messageKey]M{}
	}
	m.byID[messageKey{role, id}] = named
	m.id = ""
}

// Unname makes an id that of no message.
func (m *Messages[M]) Unname(role, id string) {
	delete(m.byID, messageKey{role, id})
	m.id = ""
}

// Forget removes messages.
func (m *Messages[M]) Forget(gone func(M) bool) {
	maps.DeleteFunc(m.byID, func(_ messageKey, one M) bool { return gone(one) })
	if m.open && gone(m.newest) {
		m.Close()
	}
}
