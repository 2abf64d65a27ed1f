package view

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/cmd/acp/internal/conversation"
	"github.com/acpkit/go-sdk/cmd/acp/internal/fixture"
	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/stream/safetext"
)

//go:embed page
var page embed.FS

// Server serves the page and its data. The first element of every path is the token.
type Server struct {
	// Token is secret. Whoever knows it sees the recording.
	Token string

	mux *http.ServeMux
}

// query is the parameters of a request.
type query struct{ url.Values }

// number returns a parameter, or other if there is none.
func (q query) number(name string, other int) int {
	n, err := strconv.Atoi(q.Get(name))
	if err != nil {
		return other
	}
	return n
}

// NewServer returns a Server with a new token.
func NewServer(r *Recording) *Server {
	s := &Server{rand.Text(), http.NewServeMux()}
	s.mux.Handle("GET /", conversation.Files(page))
	for name, answer := range map[string]func(query) (any, error){
		"info": r.info, "plot": r.traffic, "messages": r.messages, "message": r.message, "text": r.text, "lines": r.lines, "state": r.state,
		"fixture": func(query) (any, error) { return fixture.Write(r.Path, 0) },
	} {
		s.mux.HandleFunc("GET /api/"+name, func(w http.ResponseWriter, req *http.Request) {
			v, err := answer(query{req.URL.Query()})
			if err != nil {
				http.Error(w, err.Error(), http.StatusNotFound)
			} else if text, ok := v.(string); ok {
				w.Header().Set("Content-Type", "text/plain; charset=utf-8")
				_, _ = io.WriteString(w, text) // it fails only if the page has gone
			} else {
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(v)
			}
		})
	}
	return s
}

// ServeHTTP serves requests from this machine that know the token. A page of another site can send
// requests too, and make its own name resolve to this machine, so the checks of Host and Origin
// come first.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	conversation.SetHeaders(w.Header())
	token, rest, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	switch {
	case !isLoopback(req.Host):
		http.Error(w, "The page is served to this machine alone: open it by its address with 127.0.0.1, through ssh -L from elsewhere.", http.StatusForbidden)
	case !sameOrigin(req):
		http.Error(w, "The page does not answer requests of other sites.", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) != 1:
		http.Error(w, "The token is missing or wrong: open the address that acp view has printed.", http.StatusForbidden)
	default:
		req.URL.Path, req.URL.RawPath = "/"+rest, ""
		s.mux.ServeHTTP(w, req)
	}
}

// isLoopback reports whether a Host header names this machine, with any port.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback() || strings.EqualFold(host, "localhost")
}

// sameOrigin reports whether a request comes from the page itself, or from no page.
func sameOrigin(req *http.Request) bool {
	for _, origin := range req.Header.Values("Origin") {
		if !strings.EqualFold(origin, "http://"+req.Host) {
			return false
		}
	}
	site := req.Header.Get("Sec-Fetch-Site") // which browsers set, and pages cannot change
	return site == "" || site == "same-origin" || site == "none"
}

// sessionInfo describes a session in the list of sessions.
type sessionInfo struct {
	Conn     int    `json:"conn"`
	ID       string `json:"id"`
	Title    string `json:"title"` // without an ID: the name and version of the agent
	Messages int    `json:"messages"`
	Faults   int    `json:"faults"`
}

// sessionsAtMost is how many sessions the page lists.
const sessionsAtMost = 1000

func (r *Recording) info(query) (any, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	sessions := []sessionInfo{}
	for _, of := range r.sessions[:min(len(r.sessions), sessionsAtMost)] {
		title := of.played.thread.Snapshot().Title
		if of.id == "" {
			title = of.conn.agent
		}
		sessions = append(sessions, sessionInfo{of.conn.number, of.id, safetext.Label(title), len(of.positions), of.faults})
	}
	return map[string]any{
		"path": r.Path, "head": r.Head, "messages": len(r.entries), "faults": r.all.faults, "length": r.length, "ended": r.ended, "damaged": r.damaged,
		"sessions": sessions, "kinds": maps.Clone(r.kinds), "errors": r.errors, "crash": r.crash, "crashed": r.crashed,
	}, nil
}

// of returns the session that a request names, or the one that stands for all.
func (r *Recording) of(q query) *session {
	if n := q.number("session", -1); n >= 0 && n < len(r.sessions) {
		return r.sessions[n]
	}
	return &r.all
}

func (r *Recording) traffic(q query) (any, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.plot(r.of(q)), nil
}

// rowsAtMost is how many messages one answer lists.
const rowsAtMost = 500

// messages answers with a chunk of n messages of the list that the filter leaves. The chunk is the one
// with the place that the request asks for: from is the place itself, seq the number of a message, time
// a time in microseconds.
func (r *Recording) messages(q query) (any, error) {
	f, err := r.filter(q)
	if err != nil {
		return nil, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	f.session = r.of(q)
	positions, messages := r.choose(f)
	from := q.number("from", 0)
	if seq := q.number("seq", -1); seq >= 0 {
		pos, ok := r.find(uint64(seq))
		if ok && f.isFolded(r, &r.entries[pos], pos) {
			pos = r.entries[pos].first
		}
		from, _ = slices.BinarySearch(positions, pos)
	}
	if time := int64(q.number("time", -1)); time >= 0 {
		from = sort.Search(len(positions), func(i int) bool { return r.entries[positions[i]].At > time }) - 1
	}
	place := max(0, min(from, len(positions)-1))
	n := max(1, min(q.number("n", 100), rowsAtMost))
	from = place / n * n
	rows, err := r.rows(positions[from:min(from+n, len(positions))], f)
	return map[string]any{"total": len(positions), "messages": messages, "place": place, "from": from, "rows": rows}, err
}

// filter returns the filter that a request names, without its session.
func (r *Recording) filter(q query) (*filter, error) {
	f := &filter{what: q.Get("what"), dir: recording.Dir(q.Get("dir")), only: q.Get("only"), folded: q.Get("folded") == "1", open: map[uint64]bool{}}
	for seq := range strings.SplitSeq(q.Get("open"), ",") {
		n, _ := strconv.ParseUint(seq, 10, 64) // 0 is no number of a message
		f.open[n] = true
	}
	if text := q.Get("search"); text != "" {
		var err error
		if f.hits, err = r.search(strings.ToLower(text)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// linesAtMost is how much is copied at once.
const linesAtMost = 32 << 20

// lines answers with all messages of a filter as they were sent, each on a line.
func (r *Recording) lines(q query) (any, error) {
	f, err := r.filter(q)
	if err != nil {
		return nil, err
	}
	f.folded = false
	r.mu.RLock()
	defer r.mu.RUnlock()
	f.session = r.of(q)
	var b strings.Builder
	positions, _ := r.choose(f)
	for _, pos := range positions {
		rec, err := r.record(&r.entries[pos])
		switch {
		case err != nil:
			return nil, err
		case rec.Raw == nil: // it is no message
			continue
		case b.Len()+len(rec.Raw) > linesAtMost:
			return nil, fmt.Errorf("the messages are longer than %d MiB: choose fewer, or copy the file %s", linesAtMost>>20, r.Path)
		}
		b.Write(append(rec.Raw, '\n'))
	}
	return b.String(), nil
}

var errNothing = errors.New("the recording has no such message, text or session")

// chosen returns the entry that a request names, and its record.
func (r *Recording) chosen(q query) (e *entry, rec *recording.Record, err error) {
	pos, ok := r.find(uint64(max(0, q.number("seq", 0))))
	if !ok {
		return nil, nil, errNothing
	}
	e = &r.entries[pos]
	rec, err = r.record(e)
	return e, rec, err
}

func (r *Recording) message(q query) (any, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, rec, err := r.chosen(q)
	if err != nil {
		return nil, err
	}
	one := e.row
	one.ID = string(rec.ID)
	return map[string]any{"row": one, "time": rec.Time, "parts": format(rec)}, nil
}

// pieceOfText is how much of a long text one answer has.
const pieceOfText = 256 << 10

// text answers with a piece of a long text of a message and where the next one begins, 0 for none; or with
// the whole message as it was sent.
func (r *Recording) text(q query) (any, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, rec, err := r.chosen(q)
	n := q.number("fold", 0)
	if err != nil || n == 0 {
		return fmt.Sprintf("%s%s", rec.Raw, rec.Line), err
	}
	text, ok := unfolded(rec, n)
	from := q.number("from", 0)
	if !ok || from < 0 || from > len(text) {
		return nil, errNothing
	}
	next := min(from+pieceOfText, len(text))
	for next < len(text) && next > from && !utf8.RuneStart(text[next]) {
		next--
	}
	answer := map[string]any{"text": text[from:next], "next": next, "left": len(text) - next}
	if next == len(text) {
		answer["next"] = 0
	}
	return answer, nil
}

// shape is that of a whole state, which the page draws again after each message.
var shape = conversation.Shape{Text: 4 << 10, Bytes: 2 << 20}

// state answers with what a user interface shows of a session after a message.
func (r *Recording) state(q query) (any, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	pos, ok := r.find(uint64(max(0, q.number("seq", 0))))
	of := r.of(q)
	if !ok || of == &r.all {
		return nil, errNothing
	}
	snapshot, err := r.stateAt(of, pos)
	if err != nil {
		return nil, err
	}
	return shape.Newest(snapshot, q.number("n", conversation.Items)), nil
}
