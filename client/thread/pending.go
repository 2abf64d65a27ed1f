package thread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/internal/fold"
)

// Ask applies the events, such as a change of the tool call that p is about, and adds the
// pending permission request p in one step. The Key of p must be 0; the Thread assigns one and Ask returns
// it. Call [Thread.Answered] when the request has been answered. If the call is over, the events are not
// applied: an update may overtake the request that was sent before it.
func (t *Thread) Ask(p Permission, events ...Event) (key uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active = time.Now()
	if !t.finished(p.ToolCallID) {
		for _, e := range events {
			e.apply(t)
		}
	}
	return t.askLocked(p)
}

func (t *Thread) askLocked(p Permission) (key uint64) {
	t.asked++
	p.Key = t.asked
	t.unlisted[p.Key] = p
	t.listPermissions()
	return p.Key
}

// finished reports whether the agent has said how a tool call ended.
func (t *Thread) finished(id string) bool {
	i, ok := t.now.index.find(t.now.index.tools, id, len(t.items))
	return ok && fold.Final(t.items[i].node.(*toolNode).call.Status)
}

// permissionsAtOnce is how many pending permission requests a snapshot lists, because each change
// copies the list. Others are listed when these are answered.
const permissionsAtOnce = 100

// Answered removes the pending permission request with the key. It may be called more than once.
func (t *Thread) Answered(key uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered(key)
}

func (t *Thread) answered(key uint64) {
	t.withdraw(key)
	delete(t.unlisted, key)
	if i := t.pending(key); i >= 0 {
		t.now.Permissions = slices.Delete(slices.Clone(t.now.Permissions), i, i+1)
		t.changed(PartPermissions)
		t.listPermissions()
	}
}

// pending returns the index of a request in the snapshot, or -1.
func (t *Thread) pending(key uint64) int {
	return slices.IndexFunc(t.now.Permissions, func(p Permission) bool { return p.Key == key })
}

// withdraw tells whoever waits for an answer that none will come.
func (t *Thread) withdraw(key uint64) {
	if answers, ok := t.answers[key]; ok {
		close(answers)
		delete(t.answers, key)
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
	for key := range t.answers {
		t.withdraw(key)
	}
	t.unlisted, t.listed = map[uint64]Permission{}, t.asked
	if len(t.now.Permissions) > 0 {
		t.now.Permissions = nil
		t.changed(PartPermissions)
	}
}

// ErrNotPending is the error of [Thread.Answer] for a question that is not pending: it was answered, or the
// turn has ended.
var ErrNotPending = errors.New("thread: no question with this key is pending")

// Answer chooses the option with the id for the pending question with the key, for whoever asks it: package
// client/permission, or a caller of [ListQuestion]. The question leaves the list at once. It is an error if the
// question is not pending, has no such option, or nobody waits for the answer here: then it has no Lines.
func (t *Thread) Answer(key uint64, optionID string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, unlisted := t.unlisted[key]
	if i := t.pending(key); i >= 0 {
		p = t.now.Permissions[i]
	} else if !unlisted {
		return ErrNotPending
	}
	if !slices.ContainsFunc(p.Options, func(o PermissionOption) bool { return o.ID == optionID }) {
		return fmt.Errorf("thread: the question has no option with the id %q", optionID)
	}
	answers, ok := t.answers[key]
	if !ok {
		return errors.New("thread: nobody waits for an answer to this question here")
	}
	answers <- optionID // has room for one
	t.answered(key)
	return nil
}

type contextKey struct{}

// place is where the questions of a request belong.
type place struct {
	thread *Thread
	key    uint64
}

// Context returns a ctx for the handler of a request of the session: questions that package client/permission
// asks with it are listed in the thread. key is that of the request if it is a permission request, which
// [Thread.Ask] has returned, and otherwise 0. A [Set] does this for all requests.
func (t *Thread) Context(ctx context.Context, key uint64) context.Context {
	return context.WithValue(ctx, contextKey{}, &place{t, key})
}

// ListQuestion lists a question that a person is asked in the thread of ctx, until remove is called or it is
// answered. If ctx is that of a permission request, the question takes its place in the list, and its key.
// [Thread.Answer] sends the id of the chosen option to answers, which is closed if the question is withdrawn, as at
// the end of the turn. Without a thread, key is 0 and there is never an answer. Package client/permission calls
// this function; a program that answers permission requests by itself may do so too.
func ListQuestion(ctx context.Context, p Permission) (key uint64, answers <-chan string, remove func()) {
	at, _ := ctx.Value(contextKey{}).(*place)
	if at == nil {
		return 0, nil, func() {}
	}
	t := at.thread
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := make(chan string, 1)
	switch _, asked := t.answers[at.key]; {
	case at.key == 0 || asked:
		key = t.askLocked(p)
	case !t.fill(at.key, p):
		close(waiting)
		return at.key, waiting, func() {}
	default:
		key = at.key
	}
	if t.answers == nil {
		t.answers = map[uint64]chan string{}
	}
	t.answers[key] = waiting
	return key, waiting, func() { t.Answered(key) }
}

// fill adds to a pending request what a person is asked, and reports whether it is pending.
func (t *Thread) fill(key uint64, p Permission) bool {
	fill := func(old Permission) Permission {
		options := slices.Clone(p.Options)
		for i := range options {
			for _, o := range old.Options {
				if o.ID == options[i].ID {
					options[i].Meta = o.Meta
				}
			}
		}
		old.Lines, old.Text, old.Options = p.Lines, p.Text, options
		return old
	}
	if old, ok := t.unlisted[key]; ok {
		t.unlisted[key] = fill(old)
		return true
	}
	i := t.pending(key)
	if i < 0 {
		return false
	}
	t.now.Permissions = slices.Clone(t.now.Permissions)
	t.now.Permissions[i] = fill(t.now.Permissions[i])
	t.changed(PartPermissions)
	return true
}
