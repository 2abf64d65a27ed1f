package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/elicitation"
)

// forms are the forms of the agent that wait for the person.
type forms struct {
	tab *tab

	mu   sync.Mutex // guards all below
	last uint64
	open map[uint64]*form
}

// form is a form as the page gets it.
type form struct {
	Key     uint64                 `json:"key"`
	Message string                 `json:"message"`
	Schema  *acp.ElicitationSchema `json:"schema"`
	Problem string                 `json:"problem,omitempty"` // of the values that were entered before

	filled chan *acp.CreateElicitationResponse
}

// ask shows a form until the person has filled it in. ctx is done before that if another client has, or if the turn is cancelled.
func (f *forms) ask(ctx context.Context, asked *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
	shown := &form{Message: asked.Message, Schema: asked.Schema, filled: make(chan *acp.CreateElicitationResponse, 1)}
	if asked.Problem != nil {
		shown.Problem = asked.Problem.Error()
	}
	f.change(func() {
		f.last++
		shown.Key = f.last
		f.open[shown.Key] = shown
	})
	defer f.change(func() { delete(f.open, shown.Key) })
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case res := <-shown.filled:
		switch action := res.Action.(type) {
		case *acp.ElicitationAcceptAction:
			return action.Content, nil
		case *acp.ElicitationDeclineAction:
			return nil, elicitation.ErrDeclined
		}
		return nil, elicitation.ErrCancelled
	}
}

// change changes the forms and sends them to the page.
func (f *forms) change(how func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = map[uint64]*form{}
	}
	how()
	all := slices.SortedFunc(maps.Values(f.open), func(a, b *form) int { return int(a.Key) - int(b.Key) })
	_ = f.tab.tell("forms", all) // it fails only if the page has gone
}

// fill gives a form the values of the person.
func (t *tab) fill(_ context.Context, a *action) error {
	t.forms.mu.Lock()
	defer t.forms.mu.Unlock()
	form := t.forms.open[a.Key]
	if form == nil {
		return nil // it was answered elsewhere, and has left the page
	}
	if a.Form == nil {
		return errors.New("the form has no answer")
	}
	select {
	case form.filled <- a.Form:
	default: // pressed twice
	}
	return nil
}
