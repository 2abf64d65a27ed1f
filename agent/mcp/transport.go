package mcp

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/command"
	"github.com/acpkit/go-sdk/stream"
)

// stableVersion is the protocol version for servers that do not respond to the probe for a later
// one. Servers over stdio are not probed, because many never respond to the probe.
const stableVersion = "2025-11-25"

const grace = 2 * time.Second // for a process to end by itself, and again after it was told to end

// stdio returns the dial function of a server that is a process of this machine.
func stdio(d *acp.MCPServerStdio, cwd string, s *server) func(context.Context, *sdk.Client) (*sdk.ClientSession, func() string, error) {
	env := command.Environment(command.Inherited, nil, cwd)
	for _, v := range d.Env {
		env = append(env, v.Name+"="+v.Value)
		s.hidden = append(s.hidden, v.Value)
	}
	return func(ctx context.Context, client *sdk.Client) (*sdk.ClientSession, func() string, error) {
		cmd := exec.Command(d.Command, d.Args...)
		cmd.Dir, cmd.Env = cwd, env
		p, err := stream.Command(cmd, &stream.CommandOptions{
			Grace: grace, StderrTail: 4 << 10,
			OnStderr: func(line string) { s.connector.opts.Logger.Debug("mcp", "server", s.name, "stderr", s.hide(line)) },
		})
		if err != nil {
			return nil, nil, err
		}
		session, err := client.Connect(ctx, &transport{p: p}, &sdk.ClientSessionOptions{ProtocolVersion: stableVersion})
		if err != nil {
			_ = p.Close() // err is the error to report
		}
		return session, p.Stderr, err
	}
}

// transport carries MCP over a process. Close ends the process and its descendants.
type transport struct {
	p  *stream.Process
	mu sync.Mutex // held while a message is written
}

func (t *transport) Connect(context.Context) (sdk.Connection, error) { return t, nil }

// errCut is the error of the calls in flight when the process has ended.
var errCut = errors.New("the server has ended")

// Read ignores ctx. It ends when the process ends, and Close ends the process.
func (t *transport) Read(context.Context) (jsonrpc.Message, error) {
	line, err := t.p.Read()
	if err != nil {
		return nil, fmt.Errorf("%w: %w: %w", sdk.ErrConnectionClosed, errCut, err)
	}
	return jsonrpc.DecodeMessage(told(line))
}

func (t *transport) Write(_ context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.p.Write(line)
}

func (t *transport) Close() error {
	_ = t.p.Close() // how a server ends does not matter
	<-t.p.Done()
	return nil
}

func (t *transport) SessionID() string { return "" }
