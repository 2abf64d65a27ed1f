// Package live serves a page in which a person follows the sessions of a hub, sends prompts and answers questions.
// Each open page is a client of the hub, which runs here: the page gets what to draw, and sends what the
// person does.
package live

import (
	"context"
	"embed"
	"encoding/base64"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/cmd/acp/internal/conversation"
	"github.com/acpkit/go-sdk/stream/remote"
)

//go:embed page
var page embed.FS

// A page of a browser cannot set headers on a WebSocket, and the token must not be in its address,
// which ends up in logs. It offers these two protocols, and the server selects the first.
const (
	protocol      = "acp.page"
	tokenProtocol = "acp.token."
)

// Site serves the page. Its files hold no secrets, so they need no token; what they show does.
type Site struct {
	hub    *hub.Hub
	folder string // of new sessions, as the page proposes it
	log    *slog.Logger
	policy *permission.Policy
	tabs   *remote.Handler
	files  http.Handler
}

// New returns the page of a hub. The options are those for connections of the page, without Authorize.
func New(h *hub.Hub, folder, token string, opts remote.Options) *Site {
	policy := permission.New(&permission.Options{Ask: permission.InThread, Concurrent: true, Memory: &memory{decisions: map[permission.Key]permission.Decision{}}})
	s := &Site{hub: h, folder: folder, log: opts.Logger, policy: policy, files: conversation.Files(page)}
	opts.Authorize = authorize(token)
	s.tabs = remote.NewHandler(s.serve, &opts)
	return s
}

// Shutdown ends the connections of pages.
func (s *Site) Shutdown(ctx context.Context) error { return s.tabs.Shutdown(ctx) }

// ServeHTTP serves the files, and the connections of pages at /page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conversation.SetHeaders(w.Header())
	if r.URL.Path != "/page" {
		s.files.ServeHTTP(w, r)
		return
	}
	if _, ok := offered(r); ok {
		w.Header().Set("Sec-WebSocket-Protocol", protocol) // or the browser closes the connection
	}
	s.tabs.ServeHTTP(w, r)
}

// authorize lets the page in if it offers the token.
func authorize(token string) func(*http.Request) (*remote.Principal, error) {
	header := remote.BearerToken(token)
	return func(r *http.Request) (*remote.Principal, error) {
		if sent, ok := offered(r); ok {
			r = &http.Request{Header: http.Header{"Authorization": {"Bearer " + sent}}}
		}
		return header(r)
	}
}

// offered returns the token that a page has sent.
func offered(r *http.Request) (token string, ok bool) {
	for name := range strings.SplitSeq(r.Header.Get("Sec-WebSocket-Protocol"), ",") {
		if encoded, ok := strings.CutPrefix(strings.TrimSpace(name), tokenProtocol); ok {
			decoded, err := base64.RawURLEncoding.DecodeString(encoded)
			return string(decoded), err == nil
		}
	}
	return "", false
}

// memory keeps the "always" decisions that a person makes in the page, for all tabs, until the program ends.
type memory struct {
	mu        sync.Mutex // guards decisions
	decisions map[permission.Key]permission.Decision
}

func (m *memory) Recall(key permission.Key) permission.Decision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.decisions[key]
}

func (m *memory) Remember(r permission.Remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range r.Keys {
		m.decisions[key] = r.Decision
	}
}
