package thread

import (
	"context"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/thread"
)

// Set keeps a thread for each session of a connection. Its middlewares pass everything that
// happens in a session to its thread; see the package comment. All methods are safe for
// concurrent use.
type Set struct{ threads *thread.Map }

// NewSet returns an empty Set.
func NewSet() *Set { return &Set{thread.NewMap()} }

// Thread returns the thread of a session. It creates one if there is none.
func (s *Set) Thread(id acp.SessionID) *thread.Thread { return s.threads.Thread(string(id)) }

// Forget removes the thread of a session. The thread itself remains usable.
func (s *Set) Forget(id acp.SessionID) { s.threads.Forget(string(id)) }

// Receiving is a middleware for client.Options.Receiving. It passes updates and permission
// requests to the threads.
func (s *Set) Receiving(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		switch p := params.(type) {
		case *acp.UpdateSessionNotification:
			Apply(s.threads.Mentioned(string(p.SessionID)), p.Update)
		case *acp.RequestPermissionRequest:
			defer Permission(s.threads.Mentioned(string(p.SessionID)), p)()
		}
		return next(ctx, method, params)
	}
}

// Sending is a middleware for client.Options.Sending. It passes prompts and their
// responses, options that were set, and opened sessions to the threads. Before a session is
// resumed with its history, it resets the thread; if that fails, it restores it.
func (s *Set) Sending(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		switch p := params.(type) {
		case *acp.PromptRequest:
			responded := Prompt(s.Thread(p.SessionID), p.Prompt)
			defer responded(nil) // also when a middleware ends the goroutine
			result, err := next(ctx, method, params)
			if res, _ := result.(*acp.PromptResponse); err == nil {
				responded(res)
			}
			return result, err
		case *acp.ResumeSessionRequest:
			return s.resume(ctx, next, method, p)
		}
		result, err := next(ctx, method, params)
		if err == nil {
			s.done(params, result)
		}
		return result, err
	}
}

func (s *Set) resume(ctx context.Context, next acp.Handler, method string, req *acp.ResumeSessionRequest) (any, error) {
	t := s.Thread(req.SessionID)
	if req.ReplayFrom == nil {
		result, err := next(ctx, method, req)
		s.opened(t, result, err)
		return result, err
	}
	before := t.Snapshot()
	t.Reset()
	result, err := next(ctx, method, req)
	if err != nil {
		t.Restore(before)
	}
	s.opened(t, result, err)
	return result, err
}

func (s *Set) opened(t *thread.Thread, result any, err error) {
	if res, ok := result.(*acp.ResumeSessionResponse); ok && err == nil && res != nil {
		Opened(t, res.ConfigOptions, res.AvailableCommands)
	}
}

// done passes what a call has changed to the thread.
func (s *Set) done(params, result any) {
	switch r := result.(type) {
	case *acp.NewSessionResponse:
		Started(s.Thread(r.SessionID), r.ConfigOptions, r.AvailableCommands)
	case *acp.ForkSessionResponse:
		Started(s.Thread(r.SessionID), r.ConfigOptions, r.AvailableCommands)
	case *acp.SetSessionConfigOptionResponse:
		if p, ok := params.(*acp.SetSessionConfigOptionRequest); ok {
			s.Thread(p.SessionID).Do(thread.OptionsChanged{Options: optionsOf(r.ConfigOptions)})
		}
	}
}
