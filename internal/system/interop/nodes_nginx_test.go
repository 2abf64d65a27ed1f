package interop_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/natsserver"
	"github.com/acpkit/go-sdk/stream/remote"
)

// nodesDoc is what docs/hub.md says about several machines.
func nodesDoc(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/hub.md")
	require.NoError(t, err)
	_, part, ok := strings.Cut(string(doc), "\n## On several machines\n")
	require.True(t, ok)
	part, _, ok = strings.Cut(part, "\n## ")
	require.True(t, ok)
	return part
}

// Three nodes behind nginx, with the command and the configurations of docs/hub.md: a session goes on while one node after the
// other is restarted, and no client reaches what is for nodes.
func TestNodesBehindNginx(t *testing.T) {
	t.Parallel()
	need(t, "nginx")
	doc := nodesDoc(t)
	whole, err := os.ReadFile("../../../docs/hub.md")
	require.NoError(t, err)
	recipes := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindAllStringSubmatch(string(whole), -1)
	require.Len(t, recipes, 2)
	pass, secret := "proxy_pass http://nodes;", "location /node { return 404; }"
	require.Contains(t, doc, "`"+pass+"`")
	require.Contains(t, doc, "`"+secret+"`")
	start := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/acp (.*) -- gemini --acp$`).FindStringSubmatch(doc)
	require.NotNil(t, start)
	require.Contains(t, string(whole), "-hosts https://"+proxyHost)

	servers := natsserver.Start(t, natsserver.Options{})
	upstream, nodes := recipes[1][1], [3]func() func(){}
	for i, port := range natsserver.FreePorts(t, 3) {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		upstream = strings.Replace(upstream, fmt.Sprintf("10.0.0.%d:7777", i+1), address, 1)
		args := strings.Fields(strings.ReplaceAll(start[1], "10.0.0.1:7777", address))
		nodes[i] = func() func() {
			cmd := exec.Command(example(t, "acp"), append(append(args, "--"), self(t)...)...)
			cmd.Env = append(selfEnv("agent"), "NATS_URL="+servers.URL(), "ACP_TOKEN="+proxyToken, "ACP_NODE_TOKEN=a-token-of-the-nodes")
			cmd.Stderr = testWriter{t}
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			end := func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }
			t.Cleanup(end)
			_, err = bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			return end
		}
	}
	conf := strings.Replace(recipes[0][1], "proxy_pass http://127.0.0.1:7777;", pass, 1)
	conf = strings.Replace(conf, "    location / {", "    "+secret+"\n    location / {", 1)
	require.Contains(t, conf, pass)
	require.Contains(t, conf, secret)
	require.NotContains(t, upstream, "10.0.0.")
	var ends [3]func()
	for i := range nodes {
		ends[i] = nodes[i]()
	}
	address, pool := nginxWith(t, upstream+conf)
	web, _ := proxied(t, address, pool, false)

	res, err := web.Get("https://" + proxyHost + "/node")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusNotFound, res.StatusCode)

	connect := func(scheme string) (*client.Conn, error) {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		s, err := remote.Dial(ctx, scheme+"://"+proxyHost+"/acp", &remote.DialOptions{Client: web, Header: func(context.Context) (http.Header, error) {
			return http.Header{"Authorization": {"Bearer " + proxyToken}}, nil
		}})
		if err != nil {
			return nil, err
		}
		return client.Connect(ctx, s, func(*client.Conn) acp.Client { return holding{} }, nil)
	}
	conn, err := connect("https")
	require.NoError(t, err)
	session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	for i := range nodes {
		ends[i]()
		for _, scheme := range []string{"https", "wss"} {
			conn, err := connect(scheme)
			require.NoError(t, err)
			_, err = conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: session.ID(), Cwd: t.TempDir()})
			require.NoError(t, err)
			done, err := conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: session.ID(), Prompt: []acp.ContentBlock{acp.Text("say x")}})
			require.NoError(t, err)
			assert.Equal(t, acp.StopReasonEndTurn, done.StopReason)
			require.NoError(t, conn.Close())
			_ = conn.Wait()
		}
		nodes[i]()
	}
}

// The units of docs/hub.md are right for systemd.
func TestUnits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		require.Empty(t, os.Getenv("CI"), "systemd-analyze is not installed, which CI must have")
		t.Skip("systemd-analyze is not installed")
	}
	found := regexp.MustCompile("(?s)`/etc/systemd/system/([a-z]+\\.service)`.*?```ini\n(.*?)```").FindAllStringSubmatch(nodesDoc(t), -1)
	require.Len(t, found, 2)
	dir := t.TempDir()
	for _, unit := range found {
		text := regexp.MustCompile(`(?m)^ExecStart=\S+`).ReplaceAllLiteralString(unit[2], "ExecStart="+os.Args[0])
		require.Contains(t, text, "ExecStart="+os.Args[0])
		file := dir + "/" + unit[1]
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", file).CombinedOutput()
		assert.NoError(t, err, "%s", out)
		assert.NotContains(t, string(out), dir, "a warning about %s", unit[1])
	}
}
