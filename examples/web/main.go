// Command web shows a session with an agent as a web page, with a button for each choice that the agent asks
// about:
//
//	go run ./examples/web gemini --acp
//
// It prints the address of the page, which only this user knows. The agent gets the files below the working
// directory, and terminals that run with your rights.
package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/stream"
)

//go:embed page.html
var page []byte

func main() {
	stream.EndOnSignal(nil) // a signal ends the agent too
	log.SetFlags(0)
	flag.Usage = func() { log.Print("usage: web AGENT [ARG ...]") }
	if flag.Parse(); flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	process, err := stream.Command(exec.Command(flag.Arg(0), flag.Args()[1:]...), nil)
	if err == nil {
		err = run(context.Background(), process)
	}
	if err != nil {
		log.Fatal("web: ", client.Explain(nil, err))
	}
}

func run(ctx context.Context, wire stream.Stream) error {
	dir, err := os.Getwd()
	if err != nil {
		return errors.Join(err, wire.Close())
	}
	s, end, err := start(ctx, wire, dir)
	if err != nil {
		return err
	}
	defer end()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	token := "/" + rand.Text() + "/" // other users and pages do not know it
	fmt.Println("http://" + listener.Addr().String() + token)
	return http.Serve(listener, http.StripPrefix(token[:len(token)-1], s.handler()))
}

// site is the page of one session.
type site struct {
	session *client.Session
	thread  *thread.Thread
}

// start opens a session. Call end after the last request.
func start(ctx context.Context, wire stream.Stream, dir string) (s *site, end func(), err error) {
	h, err := host.Open(&host.Options{
		Roots: []string{dir}, Terminals: &terminals.Options{},
		Ask: permission.InThread, Permission: &permission.Options{Concurrent: true},
	})
	if err != nil {
		return nil, nil, errors.Join(err, wire.Close())
	}
	threads := new(thread.Set)
	conn, err := client.Connect(ctx, wire, func(c *client.Conn) acp.Client { return threads.Client(h.Client(c)) },
		&client.Options{Sending: []acp.Middleware{threads.Sending}})
	if err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	end = func() { conn.Close(); _ = conn.Wait(); _ = h.Close() }
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		end()
		return nil, nil, err
	}
	session.OnUpdate(nil) // its thread has the updates
	return &site{session, threads.Thread(session.ID())}, end, nil
}

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) })
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("POST /prompt", post(func(p struct{ Text string }) error {
		go s.session.Prompt(context.Background(), acp.Text(p.Text)).Wait() // the thread shows how it ends
		return nil
	}))
	mux.HandleFunc("POST /answer", post(func(a struct {
		Key    uint64
		Option string
	}) error {
		return s.thread.Answer(a.Key, a.Option)
	}))
	return mux
}

// shown is a state of the page.
type shown struct {
	State *thread.Snapshot `json:"state"`
	Early string           `json:"early,omitempty"` // what to do after a turn that has ended early
}

func show(state *thread.Snapshot) shown {
	reason := acp.StopReason(state.Turn.StopReason)
	if reason == "" || reason == acp.StopReasonEndTurn || state.Turn.Error != nil {
		return shown{state, ""}
	}
	return shown{state, client.Explain(nil, &client.StopError{Reason: reason})}
}

// frame is the time between two states of the page.
const frame = 100 * time.Millisecond

// events sends the state of the session whenever it changes.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for state := range s.thread.Watch(r.Context()) {
		text, err := json.Marshal(show(state))
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-time.After(frame): // changes of this time are one
		case <-r.Context().Done():
		}
	}
}

// post returns a handler that decodes the body. Another site cannot send its type without asking first.
func post[T any](do func(T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&body)
		if r.Header.Get("Content-Type") != "application/json" {
			err = errors.New("the body is not JSON")
		}
		if err == nil {
			err = do(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}
}
