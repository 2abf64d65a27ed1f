// Package repocheck_test holds the rules that concern the module as a whole: who may
// import whom, what may stand in a public signature, and how code is written.
package repocheck_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/acpkit/go-sdk"

// The rules name files by their paths from the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

// An importRule says what the packages below one path may import besides the
// standard library. Names without a dot in the first element are folders of this
// module; a trailing /... stands for the folder and all below it.
type importRule struct {
	pkg string
	may []string
	why string
}

// The first rule that fits a package holds for it.
var importRules = []importRule{
	{"stream/safetext", nil,
		"whatever prints a text of a peer uses it, streams and errors too"},
	{"stream/mask", nil,
		"recordings and questions hide credentials by it, and neither knows the other"},
	{"stream", []string{"stream/safetext", "internal/envelope", "internal/panics", "internal/process"},
		"messages travel without knowing what they mean, so that anyone can write a stream"},
	{"stream/websocket", []string{"stream", "stream/safetext", "internal/envelope", "internal/inbox", "internal/webguard", "github.com/coder/websocket"},
		"one network transport links nothing of the other"},
	{"stream/streamhttp", []string{"stream", "internal/envelope", "internal/inbox", "internal/panics", "internal/retryafter", "internal/webguard"},
		"one network transport links nothing of the other"},
	{"stream/remote", []string{"stream", "stream/websocket", "stream/streamhttp", "internal/panics", "internal/webguard"},
		"it offers both transports and knows no more than they do"},
	{"stream/objectstream", []string{"stream", "internal/envelope", "internal/inbox", "github.com/sourcegraph/jsonrpc2"},
		"it joins our streams with those of one library, and knows nothing else"},
	{"stream/streamtest", []string{"stream", "internal/leak"},
		"helpers that test a stream know no more than a stream, and what it leaves behind"},
	{"rpcerr", []string{"stream/safetext", "internal/errs", "github.com/sourcegraph/jsonrpc2"},
		"callers that only catch codes link nothing but the error of JSON-RPC, the walk and the redaction that all of rpcerr shares, and what makes a text printable"},
	{"internal/errs", nil,
		"every package of rpcerr and the connections stand on it"},
	{"rpcerr/retry", []string{"rpcerr/...", "acp", "github.com/cenkalti/backoff/v5"},
		"backing off is the one thing the error systems take from elsewhere"},
	{"rpcerr/...", []string{"rpcerr/...", "acp", "internal/errs", "internal/panics", "internal/retryafter", "internal/validate"},
		"error systems build on the core and know the vocabulary, never a connection"},
	{"acp", []string{"internal/roles", "internal/wire", "rpcerr"},
		"the vocabulary has no connection and no I/O"},
	{"internal/envelope", nil,
		"it lies below everything: streams and the engine share it"},
	{"draft2/acp", []string{"acp", "internal/roles", "internal/wire"},
		"a vocabulary shares with that of version 1 what is the same in both"},
	{"internal/roles", []string{"rpcerr"},
		"the wrappers of every vocabulary use it, so it must not know one of them"},
	{"internal/wire", []string{"internal/envelope"},
		"it lies below the vocabulary and the engine"},
	{"internal/validate", []string{"rpcerr", "internal/wire", "github.com/go-playground/validator/v10"},
		"validator is an implementation detail of one package"},
	{"internal/asked", nil,
		"the parts of a client read what the clients of every version put into a ctx, so it knows neither"},
	{"internal/termview", []string{"acp"},
		"threads show the terminals of a client, and neither knows the other"},
	{"internal/weblink", nil,
		"both ends refuse an address, and the parts of a client show it"},
	{"internal/history", []string{"acp", "agent/journal", "internal/fold", "internal/wire", "rpcerr", "stream/safetext"},
		"agents and hubs replay what they stored by it, so it knows neither"},
	{"internal/fold", []string{"acp"},
		"agents, clients and checks make the state of a session from its updates by it, so it knows none of them"},
	{"internal/reserve", nil,
		"the parts of a client reserve room for what the engine counts, so it knows neither"},
	{"internal/rpc", []string{"stream/safetext", "stream", "internal/errs", "rpcerr", "internal/envelope", "internal/panics", "internal/reserve", "internal/rpc/order", "internal/rpc/outbox", "internal/wire", "internal/validate", "github.com/sourcegraph/jsonrpc2"},
		"the engine serves every wire version, so it must not know one of them; jsonrpc2.Error is that of a response"},
	{"internal/rpc/order", nil,
		"the order of what was read is decided by what a table says of a method, and by nothing else of ours"},
	{"internal/rpc/outbox", []string{"stream", "internal/reserve", "internal/wire"},
		"the way out queues bytes and does not know what they mean, only when they no longer count"},
	{"internal/endpoint", []string{"stream/safetext", "stream", "rpcerr", "internal/rpc", "internal/weblink", "internal/wire"},
		"what both ends share, in every version: it must not know one of them"},
	{"internal/talk/serving", []string{"rpcerr", "internal/endpoint", "internal/rpc", "internal/wire"},
		"what the agents of every version share: it must not know one of them"},
	{"internal/talk/explain", []string{"acp", "stream", "rpcerr", "internal/endpoint", "internal/panics", "internal/talk", "internal/wire"},
		"it says what the errors mean that all versions have, which package acp declares"},
	{"internal/talk", []string{"stream", "stream/safetext", "rpcerr", "internal/endpoint", "internal/panics", "internal/rpc", "internal/wire"},
		"what the clients of every version share: it must not know one of them"},
	{"internal/rules", []string{"rpcerr", "internal/endpoint", "internal/wire"},
		"ends of every version and on both kinds of connection obey it, so it must not know one of them"},
	{"internal/params", []string{"acp", "rpcerr", "internal/endpoint", "internal/rules"},
		"it is about values that both kinds of connection check, so it must not know one of them"},
	{"draft2/internal/replay", nil,
		"it orders what is sent, and knows no messages"},
	{"draft2/internal/params", []string{"draft2/acp", "rpcerr", "internal/endpoint", "internal/params", "internal/rules"},
		"it is about values, and those of version 2 alone"},
	{"internal/libconn", []string{"internal/errs", "rpcerr", "internal/endpoint", "internal/envelope", "internal/panics", "internal/rpc", "internal/rpc/order", "internal/wire", "github.com/sourcegraph/jsonrpc2"},
		"both ends on a connection of that library share it, so it must not know one of them"},
	{"agent/onjsonrpc2", []string{"acp", "rpcerr", "internal/endpoint", "internal/libconn", "internal/rpc", "internal/params", "internal/rules", "internal/wire", "github.com/sourcegraph/jsonrpc2"},
		"an agent on a connection of that library links neither package agent nor a stream"},
	{"client/onjsonrpc2", []string{"acp", "rpcerr", "internal/endpoint", "internal/libconn", "internal/rpc", "internal/params", "internal/rules", "internal/wire", "github.com/sourcegraph/jsonrpc2"},
		"a client on a connection of that library links neither package client nor a stream"},
	{"agent/relay", []string{"internal/rpc"},
		"it is for both ends and every version"},
	{"agent/proxy", []string{"stream/safetext", "stream", "internal/errs", "rpcerr", "internal/rpc", "internal/panics", "internal/envelope", "internal/wire"},
		"a proxy knows no version and no method, so that it can pass on those that are newer than itself"},
	{"agent/journal", []string{"internal/envelope", "internal/filelock", "internal/wire"},
		"a store knows JSON, and neither the protocol nor the kit that writes to it"},
	{"agent/journal/journaltest", []string{"agent/journal"},
		"it tests the stores of others"},
	{"agent/tools", []string{"acp", "agent", "internal/envelope", "internal/panics", "internal/typed", "internal/validate", "internal/errs", "rpcerr", "rpcerr/kind", "stream/safetext"},
		"tools work in any agent of version 1, with or without the kit"},
	{"agent/kit", []string{"acp", "agent", "agent/journal", "agent/tools", "agent/workspace", "stream", "stream/safetext", "rpcerr",
		"internal/envelope", "internal/fold", "internal/history", "internal/panics", "internal/wire"},
		"it composes the parts of an agent, and none of them imports it; it stores no update that cannot be sent"},
	{"agent/loop", []string{"acp", "agent/kit", "agent/tools", "rpcerr", "rpcerr/classify", "rpcerr/kind"},
		"it knows what a model is, and no model"},
	{"agent/loop/chat", []string{"acp", "agent/kit", "agent/loop", "agent/tools", "internal/completions", "internal/retryafter", "rpcerr", "rpcerr/kind"},
		"it is one model, and others take its place"},
	{"internal/kitplay", []string{"acp", "agent/journal", "agent/kit"},
		"tests of the kit in two modules share it"},
	{"agent/hub", []string{"acp", "agent", "agent/journal", "client", "client/supervise", "client/thread", "stream", "rpcerr",
		"internal/endpoint", "internal/fold", "internal/history", "internal/wire"},
		"it is both ends of version 1, and knows of no other version"},
	{"agent/workspace", []string{"acp", "agent", "agent/relay", "agent/tools", "rpcerr", "internal/command", "internal/filename", "internal/localfs", "internal/process", "rpcerr/kind", "stream/safetext",
		"golang.org/x/text/encoding", "golang.org/x/text/encoding/charmap", "golang.org/x/text/encoding/unicode"},
		"it works in any agent of version 1, with or without the kit, and shares with clients how this machine is used"},
	{"draft2/serve/adapter", []string{"acp", "draft2/acp", "agent", "draft2/agent", "draft2/internal/replay", "client", "stream", "internal/errs", "rpcerr", "internal/endpoint", "internal/fold", "internal/wire"},
		"it is the client of an agent of version 1, and the agent of clients of version 2, and tells methods of both from extensions"},
	{"draft2/serve", []string{"acp", "draft2/acp", "agent", "draft2/agent", "draft2/serve/adapter", "stream", "stream/safetext", "rpcerr", "internal/endpoint", "internal/envelope", "internal/panics", "internal/wire", "internal/validate"},
		"it chooses between two agents before there is a connection, and is no client"},
	{"draft2/agent", []string{"github.com/aymanbagabas/go-udiff", "draft2/acp", "stream", "rpcerr", "internal/rpc", "draft2/internal/params", "draft2/internal/replay", "internal/rules", "internal/endpoint", "internal/talk/serving", "internal/validate", "internal/wire"},
		"an agent of version 2 does not link the ends of version 1"},
	{"agent", []string{"acp", "stream", "rpcerr", "internal/rpc", "internal/params", "internal/rules", "internal/endpoint", "internal/talk/serving", "internal/validate", "internal/wire"},
		"an agent does not link the client's end, nor an error system it does not use"},
	{"draft2/client", []string{"draft2/acp", "stream", "rpcerr", "client/signin", "internal/asked", "internal/reserve", "internal/rpc", "draft2/internal/params", "internal/rules", "internal/endpoint", "internal/talk", "internal/talk/explain", "internal/wire"},
		"a client of version 2 does not link the ends of version 1"},
	{"client", []string{"acp", "stream", "rpcerr", "client/signin", "internal/asked", "internal/reserve", "internal/rpc", "internal/params", "internal/rules", "internal/endpoint", "internal/talk", "internal/talk/explain", "internal/wire"},
		"a client does not link the agent's end, nor an error system it does not use"},
	{"client/thread", []string{"acp", "rpcerr", "internal/fold", "internal/termview"},
		"its items name no version of the protocol, and programs of any version link it, so it knows no connection"},
	{"client/permission", []string{"acp", "rpcerr", "stream/mask", "stream/safetext", "client/thread", "internal/filename", "internal/fold", "internal/panics"},
		"its decisions name no version of the protocol, and programs of any version link it, so it knows no connection; threads read tool calls for it"},
	{"draft2/thread", []string{"draft2/acp", "client/thread", "internal/fold"},
		"it feeds a model that names no version, and knows no connection"},
	{"draft2/permission", []string{"draft2/acp", "client/permission", "draft2/thread"},
		"it feeds a model that names no version, and knows no connection"},
	{"draft2/connect", []string{"acp", "draft2/acp", "stream", "rpcerr", "client", "client/thread", "client/permission",
		"draft2/client", "draft2/thread", "draft2/permission", "stream/safetext", "internal/envelope", "internal/endpoint", "internal/panics"},
		"it serves programs that speak both versions; no other package may import it"},
	{"client/files", []string{"acp", "rpcerr", "internal/asked", "internal/localfs", "internal/reserve"},
		"files are served to whatever names its sessions"},
	{"client/terminals", []string{"acp", "rpcerr", "client/files", "internal/asked", "internal/command", "internal/process", "internal/reserve", "internal/termview"},
		"terminals work in the folders that files are served from"},
	{"internal/localfs", []string{"internal/filename"},
		"clients serve files from it and agents use files by it, so it knows neither"},
	{"internal/filename", []string{"golang.org/x/text/unicode/norm"},
		"it knows which names file systems take for the same, and what folders spell"},
	{"internal/command", []string{"acp", "internal/process"},
		"clients run the commands of agents by it and agents their own, so it knows neither"},
	{"client/elicitation", []string{"acp", "rpcerr", "internal/weblink"},
		"forms and pages are served to whatever connection the client has"},
	{"client/signin", []string{"acp", "internal/command", "internal/process", "internal/weblink"},
		"it needs two methods of a connection and no connection"},
	{"client/host", []string{"acp", "stream", "rpcerr", "client", "client/files", "client/terminals", "client/permission",
		"client/elicitation", "client/signin", "client/thread", "internal/process", "internal/reserve"},
		"it composes the parts, and one budget holds for all its connections"},
	{"client/supervise", []string{"acp", "stream", "rpcerr", "client", "client/thread", "internal/process"},
		"it keeps an agent, whatever the client does for it"},
	{"internal/gen", []string{"internal/schema"},
		"the generator must run when the generated code does not compile"},
	{"internal/schema", nil,
		"facts only"},
	{"internal/process", nil,
		"stream, terminals and supervise share it, so it knows none of them"},
	{"internal/inbox", []string{"stream", "internal/envelope"},
		"the network transports queue what has arrived, and do not know what it means"},
	{"internal/webguard", nil,
		"the checks of an HTTP request know nothing of the protocol"},
	{"internal/panics", nil,
		"whoever recovers a panic describes it in the same way"},
	{"internal/codectest", []string{"internal/validate", "internal/wire"},
		"the tests of every vocabulary share it, so it must not know one of them"},
	{"internal/completions", []string{"acp", "agent/loop", "internal/retryafter"},
		"it reads answers, and knows neither requests nor connections"},
	{"internal/typed", []string{"internal/validate"},
		"it knows types and JSON, and no tool"},
	{"internal/retryafter", nil,
		"a time to wait is read in one way, by streams, error systems and models"},
	{"internal/pipenet", nil,
		"a helper of tests that any package may use"},
	{"internal/rawpeer", []string{"stream"},
		"it plays a peer of any version by hand"},
	{"internal/natsserver", nil,
		"it starts a program, so that the main module does not require NATS"},
	{"internal/leak", nil,
		"a helper of tests that any package may use"},
	{"acptest", []string{"acptest/internal/...", "stream", "stream/remote", "stream/safetext"},
		"it shows what the checks in its internal packages have found"},
	{"acptest/passive", []string{"acp", "acptest/internal/strict", "draft2/acp", "internal/envelope", "internal/fold", "internal/wire"},
		"it judges messages alone, by what the vocabularies say, and knows no connection"},
	{"internal/schema", nil,
		"it has the schemas as they are"},
	{"acptest/internal/strict", []string{"internal/schema", "stream/safetext"},
		"it judges by the schema, and by no type that was made from it"},
	{"acptest/...", []string{"acptest/...", "acp/...", "agent/...", "client/...", "draft2/...", "rpcerr/...", "stream", "stream/mask", "stream/remote", "stream/safetext", "internal/envelope", "internal/process"},
		"the checks play a peer by hand, on the rules for recorded traffic, and their reference peers are built as users build theirs"},
	{"draft2/examples/...", []string{"acp", "draft2/...", "client/...", "examples/agent/worker", "rpcerr/...", "stream", "stream/remote", "stream/safetext"},
		"people copy examples into modules that cannot import internal packages"},
	{"examples/...", []string{"acp/...", "agent/...", "client/...", "rpcerr/...", "stream", "stream/remote", "stream/safetext", "examples/agent/...", "examples/chat/builtin"},
		"people copy examples into modules that cannot import internal packages"},
	{"cmd/acp/internal/conversation", []string{"client/thread", "github.com/yuin/goldmark", "github.com/yuin/goldmark/..."},
		"one package shows the Markdown of models, and what the pages draw comes from a thread alone"},
	{"cmd/acp/internal/recording", []string{"internal/filelock", "stream", "stream/mask"},
		"programs that read recordings need no connection, and the network no recordings"},
	{"cmd/acp/...", []string{"acp/...", "agent/...", "client/...", "draft2/...", "rpcerr/...", "stream", "stream/remote", "stream/safetext", "acptest", "acptest/passive", "cmd/acp/internal/...", "github.com/nats-io/nats.go"},
		"a command that others could have written shows that the public packages are enough"},
	{"internal/system/...", []string{"acp/...", "agent/...", "client/...", "draft2/...", "rpcerr/...", "stream", "internal/...", "github.com/stretchr/testify/..."},
		"what its tests share is for tests alone"},
	{"internal/...", []string{"acp/...", "agent/...", "client/...", "rpcerr/...", "stream", "internal/..."},
		"tools and tests of the project may use all of it, and nothing from elsewhere"},
}

func TestImportDirections(t *testing.T) {
	for _, goos := range []string{"linux", "windows", "darwin"} {
		for _, p := range listPackages(t, goos) {
			i := slices.IndexFunc(importRules, func(r importRule) bool { return matches(r.pkg, p.name) })
			if !assert.GreaterOrEqual(t, i, 0, "%s has no rule in importRules: decide what it may import", p.name) {
				continue
			}
			rule := importRules[i]
			for _, imported := range p.imports {
				if isStandard(imported) {
					continue
				}
				imported = strings.TrimPrefix(imported, module+"/")
				ok := slices.ContainsFunc(rule.may, func(pattern string) bool { return matches(pattern, imported) })
				assert.True(t, ok, "%s: %s must not import %s: %s", goos, p.name, imported, rule.why)
			}
		}
	}
}

func TestConfinedDependencies(t *testing.T) {
	for dependency, rule := range map[string]struct {
		homes []string
		why   string
	}{
		"github.com/sourcegraph/jsonrpc2":        {[]string{"rpcerr", "internal/rpc", "stream/objectstream", "internal/libconn", "agent/onjsonrpc2", "client/onjsonrpc2"}, "its Error is that of responses, its streams are joined with ours, and its connections can serve our ends"},
		"github.com/go-playground/validator/v10": {[]string{"internal/validate"}, "it can then be replaced in one place"},
		"github.com/stretchr/testify":            {[]string{"internal/system/..."}, "users must not link what only tests need"},
		"github.com/cenkalti/backoff/v5":         {[]string{"rpcerr/retry"}, "who does not retry must not link it"},
		"github.com/aymanbagabas/go-udiff":       {[]string{"draft2/agent"}, "it is for patches of version 2"},
		"github.com/coder/websocket":             {[]string{"stream/websocket"}, "who uses stdio alone must not link it"},
	} {
		for _, p := range listPackages(t, "linux") {
			for _, imported := range p.imports {
				if matches(dependency+"/...", imported) {
					home := slices.ContainsFunc(rule.homes, func(pattern string) bool { return matches(pattern, p.name) })
					assert.True(t, home, "%s imports %s: %s", p.name, imported, rule.why)
				}
			}
		}
	}
}

// Whoever requires this module gets its requirements too. What only tests need is
// therefore required by modules of their own, all but testify, which every test uses.
func TestRequirementsAreLinked(t *testing.T) {
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	require.NoError(t, err)
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	require.NoError(t, json.Unmarshal(out, &mod))
	require.NotEmpty(t, mod.Require)
	linked := listPackages(t, "linux")
	for _, required := range mod.Require {
		if required.Indirect || required.Path == "github.com/stretchr/testify" {
			continue
		}
		assert.True(t, slices.ContainsFunc(linked, func(p listed) bool {
			return slices.ContainsFunc(p.imports, func(imported string) bool { return matches(required.Path+"/...", imported) })
		}), "go.mod requires %s, which only tests import: move them into a module of their own", required.Path)
	}
}

// deps returns the packages that a program or package links.
func deps(t *testing.T, pkg string) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "./"+pkg)
	if rest, ok := strings.CutPrefix(pkg, "draft2/"); ok { // a module of its own
		list = exec.Command("go", "list", "-C", "draft2", "-deps", "./"+rest)
	}
	out, err := list.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// A program links only what it uses. The first one that a reader compiles is chat: half of the time for it would go
// into the network.
func TestStdioLinksNoNetwork(t *testing.T) {
	for _, program := range []string{"examples/echo", "examples/ask", "examples/chat", "draft2/examples/echo"} {
		for _, dep := range deps(t, program) {
			other := strings.HasPrefix(dep, module+"/stream/") && dep != module+"/stream/safetext" && dep != module+"/stream/mask"
			assert.False(t, dep == "net/http" || dep == "crypto/tls" || strings.HasPrefix(dep, "github.com/coder/") || other,
				"%s links %s", program, dep)
		}
	}
}

// The first program that a reader compiles should take at most 1.25 times the CPU time of the smallest agent, with a cold
// cache (.ci/cold measures it). What it links beside that is listed, so that a package that costs more is seen.
func TestFirstProgramLinksLittle(t *testing.T) {
	smallest := deps(t, "examples/echo")
	var more []string
	for _, dep := range deps(t, "examples/chat") {
		inner := strings.HasPrefix(dep, "vendor/") || strings.Contains("/"+dep+"/", "/internal/") && !strings.HasPrefix(dep, module)
		if !slices.Contains(smallest, dep) && !inner {
			more = append(more, strings.TrimPrefix(dep, module+"/"))
		}
	}
	assert.ElementsMatch(t, []string{
		"client", "client/elicitation", "client/files", "client/host", "client/permission", "client/signin", "client/terminals",
		"client/thread", "examples/agent/plain", "examples/chat", "examples/chat/builtin", "golang.org/x/text/transform",
		"golang.org/x/text/unicode/norm", "internal/asked", "internal/command", "internal/filename", "internal/fold", "internal/localfs", "internal/talk", "internal/talk/explain",
		"internal/termview", "os/user", "stream/mask",
	}, more)
}

// A program that uses the ends of this module links no end on a connection of jsonrpc2.
func TestEndsLinkNoOtherEnds(t *testing.T) {
	for _, program := range []string{"examples/echo", "examples/ask", "agent/kit", "client/host"} {
		for _, dep := range deps(t, program) {
			name := strings.TrimPrefix(dep, module+"/")
			assert.NotContains(t, []string{"agent/onjsonrpc2", "client/onjsonrpc2", "internal/libconn", "stream/objectstream"}, name, "%s links %s", program, dep)
		}
	}
}

// A program of version 1 links nothing of version 2, which is in a module of its own, and one of version 2
// no end of version 1.
func TestProgramsLinkOneVersion(t *testing.T) {
	for _, program := range []string{"examples/echo", "examples/ask", "examples/agent", "examples/chat", "examples/coder", "agent", "agent/kit", "client", "client/host", "client/supervise"} {
		for _, dep := range deps(t, program) {
			name := strings.TrimPrefix(dep, module+"/")
			assert.False(t, matches("draft2/...", name), "%s links %s", program, dep)
		}
	}
	for _, program := range []string{"draft2/examples/echo", "draft2/agent", "draft2/client", "draft2/thread", "draft2/permission"} {
		for _, dep := range deps(t, program) {
			name := strings.TrimPrefix(dep, module+"/")
			assert.NotContains(t, []string{"agent", "client", "draft2/connect"}, name, "%s links %s", program, dep)
		}
	}
}

// matches reports whether the package name matches the pattern: a pattern that ends in
// /... matches the package before it and all packages below that.
func matches(pattern, name string) bool {
	if base, below := strings.CutSuffix(pattern, "/..."); below {
		return name == base || strings.HasPrefix(name, base+"/")
	}
	return name == pattern
}

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// A listed package has at least one file that is no test.
type listed struct {
	name    string // the folder, relative to the root
	imports []string
}

// listPackages returns the packages of all modules that have rules, as they are built for a system.
// It reads the sources alone, so that nothing is downloaded for it.
func listPackages(t *testing.T, goos string) (all []listed) {
	t.Helper()
	system := build.Default
	system.GOOS, system.CgoEnabled = goos, false
	seen := map[string]bool{}
	eachSource(t, func(s *source) {
		if s.test || seen[s.pkg] {
			return
		}
		seen[s.pkg] = true
		p, err := system.ImportDir(s.pkg, 0)
		if _, none := errors.AsType[*build.NoGoError](err); none {
			return
		}
		require.NoError(t, err)
		all = append(all, listed{s.pkg, p.Imports})
	})
	return all
}

// A source is one Go file of the module.
type source struct {
	pkg       string // the folder, relative to the root
	path      string
	test      bool
	generated bool
	lines     int
	text      []byte
	file      *ast.File
}

func (s *source) public() bool {
	return !s.test && s.pkg != "." && s.file.Name.Name != "main" && !strings.Contains("/"+s.pkg+"/", "/internal/")
}

var fset = token.NewFileSet()

// ruled are the nested modules whose sources follow the rules of the main module.
var ruled = []string{"draft2", "acptest", "cmd/acp", "internal/gen", "internal/system"}

// sources parses every Go file of the main module and of those in ruled, on all systems.
var sources = sync.OnceValues(func() ([]*source, error) {
	var all []*source
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != ".":
			_, nested := os.Stat(filepath.Join(name, "go.mod"))
			if nested == nil && !slices.Contains(ruled, filepath.ToSlash(name)) || d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, &source{
			pkg: filepath.ToSlash(filepath.Dir(name)), path: filepath.ToSlash(name), test: strings.HasSuffix(name, "_test.go"),
			generated: ast.IsGenerated(file), lines: bytes.Count(text, []byte("\n")), text: text, file: file,
		})
		return nil
	})
	return all, err
})

func eachSource(t *testing.T, visit func(*source)) {
	t.Helper()
	all, err := sources()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, s := range all {
		visit(s)
	}
}

func at(n ast.Node) string {
	p := fset.Position(n.Pos())
	return filepath.ToSlash(p.Filename) + ":" + path.Base(p.String())[len(path.Base(p.Filename))+1:]
}
