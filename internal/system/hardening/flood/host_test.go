package flood_test

import (
	"context"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// terminalHost is a client whose terminals run until they are killed.
func terminalHost(killed *atomic.Int64, terminals []chan struct{}, index func(string) int) func(*client.Conn) acp.Client {
	return func(*client.Conn) acp.Client {
		return &peertest.FullClient{Do: func(ctx context.Context, _ string, params any) (any, error) {
			switch params := params.(type) {
			case *acp.WaitForTerminalExitRequest:
				select {
				case <-terminals[index(string(params.TerminalID))]:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			case *acp.KillTerminalRequest:
				killed.Add(1)
				close(terminals[index(string(params.TerminalID))])
			}
			return nil, nil
		}}
	}
}

func clientHandlers(n int) client.Options {
	return client.Options{Limits: client.Limits{MaxHandlers: n}}
}
