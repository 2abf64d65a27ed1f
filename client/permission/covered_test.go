package permission_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

// A rule that allows covers the options that it lists and those that can do no harm. The attacks were
// tried: each of them runs or writes something.
func TestRulesCoverTheOptionsThatTheyList(t *testing.T) {
	for pattern, commands := range map[string]struct{ allowed, asked []string }{
		"go test *": {
			[]string{"go test", "go test ./...", "go test -v ./...", "go test -run TestA -count=1 ./a", "go test -race -short -timeout 5m -tags=x .", "go test -json ./...", "go test -bench . -benchmem"},
			[]string{
				"go test -exec ./x", "go test --exec=./x", "go test -toolexec=./x .", "go vet -vettool=./x", "go test -o x", "go test -c", "go test -coverprofile=/tmp/x", "go test -coverprofile x",
				"go test -cpuprofile=x", "go test -memprofile x", "go test -trace=x", "go test -outputdir=x", "go test -C /tmp", "go test -ldflags=-extld=x", "go test -gcflags=x", "go test -overlay=x",
				"go test -modfile=x", "go test -pkgdir=x", "go test -args -exec", "go test . -test.coverprofile=x", "go test -vrun", "go test -fuzz=x", "go test @x", "go -C /tmp test", "go run .",
			},
		},
		"go *": {
			[]string{"go test ./...", "go build ./...", "go mod tidy", "go version", "go list -m all"},
			[]string{"go run .", "go run x@latest", "go generate ./...", "go tool x", "go install x@latest", "go get x", "go mod edit -replace=a=b", "go env -w GOFLAGS=x", "go clean", "go mod vendor -o x", "go build -o x", "go work use x"},
		},
		"go test * -tags -coverprofile=c.out": {
			[]string{"go test -tags x .", "go test -coverprofile=c.out -tags=y", "go test"},
			[]string{"go test -coverprofile=d.out", "go test -coverprofile", "go test -exec x"},
		},
		"git *": {
			[]string{"git status", "git status -sb", "git log --oneline -20", "git diff @~1", "git diff --stat HEAD", "git show HEAD:x", "git blame -L1,5 x", "git commit -m x", "git commit -am x", "git log --pretty=format:%h"},
			[]string{
				"git -c alias.x=!id x", "git -calias.x=!id x", "git --exec-path=x status", "git -C x status", "git --git-dir=x status", "git --work-tree x status", "git -p log", "git push", "git pull", "git fetch --upload-pack=x",
				"git clone -u x y", "git ls-remote --upload-pack=x .", "git config alias.x !id", "git bisect run x", "git submodule foreach x", "git rebase -x id HEAD~1", "git difftool -x id", "git grep -O id", "git grep -Oid x",
				"git grep -nOid x", "git grep --open-files-in-pager=id x", "git log --output=x", "git diff --ext-diff", "git diff --output x", "git diff --textconv", "git archive --exec=x", "git commit -F x --template=y", "git commit -S", "git status --exec-path=x",
				"git filter-branch x", "git worktree add x", "git checkout x", "git log -Ox", "git diff --no-index --output=x a b",
			},
		},
		"git bisect *":    {[]string{"git bisect good", "git bisect log"}, []string{"git bisect run x", "git bisect --x"}},
		"git submodule *": {[]string{"git submodule status"}, []string{"git submodule foreach x", "git submodule --quiet foreach x"}},
		"git fetch *":     {[]string{"git fetch origin main"}, []string{"git fetch --upload-pack=x .", "git fetch -u x", "git fetch origin +main"}},
		"npm *":           {[]string{"npm test", "npm test -- x", "npm ls --depth=1"}, []string{"npm run x", "npm exec x", "npm x y", "npm install x", "npm test --script-shell=x", "npm --prefix x test", "npm config set x y"}},
		"npm run *":       {[]string{"npm run build", "npm run start"}, []string{"npm run build --script-shell x", "npm run -s x"}},
		"cargo test *":    {[]string{"cargo test --workspace -- --nocapture", "cargo test x"}, []string{"cargo test --config x", "cargo test --manifest-path=x", "cargo test -Zx", "cargo test --target-dir x", "cargo +x test"}},
		"node *":          {[]string{"node x.js"}, []string{"node --import=x y.js", "node --import x", "node -r x y", "node --require x", "node -e x", "node -p x", "node --env-file=x y", "node --inspect x"}},
		"python3 *":       {[]string{"python3 x.py"}, []string{"python3 -m x", "python3 -mx", "python3 -c x", "python3 -i", "python3 -X x y.py", "python3 -W x y.py"}},
		"sed *":           {[]string{"sed -n 1,200p x", "sed -n $p x", "sed 10q x", "sed -n 5p a b"}, []string{"sed e x", "sed 1e x", "sed -n 1e x", "sed s/a/b/e x", "sed -i 1d x", "sed -e e x", "sed -f x", "sed -n -f x y", "sed -nf x", "sed w.x y", "sed --expression=e x", "sed -n 1p x -i", "sed -s -e e"}},
		"tar *":           {[]string{"tar -tf x.tar", "tar -tzf x.tgz a"}, []string{"tar xf x.tar", "tar cfI x y z", "tar -xf x.tar", "tar -tf x --checkpoint=1 --checkpoint-action=exec=id", "tar -tf x --to-command=id", "tar -tf x -I id", "tar -tIid -f x", "tar -tf x --use-compress-program=id", "tar -tf x --rsh-command=id", "tar -tf -oProxyCommand=x:y", "tar -tf h:x", "tar -tf u@h:x"}},
		"tar -xf *":       {[]string{"tar -xf x.tar a"}, []string{"tar -xf x.tar --checkpoint-action=exec=id", "tar -xf x -C /"}},
		"find *":          {nil, []string{"find . -exec id ;", "find . -delete", "find . -fprintf x y", "find . -name x"}},
		"grep *":          {[]string{"grep -rn x .", "grep -A3 x y", "grep -3 x y", "grep --include=*.go x .", "grep a=b x"}, []string{"grep -f x y", "grep --file=x y", "grep -rnZ x"}},
		"rg *":            {[]string{"rg -n x -g *.go", "rg --files", "rg -tgo x"}, []string{"rg --pre id x", "rg --pre=id x", "rg --hostname-bin=id x", "rg -z x", "rg -nz x", "rg --search-zip x"}},
		"sort *":          {[]string{"sort -u x", "sort -k2,2 x", "sort -rn x"}, []string{"sort -o x y", "sort -ox y", "sort -ro x y", "sort --output=x y", "sort --compress-program=id x", "sort --comp=id x", "sort -T x y"}},
		"tree *":          {[]string{"tree -L 2", "tree -aL2"}, []string{"tree -o x", "tree -R -H x -L 1 -o y"}},
		"make *":          {[]string{"make test", "make -j8 test", "make -k"}, []string{"make CC=x", "make -f x", "make -C x", "make --eval=x", "make -E x", "make SHELL=x y", "make -Ix"}},
		"pytest *":        {[]string{"pytest -q tests", "pytest -k x -x", "pytest tests/a.py::t[a=b]"}, []string{"pytest -p x", "pytest -px", "pytest @x", "pytest -c x", "pytest --rootdir=x", "pytest -o x=y", "pytest --basetemp=x", "pytest --pdbcls=x:y"}},
		"date *":          {[]string{"date +%s", "date -u"}, []string{"date -s x", "date -f x"}},
		"tool *":          {[]string{"tool", "tool lint src/a.go", "tool a b", "tool -"}, []string{"tool -x", "tool --x=y", "tool run x", "tool exec x", "tool +x", "tool @x", "tool A=b", "tool .git/config", "tool a x/.github/workflows/ci.yml", "tool .GIT/hooks", "tool a:.git/x"}},
		"tool run *":      {[]string{"tool run x", "tool run start"}, []string{"tool run -x", "tool run exec x y=z"}},
		"tool * --fix":    {[]string{"tool --fix a", "tool a --fix=b"}, []string{"tool --fixed", "tool --fix=.git/config", "tool --other"}},
		"git * -h":        {[]string{"git log -h"}, []string{"git -h", "git push -h", "git -h push", "git log -O"}},
		"tool * end":      {[]string{"tool a end"}, []string{"tool -x end", "tool run end", "tool a b end"}},
		"* *":             {[]string{"tool a", "git log"}, []string{"tool -x", "git push", "ssh h id", "sqlite3 x .shell", "bash x"}},
	} {
		d := newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Commands: []string{pattern}})
		for _, line := range commands.allowed {
			assert.NoError(t, d.Authorize(t.Context(), command(strings.Fields(line)...)), "%q allows %q", pattern, line)
		}
		for _, line := range commands.asked {
			assert.Error(t, d.Authorize(t.Context(), command(strings.Fields(line)...)), "%q asks for %q", pattern, line)
			if runtime.GOOS != "windows" {
				assert.Error(t, d.Authorize(t.Context(), shell(line)), "%q asks for the line %q", pattern, line)
			}
		}
	}
}

// A rule that denies finds the options that it names wherever they are.
func TestRulesThatDenyOptions(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)}, permission.Rule{Decision: permission.Deny, Commands: []string{"git push * --force -f"}})
	for line, denied := range map[string]bool{
		"git push": false, "git push origin main": false, "git push --force": true, "git push origin main --force": true, "git push --force=x": true, "git push a b -f": true,
		"git log --force": false, "sh -c git_push": false,
	} {
		assert.Equal(t, denied, d.Authorize(t.Context(), command(strings.Fields(line)...)) != nil, line)
	}
	assert.Error(t, d.Authorize(t.Context(), shell("cd x && git push origin --force")))
}

// No wildcard matches a file whose content runs although nobody asks for it, and no command that a rule
// allows runs beside such files.
func TestGuardedFiles(t *testing.T) {
	rules := func(patterns ...string) *testScope {
		return newTestScope(t, permission.Options{},
			permission.Rule{Decision: permission.Allow, Paths: patterns},
			permission.Rule{Decision: permission.Allow, Commands: []string{"go build *", "tool *"}},
		)
	}
	for name, files := range map[string][]string{
		"version control": {".git/config", ".git/hooks/pre-commit", "sub/.git/config", "a/.git", "bare/HEAD", ".hg/hgrc", ".svn/x", ".jj/x", ".sl/config", "_darcs/prefs/defaults", ".githooks/pre-commit", ".husky/pre-commit", ".pre-commit-config.yaml", "lefthook.yml"},
		"editors":         {".vscode/tasks.json", ".vscode/settings.json", "a/.idea/x", ".zed/tasks.json", ".helix/languages.toml", ".cursor/mcp.json", ".devcontainer/devcontainer.json"},
		"shells":          {".envrc", "a/b/.envrc", ".bashrc", ".ssh/authorized_keys"},
		"agents":          {".claude/settings.json", ".codex/config.toml", ".gemini/settings.json", "opencode.json", ".mcp.json"},
		"CI":              {".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", ".travis.yml"},
		"other spellings": {".GIT/config", ".g\u200cit/config", ".git./config", "GIT~1/config", ".GitHub/workflows/x", "JENKINSFILE", ".ENVRC", "x/head", ".g\u0131t/x"},
	} {
		for _, file := range files {
			d := rules("/w/**", "/w/*", "/w/*/*", "/w/.*/**", "/w/.[a-z]*/**", "/**/config", "/w/**/HEAD*")
			assert.Error(t, d.Authorize(t.Context(), write("/w/"+file, "")), "%s: %s", name, file)
			assert.NoError(t, d.Authorize(t.Context(), permission.Act{Session: "s", Workspace: "/w", Operation: permission.Operation{Action: permission.ActionRead, Path: "/w/" + file}}))
			assert.NoError(t, rules("/w/"+file).Authorize(t.Context(), write("/w/"+file, "")), "%s: a rule that names %s", name, file)
			if dir := filepath.ToSlash(filepath.Dir(file)); strings.HasPrefix(dir, ".") && dir != "." {
				assert.NoError(t, rules("/w/"+strings.SplitN(file, "/", 2)[0]+"/**").Authorize(t.Context(), write("/w/"+file, "")), "%s: a rule that names %s", name, dir)
				in := command("go", "build", "../x")
				in.Operation.Cwd = "/w/" + dir
				assert.Error(t, d.Authorize(t.Context(), in), "%s: a command in %s", name, dir)
			}
			assert.Error(t, d.Authorize(t.Context(), command("tool", "a", file)), "%s: an argument", name)
			for _, r := range []permission.Rule{{}, {Kinds: []string{"edit"}}} {
				r.Decision = permission.Allow
				d := newTestScope(t, permission.Options{}, r)
				assert.Error(t, d.Authorize(t.Context(), write("/w/"+file, "")), "%s: a rule without paths, %s", name, file)
				assert.NoError(t, d.Authorize(t.Context(), write("/w/a", "")))
			}
			d = newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Tools: []string{"t"}})
			o := d.Decide(t.Context(), question(permission.Tool{Name: "t", Diffs: []permission.Diff{{Path: on("/w/" + file)}}}))
			assert.Equal(t, permission.ByNoOne, o.By, "%s: a tool that names %s", name, file)
		}
	}
	for _, file := range []string{"a", ".gitignore", ".gitattributes", "git/config", "head/main.go", "src/heads", "github/x", ".config", "HEAD.md", "Makefile"} {
		assert.NoError(t, rules("/w/**").Authorize(t.Context(), write("/w/"+file, "")), file)
	}
	// What contains the workspace does not count if the rule names it.
	in := write("/home/u/.claude/trees/p/a", "")
	in.Workspace = "/home/u/.claude/trees/p"
	assert.NoError(t, rules("/home/u/.claude/trees/p/**").Authorize(t.Context(), in))
	in.Operation.Path += "/.git/config"
	assert.Error(t, rules("/home/u/.claude/trees/p/**").Authorize(t.Context(), in))
	run := command("go", "build")
	run.Workspace, run.Operation.Cwd = in.Workspace, in.Workspace+"/cmd"
	assert.NoError(t, rules("/x").Authorize(t.Context(), run))
}

// An argument that leads to a guarded file by a symlink is none that a "*" covers.
func TestGuardedFilesBySymlinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lacks what the test needs: symlinks without a privilege")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".github"), 0o700))
	require.NoError(t, os.Symlink(".github", filepath.Join(dir, "link")))
	d := newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Commands: []string{"tool *"}})
	a := command("tool", "link/x")
	a.Workspace, a.Operation.Cwd = dir, dir
	assert.Error(t, d.Authorize(t.Context(), a))
	a.Operation.Argv = []string{"tool", "other/x"}
	assert.NoError(t, d.Authorize(t.Context(), a))
}

// Git runs what the configuration of a folder says that has the form of a repository, whatever its name is.
// A file that an agent needs for that is guarded.
func TestRepositoriesWithoutTheName(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "git is not installed, which CI must have")
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	evil, ran := filepath.Join(dir, "src", "evil"), filepath.Join(dir, "ran")
	d := newTestScope(t, permission.Options{},
		permission.Rule{Decision: permission.Allow, Paths: []string{filepath.ToSlash(dir) + "/src/**"}},
		permission.Rule{Decision: permission.Allow, Commands: []string{"git status"}},
	)
	status := command("git", "status")
	status.Workspace, status.Operation.Cwd = dir, evil
	require.NoError(t, d.Authorize(t.Context(), status))
	put := func(mayWrite func(string) bool) {
		config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = " + filepath.ToSlash(dir) + "\n\tfsmonitor = \"touch " + filepath.ToSlash(ran) + ";:\"\n"
		for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": config, "objects/x": "", "refs/x": ""} {
			name = filepath.Join(evil, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
			if mayWrite(name) {
				require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
			}
		}
		run := exec.Command(git, "status")
		run.Dir = evil
		run.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
		_ = run.Run() // fails where there is no repository
	}
	put(func(name string) bool {
		a := write(name, "")
		a.Workspace = dir
		return d.Authorize(t.Context(), a) == nil
	})
	assert.NoFileExists(t, ran)
	put(func(string) bool { return true })
	if runtime.GOOS != "windows" {
		assert.FileExists(t, ran, "the attack works with the file")
	}
}
