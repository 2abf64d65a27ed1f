package adapters_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// viewer is a client of version 2 that keeps what it is asked, chooses the option of one kind, and fills
// in forms: with "red" where that is possible.
type viewer struct {
	forms atomic.Int64

	mu     sync.Mutex // guards what follows
	choose acp.PermissionOptionKind
	asked  []*acp.RequestPermissionRequest
	states []string // of the session, with the questions between
	held   chan<- struct{}
}

// hold makes the next question wait for its cancellation, and closes asked when it has come.
func (v *viewer) hold(asked chan<- struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held = asked
}

func (v *viewer) SessionUpdate(_ context.Context, n *acp.UpdateSessionNotification) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	state, ok := n.Update.(*acp.SessionStateUpdate)
	if !ok {
		return nil
	}
	switch state.StateUpdate.(type) {
	case *acp.RunningStateUpdate:
		v.states = append(v.states, "running")
	case *acp.RequiresActionStateUpdate:
		v.states = append(v.states, "requires_action")
	case *acp.IdleStateUpdate:
		v.states = append(v.states, "idle")
	}
	return nil
}

func (v *viewer) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = append(v.asked, req)
	v.states = append(v.states, "ask")
	if held := v.held; held != nil {
		v.held = nil
		v.mu.Unlock()
		close(held)
		<-ctx.Done()
		v.mu.Lock()
		return acp.Cancelled(), nil
	}
	return acp.SelectKind(req.Options, v.choose), nil
}

// next sets what is chosen, and forgets what was asked.
func (v *viewer) next(choose acp.PermissionOptionKind) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.choose, v.asked, v.states = choose, nil, nil
}

func (v *viewer) questions() []*acp.RequestPermissionRequest {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.asked)
}

func (v *viewer) story() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Compact(slices.Clone(v.states))
}

func (v *viewer) CreateElicitation(_ context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	form, ok := req.Mode.(*acp.ElicitationFormMode)
	if !ok {
		return nil, rpcerr.InvalidParams("only forms are offered")
	}
	v.forms.Add(1)
	answers := map[string]acp.ElicitationContentValue{}
	for name, property := range form.RequestedSchema.Properties {
		if p, ok := property.(*acp.StringPropertySchema); ok && slices.ContainsFunc(p.OneOf, func(o acp.EnumOption) bool { return o.Const == "red" }) {
			answers[name] = acp.ElicitationString("red")
		}
	}
	return &acp.CreateElicitationResponse{Action: &acp.ElicitationAcceptAction{Content: answers}}, nil
}
