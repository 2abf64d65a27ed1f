package growth

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// requests returns the operations of a client.
func requests() []*operation {
	ask := func(name, method, owner string, want rpcerr.Code) *operation {
		o := &operation{name: name, each: 1000}
		o.open = func(ctx context.Context, dir string) (func(), error) {
			w, end, err := open(ctx, dir, &kit.Options{Turn: remembering, Owner: func(context.Context) string { return owner }})
			o.once = func(i int) error {
				_, _, err := w.call(method, fmt.Sprintf(`%s,"sessionId":"s%d"}`, params, i%steps[0]))
				if refusal, ok := errors.AsType[*rpcerr.RequestError](err); ok && refusal.Code == want {
					return nil
				} else if err == nil && want != 0 {
					err = fmt.Errorf("%s was not refused with %d", method, want)
				}
				return err
			}
			return end, err
		}
		return o
	}
	return []*operation{ // the owner of what is stored is ""
		ask("session/load", "session/load", "", 0),
		ask("session/delete with owners", "session/delete", "", 0),
		ask("session/load of another owner", "session/load", "me", rpcerr.CodeResourceNotFound),
		ask("session/delete of another owner", "session/delete", "me", 0), // it has no effect, and nobody learns that the session exists
	}
}

// overTurns measures the curves over the turns of a session. One session of each kind grows.
func overTurns(ctx context.Context, dir string, quick bool) ([]curve, error) {
	curves := []curve{
		{name: "turns of a session", sizes: small(steps, quick), exponent: 1.1},
		{name: "turns of a session with package loop", sizes: small(steps[:3], quick), exponent: 1.1},
	}
	for i, turn := range []func(context.Context, *kit.Session, *kit.Prompt) (acp.StopReason, error){remembering, loop.New(yes{}, nil).Turn} {
		c := &curves[i]
		costs, err := turns(ctx, dir, c.sizes, turn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		c.costs = costs
	}
	pieces := curve{name: "a turn with a call in pieces", sizes: small([]int{600, 6000, 60_000}, quick), exponent: 1.1}
	for _, n := range pieces.sizes {
		err := pieces.point(func() (float64, error) {
			costs, err := turns(ctx, dir, []int{1}, loop.New(inPieces(n), nil).Turn)
			return slices.Max(append(costs, 0)), err
		})
		if err != nil {
			return nil, err
		}
	}
	return append(curves, pieces), nil
}

// overRecords measures the curves over what a log holds.
func overRecords(ctx context.Context, dir string, quick bool) ([]curve, error) {
	curves := []curve{
		{name: "load by records, as a multiple of reading and parsing the file (1s is once)", sizes: small([]int{1000, 10_000, 100_000}, quick), most: 3e9},
		{name: "open with a damaged record that looks like many, by its KB", sizes: small([]int{64, 512, 4096}, quick), exponent: 1.1},
	}
	for i, cost := range []func(context.Context, string, int) (float64, error){load, damaged} {
		for _, n := range curves[i].sizes {
			if err := curves[i].point(func() (float64, error) { return cost(ctx, dir, n) }); err != nil {
				return nil, err
			}
		}
	}
	return curves, nil
}

// remembering is a turn that reads what the model reads, and adds to it.
func remembering(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	if _, err := s.History(ctx); err != nil {
		return "", err
	}
	return "", firstOf(s.Remember(p.Parts), s.Text(ctx, "Yes."), s.Remember("Yes."))
}

// yes is a model that always says yes.
type yes struct{}

func (yes) Generate(context.Context, *loop.Request) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		_ = yield(loop.Text("Yes."), nil) && yield(loop.Stop{}, nil)
	}
}

// inPieces is a model that sends the input of a call in as many pieces, and then says yes.
type inPieces int

func (n inPieces) Generate(ctx context.Context, req *loop.Request) iter.Seq2[loop.Event, error] {
	if last := req.Messages[len(req.Messages)-1]; len(last.Results) > 0 {
		return yes{}.Generate(ctx, req)
	}
	return func(yield func(loop.Event, error) bool) {
		more := yield(loop.CallDelta{ID: "c", Name: "none", Input: `{"text":"`}, nil)
		for i := 0; i < int(n) && more; i++ {
			more = yield(loop.CallDelta{Input: "word "}, nil)
		}
		_ = more && yield(loop.CallDelta{Input: `"}`}, nil) && yield(loop.Stop{}, nil)
	}
}

// wire talks to an agent as a client that reads no update does, so that the cost is that of the agent.
type wire struct {
	in  *bufio.Reader
	out io.Writer
	id  int
}

// serve serves an agent to a wire until end is called.
func serve(ctx context.Context, a *kit.Agent) (w *wire, end func()) {
	in, agentOut := io.Pipe()
	agentIn, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx, stream.Lines(agentIn, agentOut, nil)) }() // ends with end
	w = &wire{in: bufio.NewReaderSize(in, 1<<20), out: out}
	return w, func() {
		_ = out.Close()
		go func() { _, _ = io.Copy(io.Discard, in) }() // ends when the agent has closed its output
		<-done
		_ = agentOut.Close()
	}
}

// call sends a request and returns its result, and how many lines came before it.
func (w *wire) call(method, params string) (result json.RawMessage, before int, err error) {
	w.id++
	if _, err := fmt.Fprintf(w.out, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", w.id, method, params); err != nil {
		return nil, 0, err
	}
	for begin := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, w.id); ; before++ {
		line, err := w.in.ReadString('\n')
		if err != nil {
			return nil, before, err
		}
		if !strings.HasPrefix(line, begin) {
			continue
		}
		var res struct {
			Result json.RawMessage
			Error  *rpcerr.RequestError
		}
		if err := json.Unmarshal([]byte(line), &res); err != nil {
			return nil, before, err
		} else if res.Error != nil {
			return nil, before, fmt.Errorf("%s: %w", method, res.Error)
		}
		return res.Result, before, nil
	}
}

// open makes a store and an agent in dir, and connects to it.
func open(ctx context.Context, dir string, o *kit.Options) (*wire, func(), error) {
	s, err := journal.OpenFiles(dir, nil)
	if err != nil {
		return nil, nil, err
	}
	o.Store, o.Logger = s, slog.New(slog.DiscardHandler)
	w, end := serve(ctx, kit.New(o))
	if _, _, err := w.call("initialize", `{"protocolVersion":1}`); err != nil {
		end()
		return nil, nil, err
	}
	return w, end, nil
}

const params = `{"cwd":"/w","mcpServers":[]`

// turns returns what the first turns of a session cost together, for each number of turns.
func turns(ctx context.Context, dir string, sizes []int, turn func(context.Context, *kit.Session, *kit.Prompt) (acp.StopReason, error)) (costs []float64, err error) {
	w, end, err := open(ctx, dir, &kit.Options{Turn: turn})
	if err != nil {
		return nil, err
	}
	defer end()
	raw, _, err := w.call("session/new", params+"}")
	if err != nil {
		return nil, err
	}
	var res struct{ SessionID string }
	if err := json.Unmarshal(raw, &res); err != nil {
		return nil, err
	}
	heap := make([]byte, 64<<20) // while a heap is small, its collection costs less, and the first turns would
	defer runtime.KeepAlive(heap)
	done, sum := 0, 0.0
	for _, n := range sizes {
		cost, err := spent(func() error {
			for ; done < n; done++ {
				if _, _, err := w.call("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"Is it?"}]}`, res.SessionID)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		sum += cost
		costs = append(costs, sum)
	}
	return costs, nil
}

// load returns the cost of loading a session of n records, divided by that of reading and parsing its
// file.
func load(ctx context.Context, dir string, n int) (float64, error) {
	if err := fill(dir, 0, 1); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(logOf(dir, "s0"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriter(f)
	for i := range n {
		data := fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","messageId":"msg_%d","content":{"type":"text","text":%q}}`, i, strings.Repeat("word ", 40))
		kind := "event"
		if i%4 == 1 {
			data = fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"call_%d","title":"Read go.mod","kind":"read","status":"completed","rawInput":{"path":"/w/go.mod"},"content":[{"type":"content","content":{"type":"text","text":%q}}]}`, i, strings.Repeat("line\n", 40))
		} else if i%4 == 2 {
			kind, data = "model", fmt.Sprintf(`{"items":[{"role":"assistant","parts":[{"text":%q}]}]}`, strings.Repeat("word ", 40))
		}
		if _, err := out.Write(line(i+2, kind, data)); err != nil {
			return 0, err
		}
	}
	if err := firstOf(out.Flush(), f.Close()); err != nil {
		return 0, err
	}
	plain, err := parse(logOf(dir, "s0"))
	if err != nil {
		return 0, err
	}
	w, end, err := open(ctx, dir, &kit.Options{Turn: remembering})
	if err != nil {
		return 0, err
	}
	defer end()
	cost, err := spent(func() error {
		_, before, err := w.call("session/load", params+`,"sessionId":"s0"}`)
		if err == nil && before < n/2 {
			err = fmt.Errorf("%d updates of %d records", before, n)
		}
		return err
	})
	return cost / plain, err
}
