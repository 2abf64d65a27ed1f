package defect

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// NetworkDefect is a way in which a server is wrong. It stands before a server that is right.
type NetworkDefect struct {
	Name  string
	Does  string
	Over  check.Kind // 0 means both
	Wrap  func(w http.ResponseWriter, r *http.Request, next http.Handler)
	Finds string // that of a [Defect]
}

// Network are the defects of servers.
var Network = []NetworkDefect{
	{Name: "no_connection_id", Does: "names no connection", Over: check.HTTP,
		Wrap:  changed(func(h http.Header, code int) int { h.Del("Acp-Connection-Id"); return code }),
		Finds: "AK-HTTP-001"},
	{Name: "answers_posts_with_200", Does: "answers every POST with 200", Over: check.HTTP,
		Wrap:  whenPost(false, status(http.StatusAccepted, http.StatusOK)),
		Finds: "AK-HTTP-002"},
	{Name: "forgives_unknown_connections", Does: "accepts messages of connections that do not exist", Over: check.HTTP,
		Wrap:  status(http.StatusNotFound, http.StatusAccepted),
		Finds: "AK-HTTP-003 AK-HTTP-008"},
	{Name: "takes_any_content", Does: "accepts POSTs of any type", Over: check.HTTP,
		Wrap: status(http.StatusUnsupportedMediaType, http.StatusAccepted), Finds: "AK-HTTP-004"},
	{Name: "takes_batches", Does: "accepts batches", Over: check.HTTP,
		Wrap: status(http.StatusNotImplemented, http.StatusAccepted), Finds: "AK-HTTP-005"},
	{Name: "streams_to_everyone", Does: "opens event streams for clients that do not accept them", Over: check.HTTP,
		Wrap: status(http.StatusNotAcceptable, http.StatusOK), Finds: "AK-HTTP-006"},
	{Name: "streams_twice", Does: "opens two event streams of one connection", Over: check.HTTP,
		Wrap: status(http.StatusConflict, http.StatusOK), Finds: "AK-HTTP-007"},
	{Name: "keeps_deleted_connections", Does: "answers DELETE and does nothing", Over: check.HTTP,
		Wrap: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodDelete {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			next.ServeHTTP(w, r)
		}, Finds: "AK-HTTP-008"},
	{Name: "ignores_session_header", Does: "does not compare the session of the header with that of the params", Over: check.HTTP,
		Wrap: whenPost(true, requests(func(r *http.Request) { r.Header.Del("Acp-Session-Id") })), Finds: "AK-HTTP-009"},
	{Name: "trusts_every_origin", Does: "serves pages of every origin",
		Wrap: requests(func(r *http.Request) { r.Header.Del("Origin") }), Finds: "AK-HTTP-010"},
	{Name: "trusts_every_host", Does: "serves under every host name",
		Wrap: requests(func(r *http.Request) { r.Host = "127.0.0.1" }), Finds: "AK-HTTP-011"},
	{Name: "needs_no_token", Does: "serves requests without a token",
		Wrap: requests(func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+Token) }), Finds: "AK-HTTP-012"},
	{Name: "silent_streams", Does: "sends no comments on event streams", Over: check.HTTP,
		Wrap: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(&silent{w}, r)
		}, Finds: "AK-HTTP-013"},
	{Name: "resumes_one_late", Does: "continues event streams one event too late", Over: check.HTTP,
		Wrap: requests(func(r *http.Request) {
			if last := r.Header.Get("Last-Event-Id"); last != "" {
				r.Header.Set("Last-Event-Id", increment(last))
			}
		}), Finds: "AK-HTTP-014"},
	{Name: "one_stream_for_all", Does: "sends what belongs to sessions on the event stream of the connection", Over: check.HTTP,
		Wrap: new(oneStream).serve, Finds: "AK-HTTP-015"},
	{Name: "binary_frames", Does: "sends its messages as binary frames", Over: check.WebSocket,
		Wrap: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(binaryHijacker{w}, r)
		}, Finds: "AK-WS-001"},
	{Name: "no_id_for_sockets", Does: "names no connection in the response to the handshake", Over: check.WebSocket,
		Wrap:  changed(func(h http.Header, code int) int { h.Del("Acp-Connection-Id"); return code }),
		Finds: "AK-WS-002"},
}

// Token is the token that the server before which defects stand asks for.
const Token = "acptest"

type wrapper func(w http.ResponseWriter, r *http.Request, next http.Handler)

// requests returns a wrapper that changes requests.
func requests(change func(r *http.Request)) wrapper {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r = r.Clone(r.Context())
		change(r)
		next.ServeHTTP(w, r)
	}
}

// whenPost returns a wrapper that has an effect on POSTs alone; if is session is set, on those that
// name a session.
func whenPost(session bool, wrap wrapper) wrapper {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodPost || session && r.Header.Get("Acp-Session-Id") == "" {
			next.ServeHTTP(w, r)
			return
		}
		wrap(w, r, next)
	}
}

// status returns a wrapper that replaces a status.
func status(from, to int) wrapper {
	return changed(func(_ http.Header, code int) int {
		if code == from {
			return to
		}
		return code
	})
}

// changed returns a wrapper that changes the headers and the status of responses.
func changed(change func(h http.Header, code int) int) wrapper {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&changer{ResponseWriter: w, change: change}, r)
	}
}

type changer struct {
	http.ResponseWriter
	change func(h http.Header, code int) int
	wrote  bool
}

func (c *changer) WriteHeader(code int) {
	c.wrote = true
	c.ResponseWriter.WriteHeader(c.change(c.Header(), code))
}

func (c *changer) Write(b []byte) (int, error) {
	if !c.wrote {
		c.WriteHeader(http.StatusOK)
	}
	return c.ResponseWriter.Write(b)
}

// Unwrap lets an http.ResponseController flush.
func (c *changer) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// silent drops comments.
type silent struct{ http.ResponseWriter }

func (s *silent) Write(b []byte) (int, error) {
	if strings.HasPrefix(string(b), ":") {
		return len(b), nil
	}
	return s.ResponseWriter.Write(b)
}

func (s *silent) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// increment adds one to the number at the end of an id.
func increment(id string) string {
	i := len(id) - 1
	for ; i >= 0 && id[i] == '9'; i-- {
		id = id[:i] + "0" + id[i+1:]
	}
	if i < 0 || id[i] < '0' || id[i] > '8' {
		return id[:i+1] + "1" + id[i+1:]
	}
	return id[:i] + string(id[i]+1) + id[i+1:]
}

// oneStream writes what goes to event streams of sessions to that of their connection.
type oneStream struct{ connections sync.Map } // of their ids to the writers of their event streams

func (o *oneStream) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.Method != http.MethodGet {
		next.ServeHTTP(w, r)
		return
	}
	id := r.Header.Get("Acp-Connection-Id")
	if r.Header.Get("Acp-Session-Id") == "" {
		shared := &sharedWriter{ResponseWriter: w}
		o.connections.LoadOrStore(id, shared)
		next.ServeHTTP(shared, r)
		shared.end()
		return
	}
	diverted := &divertedWriter{ResponseWriter: w}
	if to, ok := o.connections.Load(id); ok {
		diverted.to = to.(*sharedWriter)
	}
	next.ServeHTTP(diverted, r)
}

// sharedWriter is an event stream that others write to as well, until its own handler returns.
type sharedWriter struct {
	http.ResponseWriter

	mu    sync.Mutex // held while an event is written; guards ended
	ended bool
}

func (s *sharedWriter) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, http.ErrServerClosed
	}
	n, err := s.ResponseWriter.Write(b)
	return n, errors.Join(err, http.NewResponseController(s.ResponseWriter).Flush())
}

func (s *sharedWriter) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return http.NewResponseController(s.ResponseWriter).Flush()
}

func (s *sharedWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// divertedWriter is an event stream whose events go elsewhere.
type divertedWriter struct {
	http.ResponseWriter

	to *sharedWriter // nil means nowhere else
}

func (d *divertedWriter) Write(b []byte) (int, error) {
	if d.to != nil && strings.Contains(string(b), "data:") {
		return d.to.Write(b)
	}
	return d.ResponseWriter.Write(b)
}

func (d *divertedWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// binaryHijacker gives out network connections whose frames are binary.
type binaryHijacker struct{ http.ResponseWriter }

func (b binaryHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(b.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &binaryConn{Conn: conn}, rw, nil
}

func (b binaryHijacker) Unwrap() http.ResponseWriter { return b.ResponseWriter }

type binaryConn struct {
	net.Conn

	frames check.Frames
}

func (c *binaryConn) Write(p []byte) (int, error) { return c.Conn.Write(BinaryFrames(&c.frames, p)) }

// BinaryFrames returns a copy of what an end of a WebSocket sends with binary frames in place of text frames.
func BinaryFrames(f *check.Frames, p []byte) []byte {
	p = bytes.Clone(p)
	f.Begin(p, func(first *byte) {
		if *first&0x0f == 1 {
			*first++
		}
	})
	return p
}
