package streamhttp

import (
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/webguard"
)

// Every response here has a deadline, because its peer may not take it.

// recovered answers a request during which Owner or Connect has panicked.
func (h *Handler) recovered(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == http.ErrAbortHandler {
		panic(p)
	}
	if p != nil {
		h.refusals.Log(h.log, slog.LevelError, "streamhttp: panic while a request was checked", "panic", panics.Text(p), "stack", string(debug.Stack()))
		webguard.Refuse(w, r, http.StatusInternalServerError)
	}
}

func accept(w http.ResponseWriter, r *http.Request) {
	webguard.LimitResponse(w, r)
	w.WriteHeader(http.StatusAccepted)
}

func refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	webguard.LimitResponse(w, r)
	http.Error(w, text, code)
}

// refused counts and logs that a request was refused because of its sender or a limit.
func (h *Handler) refused(code int, reason error) {
	h.refusals.Log(h.log, slog.LevelWarn, "streamhttp: refused a request", "status", code, "reason", reason)
}

// refuseJSON refuses with the body that a JSON-RPC client understands.
func refuseJSON(w http.ResponseWriter, r *http.Request, code int, body string) {
	webguard.LimitResponse(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}
