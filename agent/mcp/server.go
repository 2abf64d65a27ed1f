package mcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/stream/safetext"
)

type server struct {
	connector *connector
	name      string
	ctx       context.Context // done when the session ends
	over      chan struct{}   // closed when the first attempt has succeeded or failed
	late      sync.Once       // tellLate

	// dial makes one connection. tail returns the last lines that a process has written to standard
	// error.
	dial func(ctx context.Context, client *sdk.Client) (session *sdk.ClientSession, tail func() string, err error)

	hidden []string // values that the client has given to the server

	mu       sync.Mutex
	session  *sdk.ClientSession // nil while it is not connected
	ended    chan struct{}      // closed when session is known to have ended
	tools    []tools.Tool
	failed   string // why the server is not connected; cleared when it is reported
	restarts int
	closed   bool
	calls    map[string]*progress // of running calls, by their tokens
	listing  bool                 // refresh is running
	relist   bool                 // the tools have changed since it began
}

// start makes the first attempt to connect. The attempt continues after the session has stopped
// waiting for it.
func (s *server) start() {
	s.connect(startTime)
	close(s.over)
}

// tellLate stores a sentence for the person if the first attempt goes on.
func (s *server) tellLate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil && s.failed == "" {
		s.failed = fmt.Sprintf("The MCP server %q has not started after %s: its tools are there once it has.", s.name, patience)
	}
}

// connect connects to the server and lists its tools.
func (s *server) connect(limit time.Duration) {
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: s.connector.opts.Info.Name, Version: s.connector.opts.Info.Version}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{},
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { s.changed() },
		ProgressNotificationHandler: s.progress,
	})
	session, tail, err := s.dial(ctx, client)
	var list []tools.Tool
	if err == nil {
		list, err = s.listed(ctx, session)
	}
	s.mu.Lock()
	closed := s.closed
	if err == nil && !closed {
		s.session, s.ended, s.tools, s.failed = session, make(chan struct{}), list, ""
	}
	ended := s.ended
	s.mu.Unlock()
	switch {
	case err == nil && !closed:
		go s.watch(session, ended, tail) // ends with the session
		return
	case session != nil:
		_ = session.Close() // err is the error to report
	}
	if err != nil && !closed {
		s.fail("cannot be used", err, tail)
	}
}

func (s *server) watch(session *sdk.ClientSession, ended chan<- struct{}, tail func() string) {
	defer close(ended)
	err := session.Wait()
	s.mu.Lock()
	lost := s.session == session && !s.closed
	if lost {
		s.session = nil
	}
	s.mu.Unlock()
	if lost {
		s.fail("has ended", err, tail)
	}
}

// fail stores a sentence for the person.
func (s *server) fail(what string, err error, tail func() string) {
	text := fmt.Sprintf("The MCP server %q %s", s.name, what)
	if err != nil {
		text += ": " + safetext.OneLine(err.Error(), maxReason)
	}
	if tail != nil {
		said := strings.TrimSpace(tail())
		if said = said[strings.LastIndexByte(said, '\n')+1:]; said != "" {
			text += fmt.Sprintf(" (it has written %q)", safetext.Label(said))
		}
	}
	text = s.hide(text) + "."
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = text
}

const maxReason = 500 // bytes of the text of an error that the person reads

var link = regexp.MustCompile(`(https?://)(?:[^\s/@"'<>]*@)?([^\s?#"'<>)]*)(?:[?#][^\s"'<>)]*)?`)

// hide removes the values of the client's variables and headers from a text, and the user and the query
// of each URL. A short value is no secret, and may be any word.
func (s *server) hide(text string) string {
	text = link.ReplaceAllString(text, "$1$2")
	for _, value := range s.hidden {
		if len(value) > 7 {
			text = strings.ReplaceAll(text, value, "***")
		}
	}
	return text
}

// failure returns why the server is not connected. It returns each reason once.
func (s *server) failure() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.failed
	s.failed = ""
	return text
}

// revive connects again to a server that has ended.
func (s *server) revive() {
	s.mu.Lock()
	again := s.session == nil && !s.closed && len(s.tools) > 0 && s.restarts < maxRestarts
	if again {
		s.restarts++
	}
	s.mu.Unlock()
	if again {
		s.connect(patience) // the turn waits this long
	}
}

// list returns the tools of the server if it is connected.
func (s *server) list() []tools.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return nil
	}
	return s.tools
}

// changed lists the tools again after the server has changed them, once at a time.
func (s *server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.relist = true
	if !s.listing {
		s.listing = true
		go s.refresh() // ends with the session, or when the tools have not changed again
	}
}

func (s *server) refresh() {
	for {
		s.mu.Lock()
		session := s.session
		s.listing = s.relist && session != nil
		s.relist = false
		again := s.listing
		s.mu.Unlock()
		if !again {
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, startTime)
		list, err := s.listed(ctx, session)
		cancel()
		if err != nil {
			s.connector.opts.Logger.Warn("an MCP server does not list its tools", "server", s.name, "error", s.hide(err.Error()))
			continue
		}
		s.mu.Lock()
		if s.session == session {
			s.tools = list
		}
		s.mu.Unlock()
	}
}

// connection returns the connection, or an error for the model.
func (s *server) connection() (session *sdk.ClientSession, ended <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return nil, nil, kind.MCPUnavailable.Newf(nil, "The MCP server %q is not connected any more.", s.name)
	}
	return s.session, s.ended, nil
}

func (s *server) close() error {
	<-s.over // ends with the ctx of the session
	s.mu.Lock()
	session := s.session
	s.session, s.closed = nil, true
	s.mu.Unlock()
	if session == nil {
		return nil
	}
	if err := session.Close(); err != nil && !errors.Is(err, sdk.ErrConnectionClosed) {
		return err
	}
	return nil
}
