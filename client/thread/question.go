package thread

import "slices"

// Ask applies the events, such as a change of the tool call that p is about, and adds the
// pending permission request p in one step. The Key of p must be 0; the Thread assigns one.
// Call the returned function when the request has been answered; it may be called more than
// once.
func (t *Thread) Ask(p Permission, events ...Event) (answered func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		e.apply(t)
	}
	t.asked++
	p.Key = t.asked
	t.unlisted[p.Key] = p
	t.listPermissions()
	return func() { t.answered(p.Key) }
}

// permissionsAtOnce is how many pending permission requests a snapshot lists, because each change
// copies the list. Others are listed when these are answered.
const permissionsAtOnce = 100

// answered removes the pending permission request with the key.
func (t *Thread) answered(key uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.unlisted, key)
	i := slices.IndexFunc(t.now.Permissions, func(p Permission) bool { return p.Key == key })
	if i >= 0 {
		t.now.Permissions = slices.Delete(slices.Clone(t.now.Permissions), i, i+1)
		t.changed(PartPermissions)
		t.listPermissions()
	}
}

// listPermissions moves requests into the snapshot while it has room.
func (t *Thread) listPermissions() {
	for len(t.unlisted) > 0 && len(t.now.Permissions) < permissionsAtOnce {
		t.listed++
		if p, pending := t.unlisted[t.listed]; pending {
			delete(t.unlisted, t.listed)
			t.now.Permissions = append(slices.Clip(t.now.Permissions), p)
			t.changed(PartPermissions)
		}
	}
}

// dropPermissions removes all pending requests.
func (t *Thread) dropPermissions() {
	t.unlisted, t.listed = map[uint64]Permission{}, t.asked
	if len(t.now.Permissions) > 0 {
		t.now.Permissions = nil
		t.changed(PartPermissions)
	}
}

// Enqueue adds a prompt to Snapshot.Queued, for an agent that reports when a prompt becomes
// part of the conversation. Call the returned function with the id of the message when it
// does: unless the agent has already sent the message, the prompt becomes that message. If
// the prompt failed or was withdrawn, call the function with an empty id. Calls after the
// first do nothing.
func (t *Thread) Enqueue(content []Block) (inserted func(id string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queued++
	key := t.queued
	var b blocks
	b.set(content)
	t.now.Queued = append(slices.Clip(t.now.Queued), Queued{key, b.list()})
	t.changed(PartQueued)
	return func(id string) { t.dequeue(key, id) }
}

func (t *Thread) dequeue(key uint64, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.now.Queued, func(q Queued) bool { return q.Key == key })
	if i < 0 {
		return
	}
	content := t.now.Queued[i].Content.Slice()
	t.now.Queued = slices.Delete(slices.Clone(t.now.Queued), i, i+1)
	t.changed(PartQueued)
	if id != "" {
		t.prompted(id, content)
	}
}
