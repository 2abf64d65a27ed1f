package thread

import "slices"

// Ask applies what a question says of its tool call, and adds the question. Its Key must
// be 0: the Thread chooses it. Readers see all of it or nothing. The returned function
// says that the question is answered; it may be called any number of times.
func (t *Thread) Ask(p Permission, events ...Event) (answered func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		e.apply(t)
	}
	PermissionAsked{p}.apply(t)
	key := t.asked
	return func() { t.Do(PermissionAnswered{key}) }
}

func (c PermissionAsked) apply(t *Thread) {
	t.asked++
	c.Permission.Key = t.asked
	t.now.Permissions = append(slices.Clip(t.now.Permissions), c.Permission)
	t.changed(PartPermissions)
}

func (c PermissionAnswered) apply(t *Thread) {
	i := slices.IndexFunc(t.now.Permissions, func(p Permission) bool { return p.Key == c.Key })
	if i >= 0 {
		t.now.Permissions = slices.Delete(slices.Clone(t.now.Permissions), i, i+1)
		t.changed(PartPermissions)
	}
}

// Enqueue adds a prompt that was sent, where the agent reports when a prompt becomes part
// of the conversation. The returned function says that it has: id is then the name of its
// message, and the prompt is shown as this message unless the agent has sent it already.
// With an empty id the prompt has failed or was withdrawn. The function may be called any
// number of times; the first call counts.
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
		Prompted{ID: id, Content: content}.apply(t)
	}
}
