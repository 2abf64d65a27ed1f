package permission

import (
	"path/filepath"
	"slices"
	"strings"
)

// guarded are names of files and folders whose content runs although nobody asks for it: by any command
// of a version control system, when a person opens a folder in an editor or enters it in a shell, or on
// another machine after a push. A rule that allows writes covers them only if its pattern has the name.
var guarded = []string{
	// Version control: hooks and commands of the configuration.
	".git", ".hg", ".svn", ".jj", ".sl", ".bzr", ".pijul", "_darcs", ".gitconfig", "git~1",
	".githooks", ".husky", ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml",
	// Editors: tasks and settings that name programs.
	".vscode", ".idea", ".zed", ".cursor", ".windsurf", ".helix", ".kiro", ".devcontainer", ".devcontainer.json",
	// Shells.
	".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".ssh",
	// Agents: hooks, and programs that serve tools.
	".claude", ".codex", ".gemini", ".opencode", ".qwen", ".mcp.json", "opencode.json", "opencode.jsonc",
	// Continuous integration.
	".github", ".gitlab", ".gitlab-ci.yml", ".gitea", ".forgejo", ".circleci", ".buildkite", ".travis.yml", ".drone.yml", ".woodpecker", ".woodpecker.yml",
	".cirrus.yml", ".semaphore", ".tekton", ".teamcity",
	"jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", "appveyor.yml", ".appveyor.yml",
}

// repositoryMark is the name of the file that a folder must have to be a repository of git, whatever the
// name of the folder is. Git runs what the configuration in such a folder says.
const repositoryMark = "head"

// isGuardedName reports whether the element of a path is guarded; last tells that it is the file itself.
func isGuardedName(element string, last bool) bool {
	name := folded(element)
	return slices.Contains(guarded, name) || last && name == repositoryMark
}

// isGuarded reports whether a file or folder is guarded, or is in a folder that is. Folders that contain the
// workspace do not count.
func isGuarded(name, workspace string) bool {
	if workspace = realFolder(workspace); workspace != "" {
		if rel, err := filepath.Rel(workspace, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
	}
	return namesGuarded(name)
}

// namesGuarded reports whether any element of a path is guarded.
func namesGuarded(name string) bool {
	elements := strings.FieldsFunc(name, func(r rune) bool { return isSeparator(r) || strings.ContainsRune(`\:`, r) })
	for i, e := range elements {
		if isGuardedName(e, i == len(elements)-1) {
			return true
		}
	}
	return false
}
