// Package elicitation asks the user for input that an agent requests: it serves
// elicitation/create and elicitation/complete. Experimental: it may change in any release.
//
// [Forms] and [FormsAndPages] have exactly the methods of their interfaces in package acp.
// They are made for embedding: the capabilities of the client follow from what it embeds.
package elicitation

import (
	"context"
	"errors"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/weblink"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The errors of Ask and Open if the user does not agree. Any other error has the same effect as
// ErrCancelled.
var (
	// ErrDeclined means that the user has declined.
	ErrDeclined = errors.New("elicitation: declined by the user")
	// ErrCancelled means that the user has dismissed the form or page.
	ErrCancelled = errors.New("elicitation: closed by the user")
)

// Form is a form of the agent, to be filled in by the user.
type Form struct {
	// Session and ToolCall identify what the form belongs to. They are empty if it belongs to
	// a request outside of a session, such as authenticate.
	Session  acp.SessionID
	ToolCall acp.ToolCallID
	// Message is the text of the agent that explains which input it needs, and why.
	Message string
	Schema  *acp.ElicitationSchema
	// Problem is the error of the values that the user entered before; nil at first.
	Problem error
}

// Page is a web page of the agent, to be opened by the user.
type Page struct {
	// Session and ToolCall are as in [Form].
	Session  acp.SessionID
	ToolCall acp.ToolCallID
	ID       acp.ElicitationID
	Message  string
	// URL is the address, http or https, in ASCII. Show all of it, and its Host by itself, before it
	// is opened. The host is as it will be reached: an international one begins with xn--.
	URL  string
	Host string
}

// AskForm asks the user to fill in a form and returns the values by field. It is an error
// if the user does not agree; see [ErrDeclined].
type AskForm func(ctx context.Context, f *Form) (map[string]acp.ElicitationContentValue, error)

// Forms is an [acp.Elicitor] that shows forms. Ask must be set.
type Forms struct{ Ask AskForm }

// FormsAndPages is an [acp.Elicitor] that shows forms and web pages, and an
// [acp.ElicitationCompleter]. Ask and Open must be set. Each connection needs one of its own.
type FormsAndPages struct {
	Ask AskForm
	// Open asks the user whether the page may be opened, and opens it. It returns nil when the
	// page is open, without waiting until the user has finished there.
	Open func(ctx context.Context, p *Page) error
	// Completed is called, once, when the user has finished on a page that Open has opened.
	// Agents need not report that. Completed may be nil.
	Completed func(acp.ElicitationID)

	mu   sync.Mutex                // guards the fields below
	open map[acp.ElicitationID]int // number of pages with that id that are not completed
}

var (
	_ acp.Elicitor             = (*Forms)(nil)
	_ acp.Elicitor             = (*FormsAndPages)(nil)
	_ acp.ElicitationCompleter = (*FormsAndPages)(nil)
)

// CreateElicitation asks the user.
//
// Protocol: elicitation/create.
func (f *Forms) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	m, ok := req.Mode.(*acp.ElicitationFormMode)
	if !ok {
		return nil, rpcerr.InvalidParams(nil).WithDetail("this mode of elicitation was not advertised")
	}
	form := &Form{Message: req.Message, Schema: &m.RequestedSchema}
	form.Session, form.ToolCall = scope(m.Scope)
	for range attempts {
		values, err := f.Ask(ctx, form)
		if err != nil || ctx.Err() != nil { // values after the end of ctx are ignored
			return refusal(ctx, err)
		}
		if form.Problem = Check(form.Schema, values); form.Problem == nil {
			if values == nil {
				values = map[string]acp.ElicitationContentValue{}
			}
			return response(&acp.ElicitationAcceptAction{Content: values})
		}
	}
	return response(&acp.ElicitationCancelAction{})
}

// attempts is how often a form is shown while its values are invalid.
const attempts = 5

// CreateElicitation asks the user.
//
// Protocol: elicitation/create.
func (f *FormsAndPages) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	if m, ok := req.Mode.(*acp.ElicitationURLMode); ok {
		return f.show(ctx, req.Message, m)
	}
	return (&Forms{f.Ask}).CreateElicitation(ctx, req)
}

// CompleteElicitation calls Completed. An id that is unknown, or that was completed before, is
// ignored.
//
// Protocol: elicitation/complete.
func (f *FormsAndPages) CompleteElicitation(_ context.Context, n *acp.CompleteElicitationNotification) error {
	f.mu.Lock()
	known := f.open[n.ElicitationID] > 0
	delete(f.open, n.ElicitationID)
	f.mu.Unlock()
	if known && f.Completed != nil {
		f.Completed(n.ElicitationID)
	}
	return nil
}

// count adds n to the number of open pages with that id.
func (f *FormsAndPages) count(id acp.ElicitationID, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = map[acp.ElicitationID]int{}
	}
	if f.open[id] += n; f.open[id] <= 0 {
		delete(f.open, id)
	}
}

func (f *FormsAndPages) show(ctx context.Context, message string, m *acp.ElicitationURLMode) (*acp.CreateElicitationResponse, error) {
	link, err := weblink.Parse(m.URL)
	if err != nil {
		return nil, rpcerr.InvalidParams(nil).WithDetail("url " + err.Error()) //errlint:ignore Parse says what is wrong with a value of the agent
	}
	p := &Page{ID: m.ElicitationID, Message: message, URL: link.URL, Host: link.Host}
	p.Session, p.ToolCall = scope(m.Scope)
	opened := false
	f.count(p.ID, 1) // before it is opened: its completion may be reported before Open returns
	defer func() {   // runs even if Open panics
		if !opened {
			f.count(p.ID, -1)
		}
	}()
	if err := f.Open(ctx, p); err != nil {
		return refusal(ctx, err)
	}
	opened = true
	return response(&acp.ElicitationAcceptAction{})
}

func scope(s acp.ElicitationScope) (acp.SessionID, acp.ToolCallID) {
	if s, ok := s.(*acp.ElicitationSessionScope); ok {
		return s.SessionID, s.ToolCallID
	}
	return "", ""
}

// refusal returns the response for a user who did not agree.
func refusal(ctx context.Context, err error) (*acp.CreateElicitationResponse, error) {
	if ctx.Err() == nil && errors.Is(err, ErrDeclined) {
		return response(&acp.ElicitationDeclineAction{})
	}
	return response(&acp.ElicitationCancelAction{})
}

func response(a acp.ElicitationAction) (*acp.CreateElicitationResponse, error) {
	return &acp.CreateElicitationResponse{Action: a}, nil
}
