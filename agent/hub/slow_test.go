package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/schema/schematest"
	"github.com/acpkit/go-sdk/stream"
)

// stopped is a stream whose reader stops.
type stopped struct {
	stream.Stream
	mu   sync.Mutex
	stop bool
	gone chan struct{}
}

func (s *stopped) Read() ([]byte, error) {
	s.mu.Lock()
	stop := s.stop
	s.mu.Unlock()
	if stop {
		<-s.gone
	}
	return s.Stream.Read()
}

// A client that reads nothing delays neither the turn nor the others. Its connection ends if what it
// has not read cannot be shortened; if it can, it gets all of it later.
func TestSlowClients(t *testing.T) {
	for name, c := range map[string]struct {
		messages int // of 1 KiB each
		chunks   int // each message's
		large    int // bytes of the second message
		kept     bool
	}{
		"many messages":                         {2 << 10, 1, 0, false},
		"one message":                           {1, 8_000, 0, true},
		"a long message":                        {1, 1, 0, true},
		"a message of 4 MiB between short ones": {3, 1, 4 << 20, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
					for i := range c.messages {
						if i%64 == 0 {
							time.Sleep(time.Millisecond) // those that read have read all of it then
						}
						size := max(1, 1024/c.chunks)
						if i == 1 && c.large > 0 {
							size = c.large
						}
						for range c.chunks {
							if err := s.Update(ctx, &acp.AgentMessageChunk{MessageID: acp.MessageID(fmt.Sprint(i)), Content: acp.Text(strings.Repeat("x", size))}); err != nil {
								return "", err
							}
						}
					}
					return acp.StopReasonEndTurn, nil
				}}
				h := restart(t, w, nil)
				a := join(t, h, "")
				s := a.open()

				near, far := stream.Pipe()
				slow := &stopped{Stream: schematest.Client(t, 1, near), gone: make(chan struct{})}
				served := make(chan error, 1)
				go func() { served <- h.Serve(t.Context(), far) }() // ends with the connection
				threads := new(thread.Set)
				u := &user{t: t, threads: threads}
				conn, err := client.Connect(t.Context(), slow, func(*client.Conn) acp.Client { return threads.Client(u) }, &client.Options{Logger: quiet})
				require.NoError(t, err)
				u.conn = conn
				u.load(s.ID())
				slow.mu.Lock()
				slow.stop = true
				slow.mu.Unlock()

				a.prompt(s, "go")
				synctest.Wait()
				close(slow.gone)
				if c.kept {
					synctest.Wait()
					assert.Equal(t, a.transcript(s.ID()), u.transcript(s.ID()))
					require.NoError(t, conn.Close())
					require.NoError(t, <-served)
				} else {
					require.ErrorIs(t, <-served, hub.ErrSlow)
				}
				_ = conn.Close()
				_ = conn.Wait()
			})
		})
	}
}

// Texts of a message that wait for a client are joined, up to 2 KiB. Nothing else of them is lost, and their order is kept.
func TestTextsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := func(text string, meta acp.Meta) acp.SessionUpdate {
			return &acp.AgentMessageChunk{Content: acp.Text(text), Meta: meta}
		}
		w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
			var updates []acp.SessionUpdate
			if acp.PlainText(p.Prompt...) == "fill" { // more than what waits to be written to a client
				for range 4 {
					updates = append(updates, &acp.AgentMessageChunk{Content: &acp.ImageContent{MIMEType: "image/png", Data: strings.Repeat("AAAA", 1<<18)}})
				}
			} else {
				updates = append(updates, text("one ", nil), text("two ", nil), text("three ", acp.Meta{"k": 1}), text("four ", nil), acp.AgentThought("hm"))
				for range 100 {
					updates = append(updates, text(strings.Repeat("x", 30), nil))
				}
			}
			for _, u := range updates {
				if err := s.Update(ctx, u); err != nil {
					return "", err
				}
			}
			return acp.StopReasonEndTurn, nil
		}}
		h := start(t, w, nil)
		a, r := join(t, h, ""), connect(t, h, "")
		s := a.open()
		a.prompt(s, "fill")
		r.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1}`)
		r.send(t, 2, acp.MethodSessionLoad, fmt.Sprintf(`{"sessionId":%q,"cwd":"/work","mcpServers":[]}`, s.ID()))
		synctest.Wait()
		a.prompt(s, "text")
		r.response(t, 2)
		var got []string
		for range 6 {
			var m struct {
				Params struct {
					Update struct {
						SessionUpdate string
						Content       struct{ Text string }
						Meta          json.RawMessage `json:"_meta"`
					}
				}
			}
			require.NoError(t, json.Unmarshal([]byte(r.read(t)), &m))
			u := m.Params.Update
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %.20s%s", u.SessionUpdate, u.Content.Text, u.Meta)))
			if n := len(u.Content.Text); n > 20 {
				got[len(got)-1] += fmt.Sprint(" ", n)
			}
		}
		x := "agent_message_chunk " + strings.Repeat("x", 20)
		assert.Equal(t, []string{"user_message_chunk text", "agent_message_chunk one two", `agent_message_chunk three {"k":1}`, "agent_message_chunk four",
			"agent_thought_chunk hm", x + " 2040"}, got)
		assert.Contains(t, r.read(t), strings.Repeat("x", 960))
	})
}

// full is a store without room.
type full struct {
	journal.Store
	mu   sync.Mutex
	none bool
}

func (f *full) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	log, err := f.Store.Create(ctx, id, m)
	return &fullLog{log, f}, err
}

type fullLog struct {
	journal.Log
	store *full
}

func (l *fullLog) Append(recs ...journal.Record) (int64, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.store.none {
		return 0, fmt.Errorf("append: %w", syscall.ENOSPC)
	}
	return l.Log.Append(recs...)
}

// Without room no prompt is sent, and what a running turn shows is stored when there is room again.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &full{Store: new(journal.Memory)}
		set := func(none bool) {
			store.mu.Lock()
			defer store.mu.Unlock()
			store.none = none
		}
		w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
			set(acp.PlainText(p.Prompt...) == "fills")
			return acp.StopReasonEndTurn, errors.Join(s.Message(ctx, "shown"), s.Thought(ctx, "too"))
		}}
		h := start(t, w, &hub.Options{Store: store})
		a := join(t, h, "")
		s := a.open()
		a.prompt(s, "fills")
		_, err := s.Prompt(t.Context(), acp.Text("refused")).Wait()
		require.ErrorContains(t, err, "no space left on device")
		set(false)
		a.prompt(s, "goes on")
		require.NoError(t, h.Shutdown(t.Context()))
		h = restart(t, w, &hub.Options{Store: store.Store})
		b := join(t, h, "")
		b.load(s.ID())
		assert.Equal(t, []string{"user: fills", "agent: shown", "thought: too", "user: goes on", "agent: shown", "thought: too"}, b.transcript(s.ID()))
		assert.Equal(t, []string{"fills", "goes on"}, w.seen())
	})
}

// slowly is a stream that reads a kilobyte a second.
type slowly struct{ stream.Stream }

func (s slowly) Read() ([]byte, error) {
	msg, err := s.Stream.Read()
	time.Sleep(time.Duration(len(msg)) * time.Second / 1024)
	return msg, err
}

// A turn takes no longer with a client that reads nothing, one that reads a kilobyte a second and thirty that read than
// with one client, and what the two have not read takes a bounded amount of memory.
func TestNobodyWaitsForSlowClients(t *testing.T) {
	const size = 4 << 10
	turn := func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
		text := strings.Repeat("x", size)
		n, err := strconv.Atoi(acp.PlainText(p.Prompt...))
		if err != nil {
			return "", err
		}
		for i := range n {
			time.Sleep(time.Millisecond)
			u := &acp.ToolCallUpdate{ToolCallID: "call", Title: fmt.Sprint(i), Content: []acp.ToolCallContent{acp.ToolText(text)}}
			if err := s.Update(ctx, u); err != nil {
				return "", err
			}
		}
		return acp.StopReasonEndTurn, nil
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	took := func(updates, clients int, slowOnes bool) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			store, err := journal.OpenFiles(t.TempDir(), nil) // a Memory would hold all of it
			require.NoError(t, err)
			h := start(t, &worker{turn: turn}, &hub.Options{Store: store})
			a := join(t, h, "")
			s := a.open()
			for range clients - 1 {
				join(t, h, "").load(s.ID())
			}
			if slowOnes {
				stopped, slow := connect(t, h, ""), connect(t, h, "")
				slow.Stream = slowly{slow.Stream}
				for _, r := range []*raw{stopped, slow} {
					r.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1}`)
					r.call(t, 2, acp.MethodSessionLoad, fmt.Sprintf(`{"sessionId":%q,"cwd":"/work","mcpServers":[]}`, s.ID()))
				}
				var reading sync.WaitGroup
				reading.Go(func() { // ends with the stream
					for err := error(nil); err == nil; {
						_, err = slow.Read()
					}
				})
				defer reading.Wait()
				defer slow.Close()
			}
			before, begin := heap(), time.Now()
			a.prompt(s, strconv.Itoa(updates))
			d = time.Since(begin)
			synctest.Wait()
			assert.Less(t, heap()-before, int64(8<<20), "of %d MiB that were sent", updates*size>>20)
		})
		return d
	}
	assert.Equal(t, took(200, 1, false), took(200, 30, true))
	took(3000, 1, true)
}

// A client that reads nothing and came before the others loses its connection, and the others go on.
func TestSlowClientThatCameFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			for i := range 2 << 10 {
				if i%64 == 0 {
					time.Sleep(time.Millisecond) // those that read have read all of it then
				}
				if err := s.Update(ctx, &acp.AgentMessageChunk{MessageID: acp.MessageID(fmt.Sprint(i)), Content: acp.Text(strings.Repeat("x", 1<<10))}); err != nil {
					return "", err
				}
			}
			return acp.StopReasonEndTurn, nil
		}}
		h := start(t, w, nil)
		a, b := join(t, h, ""), join(t, h, "")
		s := a.open()
		_, err := a.conn.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: s.ID()})
		require.NoError(t, err)
		slow := connect(t, h, "")
		slow.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1}`)
		slow.call(t, 2, acp.MethodSessionLoad, fmt.Sprintf(methods[acp.MethodSessionLoad].params, string(s.ID())))
		s = a.load(s.ID())
		b.load(s.ID())
		a.prompt(s, "go")
		synctest.Wait()
		assert.Len(t, a.transcript(s.ID()), 1+2<<10)
		assert.Equal(t, a.transcript(s.ID()), b.transcript(s.ID()))
		require.ErrorIs(t, <-slow.served, hub.ErrSlow)
	})
}
