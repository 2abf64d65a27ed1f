package hub_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/natsserver"
)

// Three servers with the configuration of docs/hub.md, on other addresses and with passwords and certificates of the test: they are a
// cluster that flushes what it acknowledges, and nobody gets in without a password or TLS.
func TestConfigurationOfTheServers(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/hub.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```\n(server_name: n1\n.*?)```").FindStringSubmatch(string(doc))
	require.NotNil(t, found)
	dir, program, ports := t.TempDir(), natsserver.Tool(t, "nats-server"), natsserver.FreePorts(t, 6)
	pool := certificates(t, dir)
	var urls []string
	for i := range 3 {
		conf := found[1]
		change := func(from, to string) {
			require.Contains(t, conf, from)
			conf = strings.ReplaceAll(conf, from, to)
		}
		change("server_name: n1", fmt.Sprintf("server_name: n%d", i+1))
		change("listen: 10.0.0.1:4222", fmt.Sprintf("listen: 127.0.0.1:%d", ports[i]))
		change("listen: 10.0.0.1:6222", fmt.Sprintf("listen: 127.0.0.1:%d", ports[3+i]))
		for n := range 3 {
			change(fmt.Sprintf("10.0.0.%d:6222", n+1), fmt.Sprintf("127.0.0.1:%d", ports[3+n]))
		}
		change("/etc/nats", dir)
		change("/var/lib/nats", filepath.Join(dir, fmt.Sprint("store", i)))
		file := filepath.Join(dir, fmt.Sprintf("nats%d.conf", i))
		require.NoError(t, os.WriteFile(file, []byte(conf), 0o600))
		cmd := exec.Command(program, "-c", file)
		cmd.Env = append(os.Environ(), "ACP_NATS_PASSWORD=abc1", "SYS_NATS_PASSWORD=def2")
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		urls = append(urls, fmt.Sprintf("tls://127.0.0.1:%d", ports[i]))
	}
	trust := nats.Secure(&tls.Config{RootCAs: pool})
	connect := func(opts ...nats.Option) (conn *nats.Conn) {
		require.Eventually(t, func() (ok bool) {
			conn, err = nats.Connect(strings.Join(urls, ","), append(opts, trust)...)
			return err == nil
		}, 20*time.Second, 100*time.Millisecond)
		t.Cleanup(conn.Close)
		return conn
	}
	js, err := jetstream.New(connect(nats.UserInfo("acp", "abc1")))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Replicas: 3})
		return err == nil
	}, time.Minute, 200*time.Millisecond, "there is no cluster of three")

	system := connect(nats.UserInfo("sys", "def2"))
	answer, err := system.Request("$SYS.REQ.SERVER.PING.JSZ", nil, 5*time.Second)
	require.NoError(t, err)
	var v struct {
		Data struct {
			Config struct {
				SyncAlways bool `json:"sync_always"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(answer.Data, &v))
	assert.True(t, v.Data.Config.SyncAlways)

	_, err = nats.Connect(urls[0], trust)
	require.ErrorIs(t, err, nats.ErrAuthorization)
	_, err = nats.Connect(strings.Replace(urls[0], "tls", "nats", 1), nats.UserInfo("acp", "abc1"))
	require.Error(t, err, "without the authority")
}

// certificates writes a certificate for 127.0.0.1, for servers and clients, which is its own authority.
func certificates(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	for name, content := range map[string][]byte{"cert.pem": text, "ca.pem": text, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	return pool
}
