package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
)

// user is the client: it says yes to everything and has files and terminals of its own
// making.
type user struct {
	load *load

	mu        sync.Mutex // guards all below
	last      int
	terminals map[acp.TerminalID]chan struct{} // closed when the command has ended
}

func newUser(l *load) *user {
	return &user{load: l, terminals: map[acp.TerminalID]chan struct{}{}}
}

// open tells how many terminals were not released.
func (u *user) open() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.terminals)
}

func (u *user) SessionUpdate(context.Context, *acp.SessionNotification) error {
	u.load.updates.Add(1)
	return nil
}

func (u *user) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	u.load.calls.Add(1)
	return acp.Selected(req.Options[0].OptionID), nil
}

func (u *user) CreateElicitation(context.Context, *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	u.load.calls.Add(1)
	return &acp.CreateElicitationResponse{Action: &acp.ElicitationAcceptAction{
		Content: map[string]acp.ElicitationContentValue{"branch": acp.ElicitationString("main")},
	}}, nil
}

func (u *user) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(req.Path, "/soak/"))
	if err != nil {
		return nil, err
	}
	u.load.calls.Add(1)
	u.load.bytes.Add(int64(n))
	return &acp.ReadTextFileResponse{Content: strings.Repeat("0123456789abcde\n", n/16)}, nil
}

// HandleExtension waits until it is given up.
func (u *user) HandleExtension(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (u *user) CreateTerminal(_ context.Context, req *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	u.load.terminals.Add(1)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last++
	id := acp.TerminalID(fmt.Sprint("t", u.last))
	ended := make(chan struct{})
	u.terminals[id] = ended
	if req.Command == "true" {
		close(ended)
	}
	return &acp.CreateTerminalResponse{TerminalID: id}, nil
}

// ended returns the channel of a terminal. One that was released has ended.
func (u *user) ended(id acp.TerminalID) chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if ch := u.terminals[id]; ch != nil {
		return ch
	}
	ch := make(chan struct{})
	close(ch)
	return ch
}

func (u *user) WaitForTerminalExit(ctx context.Context, req *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	select {
	case <-u.ended(req.TerminalID):
		return &acp.WaitForTerminalExitResponse{ExitCode: new(uint32(0))}, nil
	case <-time.After(time.Millisecond): // the command takes this long
		return &acp.WaitForTerminalExitResponse{ExitCode: new(uint32(1))}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (u *user) TerminalOutput(context.Context, *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	return &acp.TerminalOutputResponse{Output: "done\n"}, nil
}

func (u *user) KillTerminal(_ context.Context, req *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if ch := u.terminals[req.TerminalID]; ch != nil {
		select {
		case <-ch:
		default:
			close(ch)
		}
	}
	return nil, nil
}

func (u *user) ReleaseTerminal(_ context.Context, req *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.terminals[req.TerminalID]; !ok {
		u.load.fail("terminal %s was released twice", req.TerminalID)
	}
	delete(u.terminals, req.TerminalID)
	return nil, nil
}
