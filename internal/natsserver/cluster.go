// Package natsserver runs nats-server processes for tests: one, or several that form a cluster. The program
// is the tool of that name of the module internal/system, so that no other module requires it.
package natsserver

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options configure Start. The zero Options are one server that flushes always.
type Options struct {
	Servers     int    // 0 means 1
	DefaultSync bool   // do not flush what is acknowledged
	JetStream   string // lines of the jetstream block
	Config      string // lines of the configuration
	Store       string // the folder in which a single server stores streams; empty means a new one

	// Prefix is a command that starts another one, whose words follow it, as env does.
	Prefix []string
}

// Cluster is a set of servers.
type Cluster struct {
	t       testing.TB
	program []string
	mu      sync.Mutex
	servers []*server
}

type server struct {
	config  string
	store   string
	port    int
	monitor int
	out     string
	cmd     *exec.Cmd // nil while it does not run
}

// The users of the servers: one of an account with JetStream, and one of the system account.
const users = `accounts { A: { jetstream: enabled, users: [{user: a, password: a}] }, N: { users: [{user: n, password: n}] }, S: { users: [{user: s, password: s}] } }
system_account: S
no_auth_user: a
`

// Start starts servers that end with the test, and waits until they serve.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c := &Cluster{t: t, program: append(o.Prefix[:len(o.Prefix):len(o.Prefix)], Tool(t, "nats-server"))}
	n, sync := max(1, o.Servers), "sync_interval: always"
	if o.DefaultSync {
		sync = ""
	}
	var routes []string
	ports := FreePorts(t, 3*n)
	for i := range n {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", ports[3*i+2]))
	}
	for i := range n {
		dir := t.TempDir()
		store := cmp.Or(o.Store, filepath.Join(dir, "js"))
		text := fmt.Sprintf("server_name: n%d\nlisten: 127.0.0.1:%d\nhttp: 127.0.0.1:%d\njetstream { store_dir: %q, %s\n%s }\n%s%s\n",
			i, ports[3*i], ports[3*i+1], store, sync, o.JetStream, users, o.Config)
		if n > 1 {
			text += fmt.Sprintf("cluster { name: c, listen: 127.0.0.1:%d, routes: [%s] }\n", ports[3*i+2], strings.Join(routes, ", "))
		}
		s := &server{config: filepath.Join(dir, "nats.conf"), store: store, port: ports[3*i], monitor: ports[3*i+1], out: filepath.Join(dir, "out")}
		if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.servers = append(c.servers, s)
	}
	t.Cleanup(func() {
		for i := range c.servers {
			c.Kill(i)
		}
	})
	for i := range n {
		c.Run(i)
	}
	for i := range n {
		c.Await(i)
	}
	return c
}

// Tool returns the path of a tool of the module internal/system, which is built if necessary.
func Tool(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "internal", "system", "go.mod")); missing == nil {
			break
		}
		if parent := filepath.Dir(dir); parent == dir {
			t.Skipf("%s is built in a clone of the repository alone", name)
		}
		dir = filepath.Dir(dir)
	}
	cmd := exec.Command("go", "tool", "-n", name)
	cmd.Dir = filepath.Join(dir, "internal", "system")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var diagnosis bytes.Buffer
	cmd.Stderr = &diagnosis
	path, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s cannot be built: %v\n%s", name, err, diagnosis.Bytes())
	}
	return strings.TrimSpace(string(path))
}

// FreePorts returns ports that no program used a moment ago.
func FreePorts(t testing.TB, n int) (ports []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// URL returns the addresses of all servers, for a client.
func (c *Cluster) URL() string {
	var all []string
	for i := range c.servers {
		all = append(all, c.Server(i))
	}
	return strings.Join(all, ",")
}

// Server returns the address of a server.
func (c *Cluster) Server(i int) string { return fmt.Sprintf("nats://127.0.0.1:%d", c.servers[i].port) }

// Run starts a server that does not run.
func (c *Cluster) Run(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.servers[i]
	out, err := os.OpenFile(s.out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer out.Close()
	s.cmd = exec.Command(c.program[0], append(c.program[1:len(c.program):len(c.program)], "-c", s.config)...)
	s.cmd.Stdout, s.cmd.Stderr = out, out
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		c.t.Error(err)
	}
}

// Kill ends a server with kill -9.
func (c *Cluster) Kill(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.servers[i]; s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// Store returns the folder in which a server stores streams.
func (c *Cluster) Store(i int) string { return c.servers[i].store }

// Process returns the process of a server, or nil.
func (c *Cluster) Process(i int) *os.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.servers[i]; s.cmd != nil {
		return s.cmd.Process
	}
	return nil
}

// Await waits until a server serves.
func (c *Cluster) Await(i int) {
	c.t.Helper()
	s := c.servers[i]
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 3000 {
		if answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/healthz", s.monitor)); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		<-tick.C
	}
	text, _ := os.ReadFile(s.out)
	c.t.Fatalf("nats-server does not serve:\n%s", text)
}
