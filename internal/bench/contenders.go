package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// A Contender is a program that does the works.
type Contender struct {
	Name string
	Go   bool     // it counts allocations
	argv []string // flags of package work go behind it
	env  []string
	only func(c Case, mode string) bool // nil: it does everything
	slow bool                           // it does less, see Case.of
}

// does reports whether the contender takes part in the work.
func (c Contender) does(work Case, mode string) bool {
	if slices.Contains(remoteModes, mode) && (!slices.Contains(remoteNames, c.Name) || !slices.Contains(remoteWorks, work.Name)) {
		return false
	}
	return c.only == nil || c.only(work, mode)
}

// whole reports whether the contender is no variant of another one.
func (c Contender) whole() bool { return c.only == nil }

// A variant is a contender's program in another setting.
type variant struct {
	of, env string // of is the folder below peers; an empty env sets nothing
	only    func(c Case, mode string) bool
}

var variants = map[string]variant{
	// With the same byte pipe as the others.
	"acpkit-io": {"acpkit", work.BytesEnv, func(_ Case, mode string) bool { return mode == "pair" }},
	// With Session and Turn in place of plain calls.
	"acpkit-turn": {"acpkit", work.TurnEnv, func(c Case, _ string) bool {
		return (c.Work == "updates" || c.Work == "mixed") && c.Sessions <= 1
	}},
	// With version 2 of the protocol.
	"acpkit-v2": {"acpkit2", "", func(c Case, mode string) bool {
		return c.Work == "updates" && c.Sessions <= 1 && slices.Contains(modes, mode)
	}},
}

// names are all contenders in the order of the tables.
var names = []string{"acpkit", "acpkit-io", "acpkit-turn", "acpkit-v2", "coder", "plain", "ts"}

// remoteNames lists the contenders with a network, and remoteWorks what they do over it.
var (
	remoteNames = []string{"acpkit", "ts"}
	remoteWorks = []string{"rtt", "rtt64", "updates", "updates-synced", "mixed", "read-ascii-1M", "read-go-1M"}
)

// build makes the programs of the wanted contenders in dir. A contender that
// cannot be built is an error; one whose runtime is not installed is left out
// and named in missing.
func build(ctx context.Context, dir string, want []string) (all []Contender, missing map[string]error, err error) {
	missing = map[string]error{}
	for _, name := range want {
		if name == "ts" {
			c, err := nodePeer(ctx, dir)
			if err != nil {
				missing[name] = err
			} else {
				all = append(all, c)
			}
			continue
		}
		v := variants[name]
		of := cmp.Or(v.of, name)
		exe := filepath.Join(dir, of)
		if _, err := os.Stat(exe); err != nil {
			cmd := exec.CommandContext(ctx, "go", "build", "-o", exe, "./peers/"+of)
			cmd.Stderr = os.Stderr
			if err := cmd.Run(); err != nil {
				return nil, nil, fmt.Errorf("building %s: %w", of, err)
			}
		}
		c := Contender{Name: name, Go: true, argv: []string{exe}, only: v.only, slow: name == "coder" || name == "plain"}
		if v.env != "" {
			c.env = []string{v.env + "=1"}
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Contender) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
	return all, missing, nil
}

// nodePeer installs what the TypeScript contender needs and writes the files
// that its client reads from.
func nodePeer(ctx context.Context, dir string) (Contender, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return Contender{}, fmt.Errorf("node is not installed: %w", err)
	}
	if _, err := os.Stat("ts/node_modules/@agentclientprotocol/sdk"); err != nil {
		npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts")
		npm.Dir = "ts"
		npm.Stdout, npm.Stderr = os.Stderr, os.Stderr
		if err := npm.Run(); err != nil {
			return Contender{}, fmt.Errorf("npm ci: %w", err)
		}
	}
	for _, c := range cases {
		if c.Work != "read" {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%s-%d", c.Kind, c.Size))
		if err := os.WriteFile(path, []byte(work.File(c.Kind, c.Size)), 0o600); err != nil {
			return Contender{}, err
		}
	}
	script, err := filepath.Abs("ts/peer.mjs")
	if err != nil {
		return Contender{}, err
	}
	return Contender{Name: "ts", argv: []string{node, "--expose-gc", "--no-warnings", script, "-files", dir}}, nil
}

// command is the contender's program with the flags.
func (c Contender) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.argv[0], append(slices.Clone(c.argv[1:]), args...)...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stderr = os.Stderr
	return cmd
}
