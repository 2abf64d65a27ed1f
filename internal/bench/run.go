package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// A Key names one cell of the tables.
type Key struct{ Case, Mode, Contender string }

// Results are all measurements by cell, one for each round. One that failed has a Failure and no numbers.
type Results map[Key][]work.Result

// measure runs a peer once.
func measure(ctx context.Context, c Contender, args []string) work.Result {
	var res work.Result
	cmd := c.command(ctx, args...)
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(bytes.TrimSpace(out), &res)
	}
	if err != nil && res.Failure == "" {
		res.Failure = err.Error()
	}
	return res
}

// alternate runs the rounds of one case.
func (r Results) alternate(ctx context.Context, w io.Writer, contenders []Contender, c Case, mode string, rounds int) {
	r.rounds(w, only(contenders, func(peer Contender) bool { return peer.does(c, mode) }), rounds, c.Name, mode,
		func(peer Contender) work.Result { return measure(ctx, peer, c.of(peer).args(mode)) },
		func(res work.Result) string {
			c := c
			c.N = res.N
			return c.cost(res.Wall)
		})
}

// rounds measures what run does, and tells w what shown says of it: in every round each contender
// once, beginning with another one. A contender that failed in the first two is not tried again. Rounds that r has are not
// made again.
func (r Results) rounds(w io.Writer, contenders []Contender, n int, name, mode string, run func(Contender) work.Result, shown func(work.Result) string) {
	key := func(peer Contender) Key { return Key{name, mode, peer.Name} }
	if !slices.ContainsFunc(contenders, func(c Contender) bool { return len(r[key(c)]) < n && r.ok(key(c)) || len(r[key(c)]) == 0 }) {
		return
	}
	for _, c := range contenders {
		delete(r, key(c)) // half of the rounds of a run that was stopped
	}
	for round := range n {
		for i := range contenders {
			peer := contenders[(i+round)%len(contenders)]
			key := key(peer)
			if round >= 2 && !r.ok(key) {
				continue
			}
			res := run(peer)
			said := res.Failure
			if said == "" {
				said = shown(res)
			}
			fmt.Fprintf(w, "%s %s %s: %s\n", name, mode, peer.Name, said)
			r[key] = append(r[key], res)
		}
	}
}

// only returns the contenders that take part.
func only(contenders []Contender, takesPart func(Contender) bool) []Contender {
	return slices.DeleteFunc(slices.Clone(contenders), func(c Contender) bool { return !takesPart(c) })
}

// ok reports whether the cell has numbers.
func (r Results) ok(k Key) bool { return slices.ContainsFunc(r[k], succeeded) }

func succeeded(res work.Result) bool { return res.Failure == "" }

// first returns the first result with numbers of a cell that is ok.
func (r Results) first(k Key) work.Result { return r[k][slices.IndexFunc(r[k], succeeded)] }

// median returns the median of what f returns for the results of a cell, or 0 if there are none.
func (r Results) median(k Key, f func(work.Result) float64) float64 {
	if !r.ok(k) {
		return 0
	}
	var all []float64
	for _, res := range r[k] {
		if succeeded(res) {
			all = append(all, f(res))
		}
	}
	return median(all)
}

// ratio returns how many times as fast as other the contender of k is.
func (r Results) ratio(k Key, other string) float64 { return r.compare(k, other, wall) }

// compare divides what f returns for one message of other by the same of the contender of k, and returns
// the median over the rounds. It returns 0 if one of them has no results.
func (r Results) compare(k Key, other string, f func(work.Result) float64) float64 {
	o := k
	o.Contender = other
	if !r.ok(k) || !r.ok(o) {
		return 0
	}
	each := func(res work.Result) float64 { return f(res) / float64(max(1, res.N)) }
	var all []float64
	for i := range min(len(r[k]), len(r[o])) {
		if x := each(r[k][i]); x > 0 && succeeded(r[k][i]) && succeeded(r[o][i]) {
			all = append(all, each(r[o][i])/x)
		}
	}
	return median(all)
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	mid := len(all) / 2
	if len(all)%2 == 1 {
		return all[mid]
	}
	return (all[mid-1] + all[mid]) / 2
}

func wall(r work.Result) float64 { return r.Wall }

func cpu(r work.Result) float64 { return r.Client.CPU + r.Agent.CPU }

// measurement is one line of the file of -continue.
type measurement struct {
	Key    Key         `json:"key"`
	Round  int         `json:"round"`
	Result work.Result `json:"result"`
}

// save writes every measurement as one line of JSON.
func (r Results) save(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	for k, all := range r {
		for i, res := range all {
			if err := enc.Encode(measurement{k, i, res}); err != nil {
				f.Close()
				return err
			}
		}
	}
	return f.Close()
}

// load adds the measurements that save wrote.
func (r Results) load(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for dec := json.NewDecoder(f); ; {
		var m measurement
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		r[m.Key] = append(r[m.Key], m.Result)
	}
	return nil
}
