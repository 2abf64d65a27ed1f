package sessions_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/internal/system/randturns"
	"github.com/acpkit/go-sdk/stream"
)

var failures = flag.Int("failures", 300, "how many turns TestLoadEqualsLiveAfterFailures makes")

// disk is a Store whose disk may be full.
type disk struct {
	journal.Store
	room atomic.Int64 // how many records still fit; negative means all
}

func (d *disk) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	l, err := d.Store.Create(ctx, id, m)
	return &diskLog{l, d}, err
}

func (d *disk) Open(ctx context.Context, id string) (journal.Log, error) {
	l, err := d.Store.Open(ctx, id)
	return &diskLog{l, d}, err
}

type diskLog struct {
	journal.Log
	of *disk
}

var errFull = &os.PathError{Op: "write", Path: "log.jsonl", Err: syscall.ENOSPC}

func (l *diskLog) Append(recs ...journal.Record) (int64, error) {
	if left := l.of.room.Load(); left == 0 {
		return 0, errFull
	} else if left > 0 {
		l.of.room.Add(-1)
	}
	return l.Log.Append(recs...)
}

func (l *diskLog) SetMeta(change func(*journal.Meta)) error {
	if l.of.room.Load() == 0 {
		return errFull
	}
	return l.Log.SetMeta(change)
}

// small is a model whose context is small, so that the loop must compact.
type small struct{ r *rand.Rand }

func (m small) Generate(_ context.Context, req *loop.Request) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		switch {
		case len(req.Messages) > 3 && m.r.IntN(2) == 0:
			yield(nil, loop.ErrTooLong)
		case m.r.IntN(8) == 0:
			_ = yield(loop.Text("half an ans"), nil) && yield(nil, errors.New("the connection was cut"))
		default:
			_ = yield(loop.Thought("hm"), nil) && yield(loop.Text(fmt.Sprint("answer ", m.r.IntN(100))), nil) && yield(loop.Stop{}, nil)
		}
	}
}

// A conversation is one session whose store and client fail now and then.
type conversation struct {
	t      *testing.T
	r      *rand.Rand
	script *randturns.Script
	dir    string
	disk   *disk
	agent  *kit.Agent
	client *randturns.Client
	id     string
	n      int // of the next turn of the script
	turns  int

	refused map[string]bool // the prompts that may not have begun, because they could not be stored
}

// What other turns than those of the script do.
const (
	waits  = "wait until it is cancelled"
	writes = "write a file that the client cannot read, and a new one"
)

// serve returns an agent on the store, as another process would have it, and a client of it.
func (c *conversation) serve() (*kit.Agent, *disk, *randturns.Client) {
	d := &disk{Store: files(c.t, c.dir)}
	d.room.Store(-1)
	o := c.script.Kit(nil)
	o.Store, o.Logger = d, slog.New(slog.DiscardHandler)
	t, own := c.t, o.Tools
	o.Tools = func(s *kit.Session) []tools.Tool { return append(own(s), workspace.Tools(s.Workspace())...) }
	scripted, looped := o.Turn, loop.New(small{c.r}, nil).Turn
	o.Turn = func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		switch text := acp.PlainText(p.Blocks...); {
		case strings.HasPrefix(text, waits):
			err := s.Text(ctx, "waiting")
			<-ctx.Done()
			return "", cmp.Or(err, ctx.Err())
		case text == writes:
			done, err := s.Run(ctx, write(randturns.Unreadable), write("/w/new"))
			if err == nil && (done[0].Outcome != tools.Failed || done[1].Outcome != tools.Completed) {
				t.Errorf("%v and %v", done[0], done[1])
			}
			return "", err
		case strings.HasPrefix(text, "loop"):
			return looped(ctx, s, p)
		}
		return scripted(ctx, s, p)
	}
	a := kit.New(o)
	ours, theirs := stream.Pipe()
	go a.Serve(context.Background(), theirs) // ends with the connection
	return a, d, randturns.NewClient(c.t, 1, ours, nil)
}

func (c *conversation) start() { c.agent, c.disk, c.client = c.serve() }

func (c *conversation) stop() {
	require.NoError(c.t, c.agent.Close(c.t.Context()))
	c.client.Close()
	synctest.Wait()
}

func write(path string) tools.Request {
	return tools.Request{Name: "write_file", Input: fmt.Appendf(nil, `{"path":%q,"text":"text"}`, path)}
}

// play makes the next turn of the script, or one of the loop in a session that has only these.
func (c *conversation) play(of *randturns.Client) {
	c.turns++
	turn := &randturns.Turn{Prompt: fmt.Sprint("loop ", c.n)}
	if c.script.Turns != nil {
		turn = c.script.Turns[c.n%len(c.script.Turns)]
	}
	c.n++
	if err := of.Play(c.id, turn); err != nil && strings.Contains(err.Error(), " cannot be ") { // stored, or read
		c.refused[turn.Prompt] = true
	} // other errors are part of the script
	synctest.Wait()
}

// fail makes turns while something fails. It returns what failed.
func (c *conversation) fail() (what string) {
	log := filepath.Join(c.dir, c.id, "log.jsonl")
	switch c.r.IntN(8) {
	case 0:
		c.disk.room.Store(c.r.Int64N(12))
		c.play(c.client)
		c.disk.room.Store(-1)
		return "the disk was full"
	case 1:
		time.Sleep(31 * time.Minute) // the session rests
		synctest.Wait()
		a, _, other := c.serve()
		require.NoError(c.t, other.Load(c.id))
		for range 1 + c.r.IntN(2) {
			c.play(other)
		}
		require.NoError(c.t, a.Close(c.t.Context()))
		other.Close()
		synctest.Wait()
		c.play(c.client)
		return foreignTurns
	case 2:
		var done [3]chan struct{}
		for i := range done {
			done[i] = make(chan struct{})
			go func() { // ends with the cancel
				defer close(done[i])
				_ = c.client.Play(c.id, &randturns.Turn{Prompt: fmt.Sprint(waits, " ", c.n, i)})
			}()
			synctest.Wait()
		}
		c.turns += len(done)
		c.client.Cancel(c.id)
		for _, ch := range done {
			<-ch
		}
		synctest.Wait()
		return "prompts were cancelled while they waited"
	case 3:
		c.stop()
		f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(c.t, err)
		_, err = f.WriteString(`{"sum":"00000000","seq":1,` + strings.Repeat(`{"sum":`, c.r.IntN(1000)))
		require.NoError(c.t, errors.Join(err, f.Close()))
		return "the last line was torn"
	case 4:
		c.stop()
		require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, c.id, "meta.json"), []byte("{"), 0o600))
		return damagedMeta
	case 5:
		c.turns++
		require.NoError(c.t, c.client.Play(c.id, &randturns.Turn{Mode: "auto", Prompt: writes}))
		synctest.Wait()
		return "the client could not read"
	case 6:
		text, err := os.ReadFile(log)
		require.NoError(c.t, err)
		require.NoError(c.t, os.Remove(log))
		if c.r.IntN(2) == 0 {
			c.play(c.client)
		}
		require.NoError(c.t, os.WriteFile(log, text, 0o600))
		c.play(c.client)
		return "the log was replaced"
	}
	c.play(c.client)
	return "nothing"
}

// Whatever has failed in a turn, what the person saw is what session/load shows, and the session goes on.
func TestLoadEqualsLiveAfterFailures(t *testing.T) {
	seed := uint64(0)
	for turns := 0; turns < *failures; seed++ {
		ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				c := &conversation{t: t, r: rand.New(rand.NewPCG(seed, 22)), dir: dir, script: new(randturns.Script), refused: map[string]bool{}}
				if seed%4 > 0 {
					c.script = randturns.New(5000+seed, randturns.Options{Turns: 20, Slow: time.Second})
				}
				c.start()
				defer func() { c.stop() }()
				c.id = c.client.Open()
				c.play(c.client)
				for range 8 {
					c.check(c.fail())
				}
				turns += c.turns
			})
		})
		if !ok {
			return
		}
	}
}

// check loads the session, after what has failed, and compares what the client shows with what it showed.
func (c *conversation) check(what string) {
	live := c.client.All(c.id)
	if c.r.IntN(2) == 0 && c.client.Alive() {
		c.stop()
	}
	if !c.client.Alive() {
		c.start()
	}
	require.NoError(c.t, c.client.Load(c.id), what)
	synctest.Wait()
	loaded := c.client.All(c.id)
	if what == damagedMeta { // the title was there alone
		title := len(live) - titleAt
		live[title] = loaded[title]
	}
	live = slices.DeleteFunc(live, func(line string) bool {
		var m struct {
			Role    string
			Content []struct{ Text string }
		}
		_ = json.Unmarshal([]byte(line), &m) // some are no messages
		return m.Role == "user" && c.refused[m.Content[0].Text] && !slices.Contains(loaded, line)
	})
	if what == foreignTurns { // the client shows its prompt before it learns of them
		slices.Sort(live)
		slices.Sort(loaded)
	}
	require.Equal(c.t, live, loaded, what)
}

const (
	damagedMeta  = "meta.json was damaged"
	foreignTurns = "another process has written"
)

// titleAt is where the title is in what Client.All returns, from its end.
const titleAt = 6
