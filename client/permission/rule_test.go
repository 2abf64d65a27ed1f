package permission_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestRulesAreChecked(t *testing.T) {
	for want, r := range map[string]permission.Rule{
		`decides "": use Allow, Deny or Ask`:                      {},
		`decides "maybe": use Allow, Deny or Ask`:                 {Decision: "maybe"},
		"has an empty command: leave Commands empty to match all": {Decision: permission.Allow, Commands: []string{" "}},
		`has the path "work/**": it must be absolute`:             {Decision: permission.Allow, Paths: []string{"work/**"}},
		`has the path "/work/[": syntax error in pattern`:         {Decision: permission.Allow, Paths: []string{"/work/["}},
		`has the variable "[": syntax error in pattern`:           {Decision: permission.Allow, Env: []string{"["}},
	} {
		err := permission.New(nil).SetRules(permission.Rule{Decision: permission.Deny}, r)
		assert.EqualError(t, err, `permission: rule 1 ("") `+want)
	}
}

func TestCommandRules(t *testing.T) {
	withEnv := func(a permission.Act, names ...string) permission.Act {
		a.Operation.Env = names
		return a
	}
	for name, c := range map[string]struct {
		rule    permission.Rule
		act     permission.Act
		matches bool
	}{
		"the whole command":              {permission.Rule{Commands: []string{"go version"}}, command("go", "version"), true},
		"more words":                     {permission.Rule{Commands: []string{"go version"}}, command("go", "version", "-m"), false},
		"fewer words":                    {permission.Rule{Commands: []string{"go version"}}, command("go"), false},
		"any words at the end":           {permission.Rule{Commands: []string{"go test *"}}, command("go", "test", "./...", "-v"), true},
		"none at the end":                {permission.Rule{Commands: []string{"go test *"}}, command("go", "test"), true},
		"one word in between":            {permission.Rule{Commands: []string{"git * -h"}}, command("git", "log", "-h"), true},
		"a word that contains others":    {permission.Rule{Commands: []string{"go test"}}, command("go test"), false},
		"another program of the name":    {permission.Rule{Commands: []string{"go test"}}, command("/tmp/go", "test"), false},
		"a shell line":                   {permission.Rule{Commands: []string{"ls *"}}, shell("ls; rm -rf /"), false},
		"a shell line, everything":       {permission.Rule{}, shell("ls"), false},
		"a command, everything":          {permission.Rule{}, command("ls"), false},
		"bash -c":                        {permission.Rule{Commands: []string{"bash *"}}, command("bash", "-c", "ls"), false},
		"/bin/sh":                        {permission.Rule{Commands: []string{"/bin/sh *"}}, command("/bin/sh", "x"), false},
		"cmd.exe":                        {permission.Rule{Commands: []string{"*"}}, command(`C:\Windows\System32\CMD.EXE`, "/c", "dir"), false},
		"a batch file":                   {permission.Rule{}, command("x.bat", "a"), false},
		"env":                            {permission.Rule{Commands: []string{"env *"}}, command("env", "X=1", "ls"), false},
		"a variable":                     {permission.Rule{Commands: []string{"ls"}}, withEnv(command("ls"), "LD_PRELOAD"), false},
		"a variable that is allowed":     {permission.Rule{Commands: []string{"ls"}, Env: []string{"LC_*"}}, withEnv(command("ls"), "LC_ALL"), true},
		"one that is and one that isn't": {permission.Rule{Commands: []string{"ls"}, Env: []string{"LC_*"}}, withEnv(command("ls"), "LC_ALL", "PATH"), false},
		"a rule of paths":                {permission.Rule{Paths: []string{"/**"}}, command("ls"), false},
		"a rule of kinds":                {permission.Rule{Kinds: []string{"execute"}}, command("ls"), false},
		"of kinds and commands":          {permission.Rule{Kinds: []string{"execute"}, Commands: []string{"ls"}}, command("ls"), true},
		"a rule of other kinds":          {permission.Rule{Kinds: []string{"edit"}}, command("ls"), false},
		"a rule of tools":                {permission.Rule{Tools: []string{"bash"}}, command("ls"), false},
		"no command":                     {permission.Rule{}, command(), false},
	} {
		t.Run(name, func(t *testing.T) {
			c.rule.Decision = permission.Allow
			d := newTestScope(t, permission.Options{}, c.rule)
			assert.Equal(t, c.matches, d.Authorize(t.Context(), c.act) == nil)
		})
	}
}

// A rule never allows a shell, under whatever name.
func TestRulesAllowNoShellByAnotherName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lacks what the test needs: symlinks without a privilege")
	}
	dir := t.TempDir()
	for link, target := range map[string]string{"go": "/bin/sh", "ls": "busybox", "deep": "go", "fine": "tool"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	for _, name := range []string{"busybox", "tool"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/true\n"), 0o700))
	}
	in := func(argv ...string) permission.Act {
		a := command(argv...)
		a.Operation.Cwd = dir
		return a
	}
	started := func(file string, argv ...string) permission.Act {
		a := in(argv...)
		a.Operation.Program = file
		return a
	}
	for name, c := range map[string]struct {
		act  permission.Act
		want bool
	}{
		"a link":                     {in(dir+"/go", "test"), false},
		"a link, relative":           {in("./go", "test"), false},
		"a link to a link":           {in("./deep"), false},
		"found elsewhere":            {started(dir+"/go", "go", "test"), false},
		"rbash":                      {in("rbash", "-c", "x"), false},
		"a loader":                   {in("/lib64/ld-linux-x86-64.so.2", "/bin/sh"), false},
		"another loader":             {in("/lib/ld-musl-x86_64.so.1", "/bin/sh"), false},
		"setpriv":                    {in("setpriv", "sh"), false},
		"busybox":                    {in("./busybox", "sh"), false},
		"perl -e":                    {in("perl", "-e", "system 1"), false},
		"perl -ne":                   {in("perl", "-w", "-ne", "system 1"), false},
		"python -c":                  {in("/usr/bin/python3.12", "-c", "1"), false},
		"node --eval":                {in("node", "--eval=1"), false},
		"awk":                        {in("awk", "BEGIN{system(1)}"), false},
		"git -c":                     {in("git", "-c", "alias.x=!sh", "x"), false},
		"git --config-env":           {in("git", "--config-env=alias.x=X", "x"), false},
		"git":                        {in("git", "log", "-p"), true},
		"a program of python":        {in("python3", "test.py"), true},
		"an option of python":        {in("python3", "test.py", "-v"), false},
		"a script of perl":           {in("perl", "test.pl"), true},
		"a link to a program":        {in("./fine"), true},
		"a program of many in one":   {in("./ls"), true},
		"a program that is not here": {in("no-such-program"), true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Commands: []string{"* *"}})
			assert.Equal(t, c.want, d.Authorize(t.Context(), c.act) == nil)
		})
	}
}

// A line for a shell is treated as the command in it, if no shell can read anything more in it.
func TestRulesTakeSimpleLinesApart(t *testing.T) {
	run := func(a permission.Act) bool {
		rules := []permission.Rule{{Decision: permission.Allow, Commands: []string{"go test *", "env *", "ls"}, Env: []string{"FOO"}}}
		return newTestScope(t, permission.Options{}, rules...).Authorize(t.Context(), a) == nil
	}
	if runtime.GOOS == "windows" {
		assert.True(t, run(command("ls")))
		assert.False(t, run(shell("ls")), "the shell may take the program from the folder that it runs in")
		return
	}
	for line, want := range map[string]bool{
		"go test ./...": true, " go  test\t-run=TestA,b pkg@v1:2+3 ": true, "ls": true,
		"go test; rm x": false, "go test\nrm x": false, "go test\rrm x": false, "go test & rm x": false, "go test | sh": false,
		"go test > x": false, "go test < x": false, "go test $X": false, "go test `x`": false, "go test $(x)": false, "go test {a,b}": false,
		"go test *": false, "go test ?": false, "go test [a]": false, "go test ~": false, "go test !x": false, "go test #x": false,
		"go test 'x'": false, `go test "x"`: false, `go test \x`: false, "go test (x)": false, "go test %X%": false, "go test ^x": false,
		"go test =ls": false, "go test @x": false, "go test\u00a0x": false, "X=1 go test": false, "go vet": false, "env ls": false, "sh x": false,
		"": false, " ": false,
	} {
		assert.Equal(t, want, run(shell(line)), "%q", line)
		for _, sh := range []string{"sh", "/bin/bash", "/usr/bin/dash", "zsh"} {
			assert.Equal(t, want, run(command(sh, "-c", line)), "%s %q", sh, line)
		}
	}
	for _, argv := range [][]string{
		{"./sh", "-c", "ls"}, {"/tmp/sh", "-c", "ls"}, {"fish", "-c", "ls"}, {"sh", "-lc", "ls"}, {"sh", "-c", "ls", "x"}, {"sh", "ls"}, {"sh", "-i", "-c", "ls"},
	} {
		assert.False(t, run(command(argv...)), "%q", argv)
	}
	set := func(names ...string) permission.Act {
		a := command("sh", "-c", "ls")
		for _, name := range names {
			a.Variables = append(a.Variables, permission.Variable{Name: name, Value: "x"})
		}
		return a
	}
	assert.True(t, run(set("FOO", "AGENT_SESSION_ID")))
	assert.False(t, run(set("BASH_ENV")))
	t.Setenv("PATH", os.Getenv("PATH")+":")
	assert.False(t, run(shell("ls")), "the shell may find it in the folder that it runs in")
	assert.True(t, run(command("ls")))
}

func TestRulesThatDenyMatchOnSuspicion(t *testing.T) {
	for name, c := range map[string]struct {
		rule    permission.Rule
		act     permission.Act
		matches bool
	}{
		"first words":            {permission.Rule{Commands: []string{"rm"}}, command("rm", "-rf", "/"), true},
		"with its folder":        {permission.Rule{Commands: []string{"rm"}}, command("/bin/rm", "x"), true},
		"in a shell line":        {permission.Rule{Commands: []string{"rm"}}, shell("ls; rm -rf /"), true},
		"in quotes":              {permission.Rule{Commands: []string{"git push"}}, shell(`bash -c "git push"`), true},
		"after a runner":         {permission.Rule{Commands: []string{"rm"}}, command("sudo", "rm", "x"), true},
		"as an argument":         {permission.Rule{Commands: []string{"rm"}}, command("echo", "rm"), false},
		"another command":        {permission.Rule{Commands: []string{"rm"}}, command("ls"), false},
		"a variable":             {permission.Rule{Env: []string{"LD_*"}}, permission.Act{Operation: permission.Operation{Action: "command", Argv: []string{"ls"}, Env: []string{"LD_PRELOAD"}}}, true},
		"another variable":       {permission.Rule{Env: []string{"LD_*"}}, permission.Act{Operation: permission.Operation{Action: "command", Argv: []string{"ls"}, Env: []string{"X"}}}, false},
		"a path":                 {permission.Rule{Paths: []string{"/w/secret/**"}}, write("/w/secret/a/b", ""), true},
		"another path":           {permission.Rule{Paths: []string{"/w/secret/**"}}, write("/w/secrets", ""), false},
		"all edits":              {permission.Rule{Kinds: []string{"edit"}}, write("/w/a", ""), true},
		"no command rule":        {permission.Rule{Commands: []string{"rm"}}, write("/w/rm", ""), false},
		"a program of any case":  {permission.Rule{Commands: []string{"format"}}, command("FORMAT.COM", "c:"), true},
		"a command without args": {permission.Rule{Commands: []string{"rm *"}}, command("rm"), true},
	} {
		t.Run(name, func(t *testing.T) {
			c.rule.Decision = permission.Deny
			everything := permission.Rule{Decision: permission.Allow}
			d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)}, everything, c.rule)
			assert.Equal(t, c.matches, d.Authorize(t.Context(), c.act) != nil)
		})
	}
}

func TestPathRules(t *testing.T) {
	for pattern, paths := range map[string]map[string]bool{
		"/w/**":        {"/w/a": true, "/w/a/b": true, "/w": true, "/wide/a": false, "/x/w/a": false},
		"/w/*.go":      {"/w/a.go": true, "/w/a/b.go": false, "/w/a.gone": false},
		"/w/**/*.go":   {"/w/a.go": true, "/w/a/b.go": true, "/w/a/b.c": false},
		"/**/.git/**":  {"/w/.git/config": true, "/w/.git/HEAD": true, "/w/.gitignore": false},
		"/w/a":         {"/w/a": true, "/w/a/b": false, "": false},
		"/w/[ab]/**/c": {"/w/a/c": true, "/w/b/x/y/c": true, "/w/c/c": false},
	} {
		d := newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Paths: []string{pattern}})
		for path, want := range paths {
			assert.Equal(t, want, d.Authorize(t.Context(), write(path, "")) == nil, "%s %s", pattern, path)
		}
	}
}

func TestStrictestRuleWins(t *testing.T) {
	rules := []permission.Rule{
		{Name: "all", Decision: permission.Allow, Commands: []string{"git *"}}, {Name: "push", Decision: permission.Ask, Commands: []string{"git push"}},
		{Name: "force", Decision: permission.Deny, Commands: []string{"git push --force"}},
	}
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)}, rules...)
	require.NoError(t, d.Authorize(t.Context(), command("git", "log")))
	assert.Equal(t, "all", d.last().Rule)
	require.NoError(t, d.Authorize(t.Context(), command("git", "push")))
	assert.Equal(t, permission.ByPerson, d.last().Outcome.By)
	assert.Equal(t, "push", d.last().Rule)
	err := d.Authorize(t.Context(), command("git", "push", "--force"))
	var denied *permission.DeniedError
	require.ErrorAs(t, err, &denied)
	assert.Equal(t, "force", d.last().Rule)
	wire, ok := errors.AsType[*rpcerr.RequestError](rpcerr.From(err))
	require.True(t, ok)
	assert.Equal(t, rpcerr.Code(-31005), wire.Code)
	assert.NotContains(t, wire.Message, "push")
}

// A question is only a claim: its kind, its title and its shown arguments allow nothing.
func TestQuestionsAreClaims(t *testing.T) {
	input := json.RawMessage(`{"command":"go test","path":"` + on("/w/a") + `"}`)
	for name, c := range map[string]struct {
		rule permission.Rule
		tool permission.Tool
		by   permission.Reason
	}{
		"kind":                      {permission.Rule{Decision: permission.Allow, Kinds: []string{"read"}}, permission.Tool{Kind: "read"}, permission.ByNoOne},
		"everything":                {permission.Rule{Decision: permission.Allow}, permission.Tool{Name: "t"}, permission.ByNoOne},
		"command":                   {permission.Rule{Decision: permission.Allow, Commands: []string{"go test"}}, permission.Tool{Name: "t", Input: input}, permission.ByNoOne},
		"path":                      {permission.Rule{Decision: permission.Allow, Paths: []string{"/w/**"}}, permission.Tool{Name: "t", Input: input, Paths: []string{on("/w/a")}}, permission.ByNoOne},
		"title":                     {permission.Rule{Decision: permission.Allow, Tools: []string{"ls"}}, permission.Tool{Title: "ls"}, permission.ByNoOne},
		"tool":                      {permission.Rule{Decision: permission.Allow, Tools: []string{"t"}}, permission.Tool{Name: "t"}, permission.ByRule},
		"tool, of a kind":           {permission.Rule{Decision: permission.Allow, Tools: []string{"t"}, Kinds: []string{"read"}}, permission.Tool{Name: "t", Kind: "other"}, permission.ByNoOne},
		"denied kind":               {permission.Rule{Decision: permission.Deny, Kinds: []string{"fetch"}}, permission.Tool{Kind: "fetch"}, permission.ByRule},
		"denied command in a line":  {permission.Rule{Decision: permission.Deny, Commands: []string{"go test"}}, permission.Tool{Input: input}, permission.ByRule},
		"denied command in a list":  {permission.Rule{Decision: permission.Deny, Commands: []string{"rm"}}, permission.Tool{Input: json.RawMessage(`{"argv":["rm","x"]}`)}, permission.ByRule},
		"denied path in the input":  {permission.Rule{Decision: permission.Deny, Paths: []string{"/w/**"}}, permission.Tool{Input: input}, permission.ByRule},
		"denied path in a location": {permission.Rule{Decision: permission.Deny, Paths: []string{"/w/**"}}, permission.Tool{Paths: []string{"/w/x/../b"}}, permission.ByNoOne}, // cannot be resolved: asked
		"denied path in a diff":     {permission.Rule{Decision: permission.Deny, Paths: []string{"/w/**"}}, permission.Tool{Diffs: []permission.Diff{{Path: on("/w/b")}}}, permission.ByRule},
		"another denied path":       {permission.Rule{Decision: permission.Deny, Paths: []string{"/x/**"}}, permission.Tool{Paths: []string{on("/w/b")}, Input: input}, permission.ByNoOne},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestScope(t, permission.Options{}, c.rule)
			assert.Equal(t, c.by, d.Decide(t.Context(), question(c.tool)).By)
		})
	}
}

// An agent may name a file in the diff, in the locations and in the input. A person reads it once.
func TestQuestionsNameAnOperationOnce(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(dir, "a")
	input, err := json.Marshal(map[string]any{"file_path": file, "command": "go test", "cmd": "go test"})
	require.NoError(t, err)
	var asked []permission.Operation
	d := newTestScope(t, permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
		asked = q.Operations
		return q.Pick(permission.AllowOnce), nil
	}})
	d.Decide(t.Context(), question(permission.Tool{Diffs: []permission.Diff{{Path: file}, {Path: file + "b"}}, Paths: []string{file}, Input: input}))
	assert.Equal(t, []permission.Operation{
		{Action: permission.ActionWrite, Path: file}, {Action: permission.ActionWrite, Path: file + "b"},
		{Action: permission.ActionCommand, Argv: []string{"go test"}, Shell: true, Cwd: "/w"},
	}, asked)
}

func TestExtractor(t *testing.T) {
	var seen string
	d := newTestScope(t, permission.Options{
		Extract: func(agent string, tool *permission.Tool) ([]permission.Operation, bool) {
			seen = agent
			var in struct {
				Argv  [][]string
				Write string
			}
			if json.Unmarshal(tool.Input, &in) != nil {
				return nil, false
			}
			var all []permission.Operation
			for _, argv := range in.Argv {
				all = append(all, permission.Operation{Action: permission.ActionCommand, Argv: argv})
			}
			if in.Write != "" {
				all = append(all, permission.Operation{Action: permission.ActionWrite, Path: in.Write})
			}
			return all, true
		},
	},
		permission.Rule{Decision: permission.Allow, Commands: []string{"go test *"}, Paths: []string{on("/nowhere/**")}},
		permission.Rule{Decision: permission.Deny, Commands: []string{"rm"}},
	)
	for input, want := range map[string]permission.Reason{
		`{"argv":[["go","test"]]}`:                                      permission.ByRule,
		`{"argv":[["go","test"]],"write":"` + on("/nowhere/x") + `"}`:   permission.ByRule,
		`{"argv":[["go","test"],["ls"]]}`:                               permission.ByNoOne,
		`{"argv":[["go","test"]],"write":"` + on("/elsewhere/x") + `"}`: permission.ByNoOne,
		`{"argv":[]}`: permission.ByNoOne,
		`7`:           permission.ByNoOne,
	} {
		assert.Equal(t, want, d.Decide(t.Context(), question(permission.Tool{Input: json.RawMessage(input)})).By, input)
	}
	assert.Equal(t, "a", seen)
	o := d.Decide(t.Context(), question(permission.Tool{Input: json.RawMessage(`{"argv":[["go","test"],["rm","x"]]}`)}))
	assert.Equal(t, permission.Deny, o.Decision)
	assert.Equal(t, permission.ByRule, o.By)
	// A diff that is shown with the command is part of the question.
	text := "x"
	o = d.Decide(t.Context(), question(permission.Tool{
		Input: json.RawMessage(`{"argv":[["go","test"]]}`), Diffs: []permission.Diff{{Path: on("/elsewhere/y"), NewText: &text}},
	}))
	assert.Equal(t, permission.ByNoOne, o.By)
}

// A path is judged as the file that it leads to.
func TestClaimedPathsAreResolved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lacks what the test needs: symlinks without a privilege")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"open", "secret/deep"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	for link, target := range map[string]string{
		"open/alias": root + "/secret", "open/deep": "../secret/deep", "open/dangling": root + "/secret/new", "open/loop": "loop",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, link)))
	}
	d := newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Deny, Paths: []string{filepath.ToSlash(root) + "/secret/**"}})
	for path, denied := range map[string]bool{
		"/open/a": false, "/secret/a": true, "/open/alias/a": true, "/open/alias/no/such/folder": true, "/open/dangling": true,
		"/open/deep/../x": true, "/open/../secret/a": true, "/open/alias/../open/a": false, "/open/loop": false, "/open/no/../../secret/x": false,
	} {
		o := d.Decide(t.Context(), question(permission.Tool{Paths: []string{root + path}}))
		assert.Equal(t, denied, o.By == permission.ByRule, path)
	}
}

func TestEmptyPolicyDenies(t *testing.T) {
	s := permission.New(nil).Scope()
	assert.Error(t, s.Authorize(context.Background(), write("/w/a", "x")))
	assert.Equal(t, permission.Deny, s.Decide(context.Background(), question(permission.Tool{})).Decision)
	q := question(permission.Tool{})
	q.Tool = nil
	assert.Equal(t, permission.Deny, s.Decide(context.Background(), q).Decision)
}
