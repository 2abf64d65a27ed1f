package interop_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

const (
	proxyHost  = "agent.example.com"
	proxyToken = "token-of-the-proxy-test"
)

// behindProxy serves our agent as docs/remote.md says for a server behind
// a proxy, under the name of an instance. It returns the address and counts the connections.
func behindProxy(t *testing.T, instance string, conns *atomic.Int32) string {
	t.Helper()
	log := pairtest.StrictLogger(t)
	handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		conns.Add(1)
		return agent.Serve(ctx, s, newGoAgent, &agent.Options{Unstable: true, Logger: log})
	}, &remote.Options{Logger: log, Authorize: remote.BearerToken(proxyToken), AllowedHosts: []string{proxyHost}, Instance: instance})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- handler.Serve(ctx, listener) }() // ends with ctx
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-served)
	})
	return listener.Addr().String()
}

// recipes returns the configuration of nginx in docs/remote.md, and what it adds for affinity by
// connection ids.
func recipes(t *testing.T) (whole, byInstance string) {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/remote.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	require.Len(t, found, 2)
	return found[0][1], found[1][1]
}

// certificate writes the certificate of httptest, which is for the proxy, too, and its key, and returns a
// pool with it.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	server.Close()
	secret, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: server.Certificate().Raw}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

// nginx starts nginx with the recipe of docs/remote.md in front of servers. edit changes the configuration.
// It returns the address of nginx and the certificates to trust.
func nginx(t *testing.T, servers []string, edit func(conf string) string) (address string, pool *x509.CertPool) {
	t.Helper()
	conf, _ := recipes(t)
	var lines strings.Builder
	for _, s := range servers {
		fmt.Fprintf(&lines, "    server %s;\n", s)
	}
	for old, now := range map[string]string{"    server 127.0.0.1:8080;\n": lines.String(), "    http2 on; ": "    # "} { // versions before 1.25.1 do not have it
		require.Contains(t, conf, old, "the recipe of docs/remote.md has changed: so must this test")
		conf = strings.Replace(conf, old, now, 1)
	}
	if edit != nil {
		conf = edit(conf)
	}
	return nginxWith(t, conf, "http2")
}

// nginxWith starts nginx with a configuration that listens at port 443, which becomes another one with options. It returns
// its address and the certificates to trust.
func nginxWith(t *testing.T, conf string, options ...string) (address string, pool *x509.CertPool) {
	t.Helper()
	path := need(t, "nginx")
	dir := t.TempDir()
	pool = certificate(t, dir)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = listener.Addr().String()
	require.NoError(t, listener.Close())
	require.Contains(t, conf, "listen 443 ssl;")
	conf = strings.Replace(conf, "listen 443 ssl;", "listen "+strings.Join(append([]string{address, "ssl"}, options...), " ")+"; ssl_certificate "+dir+"/cert.pem; ssl_certificate_key "+dir+"/key.pem;", 1)
	var temp strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temp, "%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	whole := fmt.Sprintf("daemon off;\nmaster_process off;\npid %s/pid;\nerror_log stderr warn;\nevents {}\nhttp {\naccess_log off;\n%s%s}\n", dir, temp.String(), conf)
	file := filepath.Join(dir, "nginx.conf")
	require.NoError(t, os.WriteFile(file, []byte(whole), 0o600))

	cmd := exec.Command(path, "-p", dir, "-c", file, "-e", "stderr")
	cmd.Stderr = testWriter{t}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 10*time.Second, 20*time.Millisecond, "nginx does not listen")
	return address, pool
}

// proxied returns a client for requests that go to nginx, and the highest version of HTTP
// that it has seen in responses.
func proxied(t *testing.T, address string, pool *x509.CertPool, h2 bool) (*http.Client, *atomic.Int32) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!h2)
	protocols.SetHTTP2(h2)
	transport := &http.Transport{
		Protocols:       protocols,
		TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: proxyHost},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	version := new(atomic.Int32)
	return &http.Client{Transport: seenVersion{transport, version}}, version
}

type seenVersion struct {
	http.RoundTripper
	version *atomic.Int32
}

func (s seenVersion) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		s.version.Store(int32(resp.ProtoMajor))
	}
	return resp, err
}

// proxiedConn dials our client through nginx.
func proxiedConn(t *testing.T, url string, httpClient *http.Client) *conversation {
	t.Helper()
	s, err := remote.Dial(t.Context(), url, &remote.DialOptions{Client: httpClient, Header: func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer " + proxyToken}}, nil
	}})
	require.NoError(t, err)
	return converse(t, s, connectMortal)
}

// The recipe of docs/remote.md carries whole conversations: over WebSocket, HTTP/1.1 and
// HTTP/2, with two servers of which one holds the connection. Turns ask and are answered
// in their middle, so events are not buffered.
func TestNginx(t *testing.T) {
	t.Parallel()
	needShell(t)
	var conns [2]atomic.Int32
	servers := []string{behindProxy(t, "", &conns[0]), behindProxy(t, "", &conns[1])}
	address, pool := nginx(t, servers, func(conf string) string {
		require.Contains(t, conf, "# ip_hash;")
		return strings.Replace(conf, "# ip_hash;", "ip_hash; #", 1)
	})
	for name, tt := range map[string]struct {
		url     string
		h2      bool
		version int32
		without []string
	}{
		"WebSocket": {url: "wss://" + proxyHost + "/acp", version: 1, without: []string{"before initialize"}},
		"HTTP 1.1":  {url: "https://" + proxyHost + "/acp", version: 1},
		"HTTP 2":    {url: "https://" + proxyHost + "/acp", h2: true, version: 2},
	} {
		t.Run(name, func(t *testing.T) {
			httpClient, version := proxied(t, address, pool, tt.h2)
			c := proxiedConn(t, tt.url, httpClient)
			c.all(t, tt.without...)
			assert.Equal(t, tt.version, version.Load())
			var err error
			c.session, err = c.conn.StartSession(c.ctx, &acp.NewSessionRequest{Cwd: c.dir})
			require.NoError(t, err)
			said, _ := c.say(t, "say "+strings.Repeat("x", 20<<20))
			assert.Len(t, strings.TrimSpace(said), 20<<20, "client_max_body_size")
		})
	}
	assert.True(t, conns[0].Load() == 0 || conns[1].Load() == 0, "a client stays with its server")
}

// Without affinity a client meets a server that does not know its connection. This is what
// the recipe warns of.
func TestNginxWithoutAffinity(t *testing.T) {
	t.Parallel()
	var conns [2]atomic.Int32
	address, pool := nginx(t, []string{behindProxy(t, "", &conns[0]), behindProxy(t, "", &conns[1])}, nil)
	httpClient, _ := proxied(t, address, pool, true)
	c := proxiedConn(t, "https://"+proxyHost+"/acp", httpClient)
	_, err := c.conn.Initialize(c.ctx, &acp.InitializeRequest{})
	if err == nil {
		_, err = c.conn.NewSession(c.ctx, &acp.NewSessionRequest{Cwd: c.dir})
	}
	var status *stream.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, http.StatusNotFound, status.Code)
}

// With the names of the servers in the connection ids every request finds the server that has its
// connection, whatever address the client has.
func TestNginxByInstance(t *testing.T) {
	t.Parallel()
	needShell(t)
	var conns [2]atomic.Int32
	servers := []string{behindProxy(t, "a", &conns[0]), behindProxy(t, "b", &conns[1])}
	address, pool := nginx(t, servers, func(conf string) string {
		_, added := recipes(t)
		for n, port := range []string{"127.0.0.1:8080", "127.0.0.1:8081"} {
			require.Contains(t, added, port)
			added = strings.Replace(added, port, servers[n], 1)
		}
		require.Contains(t, conf, "proxy_pass http://agent;")
		return added + strings.Replace(conf, "proxy_pass http://agent;", "proxy_pass http://$backend;", 1)
	})
	for _, h2 := range []bool{false, true} {
		httpClient, _ := proxied(t, address, pool, h2)
		c := proxiedConn(t, "https://"+proxyHost+"/acp", httpClient)
		c.all(t)
	}
	httpClient, _ := proxied(t, address, pool, false)
	proxiedConn(t, "wss://"+proxyHost+"/acp", httpClient).all(t, "before initialize")
	assert.NotZero(t, conns[0].Load())
	assert.NotZero(t, conns[1].Load(), "new connections go to all servers in turn")
}

// Comments and pings keep an idle connection open where the proxy cuts those that are
// silent for longer than 15 s.
func TestNginxIdle(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this test waits for 25 s")
	}
	t.Parallel()
	var conns atomic.Int32
	timeouts := regexp.MustCompile(`(proxy_(?:read|send)_timeout) 5m;`)
	address, pool := nginx(t, []string{behindProxy(t, "", &conns)}, func(conf string) string {
		require.Len(t, timeouts.FindAllString(conf, -1), 2)
		return timeouts.ReplaceAllString(conf, "$1 18s;")
	})
	for _, scheme := range []string{"https", "wss"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			httpClient, _ := proxied(t, address, pool, false)
			c := proxiedConn(t, scheme+"://"+proxyHost+"/acp", httpClient)
			c.start(t)
			select {
			case <-c.conn.Done():
				t.Fatalf("the proxy has cut the connection: %v", c.conn.Err())
			case <-time.After(25 * time.Second):
			}
			said, _ := c.say(t, "say back")
			assert.Equal(t, "back", strings.TrimSpace(said))
		})
	}
}
