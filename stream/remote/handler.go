package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/webguard"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
	"github.com/acpkit/go-sdk/stream/websocket"
)

const (
	defaultMaxConnections          = 4096
	defaultMaxPrincipalConnections = 256
)

// Options configure [NewHandler], which copies them. The zero value selects the defaults.
type Options struct {
	// Authorize returns the sender of a request, or an error that refuses it. It runs before
	// anything else, on every request except the preflight of CORS, and on the upgrade to
	// WebSocket. The status is 401, or that of a *stream.StatusError; the text of the error is
	// logged and not sent. [BearerToken] returns a simple one. If it is nil, only requests
	// that arrive at a loopback address of this machine are served.
	Authorize func(*http.Request) (*Principal, error)

	// AllowedHosts are the names under which the server may be reached, besides those of
	// the loopback interface, each as host, host:port, or https://host where a proxy ends TLS: then
	// only pages of that scheme, host and port are the server's own, and not those that came to a
	// browser without TLS.
	AllowedHosts []string

	// AllowedOrigins are the origins whose pages may use the server, besides its own,
	// each as scheme://host or scheme://host:port. The server's own is that of AllowedHosts, or
	// else the host and port of the request, with https if the server itself uses TLS.
	AllowedOrigins []string

	// MaxConnections is the number of connections that may exist at a time; 0 means 4096.
	// MaxPrincipalConnections is the number of them that one principal may have; 0 means 256.
	// Without Authorize there are no principals, and only MaxConnections holds.
	MaxConnections, MaxPrincipalConnections int

	// MaxMessage is the longest message in bytes that is read; 0 means
	// stream.DefaultMaxMessage.
	MaxMessage int

	// Resume lets clients of streamable HTTP continue an interrupted event stream.
	Resume bool

	// Instance identifies this server in the ids of connections, so that a load balancer can find
	// the server of a request: an id is Instance, a dot and a random part. Instance has at most 253
	// letters, digits, '-', '_' and '.'. If it is invalid, Serve fails, and every connection is
	// refused with status 500. Empty means no name.
	Instance string

	// Logger receives a record for each request that is refused, at most 40 in a minute, and
	// each connection that fails. Nil means slog.Default().
	Logger *slog.Logger
}

// Handler serves WebSocket and streamable HTTP. It is made by [NewHandler].
type Handler struct {
	serve func(context.Context, stream.Stream) error
	opts  Options
	log   *slog.Logger
	reg   *registry
	http  *streamhttp.Handler

	refusals webguard.Refusals
}

var errNoServe = errors.New("remote: NewHandler was given no serve: pass a func that serves a connection")

// NewHandler returns an http.Handler that calls serve for each connection, on a goroutine
// of its own. serve must return when its stream or its ctx ends, as agent.Serve does. A
// panic of serve is logged and ends its connection. The handler can be mounted at any path;
// clients use one URL.
func NewHandler(serve func(context.Context, stream.Stream) error, opts *Options) *Handler {
	h := &Handler{serve: serve, opts: *cmp.Or(opts, new(Options))}
	if h.log = h.opts.Logger; h.log == nil {
		h.log = slog.Default()
	}
	if h.opts.MaxConnections <= 0 {
		h.opts.MaxConnections = defaultMaxConnections
	}
	if h.opts.MaxPrincipalConnections <= 0 {
		h.opts.MaxPrincipalConnections = defaultMaxPrincipalConnections
	}
	h.reg = newRegistry(h.opts.MaxConnections, h.opts.MaxPrincipalConnections)
	h.http = streamhttp.NewHandler(h.serveHTTPStream, &streamhttp.HandlerOptions{
		Owner:          owner,
		Connect:        h.connect,
		AllowedOrigins: h.opts.AllowedOrigins,
		MaxMessage:     h.opts.MaxMessage,
		Resume:         h.opts.Resume,
		Instance:       h.opts.Instance,
		Logger:         h.log,
	})
	return h
}

// ServerStats are the counters of a [Handler]: those of streamable HTTP and of WebSockets together.
type ServerStats = streamhttp.Stats

// Stats returns the counters of both transports. It is safe for concurrent use.
func (h *Handler) Stats() ServerStats {
	s, web := h.reg.stats(), h.http.Stats()
	s.Sessions = web.Sessions
	s.BytesReceived += web.BytesReceived
	s.BytesSent += web.BytesSent
	s.Refused = h.refusals.Count() + web.Refused
	return s
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	webguard.LimitBody(w, r)
	if h.serve == nil {
		h.refusals.Log(h.log, slog.LevelError, "remote: refused a request", "reason", errNoServe)
		webguard.Refuse(w, r, http.StatusInternalServerError)
		return
	}
	if r.Method == http.MethodOptions && r.Header.Get("Origin") != "" {
		h.preflight(w, r)
		return
	}
	principal, err := h.authorize(r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	if !h.fromAllowedPlace(w, r) {
		return
	}
	webguard.Allowed(r)
	if principal != nil {
		r = r.WithContext(context.WithValue(r.Context(), principalKey{}, principal))
	}
	if isUpgrade(r) {
		h.serveWebSocket(w, r, principal)
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
		w.Header().Add("Vary", "Origin")
	}
	h.http.ServeHTTP(w, r)
}

// fromAllowedPlace checks the headers with which a page of another site cannot lie. It refuses the
// request if it reports false.
func (h *Handler) fromAllowedPlace(w http.ResponseWriter, r *http.Request) bool {
	err, option := webguard.CheckHost(r, h.opts.AllowedHosts), "the host in Options.AllowedHosts"
	if err == nil {
		err, option = webguard.CheckOrigin(r, h.opts.AllowedOrigins, h.opts.AllowedHosts), "the origin in Options.AllowedOrigins"
	}
	if err != nil {
		h.refusals.Log(h.log, slog.LevelWarn, "remote: refused a request: name "+option+" to serve it", "reason", err)
		webguard.Refuse(w, r, http.StatusForbidden)
	}
	return err == nil
}

// authorize returns the principal of a request. It is nil if there is no Authorize.
func (h *Handler) authorize(r *http.Request) (_ *Principal, err error) {
	if h.opts.Authorize == nil {
		if !webguard.LocalAddressIsLoopback(r) {
			h.refusals.Log(h.log, slog.LevelWarn, "remote: refused a request that did not arrive at a loopback address: set Options.Authorize to serve it")
			return nil, &stream.StatusError{Code: http.StatusForbidden}
		}
		return nil, nil
	}
	defer func() {
		if p := recover(); p != nil {
			h.refusals.Line(h.log, slog.LevelError, "remote: panic in Authorize", "panic", panics.Text(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("remote: Authorize panicked: %w", &stream.StatusError{Code: http.StatusInternalServerError})
		}
	}()
	p, err := h.opts.Authorize(r)
	if err == nil && (p == nil || p.ID == "") {
		err = errors.New("remote: Authorize returned no principal")
	}
	if err != nil {
		return nil, err
	}
	if revoked(p) {
		return nil, errRevoked
	}
	return p, nil
}

func revoked(p *Principal) bool {
	select {
	case <-p.Revoked:
		return true
	default:
		return false
	}
}

func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	code := http.StatusUnauthorized
	if status, ok := errors.AsType[*stream.StatusError](err); ok && status.Code >= 400 && status.Code < 600 {
		code = status.Code
	}
	h.refusals.Log(h.log, slog.LevelInfo, "remote: refused a request", "method", r.Method, "status", code, "reason", err)
	if code == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if code == http.StatusServiceUnavailable || code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	webguard.Refuse(w, r, code)
}

const exposedHeaders = "Acp-Connection-Id, Acp-Session-Id"

// preflight answers a request of CORS: a browser asks whether a page may use the server.
func (h *Handler) preflight(w http.ResponseWriter, r *http.Request) {
	if !h.fromAllowedPlace(w, r) {
		return
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, "+exposedHeaders)
	header.Set("Access-Control-Max-Age", "600")
	header.Add("Vary", "Origin")
	webguard.LimitResponse(w, r)
	w.WriteHeader(http.StatusNoContent)
}

func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

func (h *Handler) serveWebSocket(w http.ResponseWriter, r *http.Request, p *Principal) {
	ctx, e, done, err := h.reg.add(r.Context(), p)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	defer done()
	// The library checks Origin again, with the same list.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		MaxMessage:     h.opts.MaxMessage,
		AllowedOrigins: h.opts.AllowedOrigins,
		Instance:       h.opts.Instance,
	})
	if err != nil {
		h.refusals.Log(h.log, slog.LevelWarn, "remote: refused a WebSocket", "reason", err)
		return
	}
	h.reg.setConn(e, conn)
	// serving ends after the stream is closed, because serve would close the stream with another
	// code.
	serving, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = conn.CloseWith(endCode(ctx), "")
		end(context.Cause(ctx))
	})
	defer stop()
	code := 1011
	defer func() { _ = conn.CloseWith(code, ""); end(nil) }()
	err = h.run(serving, conn)
	h.ended(ctx, err)
	if err == nil {
		code = 1000
	}
}

// endCode returns the close code for a connection that ends because ctx is done.
func endCode(ctx context.Context) int {
	if errors.Is(context.Cause(ctx), errRevoked) {
		return 1008
	}
	return 1001
}

func owner(r *http.Request) string {
	if p, ok := PrincipalFrom(r.Context()); ok {
		return p.ID
	}
	return ""
}

// connect admits a connection of streamable HTTP.
func (h *Handler) connect(r *http.Request) (context.Context, func(), error) {
	p, _ := PrincipalFrom(r.Context())
	ctx, e, done, err := h.reg.add(context.WithoutCancel(r.Context()), p)
	if err != nil {
		return nil, nil, err
	}
	return context.WithValue(ctx, entryKey{}, e), done, nil
}

type entryKey struct{}

func (h *Handler) serveHTTPStream(ctx context.Context, s stream.Stream) error {
	h.reg.setConn(ctx.Value(entryKey{}).(*entry), s.(*streamhttp.Conn))
	err := h.run(ctx, s)
	h.ended(ctx, err)
	return err
}

// run calls serve. A panic ends only this connection, over either transport.
func (h *Handler) run(ctx context.Context, s stream.Stream) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = errPanic; p != http.ErrAbortHandler {
				h.log.Error("remote: panic in serve", "panic", panics.Text(p), "stack", string(debug.Stack()))
			}
		}
	}()
	return h.serve(ctx, s)
}

var errPanic = errors.New("remote: serve panicked")

func (h *Handler) ended(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		h.log.Info("remote: a connection failed", "error", err)
	}
}

// Shutdown refuses new connections, asks the others to let running turns end, and
// returns when all have ended. If ctx is done before that, Shutdown ends them and returns
// the cause. Call it before http.Server.Shutdown, which does not know WebSockets and
// waits for event streams.
func (h *Handler) Shutdown(ctx context.Context) error { return h.reg.shutDown(ctx) }

// Principal is the sender of a request.
type Principal struct {
	// ID names the principal. It must not be empty.
	ID string

	// Revoked, if not nil, is closed when the principal loses its rights. Its connections
	// end then.
	Revoked <-chan struct{}
}

type principalKey struct{}

// PrincipalFrom returns the principal that opened the connection of ctx.
// There is none if Options.Authorize is not set.
func PrincipalFrom(ctx context.Context) (*Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(*Principal)
	return p, ok
}

// BearerToken returns a function for Options.Authorize that accepts the requests whose
// Authorization header is "Bearer" and the secret. It accepts nothing if the secret is empty.
// All share the principal "bearer", and with it the limit of connections of one principal:
// set Options.MaxPrincipalConnections for more than 256.
func BearerToken(secret string) func(*http.Request) (*Principal, error) {
	return func(r *http.Request) (*Principal, error) {
		if secret == "" {
			return nil, errors.New("remote: the configured token is empty")
		}
		scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
		if !ok || !strings.EqualFold(scheme, "Bearer") || !EqualSecrets(token, secret) {
			return nil, errors.New("remote: the token is missing or wrong")
		}
		return &Principal{ID: "bearer"}, nil
	}
}

// EqualSecrets reports whether two secrets are equal, in a time that does not depend on
// how much of them is equal. Empty secrets are never equal.
func EqualSecrets(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}
