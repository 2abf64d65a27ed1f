// Package growth measures how the cost of the agent kit grows with the size of what is stored, as CPU
// time of this process. Curve by curve it prints the costs, the exponent, and the bar that the curve
// must keep.
package growth

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// A curve is one cost as a function of a size.
type curve struct {
	name  string
	sizes []int

	// exponent is the greatest one that is allowed, and most the greatest cost at the largest size. Zero
	// means that there is no such bar.
	exponent float64
	most     time.Duration

	costs []float64 // CPU time by size in seconds, as measured
}

// rounds is the number of measurements of a point, of which the least counts.
const rounds = 3

// Run measures all curves and writes a table. With quick the sizes are small. It returns an error that
// names the curves that are beyond their bars.
func Run(ctx context.Context, w io.Writer, quick bool) error {
	var beyond []string
	fmt.Fprintf(w, "| curve | CPU time by size | exponent | bar |\n|---|---|---|---|\n")
	for _, measure := range []func(context.Context, string, bool) ([]curve, error){overStore, overTurns, overRecords} {
		dir, err := os.MkdirTemp(inMemory(), "acpkit-growth-")
		if err != nil {
			return err
		}
		curves, err := measure(ctx, dir, quick)
		if err = firstOf(ctx.Err(), err, os.RemoveAll(dir)); err != nil {
			return err
		}
		for _, c := range curves {
			text, ok := c.judge()
			if _, err := fmt.Fprintln(w, text); err != nil {
				return err
			}
			if !ok {
				beyond = append(beyond, c.name)
			}
		}
	}
	if len(beyond) > 0 && !quick {
		return fmt.Errorf("beyond their bars: %q", beyond)
	}
	return nil
}

// inMemory returns the folder of a file system in memory, or "" if there is none. A disk takes time for each
// flush, and no CPU time.
func inMemory() string {
	const folder = "/dev/shm"
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return ""
	}
	return folder
}

// small returns the sizes that are measured: with quick the small ones, and at least the first.
func small(sizes []int, quick bool) []int {
	return slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return quick && n > max(500, sizes[0]) })
}

// judge returns the line of the table, and whether the curve keeps its bars.
func (c *curve) judge() (line string, ok bool) {
	text := ""
	for i, cost := range c.costs {
		text += fmt.Sprintf("%d: %v, ", c.sizes[i], seconds(cost))
	}
	exponent, bar, ok := slope(c.sizes, c.costs), "", true // the exponent is NaN for a single size
	if c.exponent > 0 {
		bar = fmt.Sprintf("exponent %.2f", c.exponent)
		ok = exponent <= c.exponent
	}
	if last := c.costs[len(c.costs)-1]; c.most > 0 {
		bar += fmt.Sprintf(" at most %v", c.most)
		ok = ok && seconds(last) <= c.most
	}
	if !ok {
		bar += " BEYOND"
	}
	return fmt.Sprintf("| %s | %s | %.2f | %s |", c.name, text[:len(text)-2], exponent, bar), ok
}

func seconds(s float64) time.Duration {
	return time.Duration(s * 1e9).Round(time.Microsecond)
}

// point measures the next point of the curve several times.
func (c *curve) point(cost func() (float64, error)) error {
	best := math.Inf(1)
	for range rounds {
		cost, err := cost()
		if err != nil {
			return fmt.Errorf("%s, size %d: %w", c.name, c.sizes[len(c.costs)], err)
		}
		best = min(best, cost)
	}
	c.costs = append(c.costs, best)
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// spent returns the CPU time that f needs, in seconds.
func spent(f func() error) (float64, error) {
	runtime.GC()
	before := work.CPU()
	err := f()
	return work.CPU() - before, err
}

// slope returns the exponent of a power of the size that fits the costs best. Costs below a tenth of a
// millisecond are that: they are too small to be measured.
func slope(sizes []int, costs []float64) float64 {
	var sx, sy, sxx, sxy, n float64
	for i, cost := range costs {
		x, y := math.Log(float64(sizes[i])), math.Log(max(cost, 1e-4))
		sx, sy, sxx, sxy, n = sx+x, sy+y, sxx+x*x, sxy+x*y, n+1
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

func logOf(dir, id string) string { return filepath.Join(dir, id, "log.jsonl") }
