package remote_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream/remote"
)

// rawServer serves on a TCP listener.
func rawServer(t testing.TB) (address string) {
	t.Helper()
	h := remote.NewHandler(serving(nil), &remote.Options{Logger: quiet, MaxConnections: 20_000, MaxPrincipalConnections: 20_000})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, listener) }() // ends with ctx
	t.Cleanup(func() { cancel(); assert.NoError(t, <-served) })
	return listener.Addr().String()
}

// exchange opens a connection and sends a request. It returns the connection and the header of the
// response, and reads no further.
func exchange(t testing.TB, address, request string) (net.Conn, http.Header) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	_, err = io.WriteString(c, request)
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	require.Less(t, resp.StatusCode, 300)
	return c, resp.Header
}

// idleHTTP opens a connection of streamable HTTP with its event stream.
func idleHTTP(t testing.TB, address string) net.Conn {
	post, header := exchange(t, address, fmt.Sprintf("POST /acp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(initialize), initialize))
	post.Close()
	get, _ := exchange(t, address, "GET /acp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAcp-Connection-Id: "+header.Get("Acp-Connection-Id")+"\r\n\r\n")
	return get
}

// idleWebSocket opens a WebSocket and initializes it.
func idleWebSocket(t testing.TB, address string) net.Conn {
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	_, err = io.WriteString(c, "GET /acp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	require.NoError(t, err)
	frame := []byte{0x81, 0x80 | byte(len(initialize)), 0, 0, 0, 0}
	require.Less(t, len(initialize), 126)
	_, err = c.Write(append(frame, initialize...))
	require.NoError(t, err)
	r := bufio.NewReader(c)
	for line := ""; line != "\r\n"; {
		line, err = r.ReadString('\n')
		require.NoError(t, err)
	}
	head := make([]byte, 2)
	_, err = io.ReadFull(r, head)
	require.NoError(t, err)
	size := int64(head[1])
	if size == 126 {
		long := make([]byte, 2)
		_, err = io.ReadFull(r, long)
		require.NoError(t, err)
		size = int64(binary.BigEndian.Uint16(long))
	}
	_, err = io.CopyN(io.Discard, r, size)
	require.NoError(t, err)
	return c
}

var idles = map[string]func(testing.TB, string) net.Conn{"HTTP": idleHTTP, "WebSocket": idleWebSocket}

// inUse returns the size of the heap and the stacks.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// idleBound is how much memory an idle connection may take, including that of net/http. On Windows
// the smallest stack of a goroutine is 8 KiB instead of 2 (runtime.stackSystem), and a connection
// has six or seven goroutines. The heap is the same.
func idleBound() int64 {
	if runtime.GOOS == "windows" {
		return 96 << 10
	}
	return 64 << 10
}

// raceEnabled reports whether the race detector is on.
var raceEnabled = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

func TestIdleConnectionsAreCheap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes stacks larger: the test needs a build without it, which CI makes as well")
	}
	for name, idle := range idles {
		t.Run(name, func(t *testing.T) {
			const count = 1000
			address := rawServer(t)
			idle(t, address).Close()
			before := inUse()
			conns := make([]net.Conn, count)
			for i := range conns {
				conns[i] = idle(t, address)
			}
			each := (inUse() - before) / count
			t.Logf("%d KiB each", each>>10)
			assert.Less(t, each, idleBound())
			for _, c := range conns {
				c.Close()
			}
		})
	}
}

var drops = flag.Int("drops", 1000, "how many connections TestManyDrops makes over each transport")

// Connections that are opened and dropped leave nothing behind.
func TestManyDrops(t *testing.T) {
	count := *drops
	if testing.Short() || raceEnabled {
		count = 200
	}
	for name, url := range map[string]string{"HTTP": "http://", "WebSocket": "ws://"} {
		t.Run(name, func(t *testing.T) {
			address := rawServer(t)
			once := func() {
				require.NoError(t, dial(t, url+address, nil).Close())
			}
			for range 20 {
				once()
			}
			before, goroutines := inUse(), runtime.NumGoroutine()
			for range count {
				once()
			}
			assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+5 }, 10*time.Second, 50*time.Millisecond, "goroutines stay")
			assert.Less(t, inUse()-before, max(int64(count)*800, 2<<20), "memory stays")
		})
	}
}
