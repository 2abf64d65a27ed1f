package view

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

var began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// script builds a recording: > the client sends, < the agent sends, each a millisecond later.
func script(lines ...string) string {
	var b strings.Builder
	write := func(v any) {
		line, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
	}
	write(recording.Head{ACP: "recording", Format: recording.Format, Version: "test", Command: []string{"an-agent"}, Started: began})
	for i, line := range lines {
		write(record(uint64(i+1), line))
	}
	return b.String()
}

func record(seq uint64, line string) *recording.Record {
	rec := &recording.Record{Seq: seq, Time: began.Add(time.Duration(seq) * time.Millisecond), Dir: recording.Client, Conn: 1, Kind: recording.Invalid}
	if line[0] == '<' {
		rec.Dir = recording.Agent
	}
	text := line[2:]
	var m struct {
		ID             json.RawMessage
		Method         string
		Params, Result struct{ SessionID string }
	}
	if text[0] != '{' {
		rec.Line = text
		return rec
	}
	text = `{"jsonrpc":"2.0",` + text[1:]
	_ = json.Unmarshal([]byte(text), &m)
	rec.Raw, rec.ID, rec.Method, rec.Session = json.RawMessage(text), m.ID, m.Method, m.Params.SessionID+m.Result.SessionID
	switch {
	case m.Method == "":
		rec.Kind = recording.Response
	case m.ID == nil:
		rec.Kind = recording.Notification
	default:
		rec.Kind = recording.Request
	}
	return rec
}

// turn is a conversation with one turn.
var turn = []string{
	`> {"id":1,"method":"initialize","params":{"protocolVersion":1}}`,
	`< {"id":1,"result":{"protocolVersion":1}}`,
	`> {"id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
	`< {"id":2,"result":{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"}]}}}`,
	`> {"id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Fix it"}]}}`,
	`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Let me "}}}}`,
	`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"look."}}}}`,
	`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"Edit","status":"in_progress"}}}`,
	`< {"id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}`,
	`> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`,
	`< {"id":3,"result":{"stopReason":"end_turn"}}`,
	`< {"id":8,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/f"}}`,
	`> {"id":8,"error":{"code":-32601,"message":"Method not found","data":{"errorId":"abc"}}}`,
	`< some banner`,
}

func save(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// opened returns a recording that was read to its end.
func opened(t testing.TB, text string) *Recording {
	t.Helper()
	r, err := Open(save(t, text))
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	require.NoError(t, r.Read(t.Context(), nil))
	return r
}

// site serves a recording.
type site struct {
	*Server
	t testing.TB
}

func newSite(t testing.TB, r *Recording) site {
	return site{NewServer(r), t}
}

func (s site) do(path string, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest("GET", "http://127.0.0.1:4711/"+path, nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w
}

// get decodes the answer of the API.
func get[T any](s site, path string) (v T) {
	s.t.Helper()
	w := s.do(s.Token + "/api/" + path)
	require.Equal(s.t, http.StatusOK, w.Code, w.Body.String())
	require.NoError(s.t, json.Unmarshal(w.Body.Bytes(), &v), w.Body.String())
	return v
}

type answer struct {
	Total, Place, From int
	Rows               []row
}

func (a answer) seqs() (seqs []uint64) {
	for _, r := range a.Rows {
		seqs = append(seqs, r.Seq)
	}
	return seqs
}

func TestOnlyTheUserOfThisMachineSeesTheRecording(t *testing.T) {
	s := newSite(t, opened(t, script(turn...)))
	for name, c := range map[string]struct {
		path   string
		header []string
		code   int
	}{
		"the page":                        {s.Token + "/", nil, 200},
		"its script":                      {s.Token + "/page.js", nil, 200},
		"its data":                        {s.Token + "/api/info", []string{"Origin", "http://127.0.0.1:4711", "Sec-Fetch-Site", "same-origin"}, 200},
		"through ssh -L":                  {s.Token + "/api/info", []string{"Host", "localhost:8000", "Origin", "http://localhost:8000"}, 200},
		"IPv6":                            {s.Token + "/api/info", []string{"Host", "[::1]:8000"}, 200},
		"no token":                        {"api/info", nil, 403},
		"the page without token":          {"", nil, 403},
		"a wrong token":                   {strings.Repeat("A", len(s.Token)) + "/api/info", nil, 403},
		"a longer token":                  {s.Token + "A/api/info", nil, 403},
		"the page of another site":        {s.Token + "/api/info", []string{"Origin", "https://evil.example"}, 403},
		"a page of another local program": {s.Token + "/api/info", []string{"Origin", "http://127.0.0.1:3000"}, 403},
		"a page with a path":              {s.Token + "/api/info", []string{"Origin", "http://127.0.0.1:4711/x"}, 403},
		"a page with a user":              {s.Token + "/api/info", []string{"Origin", "http://user@127.0.0.1:4711"}, 403},
		"a page of another scheme":        {s.Token + "/api/info", []string{"Origin", "ftp://127.0.0.1:4711"}, 403},
		"no origin to speak of":           {s.Token + "/api/info", []string{"Origin", "null"}, 403},
		"a picture in another site":       {s.Token + "/api/info", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a name that resolves to here":    {s.Token + "/api/info", []string{"Host", "evil.example:4711"}, 403},
		"outside the page's folder":       {s.Token + "/%2e%2e/view.go", nil, 307},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.do(c.path, c.header...)
			assert.Equal(t, c.code, w.Code, w.Body.String())
			assert.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
			if c.code == 403 {
				assert.NotContains(t, w.Body.String(), s.Token)
				assert.Regexp(t, `^The .*\.\n$`, w.Body.String())
			}
		})
	}
	req := httptest.NewRequest("POST", "http://127.0.0.1:4711/"+s.Token+"/api/info", nil)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

func TestMessagesAreJoinedAndMarked(t *testing.T) {
	s := newSite(t, opened(t, script(turn...)))
	all := get[answer](s, "messages")
	require.Equal(t, len(turn), all.Total)
	response := all.Rows[10]
	assert.Equal(t, "session/prompt", response.Method)
	assert.EqualValues(t, 5, response.Pair)
	assert.EqualValues(t, 6000, *response.Latency, "microseconds")
	assert.EqualValues(t, 11, all.Rows[4].Pair)
	assert.EqualValues(t, 1, all.Rows[4].Session, "the response belongs to the session of its request")
	assert.Equal(t, all.Rows[4].Session, response.Session)
	assert.Equal(t, "Fix it", all.Rows[4].Text)
	assert.Equal(t, "Ask sessionId s currentModeId ask", all.Rows[3].Text)
	assert.Equal(t, "look.", all.Rows[6].Text)
	assert.Equal(t, "Edit in_progress toolCallId t", strings.TrimPrefix(all.Rows[7].Text, "tool_call "))
	assert.Equal(t, "code -32601 Method not found errorId abc", all.Rows[12].Text)
	assert.True(t, all.Rows[12].Failed)

	assert.Equal(t, "open-tool-call", response.Faults[0].Rule)
	assert.Equal(t, "capability", all.Rows[11].Faults[0].Rule)
	assert.Equal(t, "message", all.Rows[13].Faults[0].Rule)
	assert.Equal(t, []uint64{11, 12, 14}, get[answer](s, "messages?only=faults").seqs())
	assert.Equal(t, []uint64{11}, get[answer](s, "messages?only=faults&what=session/prompt").seqs())
	assert.Equal(t, []uint64{6, 7}, get[answer](s, "messages?what=agent_message_chunk").seqs())
	assert.Equal(t, []uint64{1, 2, 3, 14}, get[answer](s, "messages?session=0").seqs())
	assert.Equal(t, []uint64{7}, get[answer](s, "messages?search=LOOK").seqs())
	assert.Equal(t, []uint64{14}, get[answer](s, "messages?search=banner").seqs())
	assert.Empty(t, get[answer](s, "messages?what=nothing").Rows)

	at := get[answer](s, "messages?what=agent_message_chunk&seq=7&n=2")
	assert.Equal(t, []uint64{6, 7}, at.seqs())
	assert.Equal(t, 1, at.Place)
	assert.Equal(t, []uint64{8}, get[answer](s, "messages?what=tool_call&seq=8&n=2").seqs(), "the chunk that has it")
	assert.Equal(t, []uint64{5}, get[answer](s, "messages?time=5500&n=1").seqs(), "the last one before a time")
	end := get[answer](s, "messages?from=1000&n=5")
	assert.Equal(t, []uint64{11, 12, 13, 14}, end.seqs())
	assert.Equal(t, 13, end.Place)

	info := get[struct {
		Messages int
		Ended    bool
		Sessions []sessionInfo
		Kinds    map[string]int
	}](s, "info")
	assert.Equal(t, 14, info.Messages)
	assert.True(t, info.Ended)
	assert.Equal(t, []sessionInfo{{1, "", "", 4, 1}, {1, "s", "", 10, 3}}, info.Sessions)
	assert.Equal(t, 2, info.Kinds["session/request_permission"])

	p := get[plot](s, "plot")
	assert.Equal(t, 5, total(p.Client))
	assert.Equal(t, 9, total(p.Agent))
	assert.Equal(t, 4, total(p.Faults))
	assert.Equal(t, 3, total(get[plot](s, "plot?session=1").Client))

	assert.Contains(t, s.do(s.Token+"/api/fixture").Body.String(), "// TestRecording plays both ends of a.jsonl.")
}

func total(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

func TestStateIsThatOfTheChosenMessage(t *testing.T) {
	r := opened(t, script(turn...))
	of := r.sessions[1]
	items := func(pos int32) string {
		t.Helper()
		s, err := r.stateAt(of, pos)
		require.NoError(t, err)
		var b strings.Builder
		for _, item := range s.Items.All() {
			switch item := item.(type) {
			case *thread.Message:
				fmt.Fprintf(&b, "%s: %s; ", item.Role, item.Text())
			case *thread.ToolCall:
				fmt.Fprintf(&b, "tool %s ended %v; ", item.Status, item.Ended)
			}
		}
		return b.String() + fmt.Sprintf("%s, %d asked", s.Turn.State, len(s.Permissions))
	}
	assert.Equal(t, ", 0 asked", items(2))
	assert.Equal(t, "user: Fix it; running, 0 asked", items(4))
	assert.Equal(t, "user: Fix it; agent: Let me ; running, 0 asked", items(5))
	assert.Equal(t, "user: Fix it; agent: Let me look.; running, 0 asked", items(6))
	assert.Equal(t, "user: Fix it; agent: Let me look.; tool in_progress ended false; running, 1 asked", items(8))
	assert.Equal(t, "user: Fix it; agent: Let me look.; tool in_progress ended false; running, 0 asked", items(9))
	assert.Equal(t, "user: Fix it; agent: Let me look.; tool in_progress ended true; idle, 0 asked", items(10))

	s := newSite(t, r)
	state := get[struct {
		Items []struct{ Item string }
		Total int
		Rest  struct{ Modes struct{ Current string } }
	}](s, "state?session=1&seq=9&n=2")
	assert.Equal(t, 3, state.Total)
	assert.Equal(t, "ToolCall", state.Items[1].Item)
	assert.Equal(t, "ask", state.Rest.Modes.Current)
	assert.Equal(t, 404, s.do(s.Token+"/api/state?session=9&seq=1").Code)
}

// The state at any message is the same whether it comes from the nearest checkpoint or from playing
// all messages before it: for the recorded conversations, with a checkpoint behind every message.
func TestStateFromEveryCheckpoint(t *testing.T) {
	files, err := filepath.Glob("../../../../internal/recordings/transcripts*/*.jsonl")
	require.NoError(t, err)
	states := 0
	for _, file := range files {
		r := opened(t, recorded(t, file))
		for _, of := range r.sessions {
			version := of.conn.version
			if of.id == "" || len(of.positions) > 150 {
				continue
			}
			whole := newPlayer()
			for _, pos := range of.positions {
				e := r.entries[pos]
				rec, err := r.record(&e)
				require.NoError(t, err)
				m := parse(rec)
				half := whole.save().resume()
				whole.apply(version, &e.row, &m)
				half.apply(version, &e.row, &m)
				want, got := whole.thread.Snapshot(), half.thread.Snapshot()
				assert.Equal(t, comparable(t, want), comparable(t, got), "%s, message %d", file, e.Seq)
				states++
			}
		}
	}
	assert.Greater(t, states, 500)
}

// Of the agents in use in November 2026 the page shows what their command has printed, or why it did not run, at the
// end of each conversation, whichever form they have chosen for it.
func TestOutputOfAgentsIsShown(t *testing.T) {
	for name, want := range map[string]string{
		"chat-claude.work": "shell-says-hi", "chat-codex.work": "shell-says-hi", "chat-copilot.work": "shell-says-hi", "chat-gemini.work": "shell-says-hi",
		"chat-goose.load": "shell-says-hi", "chat-opencode.work": "shell-says-hi", "zedcodex.perm-yes": "shell-says-hi",
		"claude.perm-no": "User refused permission to run tool", "chat-copilot.deny": "Path already exists", "chat-zedcodex.work": "thread 'main'",
	} {
		r := opened(t, recorded(t, "../../../../internal/recordings/transcripts-november/"+name+".jsonl"))
		s := newSite(t, r)
		shown := ""
		for i, of := range r.sessions {
			if of.id == "" {
				continue
			}
			last := r.entries[of.positions[len(of.positions)-1]].Seq
			b, err := json.Marshal(get[map[string]any](s, fmt.Sprintf("state?session=%d&seq=%d", i, last)))
			require.NoError(t, err)
			shown += string(b)
		}
		shown = strings.ReplaceAll(shown, "echo shell-says-hi", "") // the command itself
		assert.Contains(t, shown, want, name)
	}
}

// comparable returns a snapshot as JSON, without what counts within a thread.
func comparable(t *testing.T, s *thread.Snapshot) string {
	c := *s
	c.Revision = 0
	c.Permissions = append([]thread.Permission(nil), c.Permissions...)
	for i := range c.Permissions {
		c.Permissions[i].Key = 0
	}
	c.Queued = append([]thread.Queued(nil), c.Queued...)
	for i := range c.Queued {
		c.Queued[i].Key = 0
	}
	b, err := json.Marshal(&c)
	require.NoError(t, err)
	return string(b)
}

// recorded returns a recorded conversation as a recording.
func recorded(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var lines []string
	for line := range bytes.Lines(b) {
		var l struct{ Dir, Raw string }
		require.NoError(t, json.Unmarshal(line, &l))
		arrow := map[string]string{"send": "> ", "recv": "< "}[l.Dir]
		var members map[string]json.RawMessage
		if arrow == "" || json.Unmarshal([]byte(l.Raw), &members) != nil {
			continue
		}
		delete(members, "jsonrpc")
		raw, err := json.Marshal(members)
		require.NoError(t, err)
		lines = append(lines, arrow+string(raw))
	}
	return script(lines...)
}

// What masking has changed is no fault of a peer.
func TestMaskedMessagesBreakNoSchema(t *testing.T) {
	bad := `> {"id":5,"method":"session/prompt","params":{"sessionId":"s","prompt":"masked"}}`
	assert.Equal(t, []uint64{5}, get[answer](newSite(t, opened(t, script(append(turn[:4:4], bad)...))), "messages?only=faults&what=session/prompt").seqs()[:1])
	text := script(append(turn[:4:4], bad)...)
	text = strings.Replace(text, `"seq":5,`, `"seq":5,"masked":true,`, 1)
	rows := get[answer](newSite(t, opened(t, text)), "messages?seq=5&n=1").Rows
	assert.True(t, rows[0].Masked)
	require.Len(t, rows[0].Faults, 1)
	assert.Equal(t, "unanswered", rows[0].Faults[0].Rule)
}

func TestLongMessagesAreFolded(t *testing.T) {
	long := strings.Repeat("ä\n", 1<<19)
	quoted, _ := json.Marshal(long)
	s := newSite(t, opened(t, script(
		`> {"id":1,"method":"_x","params":{"n":12345678901234567890,"text":`+string(quoted)+`,"list":["short"]}}`,
		`< `+strings.Repeat("junk ", 1000),
		`< {"id":1,"result":[`+strings.Repeat("1,", 600_000)+`1]}`,
	)))
	m := get[struct{ Parts []part }](s, "message?seq=1")
	require.Len(t, m.Parts, 3)
	assert.Contains(t, m.Parts[0].Text, `"n": 12345678901234567890`)
	assert.Less(t, len(m.Parts[1].Text), 200)
	assert.Equal(t, len(quoted)-2, m.Parts[1].Size)
	assert.Contains(t, m.Parts[2].Text, `"short"`)
	assert.Equal(t, long, unfold(s, 1))
	assert.Equal(t, 404, s.do(s.Token+"/api/text?seq=1&fold=2").Code)

	m = get[struct{ Parts []part }](s, "message?seq=2")
	assert.Equal(t, 1, m.Parts[1].Fold)
	assert.Equal(t, strings.Repeat("junk ", 1000), unfold(s, 2))
	assert.Less(t, s.do(s.Token+"/api/message?seq=3").Body.Len(), 3<<20, "of 4 MiB when it is indented")
	assert.Equal(t, 404, s.do(s.Token+"/api/message?seq=4").Code)
}

// counted is a file that counts its reads.
type counted struct {
	io.ReaderAt
	reads atomic.Int64
}

func (c *counted) ReadAt(b []byte, offset int64) (int, error) {
	c.reads.Add(1)
	return c.ReaderAt.ReadAt(b, offset)
}

// A session that streams 100 000 chunks in one turn, and is looked at anywhere.
func TestJumpsInALongRecording(t *testing.T) {
	text := []byte(script(turn[:5]...))
	for i := range 100_000 {
		text = fmt.Appendf(text, `{"seq":%d,"time":"2026-11-20T10:%02d:%02d.%03dZ","dir":"agent","conn":1,"session":"s","kind":"notification","method":"session/update",`+
			`"raw":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word %d "}}}}}`+"\n",
			i+6, i/60_000, i/1000%60, i%1000, i)
	}
	path := save(t, string(text))
	r, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	require.NoError(t, r.Read(t.Context(), nil))
	s := newSite(t, r)
	file := &counted{ReaderAt: r.file}
	r.file = file
	for _, seq := range []int{6, 1999, 2000, 2001, 50_123, 77_777, 99_999, 100_005} {
		file.reads.Store(0)
		rows := get[answer](s, fmt.Sprintf("messages?session=1&seq=%d&n=100", seq))
		state := s.do(fmt.Sprintf("%s/api/state?session=1&seq=%d", s.Token, seq))
		assert.LessOrEqual(t, file.reads.Load(), int64(checkpointEvery+200), "the messages since the snapshot before, and the rows")
		assert.EqualValues(t, seq, rows.Rows[rows.Place-rows.From].Seq)
		snapshot, err := r.stateAt(r.sessions[1], int32(seq-1))
		require.NoError(t, err)
		text := snapshot.Items.At(1).(*thread.Message).Text()
		assert.True(t, strings.HasSuffix(text, fmt.Sprintf("word %d ", seq-6)), "%d: %.50s", seq, text[max(0, len(text)-50):])
		assert.Less(t, state.Body.Len(), 64<<10)
	}
	assert.Equal(t, []uint64{50_006}, get[answer](s, "messages?search=word+50000+").seqs())
}

func TestTextForATerminal(t *testing.T) {
	show := func(text string) string {
		r, err := Open(save(t, text))
		require.NoError(t, err)
		defer r.Close()
		var out bytes.Buffer
		require.NoError(t, Text(t.Context(), &out, r))
		return out.String()
	}
	out := show(script(turn...))
	assert.Contains(t, out, "     1      0.001 -> initialize id 1  protocolVersion 1\n")
	assert.Contains(t, out, "    11      0.011 <- session/prompt responded after 6ms id 3  end_turn\n                     notable open-tool-call: The turn ended")
	assert.True(t, strings.HasSuffix(out, "14 records, 4 faults\n"), out)

	hostile := "\x1b[2J\u202egnp\u2028\u009b31m"
	quoted, _ := json.Marshal(hostile)
	out = show(script(turn[0], `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":`+string(quoted)+`}}}}`, "< "+hostile))
	for _, c := range "\x1b\u202e\u2028\u009b" {
		assert.NotContains(t, out, string(c))
	}
	torn := script(turn...)
	assert.Contains(t, show(torn+torn[strings.Index(torn, "\n")+1:]), "14 records, 4 faults; record 1 is out of order")
	assert.Contains(t, show(torn[:len(torn)-20]), "13 records", "the torn last line is left out")
	assert.Contains(t, show(strings.Replace(torn, `{"seq":5,`, `{"seq":`, 1)), "13 records, 2 faults; line 6 of the recording is damaged")
}

func TestBadInputGetsASentence(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	taken := httptest.NewServer(nil)
	defer taken.Close()
	port, err := strconv.Atoi(taken.URL[strings.LastIndex(taken.URL, ":")+1:])
	require.NoError(t, err)
	for name, c := range map[string]struct {
		file string
		port int
		want string
	}{
		"no recording yet": {"", 0, `there is no recording in .*: make one with acp tap, or name a file`},
		"no such file":     {"/nowhere/x.jsonl", 0, `/nowhere/x.jsonl: no such file or directory: acp recordings lists those`},
		"a folder":         {t.TempDir(), 0, `this is no recording of acp tap: acp recordings lists those`},
		"another file":     {save(t, "hello\n"), 0, `this is no recording of acp tap`},
		"an empty file":    {save(t, ""), 0, `this is no recording of acp tap`},
		"a newer version":  {save(t, strings.Replace(script(), `"format":1`, `"format":9`, 1)), 0, `install a newer acp`},
		"a port in use":    {save(t, script(turn...)), port, `cannot be served on port \d+: .*choose another port with -port`},
	} {
		t.Run(name, func(t *testing.T) {
			err := Run(t.Context(), c.file, Options{Port: c.port}, io.Discard, io.Discard)
			require.Error(t, err)
			assert.Regexp(t, c.want, err.Error())
		})
	}
}

// running serves a recording. It returns the address, and a function that ends it.
func running(t *testing.T, opts Options, said io.Writer) (address string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, save(t, script(turn...)), opts, in, said) }() // ends with ctx
	b := make([]byte, 1000)
	n, err := out.Read(b)
	require.NoError(t, err)
	go io.Copy(io.Discard, out) // ends with end
	return strings.Split(string(b[:n]), "\n")[1], func() {
		cancel()
		require.NoError(t, <-ended)
		out.Close()
	}
}

func TestRunServesUntilItsContextEnds(t *testing.T) {
	address, end := running(t, Options{}, io.Discard)
	res, err := http.Get(address + "api/info")
	require.NoError(t, err)
	res.Body.Close()
	assert.Equal(t, 200, res.StatusCode)
	res, err = http.Get(address)
	require.NoError(t, err)
	page, _ := io.ReadAll(res.Body)
	res.Body.Close()
	assert.Contains(t, string(page), "page.js")
	end()
}

// -open hands the address to the program that each system has for that, and says so if there is none.
// The browser is given a page of the user's own that leads to the address, because every user of the
// machine sees the arguments of programs.
func TestOpen(t *testing.T) {
	address := "/tmp/a/recording.html"
	for system, want := range map[string]string{
		"linux": "xdg-open " + address, "freebsd": "xdg-open " + address, "darwin": "open " + address,
		"windows": "rundll32 url.dll,FileProtocolHandler " + address,
	} {
		assert.Equal(t, want, strings.Join(opener(system, address).Args, " "))
	}
	if runtime.GOOS != "linux" {
		t.Skip("this system does not use xdg-open, which the test replaces")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	program := "#!/bin/sh\n(echo \"$@\"; /bin/ls -ld ${1%/*} $1; /bin/cat $1) >" + dir + "/part\n/bin/mv " + dir + "/part " + dir + "/asked\n"
	var said strings.Builder
	show := func() (address string) {
		said.Reset()
		address, end := running(t, Options{Open: true}, &said)
		if program != "" {
			require.Eventually(t, func() bool { _, err := os.Stat(dir + "/asked"); return err == nil }, time.Minute, time.Millisecond)
		}
		end()
		return address
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(program), 0o755))
	shown := show()
	asked, err := os.ReadFile(dir + "/asked")
	require.NoError(t, err)
	lines := strings.Split(string(asked), "\n")
	assert.Regexp(t, `^/\S+/recording\.html$`, lines[0])
	assert.Regexp(t, `^drwx------`, lines[1])
	assert.Regexp(t, `^-rw-------`, lines[2])
	assert.Contains(t, lines[3], "url="+shown+`"`)
	assert.NoFileExists(t, lines[0], "it goes with the program")
	assert.Empty(t, said.String())

	require.NoError(t, os.Remove(filepath.Join(dir, "xdg-open")))
	program = ""
	show()
	assert.Contains(t, said.String(), "the browser cannot be started: ")
	assert.Contains(t, said.String(), "open the address above")
}

// The page draws the whole state after each message, so that one is bounded whatever a peer has sent.
func TestTheStateIsBounded(t *testing.T) {
	block := `{"type":"content","content":{"type":"text","text":"` + strings.Repeat("x", 300) + `"}}`
	blocks := strings.Repeat(block+",", 999) + block
	entries := strings.Repeat(`{"content":"c","priority":"low","status":"pending"},`, 4999) + `{"content":"last","priority":"low","status":"pending"}`
	update := func(body string) string {
		return `< {"method":"session/update","params":{"sessionId":"s","update":{` + body + `}}}`
	}
	all := append(slices.Clone(turn[:5]),
		update(`"sessionUpdate":"session_info_update","title":"`+strings.Repeat("t", 1<<20)+`"`),
		update(`"sessionUpdate":"plan","entries":[`+entries+`]`))
	for i := range 60 {
		all = append(all, update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"t%d","title":"%s","content":[%s]`, i, strings.Repeat("t", 10_000), blocks)))
	}
	s := newSite(t, opened(t, script(all...)))
	answer := s.do(s.Token + "/api/state?session=1&seq=" + fmt.Sprint(len(all))).Body.Bytes()
	assert.Less(t, len(answer), 4<<20)
	var state struct {
		Items []struct {
			Value struct{ Content []struct{ Type string } }
		}
		Total int
		Rest  struct {
			Plans []struct{ Entries []struct{ Content string } }
		}
	}
	require.NoError(t, json.Unmarshal(answer, &state))
	assert.Equal(t, 61, state.Total)
	assert.Less(t, len(state.Items), 61)
	last := state.Items[len(state.Items)-1].Value.Content
	assert.Len(t, last, 101)
	assert.Equal(t, "900 earlier ones are left out", last[0].Type)
	plan := state.Rest.Plans[0].Entries
	assert.Equal(t, []string{"4900 earlier ones are left out", "last"}, []string{plan[0].Content, plan[100].Content})
	assert.Less(t, s.do(s.Token+"/api/info").Body.Len(), 4<<10)
}

// unfold reads the first long text of a message in its pieces.
func unfold(s site, seq int) (text string) {
	s.t.Helper()
	for from := 0; ; {
		piece := get[struct {
			Text       string
			Next, Left int
		}](s, fmt.Sprintf("text?seq=%d&fold=1&from=%d", seq, from))
		require.LessOrEqual(s.t, len(piece.Text), pieceOfText)
		text += piece.Text
		if from = piece.Next; from == 0 {
			assert.Zero(s.t, piece.Left)
			return text
		}
	}
}

// A long text is read in pieces, none of which has a part of a character.
func TestPiecesOfText(t *testing.T) {
	long := strings.Repeat("ä世界 ", 200_000)
	quoted, _ := json.Marshal(long)
	s := newSite(t, opened(t, script(`> {"method":"a","params":`+string(quoted)+`}`)))
	assert.Equal(t, long, unfold(s, 1))
	assert.Equal(t, 404, s.do(s.Token+"/api/text?seq=1&fold=1&from=-1").Code)
	assert.Equal(t, 404, s.do(s.Token+"/api/text?seq=1&fold=1&from=99999999").Code)
}

// What went wrong is counted, and the chunks of one text are one row until they are listed.
func TestChunksAndWrongs(t *testing.T) {
	lines := append(turn[:7:7],
		`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"Other"}}}}`,
		`< {"id":3,"error":{"code":-32603,"message":"broke"}}`,
	)
	text := script(lines...)
	for i, rest := range []string{
		`"dir":"agent","conn":1,"kind":"stderr","line":"panic: nothing"`, `"dir":"client","conn":1,"kind":"signal","line":"interrupt"`,
		`"dir":"agent","conn":1,"kind":"exit","line":"exit status 2"`, `"dir":"","conn":1,"kind":"cut","line":"disk full","dropped":7,"bytes":70`,
	} {
		text += fmt.Sprintf(`{"seq":%d,"time":"2026-11-20T10:00:01Z",%s}`+"\n", len(lines)+1+i, rest)
	}
	s := newSite(t, opened(t, text))
	list := get[answer](s, "messages?folded=1")
	assert.Equal(t, []uint64{1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13}, list.seqs())
	assert.Equal(t, []any{"Let me look.", 2, "agent_message_chunk"}, []any{list.Rows[5].Text, list.Rows[5].Chunks, list.Rows[5].What})
	assert.Equal(t, []any{"panic: nothing", "stderr"}, []any{list.Rows[8].Text, list.Rows[8].What})
	assert.Equal(t, "the recording ends here, and the traffic went on: disk full: 7 messages of 70 bytes missing", list.Rows[11].Text)
	assert.Equal(t, 5, get[answer](s, "messages?folded=1&seq=7").Place, "a chunk that is folded is at the row of the first one")
	assert.Equal(t, []uint64{6, 7, 8}, get[answer](s, "messages?folded=1&what=agent_message_chunk&open=6").seqs())
	assert.Equal(t, []uint64{9, 12, 13}, get[answer](s, "messages?only=errors").seqs())
	assert.Equal(t, []uint64{1, 3, 5, 11}, get[answer](s, "messages?dir=client").seqs())
	assert.Empty(t, get[answer](s, "messages?only=slow").seqs())
	info := get[map[string]any](s, "info")
	assert.Equal(t, []any{1.0, 12.0}, []any{info["errors"], info["crash"]})
	plot := get[struct {
		Stderr  []int
		Crashed []bool
	}](s, "plot")
	assert.Equal(t, []any{1, true}, []any{plot.Stderr[len(plot.Stderr)-1], plot.Crashed[len(plot.Crashed)-1]})
	copied := s.do(s.Token + "/api/lines?what=agent_message_chunk").Body.String()
	assert.Equal(t, 3, strings.Count(copied, "\n"), "all chunks, also those of one row")
	assert.Contains(t, copied, `{"jsonrpc":"2.0",`+lines[6][3:]+"\n")
}

// A peer with endless kinds and sessions does not make the page endless, which reads the list of both again
// and again.
func TestKindsAndSessionsAreBounded(t *testing.T) {
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf(`< {"method":"m%d%s","params":{"sessionId":"s%d"}}`, i, strings.Repeat("x", 1000), i))
	}
	s := newSite(t, opened(t, script(lines...)))
	info := get[struct {
		Kinds    map[string]int
		Sessions []sessionInfo
	}](s, "info")
	assert.Len(t, info.Sessions, sessionsAtMost)
	assert.Len(t, info.Kinds, kindsAtMost+1)
	assert.Equal(t, 3000-kindsAtMost, info.Kinds["other"])
	assert.Less(t, s.do(s.Token+"/api/info").Body.Len(), 150_000)
	assert.Equal(t, 3000-kindsAtMost, get[answer](s, "messages?what=other").Total)
}
