// Package mcp gives the sessions of package agent/kit the tools of the MCP servers that clients
// name, over stdio and HTTP, by the official SDK github.com/modelcontextprotocol/go-sdk.
// Experimental: it may change in any release.
//
//	a := kit.New(&kit.Options{MCP: mcp.Connector(nil), ...})
//
// It is a module of its own, so that programs without MCP do not download that SDK.
//
// The servers of a session start when it is opened and end with it. Two sessions do not share
// servers. A tool has the name mcp__server__tool. Its calls need permission, because the
// descriptions of a server are not trusted. The environment of a server over stdio has the
// variables that the client names and those that most programs need, such as PATH, and no others.
// Headers are sent only to the origin of the server, also after a redirect.
//
// Where sessions have owners (kit.Options.Owner), a client may name servers over HTTP at public
// addresses only, unless [Options] allow more: a server over stdio is a program that runs with the
// rights of this one.
//
// What a server sends is limited: 32 MiB a message, 1000 tools with 8 MiB of descriptions, ten texts of progress a second, and of
// a result what package tools shows of any. It lists its tools once at a time.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Options configure a Connector.
type Options struct {
	// Info is sent to servers. Empty means the name of this package.
	Info acp.Implementation

	// AllowCommands lets clients name servers over stdio although sessions have owners, and
	// AllowPrivate servers over HTTP on this machine and in private networks. Addresses are checked
	// after their names are resolved, also after a redirect, and no proxy is used then.
	AllowCommands, AllowPrivate bool

	// CallTime is the maximum duration of a call of a tool. Zero means 10 minutes.
	CallTime time.Duration

	// Logger receives the lines that servers write to standard error, without the values that the
	// client has given to them. If it is nil, slog.Default() is used.
	Logger *slog.Logger
}

const (
	startTime   = 60 * time.Second // for a server to start and list its tools; npx may have to download it
	patience    = 15 * time.Second // for a session to wait for a server, which continues to start during the turns
	callTime    = 10 * time.Minute
	maxRestarts = 3
)

// Connector returns an implementation of kit.MCP for kit.Options.
func Connector(opts *Options) kit.MCP {
	c := &connector{public: publicNetwork()}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Info.Name == "" {
		c.opts.Info = acp.Implementation{Name: "acpkit", Version: "0"}
	}
	c.opts.CallTime = cmp.Or(c.opts.CallTime, callTime)
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.Default())
	return c
}

type connector struct {
	opts   Options
	public http.RoundTripper
}

func (c *connector) Capabilities() *acp.MCPCapabilities { return &acp.MCPCapabilities{HTTP: true} }

// Connect implements kit.MCP.
func (c *connector) Connect(of kit.MCPSession) (kit.MCPServers, error) {
	all := &set{}
	names := make(map[string]bool)
	var network http.RoundTripper = http.DefaultTransport
	if of.Owned && !c.opts.AllowPrivate {
		network = c.public
	}
	for _, described := range of.Servers {
		s := &server{connector: c, over: make(chan struct{}), calls: make(map[string]*progress)}
		switch d := described.(type) {
		case *acp.MCPServerStdio:
			if of.Owned && !c.opts.AllowCommands {
				return nil, rpcerr.InvalidParams(map[string]any{"name": d.Name}).WithDetail("mcpServers: this agent starts no programs for its users; name servers over http")
			}
			s.name, s.dial = d.Name, stdio(d, of.Cwd, s)
		case *acp.MCPServerHTTP:
			s.name, s.dial = d.Name, remote(d, s, network)
		default:
			return nil, rpcerr.InvalidParams(nil).WithDetail("mcpServers: this agent reaches servers over stdio and http")
		}
		if names[s.name] {
			return nil, rpcerr.InvalidParams(map[string]any{"name": s.name}).WithDetail("mcpServers: two servers have this name")
		}
		names[s.name] = true
		all.servers = append(all.servers, s)
	}
	var end, late context.CancelFunc
	all.ctx, end = context.WithCancel(context.Background())
	all.patience, late = context.WithTimeout(all.ctx, patience)
	all.end = func() {
		late()
		end()
	}
	for _, s := range all.servers {
		s.ctx = all.ctx
		go s.start() // ends with startTime or with the session
	}
	return all, nil
}

type set struct {
	ctx      context.Context
	end      func()
	patience context.Context // done when the session no longer waits for servers
	servers  []*server
}

// Ready implements kit.MCPServers.
func (a *set) Ready(ctx context.Context) (failed []string) {
	for _, s := range a.servers {
		select {
		case <-s.over:
		case <-a.patience.Done():
			s.late.Do(s.tellLate)
		case <-ctx.Done():
			return failed
		}
		if text := s.failure(); text != "" {
			failed = append(failed, text)
		}
	}
	return failed
}

// Tools implements kit.MCPServers. It starts a server that has ended again, at most three times.
func (a *set) Tools() []tools.Tool {
	listed := make(map[string]bool)
	var all []tools.Tool
	for _, s := range a.servers {
		s.revive()
		for _, t := range s.list() {
			if !listed[t.Name] { // a server may list a tool twice
				listed[t.Name] = true
				all = append(all, t)
			}
		}
	}
	return all
}

// Close implements kit.MCPServers.
func (a *set) Close() error {
	a.end()
	errs := make([]error, len(a.servers))
	var work sync.WaitGroup
	for i, s := range a.servers {
		work.Go(func() { // ends within the grace of the process
			if err := s.close(); err != nil {
				errs[i] = fmt.Errorf("mcp: server %q: %w", s.name, err)
			}
		})
	}
	work.Wait()
	return errors.Join(errs...)
}
