package faults_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/acp/v2"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	client2 "github.com/acpkit/go-sdk/client/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/endpoint/peertest/v2"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// TestEndWithRequestsInFlight in version 2, where the work on a prompt outlives its
// response, and where other prompts are held until it has ended.
func TestEndOfVersion2WithRequestsInFlight(t *testing.T) {
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
