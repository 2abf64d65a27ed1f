package main

import (
	"context"
	"fmt"
	"io"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// A Curve shows how the cost of a message depends on one quantity.
type Curve struct {
	Name   string
	Of     string // what grows
	Points []Case
	// Flat is the floor: the most that the last point may cost, compared with the
	// point Base.
	Flat float64
	Base int
}

var curves = []Curve{
	{Name: "updates", Of: "updates in a turn", Flat: 1.5, Base: 1, Points: points("updates", []int{1_000, 10_000, 100_000, 1_000_000},
		func(n int) work.Spec { return work.Spec{Work: "updates", N: n} })},
	{Name: "sessions", Of: "sessions that share 200 000 updates of one prompt", Flat: 1.5, Base: 1, Points: points("sessions", []int{1, 10, 100, 1000},
		func(n int) work.Spec { return work.Spec{Work: "spread", N: 200_000, Sessions: n} })},
	{Name: "prompts", Of: "prompts at once that share 200 000 updates", Flat: 1.5, Base: 1, Points: points("prompts", []int{1, 10, 100, 1000},
		func(n int) work.Spec { return work.Spec{Work: "updates", N: 200_000, Sessions: n} })},
	{Name: "size", Of: "bytes of a file", Flat: 1.5, Base: 2, Points: points("size", []int{1_000, 10_000, 100_000, 1_000_000, 10_000_000, 30_000_000},
		func(n int) work.Spec {
			return work.Spec{Work: "read", Kind: "ascii", Size: n, N: min(2000, max(10, 100_000_000/n))}
		})},
}

func points(name string, xs []int, spec func(int) work.Spec) []Case {
	var all []Case
	for _, x := range xs {
		all = append(all, Case{fmt.Sprintf("curve-%s-%d", name, x), spec(x)})
	}
	return all
}

// each is the cost of one unit of a point: a message, or a byte of a file.
func (c Case) each(seconds float64) float64 {
	if c.Work == "read" {
		return seconds / float64(c.N) / float64(c.Size)
	}
	return seconds / float64(c.N)
}

// curves measures the points for acpkit alone.
func (r Results) curves(ctx context.Context, w io.Writer, contenders []Contender, rounds int, quick bool) {
	acpkit := only(contenders, func(c Contender) bool { return c.Name == "acpkit" })
	for _, curve := range curves {
		for _, mode := range modes {
			for _, p := range curve.Points {
				if quick {
					p = p.quick()
				}
				r.alternate(ctx, w, acpkit, p, mode, rounds)
			}
		}
	}
}

// growth compares the cost of the last point of a curve with its base.
func (r Results) growth(curve Curve, mode string) float64 {
	cost := func(p Case) float64 {
		return p.each(r.median(Key{p.Name, mode, "acpkit"}, wall))
	}
	base := cost(curve.Points[curve.Base])
	if base == 0 {
		return 0
	}
	return cost(curve.Points[len(curve.Points)-1]) / base
}
