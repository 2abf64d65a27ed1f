// Package mcp gives the sessions of package agent/kit the tools of the MCP servers that clients
// name, over stdio and HTTP, by the official SDK github.com/modelcontextprotocol/go-sdk:
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
// What a server sends is limited: 32 MiB a message, 1000 tools, ten texts of progress a second, and of
// a result what package tools shows of any. It lists its tools once at a time.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	c := &connector{}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Info.Name == "" {
		c.opts.Info = acp.Implementation{Name: "acpkit", Version: "0"}
	}
	if c.opts.CallTime == 0 {
		c.opts.CallTime = callTime
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.Default()
	}
	return c
}

type connector struct{ opts Options }

func (c *connector) Capabilities() *acp.MCPCapabilities { return &acp.MCPCapabilities{HTTP: true} }

// Connect implements kit.MCP.
func (c *connector) Connect(cwd string, servers []acp.MCPServer) (kit.MCPServers, error) {
	all := &set{}
	names := make(map[string]bool)
	for _, described := range servers {
		s := &server{connector: c, ready: make(chan struct{}), over: make(chan struct{}), calls: make(map[string]*progress)}
		switch d := described.(type) {
		case *acp.MCPServerStdio:
			s.name, s.dial = d.Name, stdio(d, cwd, s)
		case *acp.MCPServerHTTP:
			s.name, s.dial = d.Name, remote(d, s)
		default:
			return nil, rpcerr.InvalidParams(nil).WithDetail("mcpServers: this agent reaches servers over stdio and http")
		}
		if names[s.name] {
			return nil, rpcerr.InvalidParams(map[string]any{"name": s.name}).WithDetail("mcpServers: two servers have this name")
		}
		names[s.name] = true
		all.servers = append(all.servers, s)
	}
	all.ctx, all.end = context.WithCancel(context.Background())
	for _, s := range all.servers {
		s.ctx = all.ctx
		go s.start() // ends with startTime or with the session
	}
	return all, nil
}

// set holds the servers of one session.
type set struct {
	ctx     context.Context
	end     context.CancelFunc
	servers []*server
}

// Ready implements kit.MCPServers.
func (a *set) Ready(ctx context.Context) (failed []string) {
	for _, s := range a.servers {
		select {
		case <-s.ready:
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
	taken := make(map[string]bool)
	var all []tools.Tool
	for _, s := range a.servers {
		s.revive()
		for _, t := range s.list() {
			t.Name = unique(taken, t.Name)
			all = append(all, t)
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
