package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// A table is written as Markdown with padded columns, so that a terminal shows
// it well too.
type table struct{ rows [][]string }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	if len(t.rows) < 2 {
		return
	}
	width := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range t.rows {
		for i, cell := range row {
			fmt.Fprintf(w, "| %s%s ", cell, strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)))
		}
		fmt.Fprintln(w, "|")
		if n == 0 {
			for _, n := range width {
				fmt.Fprintf(w, "|%s", strings.Repeat("-", n+2))
			}
			fmt.Fprintln(w, "|")
		}
	}
	fmt.Fprintln(w)
}

// report writes everything that was measured.
func (r Results) report(w io.Writer, contenders []Contender, shown []Case, o options) {
	fmt.Fprintf(w, "# Results\n\nWritten by `go run .` in `internal/bench`; main.go says how it measures, work/task.go what the works are.\n\n")
	fmt.Fprintf(w, "- measured until %s, with the versions of other SDKs in go.mod and ts/package.json\n", time.Now().UTC().Format("2 January 2006"))
	fmt.Fprintf(w, "- %s, %d cores, %s, %s\n- medians of %d rounds\n", cpuName(), runtime.NumCPU(), runtime.Version(), nodeVersion(), o.rounds)
	if o.file != "" {
		fmt.Fprintln(w, "- possibly from several runs (`-continue`); what is compared was measured in the same one")
	}
	fmt.Fprintln(w)
	for _, mode := range slices.Concat(modes, remoteModes) {
		fmt.Fprintf(w, "## Both ends in %s\n\n", modeName[mode])
		r.works(w, contenders, shown, mode)
	}
	fmt.Fprintf(w, "## Start and memory\n\n")
	r.small(w, contenders)
	fmt.Fprintf(w, "## Curves of acpkit\n\nMicroseconds a message, nanoseconds a byte.\n\n")
	r.curveTable(w)
	if o.quick {
		fmt.Fprintf(w, "Floors are not judged: small counts and one round (`-quick`) say nothing about them.\n\n")
	} else {
		fmt.Fprintf(w, "## Floors\n\n")
		r.floorTable(w)
		r.explain(w)
	}
	r.failures(w)
}

// againstStdio returns how many times as long a message takes as over stdio. The counts may differ.
func (r Results) againstStdio(k Key) string {
	near := Key{k.Case, "stdio", k.Contender}
	each := func(x work.Result) float64 { return x.Wall / float64(max(1, x.N)) }
	if x := r.median(near, each); x > 0 {
		return fmt.Sprintf("%.1f times as long", r.median(k, each)/x)
	}
	return ""
}

// works writes the table of one mode. The last columns compare acpkit with the contender of the
// row.
func (r Results) works(w io.Writer, contenders []Contender, shown []Case, mode string) {
	t := &table{}
	head := []string{"work", "contender", "count", "each", "CPU each"}
	network := slices.Contains(remoteModes, mode)
	switch {
	case mode == "pair":
		head = append(head, "allocs each, both ends")
	case network:
		head = append(head, "allocs each, client")
	default:
		head = append(head, "allocs each, client", "agent")
	}
	if head = append(head, "acpkit is faster", "needs less CPU"); network {
		head = append(head, "against stdio")
	}
	t.row(head...)
	for _, c := range shown {
		for _, peer := range contenders {
			key := Key{c.Name, mode, peer.Name}
			if len(r[key]) == 0 {
				continue
			}
			row := []string{c.Name, peer.Name}
			if !r.ok(key) {
				row = append(row, "failed")
				t.row(append(row, make([]string, len(t.rows[0])-len(row))...)...)
				continue
			}
			n := r.first(key).N
			seconds := r.median(key, wall)
			c := c
			c.N = n
			row = append(row, strconv.Itoa(n), c.cost(seconds), c.took(r.median(key, cpu)))
			allocs := func(f func(work.Result) work.Counters) string {
				if !peer.Go {
					return ""
				}
				return fmt.Sprintf("%.1f", r.median(key, func(x work.Result) float64 { return float64(f(x).Mallocs) / float64(n) }))
			}
			row = append(row, allocs(func(x work.Result) work.Counters { return x.Client }))
			if mode == "stdio" {
				row = append(row, allocs(func(x work.Result) work.Counters { return x.Agent }))
			}
			for _, f := range []func(work.Result) float64{wall, cpu} {
				times := ""
				if x := r.compare(Key{c.Name, mode, "acpkit"}, peer.Name, f); x > 0 && peer.Name != "acpkit" {
					times = fmt.Sprintf("%.2f times", x)
				}
				row = append(row, times)
			}
			if network {
				row = append(row, r.againstStdio(key))
			}
			t.row(row...)
		}
	}
	t.write(w)
}

// small writes the table of start times, idle connections and live heaps.
func (r Results) small(w io.Writer, contenders []Contender) {
	t := &table{}
	head := []string{"contender", "start ms"}
	for _, n := range idleCounts {
		head = append(head, fmt.Sprintf("KiB an end, %d idle", n))
	}
	head = append(head, "goroutines an end")
	for _, c := range heapCases {
		head = append(head, c.Name+" client / agent")
	}
	t.row(head...)
	for _, peer := range contenders {
		if !peer.whole() {
			continue
		}
		row := []string{peer.Name, ""}
		if key := (Key{"start", "stdio", peer.Name}); r.ok(key) {
			row[1] = fmt.Sprintf("%.1f", r.median(key, wall)*1e3)
		}
		goroutines := ""
		for _, n := range idleCounts {
			key := Key{fmt.Sprintf("idle-%d", n), "pair", peer.Name}
			cell := ""
			if r.ok(key) {
				cell = fmt.Sprintf("%.1f", r.first(key).Heap/1024)
				if peer.Go {
					goroutines = fmt.Sprintf("%.1f", r.first(key).Goroutines)
				}
			}
			row = append(row, cell)
		}
		row = append(row, goroutines)
		for _, c := range heapCases {
			cell := ""
			if key := (Key{c.Name, "stdio", peer.Name}); r.ok(key) {
				client, agent := c.payloads(r.first(key))
				cell = fmt.Sprintf("%.2f / %.2f payloads", client, agent)
			} else if len(r[key]) > 0 {
				cell = "failed"
			}
			row = append(row, cell)
		}
		t.row(row...)
	}
	t.write(w)
}

func (r Results) curveTable(w io.Writer) {
	for _, curve := range curves {
		t := &table{}
		t.row(curve.Of, modeName["pair"], modeName["stdio"])
		for _, p := range curve.Points {
			row := []string{p.Name[strings.LastIndexByte(p.Name, '-')+1:]}
			for _, mode := range modes {
				key := Key{p.Name, mode, "acpkit"}
				if !r.ok(key) {
					row = append(row, "")
					continue
				}
				p.N = r.first(key).N
				each := p.each(r.median(key, wall))
				if p.Work == "read" {
					row = append(row, fmt.Sprintf("%.2f ns", each*1e9))
				} else {
					row = append(row, fmt.Sprintf("%.2f µs", each*1e6))
				}
			}
			t.row(row...)
		}
		t.write(w)
	}
}

// floorTable writes the floors that this run measured.
func (r Results) floorTable(w io.Writer) {
	t, rest := &table{}, 0
	t.row("floor", "wanted", "measured", "")
	for _, f := range r.floors() {
		if !f.Measured {
			rest++
			continue
		}
		verdict := "met"
		if !f.Met {
			verdict = "**missed**"
		}
		t.row(f.What, f.Want, f.Got, verdict)
	}
	t.write(w)
	if rest > 0 {
		fmt.Fprintf(w, "%d more floors were not measured by this run.\n\n", rest)
	}
}

// failures names what contenders could not do.
func (r Results) failures(w io.Writer) {
	var all []string
	for k, results := range r {
		failed := slices.DeleteFunc(slices.Clone(results), succeeded)
		if len(failed) > 0 {
			all = append(all, fmt.Sprintf("- %s, %s, %s, %d of %d: `%s`\n", k.Contender, k.Case, modeName[k.Mode], len(failed), len(results), failed[0].Failure))
		}
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	fmt.Fprintf(w, "## What failed\n\n%s", strings.Join(all, ""))
}

func cpuName() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, " \t:"))
		}
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}

func nodeVersion() string {
	b, err := exec.Command("node", "--version").Output()
	if err != nil {
		return "no node"
	}
	return "node " + strings.TrimSpace(string(b))
}
