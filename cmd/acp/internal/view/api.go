package view

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

//go:embed page
var page embed.FS

// Server serves the page and its data. The first element of every path is the token.
type Server struct {
	// Token is secret. Whoever knows it sees the recording.
	Token string
	// Fixture returns the recording as a Go test.
	Fixture func() ([]byte, error)

	recording *Recording
	mux       *http.ServeMux
}

// NewServer returns a Server with a new token.
func NewServer(r *Recording, fixture func() ([]byte, error)) *Server {
	s := &Server{Token: rand.Text(), Fixture: fixture, recording: r, mux: http.NewServeMux()}
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // unreachable: the folder is embedded
	}
	s.mux.Handle("GET /", http.FileServerFS(files))
	s.mux.HandleFunc("GET /api/info", s.info)
	s.mux.HandleFunc("GET /api/plot", s.plot)
	s.mux.HandleFunc("GET /api/messages", s.messages)
	s.mux.HandleFunc("GET /api/message", s.message)
	s.mux.HandleFunc("GET /api/text", s.text)
	s.mux.HandleFunc("GET /api/state", s.state)
	s.mux.HandleFunc("GET /api/fixture", s.fixture)
	return s
}

// ServeHTTP serves requests from this machine that know the token. A page of another site can send
// requests too, and make its own name resolve to this machine, so the checks of Host and Origin
// come first.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
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
		if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, req.Host) {
			return false
		}
	}
	site := req.Header.Get("Sec-Fetch-Site") // which browsers set, and pages cannot change
	return site == "" || site == "same-origin" || site == "none"
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who has gone does not need it
}

func fail(w http.ResponseWriter, err error) {
	http.Error(w, "The recording cannot be read: "+err.Error(), http.StatusInternalServerError)
}

// number returns a parameter of the query, or other if there is none.
func number(req *http.Request, name string, other int) int {
	n, err := strconv.Atoi(req.FormValue(name))
	if err != nil {
		return other
	}
	return n
}

// sessionInfo describes a session in the list of sessions.
type sessionInfo struct {
	Conn     int    `json:"conn"`
	ID       string `json:"id"`
	Title    string `json:"title,omitempty"`
	Messages int    `json:"messages"`
	Faults   int    `json:"faults"`
}

func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	r := s.recording
	r.mu.RLock()
	defer r.mu.RUnlock()
	info := struct {
		Path     string         `json:"path"`
		Head     recording.Head `json:"head"`
		Messages int            `json:"messages"`
		Length   int64          `json:"length"` // microseconds
		Ended    bool           `json:"ended"`
		Damaged  string         `json:"damaged,omitempty"`
		Sessions []sessionInfo  `json:"sessions"`
		Methods  []string       `json:"methods"`
	}{Path: r.Path, Head: r.Head, Messages: len(r.entries), Length: r.length().Microseconds(), Ended: r.ended}
	if r.damaged != nil {
		info.Damaged = r.damaged.Error()
	}
	for _, of := range r.sessions {
		one := sessionInfo{of.conn, of.id, "", len(of.positions), of.faults}
		if of.played != nil {
			one.Title = of.played.thread.Snapshot().Title
		}
		info.Sessions = append(info.Sessions, one)
	}
	info.Methods = slices.DeleteFunc(slices.Sorted(slices.Values(r.names)), func(name string) bool { return name == "" })
	reply(w, info)
}

func (s *Server) plot(w http.ResponseWriter, req *http.Request) {
	reply(w, s.recording.plot(number(req, "session", -1)))
}

// rowsAtMost is how many messages one answer lists.
const rowsAtMost = 500

// messages answers with the messages that a filter chooses, from a place in the list: from says
// how many precede it, seq a message, time a time in microseconds.
func (s *Server) messages(w http.ResponseWriter, req *http.Request) {
	r := s.recording
	positions, err := r.choose(filter{
		number(req, "session", -1), req.FormValue("method"), req.FormValue("faults") == "1", strings.ToLower(req.FormValue("search")),
	})
	if err != nil {
		fail(w, err)
		return
	}
	from := number(req, "from", 0)
	r.mu.RLock()
	if seq := number(req, "seq", -1); seq >= 0 {
		pos, _ := r.find(uint64(seq))
		from, _ = slices.BinarySearch(positions, pos)
	}
	if micros := number(req, "time", -1); micros >= 0 {
		from, _ = slices.BinarySearchFunc(positions, time.Duration(micros)*time.Microsecond, func(pos int32, at time.Duration) int {
			if r.entries[pos].at <= at {
				return -1
			}
			return 1
		})
		from--
	}
	r.mu.RUnlock()
	place := max(0, min(from, len(positions)-1))
	from = max(0, min(place-number(req, "before", 0), len(positions)))
	to := min(from+max(0, min(number(req, "n", 100), rowsAtMost)), len(positions))
	rows, err := r.rows(positions[from:to])
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, map[string]any{"total": len(positions), "place": place, "from": from, "rows": rows})
}

// chosen returns the record that a request names.
func (s *Server) chosen(w http.ResponseWriter, req *http.Request) (int32, *recording.Record) {
	r := s.recording
	r.mu.RLock()
	pos, ok := r.find(uint64(max(0, number(req, "seq", 0))))
	r.mu.RUnlock()
	if !ok {
		http.Error(w, "The recording has no message with this number.", http.StatusNotFound)
		return 0, nil
	}
	_, e := r.row(pos)
	rec, err := r.record(&e)
	if err != nil {
		fail(w, err)
		return 0, nil
	}
	return pos, rec
}

func (s *Server) message(w http.ResponseWriter, req *http.Request) {
	pos, rec := s.chosen(w, req)
	if rec == nil {
		return
	}
	rw, _ := s.recording.row(pos)
	rw.ID, rw.Text = string(rec.ID), summary(rec)
	reply(w, map[string]any{"row": rw, "time": rec.Time, "conn": rec.Conn, "parts": format(rec)})
}

// text answers with a long text of a message, or with the whole message as it was sent.
func (s *Server) text(w http.ResponseWriter, req *http.Request) {
	_, rec := s.chosen(w, req)
	if rec == nil {
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	n := number(req, "fold", 0)
	if n == 0 {
		_, _ = w.Write(append(slices.Clip(rec.Raw), rec.Line...))
		return
	}
	text, ok := unfolded(rec, n)
	if !ok {
		http.NotFound(w, req)
		return
	}
	_, _ = w.Write([]byte(text))
}

// itemsAtMost is how many items of a session one answer has: the newest.
const itemsAtMost = 200

// state answers with what a user interface shows of a session after a message.
func (s *Server) state(w http.ResponseWriter, req *http.Request) {
	r := s.recording
	r.mu.RLock()
	pos, ok := r.find(uint64(max(0, number(req, "seq", 0))))
	n := number(req, "session", -1)
	var of *session
	if ok && n >= 0 && n < len(r.sessions) {
		of = r.sessions[n]
	}
	r.mu.RUnlock()
	if of == nil {
		http.Error(w, "The recording has no such session or message.", http.StatusNotFound)
		return
	}
	snapshot, err := r.stateAt(of, pos)
	if err != nil {
		fail(w, err)
		return
	}
	items := []any{}
	first := max(0, snapshot.Items.Len()-number(req, "n", itemsAtMost))
	for i := first; i < snapshot.Items.Len(); i++ {
		items = append(items, shorten(map[string]any{"index": i, "item": kindOf(snapshot.Items.At(i)), "value": snapshot.Items.At(i)}))
	}
	terminals := map[string]any{}
	for _, t := range snapshot.Terminals.All() {
		tail := t.Output[max(0, len(t.Output)-shownOfText):]
		terminals[t.ID] = map[string]any{"command": t.Command, "exit": t.Exit, "output": strings.ToValidUTF8(string(tail), "\uFFFD")}
	}
	rest := *snapshot
	rest.Items, rest.Terminals = thread.List[thread.Item]{}, thread.List[*thread.Terminal]{}
	reply(w, map[string]any{"items": items, "total": snapshot.Items.Len(), "terminals": terminals, "rest": shorten(&rest)})
}

func kindOf(item thread.Item) string {
	switch item.(type) {
	case *thread.Message:
		return "message"
	case *thread.ToolCall:
		return "tool call"
	case *thread.Notice:
		return "notice"
	case *thread.Compaction:
		return "compaction"
	case *thread.Subagent:
		return "subagent"
	case *thread.Dropped:
		return "dropped"
	}
	return "unknown"
}

// shownOfText is how much of a text the state contains.
const shownOfText = 4 << 10

// shorten returns a value as JSON in which the middle of long texts is left out.
func shorten(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return map[string]string{"item": "unknown", "error": err.Error()}
	}
	if len(b) <= shownOfText {
		return json.RawMessage(b)
	}
	var tree any
	_ = json.Unmarshal(b, &tree) // it was just written
	return cutTexts(tree)
}

func cutTexts(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > shownOfText { // an interface shows the end of a long message
			const head = shownOfText / 4
			tail := len(v) - (shownOfText - head)
			return strings.ToValidUTF8(v[:head], "") + "\n… " + plural(int64(tail-head), "byte") + " …\n" + strings.ToValidUTF8(v[tail:], "")
		}
	case []any:
		for i := range v {
			v[i] = cutTexts(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = cutTexts(v[name])
		}
	}
	return v
}

func (s *Server) fixture(w http.ResponseWriter, _ *http.Request) {
	text, err := s.Fixture()
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(text)
}
