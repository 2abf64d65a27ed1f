package acptest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
	"github.com/acpkit/go-sdk/acptest/internal/reference"
	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream/remote"
)

// The reference agent passes all checks over the network too, and each defect of a server makes
// exactly those checks fail that it names.
func TestDefectsOfServers(t *testing.T) {
	suite := agents.Suite()
	caught := map[string]bool{}
	for _, d := range append([]defect.NetworkDefect{{Name: "none"}}, defect.Network...) {
		for scheme, kind := range map[string]check.Kind{"http": check.HTTP, "ws": check.WebSocket} {
			if d.Over != 0 && d.Over != kind {
				continue
			}
			t.Run(fmt.Sprintf("%s over %s", d.Name, scheme), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := &check.Options{Cwd: t.TempDir(), Prompts: reference.Prompts, Few: true}
					if d.Wrap != nil {
						for _, c := range suite.Checks {
							if c.Over != 0 && !c.Over.Has(check.Bytes) {
								opts.Only = append(opts.Only, c.ID)
							}
						}
					}
					target := check.Dial(scheme+"://127.0.0.1/acp", dialOptions(serveHTTP(t, &d)))
					report := suite.Run(t.Context(), target, opts)
					compare(t, &defect.Defect{Finds: d.Finds, Spoils: d.Spoils}, suite, kind, report)
					for _, r := range report.Results {
						caught[r.ID] = caught[r.ID] || r.Verdict == check.Fail
					}
				})
			})
		}
	}
	for _, c := range suite.Checks {
		if c.Over != 0 && !c.Over.Has(check.Bytes) {
			assert.True(t, caught[c.ID], "no defect makes %s fail", c.ID)
		}
	}
}

// serveHTTP serves the reference agent with a defect, and returns a client that reaches it.
func serveHTTP(t *testing.T, d *defect.NetworkDefect) *http.Client {
	agent := reference.NewAgent(streamed)
	handler := remote.NewHandler(agent, &remote.Options{
		Authorize: remote.BearerToken(defect.Token), Resume: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	t.Cleanup(func() { assert.NoError(t, handler.Shutdown(context.Background())) })
	return pipenet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.Wrap == nil {
			handler.ServeHTTP(w, r)
			return
		}
		d.Wrap(w, r, handler)
	}), nil)
}

func dialOptions(client *http.Client) *remote.DialOptions {
	return &remote.DialOptions{Client: client, Header: func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer " + defect.Token}}, nil
	}}
}
