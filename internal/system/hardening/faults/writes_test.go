package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

var errDisk = errors.New("input/output error")

// failing is a writer that works so many times, and then writes half of what it is
// given.
type failing struct {
	io.WriteCloser
	mu   sync.Mutex // guards left
	left int
}

func (f *failing) Write(b []byte) (int, error) {
	f.mu.Lock()
	f.left--
	broken := f.left < 0
	f.mu.Unlock()
	if !broken {
		return f.WriteCloser.Write(b)
	}
	n, _ := f.WriteCloser.Write(b[:len(b)/2])
	return n, errDisk
}

// Every single write fails once, at the agent and at the client: the conversation ends
// for both, with the error at the side that had it, and the half of a message is not
// taken for one.
func TestEveryWriteFails(t *testing.T) {
	least := map[int]int{1: 16, 2: 12} // notifications may share a write, requests that wait for each other do not
	eachVersion(t, func(t *testing.T, v *protocol) {
		for _, agentFails := range []bool{true, false} {
			n := 0
			for broken := true; broken; n++ {
				pairtest.Bubble(t, func(t *testing.T) { broken = writeFails(t, v, agentFails, n) })
			}
			assert.GreaterOrEqual(t, n, least[v.version])
		}
	})
}

// writeFails lets write n of one side fail. It returns false when there are not so many.
func writeFails(t *testing.T, v *protocol, agentFails bool, n int) bool {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	broken := &failing{left: n}
	forAgent, forClient := io.WriteCloser(w2), io.WriteCloser(w1)
	if agentFails {
		broken.WriteCloser, forAgent = forAgent, broken
	} else {
		broken.WriteCloser, forClient = forClient, broken
	}
	agentSide, clientSide := &course{}, &course{}
	a, c, talk := v.converse(t, stream.Lines(r1, forAgent, nil), stream.Lines(r2, forClient, &stream.LinesOptions{Tolerant: true}), agentSide, clientSide)
	if err := talk(); err == nil {
		assert.GreaterOrEqual(t, broken.left, 0, "the failure of write %d was not noticed", n)
		assert.NoError(t, c.Close())
		assert.NoError(t, errors.Join(c.Wait(), a.Wait()))
		return false
	} else {
		assert.ErrorIs(t, err, acp.ErrClosed)
	}
	failed, other := a.Wait(), c.Wait()
	if !agentFails {
		failed, other = other, failed
	}
	assert.ErrorIs(t, failed, errDisk, "write %d", n)
	assert.ErrorIs(t, failed, acp.ErrClosed)
	if other != nil { // it may have been writing too
		assert.ErrorIs(t, other, acp.ErrClosed)
	}
	for _, how := range []*course{agentSide, clientSide} {
		if len(how.calls) > 0 { // all but the last one
			assert.NoError(t, errors.Join(how.calls[:len(how.calls)-1]...))
		}
	}
	return true
}

// Requests in both directions are in flight when an end closes: all of them end with the typed error,
// except those whose handlers respond within the grace. The work on a prompt outlives its
// response, and where other prompts are held until it has ended.
func TestEndWithRequestsInFlight(t *testing.T) {
	for _, agentCloses := range []bool{true, false} {
		t.Run(fmt.Sprint("the agent closes: ", agentCloses), func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) { endInFlight2(t, agentCloses) })
		})
	}
}

func endInFlight2(t *testing.T, agentCloses bool) {
	const n = 20
	asked, called := make(chan error, 2*n), make(chan error, n) // held work may ask too
	p := pairtest2.Connect(t, pairtest2.Setup{
		Agent: func(conn *agent2.Conn) acp2.Agent {
			return &peertest2.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
				if req, ok := params.(*acp2.PromptRequest); ok {
					s := conn.Session(req.SessionID)
					return s.Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
						_, err := s.AskPermission(ctx, "May I?", nil)
						asked <- err
						return acp2.StopReasonEndTurn, err
					})
				}
				if method == "_wait" {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return nil, nil
			}}
		},
		Client: func(*client2.Conn) acp2.Client {
			return &peertest2.FullClient{Do: func(ctx context.Context, method string, _ any) (any, error) {
				if method == acp2.MethodSessionRequestPermission {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return nil, nil
			}}
		},
	})
	var working, held []*client2.Turn
	for i := range n {
		s := p.Client.Session(acp2.SessionID(fmt.Sprint("s", i)))
		working = append(working, s.Prompt(t.Context(), acp2.Text("go")))
		synctest.Wait()
		held = append(held, s.Prompt(t.Context(), acp2.Text("then this")))
		go func() { called <- p.Client.Call(context.Background(), "_wait", nil, nil) }() // ends with the connection
	}
	synctest.Wait()
	for _, turn := range working {
		_, err := turn.Accepted()
		require.NoError(t, err)
	}
	if agentCloses {
		require.NoError(t, p.Agent.Close())
	} else {
		require.NoError(t, p.Client.Close())
	}

	// ended accepts what an agent that was quick enough sent.
	ended := func(err error, code rpcerr.Code) {
		t.Helper()
		if got, answered := rpcerr.CodeOf(err); answered {
			require.Equal(t, code, got)
		} else {
			require.ErrorIs(t, err, acp2.ErrClosed)
		}
	}
	for i := range n {
		require.ErrorIs(t, <-asked, acp2.ErrClosed)
		ended(<-called, rpcerr.CodeInternalError)
		_, err := working[i].Wait()
		ended(err, rpcerr.CodeInternalError)
		_, err = held[i].Wait() // it may have been begun when the work before it failed
		if code, _ := rpcerr.CodeOf(err); code != rpcerr.CodeRequestCancelled {
			ended(err, rpcerr.CodeInternalError)
		}
	}
	for _, err := range []error{p.Agent.Wait(), p.Client.Wait()} {
		if err != nil {
			require.ErrorIs(t, err, acp2.ErrClosed)
		}
	}
}
